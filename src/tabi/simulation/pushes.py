"""Pushes: external forces on a body, from a time on and for a duration."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError, real
from tabi.model.compiled import Link, Model
from tabi.step.tables import StepCommand

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Push:
    """A force and a torque on a body, in the world's axes [N, N·m].

    Attributes:
        point: of application, in the body's frame [m].
        start, until: in steps; the last one may count in part.
        brief: whether it has no duration, so that it lasts one step.
    """

    link: Link
    force: Array
    torque: Array
    point: Array
    until: float
    start: int = 0
    brief: bool = False


def push(
    link: Link,
    vectors: tuple[ArrayLike, ArrayLike, ArrayLike],
    duration: float | None,
    dt: float,
    now: int,
) -> Push:
    """Make a push from step ``now`` on, for a duration [s]; default: one step.

    Args:
        vectors: force, torque and point.
    """
    if link.body == 0:
        raise ModelError(f"body {link.name!r} does not move; expected one that a force can push")
    names = ("force", "torque", "point")
    checked = [
        vector(f"{name} on {link.name!r}", x) for name, x in zip(names, vectors, strict=True)
    ]
    lasts = dt if duration is None else real(f"duration of the push on {link.name!r}", duration)
    if not 0 < lasts < np.inf:
        raise ModelError(
            f"duration of the push on {link.name!r} is {duration}; "
            "expected a positive number of seconds"
        )
    # decimal durations are whole numbers of steps but for rounding
    steps = lasts / dt
    whole = round(steps)
    steps = float(whole) if whole > 0 and abs(steps - whole) < 1e-6 else steps
    return Push(link, *checked, until=now + steps, start=now, brief=duration is None)


def step_at(time: float, dt: float) -> int:
    """Return the step that begins at a time [s], or the next one after it."""
    if not 0 <= real("time of a push", time) < np.inf:
        raise ModelError(f"time of a push is {time}; expected a number of seconds ≥ 0")
    # decimal times are whole numbers of steps but for rounding
    return ceil(time / dt - 1e-6)


def write_wrenches(
    model: Model, pushes: Iterable[Push], now: int, body: NDArray[np.void], command: StepCommand
) -> None:
    """Sum up the wrenches of pushes in the step ``now``, about the origins of the bodies' trees.

    Args:
        body: kinematics, rows of ``dynamics.workspace.BODY``.
    """
    if command.pushed[0]:
        command.wrench[:], command.pushed[0] = 0.0, 0
    for p in pushes:
        if now < p.start:
            continue
        row, share, placement = body[p.link.body], min(1.0, p.until - now), p.link.placement
        # from the tree's origin
        arm = row["position"] + row["rotation"].reshape(3, 3) @ (placement @ p.point)
        (x, y, z), (a, b, c) = arm.tolist(), p.force.tolist()
        # r × f; NumPy's own product of vectors takes longer than a step
        turns = np.array([y * c - z * b, z * a - x * c, x * b - y * a])
        command.wrench[p.link.body, :3] += share * (p.torque + turns)
        command.wrench[p.link.body, 3:] += share * p.force
        command.pushed[0] += 1


def steps_without_callback(pushes: Iterable[Push], now: int, count: int) -> int:
    """Return the number of steps, at most ``count``, until a push changes."""
    for p in pushes:
        # the wrench of a push changes as its body rotates
        count = min(count, p.start - now if p.start > now else 1)
    return count


def vector(owner: str, value: ArrayLike) -> Array:
    """Return three finite numbers, or raise an error that names their owner."""
    try:
        x = np.array(value, float)
    except (TypeError, ValueError):
        x = np.zeros(0)
    if x.shape != (3,) or not np.isfinite(x).all():
        raise ModelError(f"{owner} is {value!r}; expected three finite numbers")
    return x
