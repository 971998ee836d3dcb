"""Limbs: an arm from its hand, a neck from its head, a leg from its foot."""

import pytest
from bipeds import biped

import tabi
from tabi.control.chains import below, limb


def test_limbs_of_hrp2_are_its_arms_neck_and_legs():
    robot = tabi.robots.hrp2(grippers=True)
    for body, count, start in (
        ("right_hand", 7, "RARM_"),
        ("left_hand", 7, "LARM_"),
        ("head", 2, "HEAD_"),
        ("left_foot", 6, "LLEG_"),
        ("chest", 2, "CHEST_"),
    ):
        found = limb(robot, robot.body(body))
        assert len(found) == count
        assert all(name.startswith(start) for name in found)
        assert list(found) == [name for name in robot.joint_names if name in found]


def test_what_hangs_on_a_body_is_all_of_it():
    robot = biped()
    assert [b.name for b in below(robot, robot.body("l_knee_link"))] == [
        "l_knee_link",
        "l_ankle_link",
        "l_ankle_roll_link",
    ]
    assert below(robot, robot.base) == robot.bodies


def test_a_base_has_no_limb():
    robot = biped()
    with pytest.raises(tabi.ModelError, match="no joint moves body 'trunk' of biped alone"):
        limb(robot, robot.base)
