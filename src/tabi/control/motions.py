"""Motions to measure with: hold a pose, go through key frames, squat, sway, lean.

Each returns a controller. A pose names joints; joints it does not name stay as they were told last.
Squat, sway and lean start from half-sitting and are for any biped whose feet are known:
its hips, knees and ankles are found by geometry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import cos, pi, sin

from tabi._errors import ModelError
from tabi.model import legs
from tabi.model.robot import Robot
from tabi.model.signals import Command, Controller, Measurement

Pose = Mapping[str, float]


def hold(pose: Pose) -> Controller:
    """Stay in a pose."""
    command = Command(position=dict(pose), velocity=0.0)
    return lambda time, measurement: command


def keyframes(poses: Sequence[tuple[float, Pose]]) -> Controller:
    """Go from pose to pose at the given times [s], starting and arriving at rest each time."""
    frames = [(float(t), dict(p)) for t, p in poses]
    if len(frames) < 2 or any(b[0] <= a[0] for a, b in pairwise(frames)):
        raise ModelError(
            f"key frames are at {[t for t, _ in frames]} s; expected two or more, at growing times"
        )
    names = sorted({name for _, pose in frames for name in pose})

    def controller(time: float, measurement: Measurement) -> Command:
        time = min(max(time, frames[0][0]), frames[-1][0])
        k = max(i for i in range(len(frames) - 1) if frames[i][0] <= time)
        (start, a), (end, b) = frames[k], frames[k + 1]
        x, length = (time - start) / (end - start), end - start
        # a cubic: at rest at both ends
        share, rate = x * x * (3 - 2 * x), 6 * x * (1 - x) / length
        span = {name: b.get(name, 0.0) - a.get(name, 0.0) for name in names}
        return Command(
            {n: a.get(n, 0.0) + share * span[n] for n in names}, {n: rate * span[n] for n in names}
        )

    return controller


def along(pose: Pose, direction: Pose, amplitude: float, frequency: float) -> Controller:
    """Go from a pose along a direction of its joints and back, ``frequency`` times a second,
    starting at rest.
    """
    pose, direction = dict(pose), dict(direction)
    if not frequency > 0:
        raise ModelError(f"frequency is {frequency} Hz; expected a positive number")

    def controller(time: float, measurement: Measurement) -> Command:
        w = 2 * pi * frequency
        share, rate = 0.5 * amplitude * (1 - cos(w * time)), 0.5 * amplitude * w * sin(w * time)
        position = {
            name: pose.get(name, 0.0) + share * direction.get(name, 0.0)
            for name in {**pose, **direction}
        }
        return Command(position, {name: rate * value for name, value in direction.items()})

    return controller


def squat(robot: Robot, depth: float = 0.3, frequency: float = 1.0) -> Controller:
    """Bend the knees by twice ``depth`` [rad] and back;
    the trunk stays upright, and the hips over the ankles as far as small bends go.
    """
    direction = {}
    for leg in legs.find(robot):
        # thigh · sin(hip) = shank · sin(ankle)
        hip = -2 * leg.shank / (leg.thigh + leg.shank)
        for turn, share in ((leg.hip, hip), (leg.knee, 2.0), (leg.ankle, -2.0 - hip)):
            direction[turn.joint] = turn.sign * share
    return along(robot.half_sitting, direction, depth, frequency)


def sway(robot: Robot, angle: float = 0.05, frequency: float = 0.5) -> Controller:
    """Shift the weight from side to side by the rolls of hips and ankles [rad]."""
    direction = {}
    for leg in legs.find(robot):
        if len(leg.rolls) != 2:
            raise ModelError(
                f"leg {leg.foot.name!r} of {robot.name} has {len(leg.rolls)} joints that roll; "
                "expected those of hip and ankle"
            )
        for turn, share in zip(leg.rolls, (1.0, -1.0), strict=True):
            direction[turn.joint] = turn.sign * share
    return along(robot.half_sitting, direction, angle, frequency)


def lean(robot: Robot, angle: float = 0.1, duration: float = 1.0) -> Controller:
    """Lean forwards in the ankles by an angle [rad] within a time [s], and stay."""
    pose = dict(robot.half_sitting)
    end = {
        leg.ankle.joint: pose.get(leg.ankle.joint, 0.0) - leg.ankle.sign * angle
        for leg in legs.find(robot)
    }
    return keyframes([(0.0, pose), (duration, {**pose, **end})])
