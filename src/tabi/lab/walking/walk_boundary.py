"""Stiffness of the rubber in the feet that a walk without a stabiliser needs.

A robot that follows its pattern blindly stands in single support on a spring K about the ankle.
Standing still, it falls when that is less than its own weight takes,

    K < m g h,   with motors of stiffness kp in series  1/K = 1/K_b + 1/kp                       (1)
h: of the centre of mass above the ankle. Walking needs more. Here the stiffness K_b that separates
falls from walks is found by bisection, for the robot as it is and with one thing changed at a time:
damping of the rubber, ankles that give way less or not at all, the time and the length of a step,
and the place of the planned zero moment point. If (1) were what decides, it would be lower
with stiffer ankles, and the same for every gait and damping.

Bisection takes one boundary for granted. So a scan over stiffnesses is made as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tabi.analysis.walk_trial import Walked, try_walk
from tabi.lab.study import progress
from tabi.model.robot import Robot
from tabi.robots import hrp1s, hrp2
from tabi.robots.hrp1s import BUSH as HRP1S_BUSH
from tabi.robots.hrp2 import BUSH as HRP2_BUSH
from tabi.walking import Gait, gait_for

ROBOTS = {"hrp1s": (hrp1s, HRP1S_BUSH), "hrp2": (hrp2, HRP2_BUSH)}
# a waist that is lower has fallen [m]
MIN_WAIST_HEIGHT_M = 0.4
# stiffness between which is looked, times m g h, and how closely: of the robot as it is, of others
STIFFNESS_RANGE, FINE_RATIO, COARSE_RATIO = (1.0, 16.0), 1.05, 1.15
# stiffnesses of the scan, times m g h
SCAN = tuple(np.geomspace(1.0, 16.0, 7))


@dataclass(frozen=True)
class Variation:
    """Differences from the nominal robot.

    Attributes:
        damping: of the rubber, a part of its stiffness [s].
        exact: joints follow exactly. stiffer: gains of ankle motors, times their own.
        time: of a step, times its own. length: the same.
        zmp: of the gait, in the foot's frame, as in ``Gait`` [m].
    """

    damping: float = 0.01
    exact: bool = False
    stiffer: float = 1.0
    time: float = 1.0
    length: float = 1.0
    zmp: tuple[float, float] | None = None


AS_IT_IS = Variation()
VARIATIONS = {
    "damping K/20": Variation(damping=0.05),
    "damping K/1000": Variation(damping=0.001),
    "ankle gains × 3": Variation(stiffer=3.0),
    "steps of 0.8 the time": Variation(time=0.8),
    "steps of 1.5 times the time": Variation(time=1.5),
    "steps of half the length": Variation(length=0.5),
    "ZMP under the ankle": Variation(zmp=(0.0, 0.0)),
}


def boundaries(
    name: str,
    steps: int = 20,
    variations: Sequence[str] = tuple(VARIATIONS),
    scan: Sequence[float] = SCAN,
) -> dict[str, Any]:
    """Boundaries of a robot as plain data, and scans with servos and with exact joints."""
    pendulum, motors = ankle(name)
    count = 1 + len(variations) + 2 * len(scan)
    edges = {"as it is": boundary(name, AS_IT_IS, steps)}
    for key in variations:
        progress(f"{name} boundary", len(edges), count)
        edges[key] = boundary(name, VARIATIONS[key], steps, COARSE_RATIO)
    scans: dict[str, list[dict[str, Any]]] = {"servos": [], "exact": []}
    for key, trials in scans.items():
        how = replace(AS_IT_IS, exact=key == "exact")
        for times in scan:
            trials.append(_trial_row(times * pendulum, trial(name, times * pendulum, how, steps)))
            done = len(edges) + sum(map(len, scans.values()))
            progress(f"{name} boundary", done, count)
    # (1) for the softer of both motors
    weakest = min(motors)
    still = 1.0 / (1.0 / pendulum - 1.0 / weakest)
    return {
        "mgh_nm_rad": pendulum,
        "ankle_kp_nm_rad": motors,
        "standing_nm_rad": still,
        "edges": edges,
        "scans": scans,
    }


def boundary(
    name: str,
    how: Variation,
    steps: int,
    close: float = FINE_RATIO,
    span: tuple[float, float] = STIFFNESS_RANGE,
) -> dict[str, Any]:
    """Stiffness of the rubber about roll and pitch with which a robot just walks.

    Args:
        close: ratio of the stiffness that walks to the one that falls, at most.
        span: softest and stiffest to look between, times m g h.

    Returns:
        all trials, and two stiffnesses [N·m/rad], none where both ends of the span do the same.
    """
    low, high = (times * ankle(name)[0] for times in span)
    trials: list[dict[str, Any]] = []

    def walks(stiffness: float) -> bool:
        trials.append(_trial_row(stiffness, trial(name, stiffness, how, steps)))
        return trials[-1]["walks"]

    if walks(low) or not walks(high):
        return {"falls": None, "walks": None, "trials": trials}
    while high / low > close:
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if walks(middle) else (middle, high)
    return {"falls": float(low), "walks": float(high), "trials": trials}


def trial(name: str, stiffness: float, how: Variation, steps: int) -> Walked:
    """A walk without stabiliser on rubber of a stiffness [N·m/rad]."""
    robot = robot_with(name, stiffness, how)
    return try_walk(
        robot, steps, gait=gait_of(robot, how), exact=how.exact, lowest=MIN_WAIST_HEIGHT_M
    )


def robot_with(name: str, stiffness: float, how: Variation = AS_IT_IS) -> Robot:
    """HRP-1S or HRP-2 with rubber of a stiffness [N·m/rad], along the legs with its own."""
    make, rubber = ROBOTS[name]
    robot = make()
    for body in robot.bodies:
        motor = body.joint.motor
        if motor is not None and "ANKLE" in body.joint.name:
            gains = {"kp": how.stiffer * motor.kp, "kd": how.stiffer * motor.kd}
            body.joint.motor = replace(motor, **gains)
    robot.add_bush(stiffness, how.damping * stiffness, *rubber[2:])
    robot.stand_on_ground()
    return robot


def gait_of(robot: Robot, how: Variation) -> Gait:
    """The robot's own gait, varied; times are whole ticks."""
    default = gait_for(robot)

    def ticks(duration: float) -> float:
        return default.tick * round(how.time * duration / default.tick)

    return replace(
        default,
        length=how.length * default.length,
        step_time=ticks(default.step_time),
        double_support=ticks(default.double_support),
        shift=ticks(default.shift),
        zmp=default.zmp if how.zmp is None else how.zmp,
    )


