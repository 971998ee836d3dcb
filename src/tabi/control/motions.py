"""Test motions: hold a pose, pass through key frames, squat, sway, lean.

Each function returns a controller. A pose names joints; the others keep their last command. Squat,
sway and lean start from half-sitting and work for any biped with declared feet: its hips, knees and
ankles are found by geometry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import cos, pi, sin
from typing import Any

from tabi._errors import ModelError, brief, expect, real
from tabi.model.controllers.signals import Command, ControlLaw, Measurement
from tabi.model.feet import legs
from tabi.model.robot import Robot

Pose = Mapping[str, float]


def hold(pose: Pose) -> ControlLaw:
    """Hold a pose with zero velocity.

    Examples:
        >>> sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
    """
    command = Command(position=_pose("the pose to hold", pose), velocity=0.0)
    return lambda time, measurement: command


def _pose(owner: str, pose: Any) -> dict[str, float]:
    """Return a pose by joints; names and arrays of poses are rejected, as they need a robot."""
    what = "{joint: position}, for example robot.half_sitting or robot.poses[…]"
    expect(owner, pose, Mapping, what)
    return dict(pose)


def keyframes(poses: Sequence[tuple[float, Pose]], passing: bool = False) -> ControlLaw:
    """Move from pose to pose at the given times [s], at rest in each. With ``passing`` the joints
    move through the inner poses without a stop, on a cubic spline that stays between neighbouring
    positions.

    Examples:
        >>> up = dict(robot.half_sitting, HEAD_P=-0.2)
        >>> nod = tabi.control.keyframes([(0.0, robot.half_sitting), (1.0, up)])
        >>> sim.set_controller(robot, nod)
    """
    try:
        pairs = [(real("time of a key frame", t), p) for t, p in poses]
    except (TypeError, ValueError):
        raise ModelError(
            f"key frames are {brief(poses)}; expected a list of (time [s], {{joint: position}})"
        ) from None
    frames = [(t, _pose(f"key frame at {t:g} s", p)) for t, p in pairs]
    if len(frames) < 2 or not all(a[0] < b[0] for a, b in pairwise(frames)):
        raise ModelError(
            f"key frames are at {[t for t, _ in frames]} s; expected two or more, at growing times"
        )
    names = sorted({name for _, pose in frames for name in pose})
    rates = _passing_rates(frames, names) if passing else [dict.fromkeys(names, 0.0)] * len(frames)

    def controller(time: float, measurement: Measurement) -> Command:
        time = min(max(time, frames[0][0]), frames[-1][0])
        k = max(i for i in range(len(frames) - 1) if frames[i][0] <= time)
        (start, a), (end, b) = frames[k], frames[k + 1]
        x, length = (time - start) / (end - start), end - start
        # Hermite's cubic: position and velocity at both ends
        share, rate = x * x * (3 - 2 * x), 6 * x * (1 - x) / length
        first, last = x * (1 - x) ** 2 * length, x * x * (x - 1) * length
        first_rate, last_rate = (1 - x) * (1 - 3 * x), x * (3 * x - 2)
        span = {name: b.get(name, 0.0) - a.get(name, 0.0) for name in names}
        start_rates, end_rates = rates[k], rates[k + 1]
        return Command(
            {
                n: a.get(n, 0.0) + share * span[n] + first * start_rates[n] + last * end_rates[n]
                for n in names
            },
            {
                n: rate * span[n] + first_rate * start_rates[n] + last_rate * end_rates[n]
                for n in names
            },
        )

    return controller


def _passing_rates(
    frames: Sequence[tuple[float, Pose]], names: Sequence[str]
) -> list[dict[str, float]]:
    """Return the velocities of joints at key frames: 0 at both ends and at reversals, else a
    weighted harmonic mean of the mean velocities before and after, which keeps cubics monotone.

    Reference: Fritsch and Butland (1984), A method for constructing local monotone piecewise cubic
    interpolants.
    """
    still = dict.fromkeys(names, 0.0)
    all_rates = [still]
    for (t0, a), (t1, b), (t2, c) in zip(frames, frames[1:], frames[2:], strict=False):
        before, after, rates = t1 - t0, t2 - t1, dict(still)
        for name in names:
            here = b.get(name, 0.0)
            came, goes = (here - a.get(name, 0.0)) / before, (c.get(name, 0.0) - here) / after
            if came * goes > 0:
                w = (before + 2 * after, 2 * before + after)
                rates[name] = (w[0] + w[1]) / (w[0] / came + w[1] / goes)
        all_rates.append(rates)
    return [*all_rates, still]


def along(pose: Pose, direction: Pose, amplitude: float, frequency: float) -> ControlLaw:
    """Move from a pose along a direction of its joints and back, ``frequency`` times a second,
    starting at rest.

    Examples:
        >>> nod = tabi.control.motions.along(robot.half_sitting, {"HEAD_P": 1.0}, 0.2, 0.5)
        >>> sim.set_controller(robot, nod)
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


def squat(robot: Robot, depth: float = 0.3, frequency: float = 1.0) -> ControlLaw:
    """Bend the knees by twice ``depth`` [rad] and back;
    the trunk stays upright, and the hips over the ankles as far as small bends go.

    Examples:
        >>> sim.set_controller(robot, tabi.control.squat(robot, depth=0.2, frequency=0.5))
    """
    direction = {}
    for leg in legs.find(robot):
        # thigh · sin(hip) = shank · sin(ankle)
        hip = -2 * leg.shank / (leg.thigh + leg.shank)
        for turn, share in ((leg.hip, hip), (leg.knee, 2.0), (leg.ankle, -2.0 - hip)):
            direction[turn.joint] = turn.sign * share
    return along(robot.half_sitting, direction, depth, frequency)


def sway(robot: Robot, angle: float = 0.05, frequency: float = 0.5) -> ControlLaw:
    """Shift the weight from side to side by the rolls of hips and ankles [rad].

    Examples:
        >>> sim.set_controller(robot, tabi.control.sway(robot, angle=0.05, frequency=0.5))
    """
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


def lean(robot: Robot, angle: float = 0.1, duration: float = 1.0) -> ControlLaw:
    """Lean forwards in the ankles by an angle [rad] within a time [s], and stay.

    Examples:
        >>> sim.set_controller(robot, tabi.control.lean(robot, angle=0.05, duration=2.0))
    """
    pose = dict(robot.half_sitting)
    end = {
        leg.ankle.joint: pose.get(leg.ankle.joint, 0.0) - leg.ankle.sign * angle
        for leg in legs.find(robot)
    }
    return keyframes([(0.0, pose), (duration, {**pose, **end})])
