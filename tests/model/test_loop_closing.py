"""Poses of robots with loops: rods go where bonds want them, chosen joints stay."""

import numpy as np
import pytest

from tabi.model.body import Closure
from tabi.model.joint import Joint, Motor
from tabi.model.loop_closing import close, in_loops
from tabi.model.robot import Robot
from tabi.spatial.inertia import solid_box
from tabi.spatial.transform import Transform, translation


def four_bar(kind="ball", rod="revolute"):
    """Crank (0.1 m, with a motor), rod (0.4 m) and rocker (0.3 m) in the plane y = 0, closed where
    rod and rocker meet in the pose zero; and an arm outside of the loop.
    """
    robot = Robot("linkage")
    rod_end = np.array([0.4, 0.0, 0.1])
    base = robot.add_body("base", Joint("base", "fixed"), None, solid_box(1.0, (0.1, 0.1, 0.1)))
    axis, light = (0.0, 1.0, 0.0), solid_box(0.2, (0.1, 0.02, 0.02))
    crank = robot.add_body("crank", Joint("crank", "revolute", axis=axis), base, light)
    crank.joint.motor = Motor(kp=10.0)
    placed = translation((0.0, 0.0, 0.1))
    bar = robot.add_body("rod", Joint("rod", rod, axis=axis, placement=placed), crank, light)
    foot = translation(rod_end - (0.0, 0.0, 0.3))
    rocker = robot.add_body(
        "rocker", Joint("rocker", "revolute", axis=axis, placement=foot), base, light
    )
    robot.add_body("arm", Joint("arm", "revolute", axis=axis), base, light)
    X = Transform()
    if kind == "hinge":
        # its axis is that of the joints
        X = Transform(np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]), np.zeros(3))
    robot.bonds.append(
        Closure(
            kind,
            bar,
            rocker,
            translation((0.4, 0.0, 0.0)) @ X,
            translation((0.0, 0.0, 0.3)) @ X,
        )
    )
    return robot


def gap(robot, positions=None):
    return robot.bonds[0].gap(robot.placements(positions))


def test_joints_of_a_loop_are_those_between_the_ends_of_its_bond():
    assert [body.name for body in in_loops(four_bar())] == ["crank", "rod", "rocker"]


@pytest.mark.parametrize("kind", ["ball", "hinge"])
@pytest.mark.parametrize("rod", ["revolute", "spherical"])
def test_a_pose_moves_rods_after_the_joints_that_it_names(kind, rod):
    robot = four_bar(kind, rod)
    assert gap(robot) < 1e-12
    robot.set_pose({"crank": 0.7, "arm": 0.3})
    assert gap(robot) < 1e-9
    assert robot.joint("crank").position == pytest.approx([0.7])
    assert robot.joint("arm").position == pytest.approx([0.3])
    assert abs(robot.joint("rocker").position[0]) > 0.05


def test_joints_that_a_pose_names_give_way_only_where_others_cannot_close_the_loop():
    robot = four_bar()
    robot.set_pose({"crank": 0.7, "rod": 0.1, "rocker": 0.1})
    assert gap(robot) < 1e-9
    assert robot.joint("crank").position == pytest.approx([0.7])


def test_a_loop_that_cannot_be_closed_is_as_nearly_closed_as_can_be():
    robot = four_bar()
    robot.bonds[0].place_b = translation((0.0, 0.05, 0.3))
    robot.set_pose({"crank": 0.7})
    # what is left is across the plane
    assert gap(robot) == pytest.approx(0.05, abs=1e-6)


def test_joints_stop_at_their_ends_and_what_is_closed_stays():
    robot = four_bar()
    robot.joint("rocker").lower, robot.joint("rocker").upper = -0.01, 0.01
    robot.set_pose({"crank": 0.7})
    assert -0.01 <= robot.joint("rocker").position[0] <= 0.01
    positions = {body: body.joint.position for body in four_bar().bodies}
    same = four_bar()
    positions = {body: body.joint.position for body in same.bodies}
    assert close(same, positions, ()) is positions
