"""Why a target is not reached, in words."""

import numpy as np
from bipeds import standing_hrp2
from control.inverse_kinematics.arms import planar_arm

import tabi
from tabi.control.inverse_kinematics import reasons
from tabi.spatial.transform import Transform

InverseKinematics = tabi.control.InverseKinematics


def test_what_is_reached_needs_no_reason():
    ik = InverseKinematics(planar_arm())
    ik.pose("tip", orientation="").target = (0.5, 0.5, 0.0)
    found = ik.solve(np.array([0.3, 0.4]))
    assert found.reached
    assert found.reason == ""


def test_a_stretched_arm_names_its_elbow_and_how_far_it_is():
    ik = InverseKinematics(planar_arm())
    ik.pose("tip", orientation="").target = (1.0, 0.3, 0.0)
    found = ik.solve(np.array([0.3, 0.4]))
    far = np.hypot(1.0, 0.3) - 0.9
    assert found.reason == f"tip: target is {far:.3g} m beyond reach: joint1 straight"


def test_a_straight_leg_names_its_knee():
    robot = standing_hrp2()
    ik = InverseKinematics(robot, locked=[robot.name])
    foot = ik.pose("left")
    foot.target = Transform(foot.target.R, foot.target.p - np.array([0.0, 0.0, 0.3]))
    reason = ik.solve().reason
    assert "left: target is 0.2" in reason
    assert "LLEG_KNEE_P straight" in reason


def test_joints_at_their_limits_are_named_with_them():
    ik = InverseKinematics(planar_arm(upper=1.0, lower=-1.0))
    ik.pose("tip", orientation="").target = (0.5, 0.0, 0.0)
    reason = ik.solve(np.array([0.0, 0.3])).reason
    # on either side of the line to the target
    assert reason.endswith(("at the limit: joint1 (upper, 1)", "at the limit: joint1 (lower, -1)"))


def test_tasks_that_stand_against_it_are_named_by_their_priority():
    robot = standing_hrp2()
    ik = InverseKinematics(robot, restarts=0)
    ik.pose("left")
    ik.pose("waist")
    ik.pose("right_hand", orientation="", priority=1)
    chest = ik.pose("waist", orientation="", position="z", priority=1)
    chest.target = chest.target.p + np.array([0.0, 0.0, 0.05])
    reason = ik.solve().reason
    assert "waist: target is 0.05 m beyond reach" in reason
    assert "against it, of higher priority: waist" in reason
    assert "right_hand" not in reason


def test_long_lists_are_cut_short():
    names = [f"joint{i}" for i in range(9)]
    assert reasons._list(names) == "joint0, joint1, joint2, joint3 and 5 more"
