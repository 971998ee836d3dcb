"""Motions made beforehand: positions of joints at times, and whether a robot can follow them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError
from tabi.control.filters import zero_phase
from tabi.control.joint_values import JointChoice
from tabi.model.robot import Robot

Array = NDArray[np.float64]
# positions in files are rounded, to six digits and to four: beyond its travel by this, and in a
# step beyond its speed by this, a joint is still within its limits [rad or m]
ROUNDED = 1e-4
# times are even where their differences are, to this share
EVEN = 1e-3


@dataclass(frozen=True, eq=False)
class Pattern:
    """Positions of joints at times; made by ``pattern`` or ``read_pattern``.

    Attributes:
        joints: names, in the order of the columns.
        times: growing [s], shape (n,). position: [rad or m], shape (n, joints).
        velocity: [rad/s or m/s], shape (n, joints); differences of positions unless given.
        others: what else a file tells, by its name there, as "waist" and "zmp" of OpenHRP; rows are
            at the same times.
        planned_zmp: name in ``others`` of the zero moment point that the motion was planned with,
            where this is in the base's frame [m], shape (n, 3).
    """

    joints: tuple[str, ...]
    times: Array
    position: Array
    velocity: Array
    others: Mapping[str, Array] = field(default_factory=dict)
    planned_zmp: str | None = None

    @property
    def zmp(self) -> Array | None:
        """The zero moment point that the motion was planned with, in the base's frame [m], shape
        (n, 3); None where no file told it.
        """
        return None if self.planned_zmp is None else self.others.get(self.planned_zmp)

    @property
    def duration(self) -> float:
        """From the first sample to the last [s]."""
        return float(self.times[-1] - self.times[0])

    def smoothed(self, cutoff: float) -> Pattern:
        """The same motion behind a low-pass without delay: digits of a file that are rounded are
        velocities that jump, by 5 · 10⁻⁴ rad in 2 ms where there are three.

        Args:
            cutoff: [Hz], below half the rate of the samples.
        """
        steps = np.diff(self.times)
        if np.ptp(steps) > EVEN * steps.mean():
            raise ModelError(
                f"times of the pattern are {1e3 * steps.min():.4g} to {1e3 * steps.max():.4g} ms "
                f"apart; expected even ones for a low-pass: sample it again"
            )
        position = zero_phase(self.position, cutoff, 1.0 / float(steps.mean()))
        return replace(self, position=position, velocity=differences(self.times, position))

    def check(self, robot: Robot, rate: float = 1.0) -> None:
        """Refuse what the robot's joints cannot follow when it is played ``rate`` times as fast."""
        choice = JointChoice(robot, self.joints)
        order = [choice.names.index(name) for name in self.joints]
        lower, upper, fastest = (limit[order] for limit in choice.limits())
        q, t, v = self.position, self.times, self.velocity
        beyond = np.maximum(lower - q, q - upper)
        if beyond.max() > ROUNDED:
            k, j = np.unravel_index(int(beyond.argmax()), q.shape)
            raise ModelError(
                f"the pattern takes joint {self.joints[j]!r} of {robot.name} to {q[k, j]:g} at "
                f"{t[k]:g} s; expected positions within its travel, {lower[j]:g} to {upper[j]:g}"
            )
        steps = np.diff(t)[:, None] / rate
        jump = np.abs(np.diff(q, axis=0)) - fastest * steps
        if jump.max(initial=-1.0) > ROUNDED:
            k, j = np.unravel_index(int(jump.argmax()), jump.shape)
            raise ModelError(
                f"the pattern moves joint {self.joints[j]!r} of {robot.name} by "
                f"{q[k + 1, j] - q[k, j]:.4g} within {1e3 * steps[k, 0]:g} ms after {t[k]:g} s; "
                f"with {fastest[j]:g} rad/s (or m/s) it can go {fastest[j] * steps[k, 0]:.4g}: "
                f"play it slower, or mend it there"
            )
        rush = np.abs(v) * rate - fastest
        # a difference of rounded positions is as far off as they are
        if rush.max() > 2.0 * ROUNDED / steps.min(initial=1.0):
            k, j = np.unravel_index(int(rush.argmax()), v.shape)
            raise ModelError(
                f"the pattern moves joint {self.joints[j]!r} of {robot.name} with "
                f"{rate * v[k, j]:.4g} at {t[k]:g} s; expected velocities within its limit, "
                f"{fastest[j]:g}"
            )


def pattern(
    robot: Robot,
    times: ArrayLike,
    position: ArrayLike,
    velocity: ArrayLike | None = None,
    joints: Iterable[str] | None = None,
    others: Mapping[str, Array] | None = None,
) -> Pattern:
    """A motion from arrays, checked against the robot's limits.

    Args:
        times: growing [s], shape (n,), two or more.
        position: [rad or m], shape (n, joints).
        velocity: of the same shape; central differences of positions unless given.
        joints: what the columns are; all joints of the robot in their order unless given.
    """
    names = tuple(robot.joint_names if joints is None else joints)
    choice = JointChoice(robot, names)
    if len(choice.names) != len(names):
        raise ModelError(f"joints of the pattern are {list(names)}; expected each of them once")
    t, q = _numbers("times", times), _numbers("position", position)
    if t.ndim != 1 or len(t) < 2 or not (np.diff(t) > 0).all():
        told = f"{t[:4].tolist()} …" if t.ndim == 1 else f"of shape {t.shape}"
        raise ModelError(f"times of the pattern are {told}; expected two or more that grow [s]")
    shape = (len(t), len(names))
    v = differences(t, q) if velocity is None and q.shape == shape else velocity
    v = q if v is None else _numbers("velocity", v)
    for name, x in (("position", q), ("velocity", v)):
        if x.shape != shape:
            raise ModelError(
                f"{name} of the pattern has shape {x.shape}; expected {shape}, a row for each time "
                f"and a column for each joint"
            )
        if not np.isfinite(x).all():
            k, j = np.unravel_index(int((~np.isfinite(x)).argmax()), shape)
            raise ModelError(
                f"{name} of the pattern is {x[k, j]} for joint {names[j]!r} at {t[k]:g} s; "
                f"expected finite numbers"
            )
    made = Pattern(names, t, q, v, dict(others or {}))
    made.check(robot)
    return made


def differences(t: Array, q: Array) -> Array:
    """Velocities of positions at times: the slope of the parabola through three neighbours, and at
    the ends that of the line.
    """
    if len(t) < 3:
        return np.gradient(q, t, axis=0)
    return np.gradient(q, t, axis=0, edge_order=1)


def _numbers(name: str, told: Any) -> Array:
    try:
        values = np.array(told, float)
    except (TypeError, ValueError):
        raise ModelError(
            f"{name} of the pattern is no array of numbers: rows have different lengths, or hold "
            f"something else"
        ) from None
    if name == "times" and not np.isfinite(values).all():
        raise ModelError(f"times of the pattern hold {values[~np.isfinite(values)][0]}; mend them")
    return values
