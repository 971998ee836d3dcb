"""Poses of a scene's robots: by name, and joints that differ from it."""

from __future__ import annotations

from contextlib import suppress
from math import pi

from tabi._errors import ModelError, unknown
from tabi.model.robot import Robot
from tabi.scenes.keys.motions import Posture
from tabi.scenes.places import Places
from tabi.scenes.reader import Path


def pose(builder: Places, robot: Robot, keys: Posture, path: Path) -> dict[str, float]:
    """Return the joint positions [rad or m] of a pose and what differs from it."""
    with builder.at(*path, "pose"):
        if keys.pose is None:
            # a robot without two legs has no such pose, and the scene does not require it
            positions: dict[str, float] = {}
            with suppress(ModelError):
                positions = dict(robot.half_sitting)
        elif keys.pose in ("zero", "half_sitting"):
            positions = {} if keys.pose == "zero" else dict(robot.half_sitting)
        elif keys.pose in robot.poses:
            positions = dict(robot.poses[keys.pose])
        else:
            raise unknown("pose", keys.pose, robot.name, dict.fromkeys([*robot.poses, "zero"]))
    for key, kinds, unit in (
        ("joints_deg", ("revolute", "continuous"), pi / 180),
        ("joints_m", ("prismatic",), 1.0),
    ):
        for name, value in getattr(keys, key).items():
            with builder.at(*path, key, name):
                kind = robot.joint(name).kind
                if kind not in kinds:
                    other = "joints_m" if key == "joints_deg" else "joints_deg"
                    raise ModelError(
                        f"joint {name!r} is {kind}; expected one that "
                        f"{'turns' if key == 'joints_deg' else 'slides'} (see {other})"
                    )
                positions[name] = value * unit
    return positions


def goal(builder: Places, robot: Robot, keys: Posture, path: Path) -> dict[str, float]:
    """Return the pose that motors hold [rad or m]."""
    for key in ("joints_deg", "joints_m"):
        for name in getattr(keys, key):
            with builder.at(*path, key, name):
                if robot.joint(name).passive:
                    raise ModelError(f"joint {name!r} is passive: nothing drives it; leave it out")
    return pose(builder, robot, keys, path)
