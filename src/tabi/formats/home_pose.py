"""Which pose of a robot's file it starts from: the one that ``stand_on_ground`` puts it in and that
a controller holds, ``robot.half_sitting``.

By name, the first of NAMES that is there, whatever its capitals and hyphens; ``home_pose`` is also
``home``. Of MuJoCo's keyframes else the first one in which the base is upright, as programs start
there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tabi.model.robot import Robot

NAMES = ("halfsitting", "home", "standing", "stand", "init", "initial", "start")


def named(poses: Iterable[str]) -> str | None:
    """The pose whose name says that a robot starts from it."""
    plain = {}
    for name in poses:
        plain.setdefault(re.sub(r"(pose|position|keyframe)$", "", _letters(name)), name)
    return next((plain[name] for name in NAMES if name in plain), None)


def adopt(robot: Robot, upright: Iterable[str]) -> None:
    """Let a robot start from one of its keyframes, with a note; not where it has such a pose.

    Args:
        upright: keyframes in which the base stands upright, in the order of the file.
    """
    choices = list(upright)
    if "half_sitting" in robot.poses or not choices:
        return
    preferred = named(choices)
    name = preferred or choices[0]
    robot.poses["half_sitting"] = robot.poses[name]
    why = "" if preferred else ", the first one with its base upright; none is named home or stand"
    robot.notes.append(
        f"keyframe {name!r} is also the robot's half_sitting, in which it stands{why}"
    )


def _letters(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())
