"""From a scene's path to footsteps and a controller."""

import numpy as np
import pytest

from tabi import scenes
from tabi.analysis.walk_measures import WalkWatch, walkers
from tabi.scenes.keys.walks import StabiliserKeys
from tabi.scenes.walks import stabiliser_of
from tabi.walking import DcmStabiliser, Stabiliser

FILE = """title: t
ground: {}
fixed: [%s]
robots:
  - robot: hrp2
    yaw_deg: 90
    motion: {kind: walk, %s}
"""


def pattern(motion: str, fixed: str = ""):
    sim = scenes.loads(FILE % (fixed, motion), "mine.yaml").simulator()
    return walkers(sim)["hrp2"].pattern


def test_steps_go_where_the_robot_looks_and_take_turns_from_piece_to_piece():
    walk = pattern(
        "path: [{go: steps, count: 3, length_m: 0.1}, {go: steps, count: 2, length_m: 0.1}]"
    )
    assert [step.foot for step in walk.steps] == ["left", "right", "left", "right", "left"]
    ends = np.mean([step.pose.p for step in walk.steps[-2:]], axis=0)
    start = np.mean([X.p for X in walk.biped.stance.values()], axis=0)
    # the last step of each piece brings the feet together
    assert ends - start == pytest.approx([0.0, 0.3, 0.0], abs=1e-12)


def test_stones_are_where_they_are_in_the_world():
    walk = pattern(
        "path: [{go: stones, places: [{foot: right, position_m: [0.09, 0.15], yaw_deg: 90}]}]"
    )
    assert walk.steps[0].pose.p == pytest.approx([0.09, 0.15, 0.0], abs=1e-12)
    assert walk.steps[0].yaw == pytest.approx(np.pi / 2)


def test_a_gait_is_the_robots_own_with_what_the_file_says():
    walk = pattern("gait: {step_time_s: 1.0, zmp_m: [0.02, 0.01]}, path: [{go: steps, count: 2}]")
    assert walk.gait.step_time == 1.0
    assert walk.gait.zmp == (0.02, 0.01)
    # HRP-2's usual step
    assert walk.gait.length == pytest.approx(0.2, abs=1e-3)


def test_on_a_ramp_soles_lie_on_it():
    # turned about x by 5°, it leaves the floor at y = 0.4 m
    c, sn = np.cos(np.radians(5)), np.sin(np.radians(5))
    normal, foot = np.array([0.0, -sn, c]), np.array([0.0, 0.4, 0.0])
    x, y, z = foot + 4 * np.array([0.0, c, sn]) - 0.1 * normal
    place = f"position_m: [{x}, {y}, {z}], rotation_deg: [5, 0, 0]"
    ramp = f"{{shape: box, size_m: [2, 8, 0.2], {place}}}"
    walk = pattern("on_ground: true, path: [{go: steps, count: 6, length_m: 0.2}]", ramp)
    # the first one is on the floor, the last three with all of their 0.24 m on the ramp
    assert walk.steps[0].pose.R[:, 2] == pytest.approx([0, 0, 1], abs=1e-9)
    for step in walk.steps[-3:]:
        assert step.pose.R[:, 2] == pytest.approx(normal, abs=1e-9)
        assert normal @ (step.pose.p - foot) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.slow
def test_it_walks_down_a_ramp_on_rubber():
    c, sn = np.cos(np.radians(5)), np.sin(np.radians(5))
    x, _, z = np.array([0.3, 0.0, 0.0]) + 3 * np.array([c, 0.0, -sn]) - 0.1 * np.array([sn, 0, c])
    scene = scenes.loads(f"""title: t
fixed:
  - {{shape: box, size_m: [2, 2, 0.5], position_m: [-0.7, 0, -0.25]}}
  - {{shape: box, size_m: [6, 2, 0.2], position_m: [{x}, 0, {z}], rotation_deg: [0, 5, 0]}}
robots:
  - robot: hrp2
    bush: {{}}
    motion: {{kind: walk, on_ground: true, path: [{{go: steps, count: 5, length_m: 0.2}}]}}
""")
    sim = scene.simulator()
    watch = WalkWatch(sim)
    sim.run(walkers(sim)["hrp2"].pattern.duration)
    found = watch.measured({})["hrp2"]
    assert (found.landed, found.finished) == (5, True)
    # the bound of one step with noise; a body that leans into the slope lands a little early
    assert found.landing_m < 5e-3
    assert not sim.fallen(sim.world.robots[0])


@pytest.mark.slow
def test_an_arc_goes_on_with_the_foot_whose_turn_it_is():
    bend = "{go: arc, radius_m: 1, angle_deg: 30, length_m: 0.15}"
    for count, foot in ((3, "right"), (4, "left")):
        walk = pattern(f"path: [{{go: steps, count: {count}, length_m: 0.1}}, {bend}]")
        assert walk.steps[count].foot == foot


def test_what_cannot_be_walked_is_named_with_its_place():
    with pytest.raises(
        scenes.SceneError, match=r"line 7: robots\.hrp2\.motion: step 1, left foot, i"
    ):
        pattern("path: [{go: steps, count: 3, length_m: 1.5}]")
    with pytest.raises(
        scenes.SceneError, match=r"motion\.path\.0: arc has radius 1.0 m and angle 0"
    ):
        pattern("path: [{go: arc, radius_m: 1, angle_deg: 0}]")
    with pytest.raises(scenes.SceneError, match=r"motion\.gait\.double_support_s is 2.0 s"):
        pattern("gait: {double_support_s: 2}")


def test_its_controller_is_asked_once_in_every_tick():
    sim = scenes.loads(FILE % ("", "gait: {tick_s: 0.01}"), "mine.yaml").simulator()
    assert sim.drivers["hrp2"].every == 10


def test_a_stabiliser_is_of_its_kind_and_keys_of_the_other_are_refused():
    own = stabiliser_of(StabiliserKeys(kind="dcm", poles_1_s=(9.0, 8.0, 1.0), margin_m=0.02))
    assert own == DcmStabiliser(poles=(9.0, 8.0, 1.0), margin=0.02)
    assert stabiliser_of(StabiliserKeys(kind="dcm")) == DcmStabiliser()
    assert stabiliser_of(StabiliserKeys(inclination=1.5)) == Stabiliser(inclination=1.5)
    assert stabiliser_of(True) == stabiliser_of(StabiliserKeys()) == Stabiliser()
    file = FILE % ("", "stabiliser: {kind: dcm, inclination: 2}")
    with pytest.raises(scenes.SceneError, match="'inclination' belongs to a stabiliser of kind hi"):
        scenes.loads(file, "mine.yaml").simulator()
