"""The loading report: its numbers by hand on small robots, its page on OpenHRP's sample robot."""

import json

import numpy as np
import pytest

from tabi.formats.openhrp import reader as openhrp
from tabi.model.joint import Joint, Mimic, Motor
from tabi.model.report.summary import report
from tabi.model.robot import Robot
from tabi.model.sensors import Sensor
from tabi.model.shape import Box, Shape
from tabi.spatial.inertia import Inertia, solid_box
from tabi.spatial.transform import Transform, translation

SIZE = (0.1, 0.2, 0.3)


def link(
    robot: Robot,
    name: str,
    joint: Joint,
    parent: str | None,
    mass: float = 2.0,
    shapes: bool = True,
) -> None:
    """A box of 0.1 × 0.2 × 0.3 m around the joint."""
    robot.add_body(name, joint, parent, solid_box(mass, SIZE), [Shape(Box(SIZE))] if shapes else [])


def chain(*kinds: str, shapes: bool = True) -> Robot:
    """A floating base at 1 m and boxes below it, each 0.4 m under the last."""
    robot = Robot("chain")
    link(robot, "b0", Joint("root", "floating"), None, shapes=shapes)
    robot.place((0.0, 0.0, 1.0))
    for i, kind in enumerate(kinds, 1):
        link(
            robot,
            f"b{i}",
            Joint(f"j{i}", kind, translation((0, 0, -0.4)), (1.0, 0.0, 0.0)),
            f"b{i - 1}",
            shapes=shapes,
        )
    return robot


def test_mass_height_and_counts_of_a_chain():
    r = report(chain("revolute", "fixed", "prismatic"))
    assert (r.name, r.base, r.body_count, r.joint_count, r.degrees_of_freedom) == (
        "chain",
        "floating",
        4,
        2,
        8,
    )
    assert r.mass == pytest.approx(8.0)
    # three steps of 0.4 and half a box at both ends
    assert r.height == pytest.approx(1.2 + 0.3)
    assert r.height_by == "shapes"
    assert "height     1.500 m in the zero pose\n" in str(r)


def test_height_is_that_of_the_zero_pose_and_nothing_is_changed():
    robot = chain("revolute")
    robot.set_pose({"j1": 1.0})
    assert report(robot).height == pytest.approx(0.7)
    assert robot.joint("j1").position == pytest.approx([1.0])


def test_height_without_shapes_is_said_to_be_by_frames():
    r = report(chain("revolute", "revolute", shapes=False))
    assert r.height == pytest.approx(0.8)
    assert "0.800 m in the zero pose, by its frames" in str(r)
    assert "no body has a collision shape" in str(r)


def test_followers_are_no_degrees_of_freedom():
    robot = chain("revolute", "revolute")
    robot.joint("j2").mimic = Mimic("j1", -2.0, 0.1)
    r = report(robot)
    assert r.degrees_of_freedom == 7
    assert r.joints[1].mimic == "-2 × j1 +0.1"
    assert "-2 × j1 +0.1" in str(r)


def test_joint_table_speaks_degrees_and_millimetres():
    robot = chain("revolute", "prismatic", "revolute")
    a, b = robot.joint("j1"), robot.joint("j2")
    a.lower, a.upper, a.effort_limit, a.velocity_limit = -np.pi / 2, np.pi / 6, 80.0, 5.0
    a.motor = Motor(rotor_inertia=2e-5, gear_ratio=100, torque_limit=50.0)
    b.lower, b.upper, b.effort_limit = 0.0, 0.25, 300.0
    r = report(robot)
    assert (r.joints[0].effort, r.joints[0].velocity, r.joints[2].upper) == (50.0, 5.0, None)
    assert r.joints[0].armature == pytest.approx(0.2)
    rows = [line.split() for line in str(r).splitlines()[-3:]]
    assert rows == [
        ["j1", "revolute", "-90.0", "°", "30.0", "°", "50", "N·m", "5", "0.2"],
        ["j2", "prismatic", "0.0", "mm", "250.0", "mm", "300", "N", "–", "–"],
        ["j3", "revolute", "–", "–", "–", "–", "–"],
    ]
    assert "speed rad/s  armature kg·m²" in str(r)


def test_soles_are_given_in_millimetres_and_square_centimetres():
    robot = chain("revolute")
    robot.add_foot("left", "b1", [(0, 0), (0.24, 0), (0.24, 0.138), (0, 0.138)])
    r = report(robot)
    assert (r.feet[0].length, r.feet[0].width) == pytest.approx((0.24, 0.138))
    # 24 × 13.8 cm
    assert "feet       left: b1, sole 240 × 138 mm, 331 cm²" in str(r)
    assert r.foot_candidates == []


def test_without_feet_the_bodies_on_the_ground_are_proposed():
    robot = chain("revolute", "revolute")
    link(robot, "other", Joint("k", "revolute", translation((0, 0.5, -0.405))), "b1")
    link(robot, "hand", Joint("h", "revolute", translation((0, 0.5, -0.3))), "b1")
    r = report(robot)
    assert r.foot_candidates == ["b2", "other"]
    assert "none declared; on the ground in the zero pose: b2, other" in str(r)


def test_without_shapes_the_ends_of_the_legs_are_proposed():
    robot = chain("revolute", "revolute", "fixed", shapes=False)
    robot.joint("j3").placement = translation((0, 0, 0))
    assert report(robot).foot_candidates == ["b2"]


def test_an_arm_bolted_to_the_world_is_offered_no_feet():
    robot = chain("revolute")
    robot.base.joint.kind = "fixed"
    assert report(robot).foot_candidates == []
    assert "feet       none\n" in str(report(robot))


