"""Every scene of the library does the same where it is turned and put elsewhere."""

import numpy as np
import pytest
import yaml

from tabi import scenes
from tabi.spatial.transform import Transform, about

YAW_DEG, SHIFT = -141.0, np.array([7.0, -3.0, 0.0])
TURN = about((0, 0, 1), np.radians(YAW_DEG))
MOVED = Transform(TURN.R, SHIFT)
SECONDS = 0.3
# until the ball hits the wall, and the barrel an edge of the stairs: from then on rounding decides
# which of several exact solutions is found, or which points of an edge touch
SHORTER = {"wall": 0.2, "stairs": 0.1}
# as exact as the tolerance of 1e-8 m/s over this time, with a margin for impacts
NEAR = 1e-6
# its ground is tilted about the world's y axis
TILTED = {"slope"}


def turned(vector):
    return (TURN.R @ np.array(vector, float)).tolist()


def place(thing, default=(0.0, 0.0, 0.0)):
    """Move a thing that has a place, and perhaps a direction, in the world."""
    at = thing.get("position_m", default)
    there = MOVED @ np.array([*at, 0.0, 0.0][:3], float)
    thing["position_m"] = there.tolist()[: len(at)]
    # belts of what is fixed run in the world's axes
    for key in ("velocity_m_s", "angular_velocity_rad_s", "spacing_m", "surface_velocity_m_s"):
        if key in thing:
            thing[key] = turned(thing[key])


def turn(thing):
    """Turn a thing by its quaternion, or by roll, pitch and yaw."""
    if "quaternion" in thing:
        q = np.array(thing["quaternion"], float)
        c, s = np.cos(np.radians(YAW_DEG) / 2), np.sin(np.radians(YAW_DEG) / 2)
        w, x, y, z = q
        thing["quaternion"] = [c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w]
    else:
        roll, pitch, yaw = thing.get("rotation_deg", (0.0, 0.0, 0.0))
        thing["rotation_deg"] = [roll, pitch, (yaw + YAW_DEG + 180.0) % 360.0 - 180.0]


def moved(tree):
    """The same scene elsewhere."""
    for thing in [*tree.get("objects", ()), *tree.get("fixed", ())]:
        place(thing)
        turn(thing)
    for plate in tree.get("force_plates", ()):
        if "of" not in plate:
            place(plate)
            turn(plate)
    hand = tree.get("hand")
    for thing in [*tree.get("robots", ()), *tree.get("patches", ()), *([hand] if hand else ())]:
        # robots with two numbers stand on the ground
        place(thing, (0.5, 0.0, 1.0) if thing is hand else (0.0, 0.0))
        thing["yaw_deg"] = (thing.get("yaw_deg", 0.0) + YAW_DEG + 180.0) % 360.0 - 180.0
    for frame in hand.get("frames", ()) if hand else ():
        place(frame)
        turn(frame)
    for push in tree.get("pushes", ()):
        for key in ("force_n", "torque_nm"):
            if key in push:
                push[key] = turned(push[key])
    for bond in tree.get("bonds", ()):
        if "point_m" in bond:
            bond["point_m"] = (MOVED @ np.array(bond["point_m"], float)).tolist()
        if bond.get("axis") is not None:
            bond["axis"] = turned(bond["axis"])
    return tree


def bodies(sim):
    robots = [body for robot in sim.world.robots for body in robot.bodies]
    return [*robots, *sim.world.objects]


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in scenes.names() if name not in TILTED])
def test_a_turned_scene_does_the_same(name, tmp_path):
    scene = scenes.load(name)
    (tmp_path / "turned.yaml").write_text(yaml.safe_dump(moved(yaml.safe_load(scene.to_yaml()))))
    here, there = scene.simulator(), scenes.load(str(tmp_path / "turned.yaml")).simulator()
    for sim in (here, there):
        sim.run(SHORTER.get(name, SECONDS))
    assert len(bodies(here)) > 0
    back = MOVED.inverse()
    for one, other in zip(bodies(here), bodies(there), strict=True):
        away = np.linalg.norm(back @ there.position(other) - here.position(one))
        assert away < NEAR, f"{one.name} is {away:.1e} m off"
