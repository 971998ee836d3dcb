"""What walking knows of a robot; and robots that cannot walk are told why."""

import numpy as np
import pytest
from bipeds import biped as five_joints

import tabi
from tabi.robots.files import quietly
from tabi.spatial.transform import Transform, about, translation
from tabi.walking.plan.biped import Biped


def test_hrp2_stands_with_level_soles_that_face_ahead():
    robot = tabi.robots.hrp2()
    biped = Biped(robot)
    X = robot.placements()
    for side, y in (("left", 0.095), ("right", -0.095)):
        foot = robot.feet[side]
        assert biped.stance[side].p == pytest.approx((X[foot.body] @ foot.placement).p)
        assert biped.stance[side].p[1:] == pytest.approx([y, 0.0], abs=1e-9)
        assert pytest.approx(np.eye(3), abs=1e-12) == biped.stance[side].R
        assert biped.outline[side] == pytest.approx(foot.polygon, abs=1e-12)
        # hrp2-facts: the sole is 0.105 m below the ankle
        assert biped.ankle[side] == pytest.approx(0.105)
    # thigh and shank of 0.3 m
    assert biped.leg_length == pytest.approx(0.705)
    assert biped.mass == pytest.approx(58.0)
    assert [robot.joint_names[k] for k in biped.legs.columns[0]] == [
        f"LLEG_{name}" for name in ("HIP_Y", "HIP_R", "HIP_P", "KNEE_P", "ANKLE_P", "ANKLE_R")
    ]


def test_a_robot_that_was_turned_faces_there():
    robot, turn = tabi.robots.hrp2(), about((0, 0, 1), 0.8)
    base = turn @ robot.placements()[robot.base]
    robot.place(base.p, base.quaternion)
    biped, straight = Biped(robot), Biped(tabi.robots.hrp2())
    assert biped.heading == pytest.approx(0.8)
    for side in ("left", "right"):
        wanted: Transform = turn @ straight.stance[side]
        assert biped.stance[side].p == pytest.approx(wanted.p, abs=1e-12)
        assert pytest.approx(wanted.R, abs=1e-12) == biped.stance[side].R
    assert biped.base_rotation == pytest.approx(straight.base_rotation, abs=1e-12)


def test_what_cannot_walk_is_told_why():
    robot = five_joints()
    for name in ("l_ankle_roll", "r_ankle_roll"):
        robot.joint(name).passive = True
    with pytest.raises(tabi.ModelError, match=r"leg 'left' of biped has 4 joints that turn .* six"):
        Biped(robot)
    robot = tabi.robots.hrp2()
    del robot.feet["left"]
    with pytest.raises(
        tabi.ModelError, match="'hrp2' has no foot 'left' to walk on, but only 'right'; expected"
    ):
        Biped(robot)
    robot = tabi.robots.hrp2()
    lean = about((0, 1, 0), 0.1)
    base = robot.placements()[robot.base]
    robot.place(base.p, (lean @ base).quaternion)
    with pytest.raises(tabi.ModelError, match=r"foot 'left' of hrp2 is tilted by 5.7° as it"):
        Biped(robot)
    robot.base.joint.kind = "fixed"
    with pytest.raises(tabi.ModelError, match="bolted to the world by its base 'waist'"):
        Biped(robot)


def test_a_robot_on_points_is_told_that_it_has_no_soles():
    with quietly():
        bolt = tabi.load(tabi.robots.example_file("bolt.urdf"), base="floating")
        with pytest.raises(tabi.ModelError, match=r"no foot 'left' to walk on: .*the sole of .* 5"):
            Biped(bolt)
        feet = {"left": "FL_FOOT", "right": "FR_FOOT"}
        bolt = tabi.load(tabi.robots.example_file("bolt.urdf"), feet=feet, base="floating")
    with pytest.raises(tabi.ModelError, match=r"leg 'left' of bolt has 3 joints that turn \('FL_"):
        Biped(bolt)


def test_legs_of_different_length_are_refused():
    robot = tabi.robots.hrp2()
    knee = robot.joint("LLEG_KNEE_P")
    knee.placement = translation((0.0, 0.0, -0.02)) @ knee.placement
    wrong = "different length from hip to sole: left 0.725 m, right 0.705 m; expected the same"
    with pytest.raises(tabi.ModelError, match=wrong):
        Biped(robot)


@pytest.mark.parametrize(
    ("axis", "free", "taken"), [((0, 0, 1), "yaw", "HIP_Y"), ((1, 0, 0), "roll", "ANKLE_R")]
)
@pytest.mark.parametrize("heading", [0.0, 0.8])
def test_five_joints_leave_the_sole_the_rotation_that_no_joint_makes(axis, free, taken, heading):
    # HRP-2 has six: yaw, roll, pitch, knee, ankle pitch and roll
    robot = tabi.robots.hrp2()
    for side in "LR":
        robot.joint(f"{side}LEG_{taken}").passive = True
    turn = about((0, 0, 1), heading)
    base = turn @ robot.placements()[robot.base]
    robot.place(base.p, base.quaternion)
    biped = Biped(robot)
    assert biped.free == {"left": free, "right": free}
    assert biped.legs.free.tolist() == [list(axis), list(axis)]
    assert biped.legs.count.tolist() == [5, 5]
    assert len(biped.leg_q) == 10
    assert Biped(tabi.robots.hrp2()).free == {"left": "", "right": ""}
