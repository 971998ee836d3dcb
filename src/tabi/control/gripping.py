"""Gripper control: close until a given effort is reached, and hold it.

The jaw's motor is commanded, whatever the jaw's position,

    τ = E − (|E|/s) v                                                                           (1)
A free jaw closes at the speed s, at which no effort is left; a jaw stopped by an object presses
with E, and in between the effort grows as the jaw slows down. So no contact has to be detected. A
negative effort opens.

(1) is the servo loop of a motor with the gains k_p = 0, k_d = |E|/s, a desired velocity of zero and
the feed-forward effort E, so that simulations integrate it implicitly. Dry friction of the gear
reduces both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tabi._errors import ModelError, unknown
from tabi.model.controllers.controller import Controller
from tabi.model.controllers.signals import Command, ControlLaw, Measurement
from tabi.model.lookup import freedoms
from tabi.model.robot import Robot

# share of the commanded effort above which a jaw presses on something
MIN_EFFORT_SHARE = 0.95


class Grip(Controller):
    """A controller that closes jaws, beside another motion: see ``grip``.

    Attributes:
        efforts: of each jaw [N·m or N]. motion: controller of all other joints, or None.

    Example: ``tabi.control.grip`` in docs/hrp2.md
    """

    MEMORY = ("_last", "_shut")

    def __init__(
        self,
        robot: Robot,
        efforts: Mapping[str, float],
        speed: float,
        motion: ControlLaw | None,
        when: Callable[[], bool] | None,
    ) -> None:
        self.efforts, self.motion, self._when = dict(efforts), motion, when
        names = freedoms(robot)
        for name, effort in self.efforts.items():
            if name not in names:
                raise unknown("joint", name, robot.name, robot.joint_names)
            if not 0 < abs(effort) < np.inf:
                raise ModelError(
                    f"effort of gripper {name!r} is {effort!r}; expected a number of N·m or N, "
                    f"negative to open"
                )
        if not 0 < speed < np.inf:
            raise ModelError(f"a gripper closes with {speed!r} rad/s; expected a positive number")
        self._indices = {name: names.index(name) for name in self.efforts}
        zeros = dict.fromkeys(self.efforts, 0.0)
        dampers = {name: abs(effort) / speed for name, effort in self.efforts.items()}
        # (1), shut and open; the position does not matter
        self._jaw_fields: tuple[dict[str, Any], ...] = tuple(
            {
                "velocity": zeros,
                "effort": {name: sign * effort for name, effort in self.efforts.items()},
                "kp": zeros,
                "kd": dampers,
            }
            for sign in (1.0, -1.0)
        )
        self._count, self._shut = len(names), True
        self._last = Command(), Command(**self._jaw_fields[0])

    @property
    def inner(self) -> tuple[Any, ...]:
        """The controller of all other joints."""
        return () if self.motion is None else (self.motion,)

    def __call__(self, time: float, measurement: Measurement) -> Command:
        """Return the command of the motion, with that of the jaws."""
        shut = self._when is None or bool(self._when())
        command = self._last[0] if self.motion is None else self.motion(time, measurement)
        # the same object again is the same command
        if command is not self._last[0] or shut != self._shut:
            jaw_fields = self._jaw_fields[0 if shut else 1]
            fields = {
                name: self._with(getattr(command, name), value)
                for name, value in jaw_fields.items()
            }
            self._last = command, Command(command.position, **fields, over=command.over)
            self._shut = shut
        return self._last[1]

    def _with(self, value: Any, jaw_values: Mapping[str, float]) -> Any:
        """Return the values of a command with those of the jaws replaced."""
        if value is None:
            return jaw_values
        if isinstance(value, Mapping):
            return {**value, **jaw_values}
        values = np.array(np.broadcast_to(np.asarray(value, float), (self._count,)))
        for name, x in jaw_values.items():
            values[self._indices[name]] = x
        return values

    def holds(self, measurement: Measurement) -> bool:
        """Whether all jaws press with the commanded effort, and so hold something or are shut."""
        return all(
            measurement.effort[self._indices[name]] / effort >= MIN_EFFORT_SHARE
            for name, effort in self.efforts.items()
        )


def grip(
    robot: Robot,
    efforts: Mapping[str, float],
    speed: float = 0.5,
    motion: ControlLaw | None = None,
    when: Callable[[], bool] | None = None,
) -> Grip:
    """Close grippers until they press with an effort, and hold it.

    Args:
        efforts: of each gripper's joint [N·m or N]; negative where that closes.
        speed: of a jaw that nothing stops [rad/s or m/s].
        motion: controller of all other joints.
        when: function that returns True to close, False to open; default: always closed.

    Example: ``tabi.control.grip`` in docs/hrp2.md
    """
    return Grip(robot, efforts, speed, motion, when)
