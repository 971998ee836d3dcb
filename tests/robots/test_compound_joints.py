"""Hinges whose axes meet are one joint."""

import numpy as np
import pytest

from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.robots.compound_joints import pairs_across
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import translation

UNIT = Inertia(1.0, np.zeros(3), 0.01 * np.eye(3))
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def leg(*hinges, far=1.0):
    """A pelvis, a chain of links, each on a hinge (offset from the one before, axis),
    and a foot fixed far below.
    """
    robot = Robot("leg")
    body = robot.add_body("pelvis", Joint("base", "floating"), None, UNIT)
    for k, (offset, axis) in enumerate(hinges):
        joint = Joint(f"hinge{k}", "revolute", placement=translation(offset), axis=axis)
        body = robot.add_body(f"link{k}", joint, body, UNIT)
    robot.add_body("foot", Joint("weld", "fixed", placement=translation((0, 0, -far))), body, UNIT)
    return robot


def names(robot):
    return {tuple(sorted(pair)) for pair in pairs_across(robot)}


def test_a_hip_of_three_hinges_joins_pelvis_and_thigh_and_what_is_fixed_to_it():
    assert names(leg(((0, 0.1, 0), Z), ((0, 0, 0), X), ((0, 0, 0), Y))) == {
        ("link1", "pelvis"),
        ("link2", "pelvis"),
        ("foot", "pelvis"),
        ("link0", "link2"),
        ("foot", "link0"),
    }


def test_hinges_that_are_far_apart_are_joints_of_their_own():
    # a knee half a metre below the hip
    assert names(leg(((0, 0.1, 0), Y), ((0, 0, -0.5), Y))) == set()


def test_axes_may_miss_each_other_by_a_thirtieth_of_the_size():
    # the robot is a metre high: 33 mm; two lines across, 60 mm apart, are 30 mm from their middle
    near = leg(((0, 0, 0), X), ((0, 0, -0.06), Y))
    assert ("link1", "pelvis") in names(near)
    far = leg(((0, 0, 0), X), ((0, 0, -0.08), Y))
    assert names(far) == set()


def test_an_axis_along_the_limb_meets_the_next_one_at_its_end():
    # a yaw axis through the knee: what carries the thigh and the shank are across one joint
    robot = leg(((0, 0, 0), Z), ((0, 0, -0.5), Y))
    assert ("link1", "pelvis") in names(robot)


def test_more_than_three_hinges_and_slides_are_not_one_joint():
    robot = leg(*[((0, 0, 0), axis) for axis in (X, Y, Z, X)])
    assert ("link3", "pelvis") not in names(robot)
    assert ("link2", "pelvis") in names(robot)
    robot.body("link1").joint.kind = "prismatic"
    assert ("link2", "pelvis") not in names(robot)
    assert ("link1", "pelvis") not in names(robot)


@pytest.mark.parametrize("robot", [leg(), leg(((0, 0, 0), X))])
def test_what_has_no_two_hinges_in_a_row_has_no_such_pairs(robot):
    assert pairs_across(robot) == set()
