"""Sequence of controllers, each for a time.

Part k begins at t_k = t_0 + d_0 + … + d_{k−1}, where t_0 is the time of the first call, and
is called with the time t − t_k. The last part runs for ever.

A part begins with default motor commands: fields that its first command leaves open are zero for
velocity and effort, and the motors' values for gains, so that nothing of the previous part remains.
Positions that it does not name keep their last command.
"""

from __future__ import annotations

from collections.abc import Sequence as Listed
from math import inf
from typing import Any

import numpy as np

from tabi._errors import ModelError, real
from tabi.control.joint_values import motor_gains
from tabi.control.merging import together
from tabi.model.controllers import controller
from tabi.model.controllers.controller import Controller, checked
from tabi.model.controllers.signals import Command, ControlLaw, Measurement
from tabi.model.lookup import freedoms
from tabi.model.robot import Robot


class Sequence(Controller):
    """A controller made of several, one after the other: see ``sequence``.

    Attributes:
        playing: index of the part that was called last.
    """

    MEMORY = ("_start", "_last", "playing")

    def __init__(self, robot: Robot, parts: Listed[tuple[float | None, ControlLaw]]) -> None:
        self._parts = [_part(k, part, k == len(parts) - 1) for k, part in enumerate(parts)]
        if not self._parts:
            raise ModelError(
                f"a sequence of {robot.name} has no part; expected one or more: "
                f"(duration [s], controller)"
            )
        self._ends = np.cumsum([duration for duration, _ in self._parts])
        count = len(freedoms(robot))
        default_command = Command(
            velocity=np.zeros(count),
            effort=np.zeros(count),
            kp=motor_gains(robot, "kp"),
            kd=motor_gains(robot, "kd"),
        )
        self._robot, self._default_command = robot, default_command
        self.reset()

    @property
    def parts(self) -> tuple[ControlLaw, ...]:
        """The controllers, in their order."""
        return tuple(part for _, part in self._parts)

    @property
    def inner(self) -> tuple[ControlLaw, ...]:
        """The controllers in their order."""
        return self.parts

    def reset(self) -> None:
        """Restart with the next measurement."""
        self._start: float | None = None
        self._last, self.playing = -inf, -1

    def __call__(self, time: float, measurement: Measurement) -> Command:
        """Return the command of the part at this time; a time in the past restarts the sequence."""
        if time < self._last:
            self.reset()
        if self._start is None:
            self._start = time
        self._last, since = time, time - self._start
        # tolerance for rounding in sums of steps and durations
        k = min(int((self._ends <= since + 1e-9).sum()), len(self._parts) - 1)
        _, part = self._parts[k]
        since = max(0.0, since - (self._ends[k - 1] if k else 0.0))
        if k == self.playing:
            return part(since, measurement)
        controller.reset(part)
        self.playing = k
        first = part(since, measurement)
        return together(self._robot, lambda *_: self._default_command, lambda *_: first)(
            since, measurement
        )


def sequence(robot: Robot, parts: Listed[tuple[float | None, ControlLaw]]) -> Sequence:
    """Run controllers of a robot one after the other.

    Args:
        parts: (duration [s], controller) of each; the last runs for ever, and its duration may
            be None.

    Examples:
        >>> first, then = tabi.control.lean(robot), tabi.control.hold(robot.half_sitting)
        >>> sim.set_controller(robot, tabi.control.sequence(robot, [(1.0, first), (None, then)]))
    """
    return Sequence(robot, parts)


def _part(k: int, part: Any, last: bool) -> tuple[float, ControlLaw]:
    try:
        duration, controller = part
    except (TypeError, ValueError):
        raise ModelError(
            f"part {k} of a sequence is {part!r}; expected (duration [s], controller)"
        ) from None
    if duration is None and last:
        return inf, checked(controller, f"controller of part {k} of a sequence")
    length = real(f"duration of part {k} of a sequence", duration)
    if not 0 < length < inf:
        raise ModelError(
            f"duration of part {k} of a sequence is {length:g} s; expected a positive number"
        )
    return length, checked(controller, f"controller of part {k} of a sequence")
