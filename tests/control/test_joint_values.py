"""Numbers of joints from numbers, arrays and names, and what is refused."""

import numpy as np
import pytest
from bipeds import biped

from tabi._errors import ModelError
from tabi.control.joint_values import JointChoice, motor_gains, posed
from tabi.model.joint import Motor


def test_a_number_an_array_and_names_say_the_same():
    robot = biped()
    choice = JointChoice(robot, ["r_hip", "l_knee"])
    assert choice.names == ("l_knee", "r_hip")
    assert [robot.joint_names[k] for k in choice.at] == ["l_knee", "r_hip"]
    for told in (2.0, [2.0, 2.0], {"r_hip": 2.0, "l_knee": 2}):
        assert choice.values("kp", told).tolist() == [2.0, 2.0]
    assert choice.command_values(np.array([1.0, 3.0])) == {"l_knee": 1.0, "r_hip": 3.0}
    assert isinstance(JointChoice(robot).command_values(np.zeros(10)), np.ndarray)


def test_a_pose_is_names_an_array_or_the_name_of_one():
    robot = biped()
    choice, goal = posed(robot, "half_sitting")
    assert choice.every
    assert goal.tolist() == [robot.half_sitting.get(name, 0.0) for name in robot.joint_names]
    assert posed(robot, goal)[1].tolist() == goal.tolist()
    assert posed(robot, {"l_hip": 0.3})[1].tolist() == [0.3]


def test_gains_are_those_of_the_motors_and_none_without_one():
    robot = biped()
    robot.joint("l_hip").motor = Motor(kp=7.0, kd=2.0)
    gains = dict(zip(robot.joint_names, motor_gains(robot, "kp"), strict=True))
    assert gains.pop("l_hip") == 7.0
    assert set(gains.values()) == {0.0}
    assert JointChoice(robot, ["l_hip"]).motors("kd").tolist() == [2.0]


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ([1.0, 2.0, 3.0], r"kp of biped has shape \(3,\); expected one number, or \(2,\)"),
        ({"l_hip": 1.0}, "kp of biped has no number for joint 'r_hip'; name it too"),
        ({"l_hip": 1.0, "r_hip": "stiff"}, "kp of biped for joint 'r_hip' is 'stiff'"),
        ({"knee": 1.0}, "joint 'knee' not found in kp of biped"),
        ([1.0, np.nan], "kp of biped is nan for joint 'r_hip'; expected a finite number ≥ 0"),
        (-1.0, "kp of biped is -1 for joint 'l_hip'; expected a finite number ≥ 0"),
        ("stiff", "kp of biped is 'stiff'; expected a number, 2 numbers, or numbers by joint"),
    ],
)
def test_numbers_that_cannot_be_are_refused(told, words):
    with pytest.raises(ModelError, match=words):
        JointChoice(biped(), ["l_hip", "r_hip"]).values("kp", told, least=0.0)


def test_joints_that_cannot_be_chosen_are_refused():
    robot = biped()
    with pytest.raises(ModelError, match="joint 'l_hipp' not found in biped; joints near"):
        JointChoice(robot, ["l_hipp"])
    with pytest.raises(ModelError, match="no joint of biped is named; expected one or more"):
        JointChoice(robot, [])
    robot.joint("l_hip").kind = "spherical"
    with pytest.raises(ModelError, match="joint 'l_hip' of biped is spherical; expected joints"):
        JointChoice(robot)
