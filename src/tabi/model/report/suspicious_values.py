"""Suspicious values of a robot's file: wrong units, impossible inertias, missing parts. The robot
is made as the file has it, and suspicious values are reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf, pi

import numpy as np

from tabi.model.robot import Robot

# angles beyond two turns, up to two turns in degrees, are degrees; what is larger means "no limit"
FEW_TURNS, DEGREES = 4 * pi, 720.0
# larger than any robot [m]
MAX_SIZE_M = 30.0
# of a box around the whole robot, more than iron [kg/m³]
MAX_DENSITY = 8000.0
# by how much moments of inertia of a real body may be rounded; of a kilogram, none [m²]
ROUNDING, MOMENT_TOLERANCE = 0.01, 1e-9

# of the robot's mass: what is lighter stands for nothing
LIGHT = 1e-4


def doubts(robot: Robot) -> list[str]:
    """Return the suspicious values of a robot, one clause each."""
    return [*robot.doubts, *_missing(robot), *_numbers(robot)]


def _numbers(robot: Robot) -> list[str]:
    looks = (_angles, _lengths, _inertias) if robot.bodies else ()
    return [doubt for look in looks for doubt in look(robot)]


def note(robot: Robot) -> None:
    """Note for the robot's report what its reader has not noted."""
    robot.notes += [f"doubtful: {doubt}" for doubt in _numbers(robot)]


def listed(names: Iterable[str]) -> str:
    """Names for a sentence, the first few of many."""
    names = list(names)
    return ", ".join(map(repr, names[:4])) + (f" and {len(names) - 4} more" if names[4:] else "")


def _angles(robot: Robot) -> Iterator[str]:
    limits = {}
    for body in robot.bodies:
        joint = body.joint
        if joint.kind == "revolute":
            far = max((abs(x) for x in (joint.lower, joint.upper) if abs(x) < inf), default=0.0)
            if FEW_TURNS < far <= DEGREES:
                limits[joint.name] = far
    if limits:
        far = max(limits.values())
        turns = f"{far:g} rad, {far / (2 * pi):.0f} turns"
        yield f"limits of {listed(limits)} go up to {turns}; expected radians, were degrees meant?"


def _lengths(robot: Robot) -> Iterator[str]:
    """Size and density of the whole robot, in its pose."""
    X = robot.placements()
    axes = np.eye(3)
    size = np.array([robot.extent(d, X) + robot.extent(-d, X) for d in axes])
    if size.max() > MAX_SIZE_M:
        yield f"it is {size.max():,.0f} m large; expected metres, were millimetres meant?"
        return
    # files whose meshes are missing have hardly any width
    volume = float(np.prod(np.maximum(size, 0.25 * size.max())))
    if volume > 0 and robot.mass > MAX_DENSITY * volume:
        box = " × ".join(f"{x:.2g}" for x in size)
        heavy = f"it has {robot.mass:,.0f} kg within {box} m, more than iron"
        yield f"{heavy}; expected kilograms, were grams meant?"


def _inertias(robot: Robot) -> Iterator[str]:
    X = robot.placements()
    reach = max(robot.extent(d, X) for d in (*np.eye(3), *-np.eye(3))) or inf
    negative, impossible, large = [], [], {}
    for body in robot.bodies:
        mass, tensor = body.inertia.mass, body.inertia.tensor
        if mass <= LIGHT * robot.mass or not np.isfinite(tensor).all():
            continue
        low, middle, high = np.linalg.eigvalsh(tensor)
        radius = float(np.sqrt(max(high, 0.0) / mass))
        if low < -MOMENT_TOLERANCE * mass:
            negative.append(body.name)
        elif low + middle < (1 - ROUNDING) * high - MOMENT_TOLERANCE * mass:
            impossible.append(body.name)
        if radius > max(10.0 * reach, MAX_SIZE_M):
            large[body.name] = radius
    if negative:
        yield f"inertia of {listed(negative)} is not positive; expected positive moments in kg·m²"
    if impossible:
        yield (
            f"inertia of {listed(impossible)} is one that no body has: "
            "expected no moment larger than the sum of the other two"
        )
    if large:
        yield (
            f"inertia of {listed(large)} is that of something {max(large.values()):,.0f} m large; "
            "expected kg·m², were g·mm² meant?"
        )


def _missing(robot: Robot) -> Iterator[str]:
    if robot.missing_meshes:
        files = list(dict.fromkeys(file for lost in robot.missing_meshes.values() for file in lost))
        yield (
            f"collision meshes of {listed(robot.missing_meshes)} cannot be used and are left out "
            f"({listed(files)}); put them where the file says"
        )