def test_collision_pairs_leave_out_neighbours_and_what_is_excluded():
    # four bodies, three neighbouring pairs
    assert report(chain("revolute", "revolute", "revolute")).collision_pairs == 6 - 3
    # b1 and b2 are one: b0 and b3 both touch it, only (b0, b3) is left
    assert report(chain("revolute", "fixed", "revolute")).collision_pairs == 1
    robot = chain("revolute", "revolute", "revolute")
    robot.excluded = {frozenset(("b0", "b2")), frozenset(("b0", "b1"))}
    r = report(robot)
    assert (r.collision_pairs, r.excluded_pairs) == (2, 1)
    assert "2 pairs among 4 bodies with shapes, 1 pair excluded" in str(r)
    robot.bodies[3].shapes[0].collides = False
    assert report(robot).collision_pairs == 0


def test_moving_bodies_without_mass_are_a_warning_and_fixed_ones_are_not():
    robot = chain("revolute", "fixed", "revolute", "fixed")
    robot.bodies[2].inertia = Inertia()
    robot.bodies[3].inertia = robot.bodies[4].inertia = Inertia()
    r = report(robot)
    assert r.massless == ["b2", "b3", "b4"]
    assert r.warnings == ["moving bodies without mass: b3"]
    assert "5 bodies (3 without mass)" in str(r)
    robot.bodies[4].inertia = solid_box(1.0, SIZE)
    assert report(robot).warnings == []


@pytest.mark.parametrize(
    ("moments", "fault"),
    [
        ((0, 0, 0), "bodies with mass but without rotational inertia: b1"),
        ((-1, 2, 2), "bodies with a negative moment of inertia: b1"),
        ((1, 1, 3), "bodies whose largest moment of inertia exceeds the sum of the others: b1"),
    ],
)
def test_inertias_no_solid_has_are_a_warning(moments, fault):
    robot = chain("revolute")
    R = Transform(np.linalg.qr(np.arange(9.0).reshape(3, 3) + np.eye(3))[0]).R
    robot.bodies[1].inertia = Inertia(1.0, np.zeros(3), R @ np.diag(np.array(moments, float)) @ R.T)
    assert report(robot).warnings == [fault]


def test_a_thin_plate_is_no_warning():
    robot = chain("revolute")
    # the largest moment is just the sum of the others
    plate = solid_box(1.0, (0.3, 0.2, 0.0))
    # and may exceed it in the last digit of a file
    robot.bodies[1].inertia = Inertia(1.0, plate.centre, plate.tensor + np.diag([0.0, 0.0, 1e-9]))
    assert report(robot).warnings == []


def test_joints_that_cannot_be_where_they_are_are_a_warning():
    robot = chain(*["revolute"] * 9)
    for i in range(1, 10):
        robot.joint(f"j{i}").lower, robot.joint(f"j{i}").upper = (1.0, 2.0) if i > 2 else (0.0, 0.0)
    robot.joint("j1").velocity_limit = 0.0
    assert report(robot).warnings == [
        "joints whose range is empty: j1, j2",
        "joints whose speed or effort limit is zero: j1",
        "joints that start outside of their range: j3, j4, j5, j6, j7, j8 and 1 more",
    ]


def test_sensors_frames_poses_and_notes_are_listed():
    robot = chain("revolute")
    for name, kind in (("f1", "force"), ("imu", "gyro"), ("f2", "force")):
        robot.sensors[name] = Sensor(name, robot.base, kind=kind)
    robot.poses["half_sitting"] = {"j1": 0.2}
    robot.notes.append("ignored 3 × Background")
    r = report(robot)
    assert r.sensors == {"force": ["f1", "f2"], "gyro": ["imu"]}
    for line in (
        "sensors    force: f1, f2",
        "gyro: imu",
        "poses: half_sitting",
        "note       ignored 3 × Background",
    ):
        assert line in str(r)


def test_notes_that_differ_only_in_names_and_numbers_share_a_line():
    robot = chain("revolute")
    robot.notes += [f"mesh '{name}.stl' (line {i}) not found" for i, name in enumerate("abc")] + [
        "something else"
    ]
    r = report(robot)
    assert [
        line.split(maxsplit=1)[1] for line in str(r).splitlines() if line.startswith("  note")
    ] == [
        "mesh 'a.stl' (line 0) not found (and 2 more like this)",
        "something else",
    ]
    assert len(r.to_dict()["notes"]) == 4


def test_the_dictionary_is_plain_json_without_infinities():
    robot = chain("revolute", "spherical")
    robot.add_foot("left", "b2")
    data = json.loads(json.dumps(report(robot).to_dict(), allow_nan=False))
    assert data["joints"][0]["upper"] is None
    assert data["feet"][0]["area"] == pytest.approx(0.1 * 0.2)
    assert data["heaviest"][0] == ["b0", 2.0]


def test_the_page_of_a_humanoid_is_one_screen_and_names_every_joint(shared):
    robot = openhrp.read(shared / "data" / "robots" / "sr1" / "sample1.wrl")
    r = report(robot)
    lines = str(r).splitlines()
    assert 40 <= len(lines) <= 60
    assert max(map(len, lines)) <= 110
    assert [line.split()[0] for line in lines[-29:]] == robot.joint_names
    # columns are aligned: the armature of 12 kg·m² ends every row of the table at the same place
    assert len({len(line) for line in lines[-29:]}) == 1
    assert r.foot_candidates == ["LLEG_ANKLE_R", "RLEG_ANKLE_R"]
    # soles on the ground; waist, chest joint, and half the head's box above its centre
    assert r.height == pytest.approx(0.7235 + 0.176 + 0.35 + 0.16 + 0.08, abs=1e-9)
    # 30 bodies with shapes, each but the base next to one other
    assert r.collision_pairs == 30 * 29 // 2 - 29
    assert r.warnings == []
