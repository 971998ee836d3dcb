"""Patterns: joint positions over time, and a check of whether a robot can follow them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError
from tabi._renamed import renamed_arguments, renamed_attributes
from tabi.control.filters import zero_phase
from tabi.control.joint_values import JointChoice
from tabi.model.robot import Robot

Array = NDArray[np.float64]
# tolerance of position limits, and of velocity limits per sample: positions in files are rounded to
# four to six digits [rad or m]
ROUNDING_TOLERANCE = 1e-4
# relative tolerance of a constant sampling time
SAMPLING_TOLERANCE = 1e-3


@renamed_attributes(others="extra")
@dataclass(frozen=True, eq=False)
class Pattern:
    """Joint positions over time; made by ``pattern`` or ``read_pattern``.

    Attributes:
        joints: names, in the order of the columns.
        times: growing [s], shape (n,). position: [rad or m], shape (n, joints).
        velocity: [rad/s or m/s], shape (n, joints); default: differences of positions.
        extra: further data of a file, by its name there, as "waist" and "zmp" of OpenHRP; rows are
            at the same times.
        planned_zmp: name in ``extra`` of the planned zero moment point, if it is in the base's
            frame [m], shape (n, 3).

    Example: ``control.pattern`` in docs/controllers.md
    """

    joints: tuple[str, ...]
    times: Array
    position: Array
    velocity: Array
    extra: Mapping[str, Array] = field(default_factory=dict)
    planned_zmp: str | None = None

    @property
    def zmp(self) -> Array | None:
        """The planned zero moment point in the base's frame [m], shape (n, 3); None if no file
        specifies it.
        """
        return None if self.planned_zmp is None else self.extra.get(self.planned_zmp)

    @property
    def duration(self) -> float:
        """Duration from the first sample to the last [s]."""
        return float(self.times[-1] - self.times[0])

    def smoothed(self, cutoff: float) -> Pattern:
        """Return the motion after a low-pass without delay: rounded positions of a file result in
        velocity jumps, of 5 · 10⁻⁴ rad in 2 ms with three digits.

        Args:
            cutoff: [Hz], below half the rate of the samples.
        """
        steps = np.diff(self.times)
        if np.ptp(steps) > SAMPLING_TOLERANCE * steps.mean():
            raise ModelError(
                f"times of the pattern are {1e3 * steps.min():.4g} to {1e3 * steps.max():.4g} ms "
                f"apart; expected even ones for a low-pass: sample it again"
            )
        position = zero_phase(self.position, cutoff, 1.0 / float(steps.mean()))
        return replace(self, position=position, velocity=differences(self.times, position))

    def check(self, robot: Robot, rate: float = 1.0) -> None:
        """Reject motions beyond the limits of the robot's joints, played ``rate`` times as fast."""
        choice = JointChoice(robot, self.joints)
        order = [choice.names.index(name) for name in self.joints]
        lower, upper, fastest = (limit[order] for limit in choice.limits())
        q, t, v = self.position, self.times, self.velocity
        beyond = np.maximum(lower - q, q - upper)
        if beyond.max() > ROUNDING_TOLERANCE:
            k, j = np.unravel_index(int(beyond.argmax()), q.shape)
            raise ModelError(
                f"the pattern takes joint {self.joints[j]!r} of {robot.name} to {q[k, j]:g} at "
                f"{t[k]:g} s; expected positions within its travel, {lower[j]:g} to {upper[j]:g}"
            )
        steps = np.diff(t)[:, None] / rate
        jump = np.abs(np.diff(q, axis=0)) - fastest * steps
        if jump.max(initial=-1.0) > ROUNDING_TOLERANCE:
            k, j = np.unravel_index(int(jump.argmax()), jump.shape)
            raise ModelError(
                f"the pattern moves joint {self.joints[j]!r} of {robot.name} by "
                f"{q[k + 1, j] - q[k, j]:.4g} within {1e3 * steps[k, 0]:g} ms after {t[k]:g} s; "
                f"with {fastest[j]:g} rad/s (or m/s) it can go {fastest[j] * steps[k, 0]:.4g}: "
                f"play it slower, or correct it there"
            )
        excess = np.abs(v) * rate - fastest
        # twice the rounding error of positions
        if excess.max() > 2.0 * ROUNDING_TOLERANCE / steps.min(initial=1.0):
            k, j = np.unravel_index(int(excess.argmax()), v.shape)
            raise ModelError(
                f"the pattern moves joint {self.joints[j]!r} of {robot.name} with "
                f"{rate * v[k, j]:.4g} at {t[k]:g} s; expected velocities within its limit, "
                f"{fastest[j]:g}"
            )


@renamed_arguments(others="extra")
def pattern(
    robot: Robot,
    times: ArrayLike,
    position: ArrayLike,
    velocity: ArrayLike | None = None,
    joints: Iterable[str] | None = None,
    extra: Mapping[str, Array] | None = None,
) -> Pattern:
    """Make a pattern from arrays, checked against the robot's limits.

    Args:
        times: growing [s], shape (n,), two or more.
        position: [rad or m], shape (n, joints).
        velocity: of the same shape; default: central differences of positions.
        joints: names of the columns; default: all joints of the robot in their order.
        extra: further data of a file, by name.

    Examples:
        >>> nod = tabi.control.pattern(robot, [0.0, 1.0], [[0.0], [0.2]], joints=["HEAD_P"])
        >>> sim.set_controller(robot, tabi.control.playback(robot, nod))
    """
    names = tuple(robot.joint_names if joints is None else joints)
    choice = JointChoice(robot, names)
    if len(choice.names) != len(names):
        raise ModelError(f"joints of the pattern are {list(names)}; expected each of them once")
    t, q = _numbers("times", times), _numbers("position", position)
    if t.ndim != 1 or len(t) < 2 or not (np.diff(t) > 0).all():
        description = f"{t[:4].tolist()} …" if t.ndim == 1 else f"of shape {t.shape}"
        raise ModelError(
            f"times of the pattern are {description}; expected two or more that grow [s]"
        )
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
    pattern_ = Pattern(names, t, q, v, dict(extra or {}))
    pattern_.check(robot)
    return pattern_


def differences(t: Array, q: Array) -> Array:
    """Return the velocities of positions over time: slope of the parabola through three neighbours,
    and of the line at the ends.
    """
    if len(t) < 3:
        return np.gradient(q, t, axis=0)
    return np.gradient(q, t, axis=0, edge_order=1)


def _numbers(name: str, value: Any) -> Array:
    try:
        values = np.array(value, float)
    except (TypeError, ValueError):
        raise ModelError(
            f"{name} of the pattern is no array of numbers: rows have different lengths, or hold "
            f"something else"
        ) from None
    if name == "times" and not np.isfinite(values).all():
        raise ModelError(
            f"times of the pattern hold {values[~np.isfinite(values)][0]}; correct them"
        )
    return values