def _trial_row(stiffness: float, walk: Walked) -> dict[str, Any]:
    return {
        "stiffness_nm_rad": float(stiffness),
        "walks": walk.walked,
        "steps": walk.steps,
        "fell_s": walk.fell,
        "tilt_rad": walk.tilt,
    }


def ankle(name: str) -> tuple[float, list[float]]:
    """m g h about the ankle of all that is above it [N·m/rad], and kp of its pitch and roll motors
    [N·m/rad].
    """
    robot = ROBOTS[name][0]()
    foot, X = robot.feet["left"].body, robot.placements()
    above = [body for body in robot.bodies if body is not foot]
    mass = sum(body.inertia.mass for body in above)
    centre = sum(body.inertia.mass * (X[body] @ body.inertia.centre)[2] for body in above) / mass
    motors = [robot.joint(f"LLEG_ANKLE_{axis}").motor for axis in "PR"]
    gravity = float(np.linalg.norm(robot.compile().arrays.gravity))
    return mass * gravity * float(centre - X[foot].p[2]), [motor.kp for motor in motors if motor]


def lines(result: dict[str, Any]) -> Iterator[str]:
    """The figures for a terminal."""
    mgh = result["mgh_nm_rad"]
    yield (
        f"  no stabiliser: rubber that falls and that walks [N·m/rad]; m g h is {mgh:.0f}, with "
        f"motors in series {result['standing_nm_rad']:.0f}"
    )
    for key, edge in result["edges"].items():
        words = "no boundary in between"
        if edge["falls"] is not None:
            words = f"{edge['falls']:.0f}, {edge['walks']:.0f}: {edge['walks'] / mgh:.1f} m g h"
        yield f"    {key:28} {words}"
    for key, trials in result["scans"].items():
        words = ", ".join(
            f"{trial['stiffness_nm_rad']:.0f} {'walks' if trial['walks'] else trial['steps']}"
            for trial in trials
        )
        yield f"    {key}, steps made: {words}"
