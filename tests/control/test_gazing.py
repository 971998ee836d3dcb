"""Gazes: the axis goes through the target, as kinematics has it, within travel and speed."""

import numpy as np
import pytest

import tabi
from tabi.control import gaze, hold, together
from tabi.dynamics.configuration import Configuration
from tabi.spatial.transform import from_rpy


def seen(robot, **joints):
    q = np.array(
        [joints.get(name, robot.half_sitting.get(name, 0.0)) for name in robot.joint_names]
    )
    return tabi.Measurement(q, np.zeros(len(q)), np.zeros(len(q)))


def angle(robot, base, measurement, told, target, body="head", axis=(1.0, 0.0, 0.0)):
    """Between the axis and the target, with the neck where it was told to be [rad]."""
    here = Configuration(robot)
    here.set_joints(measurement.position, 0.0, base)
    here.set_joints(dict(told.position), 0.0, base)
    X = here.pose(body)
    a, b = X.R @ axis, target - X.p
    return np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b)


@pytest.mark.parametrize("target", [(2.0, 0.5, 1.0), (2.0, 0.2, 0.8), (0.8, 0.6, 1.6)])
@pytest.mark.parametrize("chest", [0.0, 0.2])
def test_the_axis_points_at_the_target_to_a_millionth(target, chest):
    robot = tabi.robots.hrp2()
    base = from_rpy((0.02, -0.05, 0.3), (0.1, 0.2, 0.7))
    look = gaze(robot, "head", target, base=base)
    assert look.joints == ("HEAD_Y", "HEAD_P")
    measured = seen(robot, CHEST_Y=chest, CHEST_P=0.5 * chest)
    # the neck gets there within its speed of 6.9 rad/s
    for k in range(4):
        told = look(0.2 * k, measured)
    assert angle(robot, base, measured, told, target) < 1e-6
    assert look.error < 1e-6
    assert abs(sum(told.velocity.values())) < 1e-6


@pytest.mark.slow
def test_another_axis_and_a_target_that_moves_are_followed():
    robot = tabi.robots.hrp2()
    axis = np.array([0.9, 0.1, -0.2])
    path = lambda t, m: (1.0, 0.3 * np.sin(t), 0.7)  # noqa: E731
    look = gaze(robot, "head", path, axis=axis, base=tabi.Transform())
    measured = seen(robot)
    for t in np.arange(0.0, 0.3, 0.05):
        look(t, measured)
    for t in np.arange(0.3, 3.0, 0.05):
        told = look(t, measured)
        assert angle(robot, tabi.Transform(), measured, told, path(t, None), axis=axis) < 1e-6


def test_the_neck_turns_no_faster_than_it_may_and_no_further():
    robot = tabi.robots.hrp2()
    look = gaze(robot, "head", (-1.0, 2.0, 1.0), base=tabi.Transform())
    measured, last = seen(robot), 0.0
    for k in range(200):
        told = look(0.005 * k, measured)
        moved, last = told.position["HEAD_Y"] - last, told.position["HEAD_Y"]
        assert abs(moved) <= robot.joint("HEAD_Y").velocity_limit * 0.005 * (1 + 1e-12)
    # as nearly as its travel allows: it is behind
    assert told.position["HEAD_Y"] == pytest.approx(robot.joint("HEAD_Y").upper, abs=1e-9)
    assert look.error > 0.5


def test_a_standing_robot_looks_at_what_it_is_told():
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(tabi.robots.hrp2())
    sim, target = tabi.Simulator(world), np.array([1.5, 0.6, 0.9])
    look = gaze(robot, "head", target)
    sim.set_controller(robot, together(robot, hold(robot.half_sitting), look), rate=100.0)
    sim.run(1.0)
    X = sim.pose(robot.body("head"))
    a, b = X.R[:, 0], target - X.p
    # the neck's motors sag by a torque of 1 N m over 1320 N m/rad
    assert np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b) < 2e-3


def test_a_reset_and_a_time_that_is_past_begin_where_the_neck_is():
    robot = tabi.robots.hrp2()
    look = gaze(robot, "head", (2.0, 1.0, 1.0), base=tabi.Transform())
    look(0.0, seen(robot))
    look(1.0, seen(robot))
    assert look(0.5, seen(robot, HEAD_Y=-0.2)).position["HEAD_Y"] == -0.2
    look.reset()
    assert look(0.6, seen(robot, HEAD_Y=0.1)).position["HEAD_Y"] == 0.1


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"body": "face"}, "body 'face' not found in hrp2"),
        ({"target": (1.0, 2.0)}, r"target is \(1.0, 2.0\); expected three finite numbers x, y, z"),
        ({"target": (1.0, 2.0, np.nan)}, "expected three finite numbers"),
        ({"axis": (0, 0, 0)}, "axis of a gaze is 0, 0, 0; expected a direction"),
        ({"axis": "front"}, "axis of a gaze is 'front'; expected three finite numbers"),
        ({"joints": ["NECK"]}, "joint 'NECK' not found in hrp2"),
        ({"body": "waist"}, "no joint moves body 'waist' of hrp2 alone; name the joints"),
    ],
)
def test_gazes_that_cannot_be_are_refused(told, words):
    with pytest.raises(tabi.ModelError, match=words):
        gaze(tabi.robots.hrp2(), **{"body": "head", "target": (1.0, 0.0, 1.0), **told})


def test_a_target_that_becomes_nonsense_is_told_with_its_time():
    robot = tabi.robots.hrp2()
    look = gaze(robot, "head", lambda t, m: None, base=tabi.Transform())
    with pytest.raises(tabi.ModelError, match=r"target is None at 0\.5 s; expected three finite"):
        look(0.5, seen(robot))
