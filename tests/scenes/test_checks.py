"""Things that contradict each other are named with the key that does."""

import pytest

from tabi import scenes
from tabi.scenes import SceneError, checks

SCENE = """title: t
ground: {}
materials: {rubber: {friction: 1}}
objects:
  - {shape: sphere, name: ball, radius_m: 0.1, mass_kg: 1}
  - {shape: compound, name: cart, parts: [{shape: box, size_m: [1, 1, 1], mass_kg: 1}]}
robots:
  - {robot: hrp2}
fixed:
  - {shape: height_field, name: field, size_m: [1, 1], heights_m: [[0, 0], [0, 0]]}
bonds:
  - {kind: weld, bodies: [ball, cart]}
"""


@pytest.mark.parametrize(
    ("setting", "key"),
    [
        ("ground={friction: 0.5, static_friction: 0.4}", "ground.static_friction"),
        (
            "pairs=[{materials: [ground, ball], friction: 0.5, static_friction: 0.4}]",
            "pairs.0.static_friction",
        ),
        ("objects.ball.material=rubbr", "objects.ball.material"),
        (
            (
                "objects.ball={shape: sphere, radius_m: 1, mass_kg: 1, material: rubber, "
                "friction: 0.5}"
            ),
            "objects.0.friction",
        ),
        ("objects.ball.quaternion=[0,0,0,0]", "objects.ball.quaternion"),
        (
            (
                "objects.ball={shape: sphere, radius_m: 1, mass_kg: 1, quaternion: [1,0,0,0], "
                "rotation_deg: [1,0,0]}"
            ),
            "objects.0.rotation_deg",
        ),
        ("objects.cart.friction=0.5", "objects.cart.friction"),
        ("objects.cart.parts.0.material=steel", "objects.cart.parts.0.material"),
        ("objects.cart.name=ball", "objects.ball.name"),
        ("objects.cart.name=world", "objects.world.name"),
        ("objects.ball.count=3", "objects.ball.count"),
        ("bonds.0.bodies=[ball,ball]", "bonds.0.bodies"),
        ("bonds.0.kind=hinge", "bonds.0"),
        ("bonds.0.axis=[0,0,1]", "bonds.0.axis"),
        ("bonds.0={kind: hinge, bodies: [ball, cart], axis: [0,0,0]}", "bonds.0.axis"),
        ("robots.hrp2={robot: hrp2, stands: true, position_m: [0,0,1]}", "robots.hrp2.position_m"),
        ("robots.hrp2.stands=false", "robots.hrp2.position_m"),
        ("ground.slope_deg=10", "robots.hrp2"),
        (
            "robots.hrp2.motion={kind: keyframes, frames: [{at_s: 1}, {at_s: 1}]}",
            "robots.hrp2.motion.frames.1.at_s",
        ),
        ("robots.hrp2.feet={left: x}", "robots.hrp2.feet"),
        ("robots.hrp2.robot=hrp3", "robots.hrp3.robot"),
        ("fixed.field.heights_m=[[0,0],[0,0,0]]", "fixed.field.heights_m.1"),
        ("duration_s=1e-4", "duration_s"),
        ("simulation.step_s=1e-6", None),
        ("record.rate_hz=300", "record.rate_hz"),
        ("camera={position_m: [1,1,1], look_at_m: [1,1,1]}", "camera.position_m"),
    ],
)
def test_a_contradiction_names_its_key(setting, key):
    if key is None:
        assert scenes.loads(SCENE, "my.yaml", [setting]).contents.simulation.step_s == 1e-6
        return
    with pytest.raises(SceneError) as fault:
        scenes.loads(SCENE, "my.yaml", [setting])
    assert fault.value.key == key
    assert key in str(fault.value)


def test_the_scene_itself_contradicts_nothing():
    assert list(checks.faults(scenes.loads(SCENE).contents)) == []


def test_a_scene_with_nothing_that_moves_is_refused():
    with pytest.raises(SceneError, match="neither robots nor objects"):
        scenes.loads("title: t\nground: {}\n")


def test_copies_have_numbers_in_their_names():
    scene = scenes.loads(
        SCENE, overrides=["objects.ball.count=3", "objects.ball.spacing_m=[1,0,0]", "bonds=[]"]
    )
    assert checks.copies(scene.contents.objects[0]) == ["ball1", "ball2", "ball3"]


def test_a_hand_that_plays_needs_frames():
    with pytest.raises(SceneError, match="the hand plays, but has no frames"):
        scenes.loads("title: t\nground: {}\nrobots: [{robot: hrp2}]\nhand: {plays: true}\n")
