"""Poses of a scene's robots: by name, with joints that differ, in degrees and metres."""

from contextlib import nullcontext
from math import radians
from types import SimpleNamespace

import pytest

import tabi
from tabi.scenes import poses
from tabi.scenes.keys.robots import RobotKeys
from tabi.scenes.motions.hold import Hold

BUILDER = SimpleNamespace(at=lambda *path: nullcontext())


def pose(robot, **told):
    keys = RobotKeys(robot="hrp2", motion=Hold(), **told)
    return poses.pose(BUILDER, robot, keys, ("robots", 0))


def test_joints_in_degrees_differ_from_the_pose():
    robot = tabi.robots.hrp2()
    found = pose(robot, joints_deg={"RLEG_KNEE_P": 30.0})
    assert found == dict(robot.half_sitting) | {"RLEG_KNEE_P": radians(30.0)}
    assert pose(robot, pose="zero") == {}


def test_a_pose_or_a_joint_that_is_not_there_is_refused():
    robot = tabi.robots.hrp2()
    with pytest.raises(tabi.ModelError, match="pose 'sitting' not found"):
        pose(robot, pose="sitting")
    with pytest.raises(tabi.ModelError, match=r"is revolute; expected one that slides"):
        pose(robot, joints_m={"RLEG_KNEE_P": 0.1})
