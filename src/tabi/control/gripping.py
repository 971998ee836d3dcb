"""Closing a gripper until it presses with a given effort, and holding that.

The jaw's motor is told, whatever the jaw's place,

    τ = E − (|E|/s) v                                                                           (1)
A free jaw closes with the speed s, where nothing is left of the effort E; a jaw that is stopped, by
what it grips, presses with E, and between the two effort grows as the jaw slows down. So there is
no moment of touching to be found, and none to be missed. A negative effort opens.

(1) is what a motor's loop does with the gain k_p = 0, k_d = |E|/s, a velocity of zero to reach and
the effort E in addition, so that simulations take it implicitly. Dry friction in the gear takes its
share of both.
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

# of the effort asked for: a jaw that gives so much presses on something
PRESSES = 0.95


class Grip(Controller):
    """A controller that closes jaws, beside another motion: see ``grip``.

    Attributes:
        efforts: of each jaw [N·m or N]. motion: what all other joints do, None for nothing.
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
        self._places = {name: names.index(name) for name in self.efforts}
        zeros = dict.fromkeys(self.efforts, 0.0)
        dampers = {name: abs(effort) / speed for name, effort in self.efforts.items()}
        # (1), shut and open; the position does not matter
        self._own: tuple[dict[str, Any], ...] = tuple(
            {
                "velocity": zeros,
                "effort": {name: sign * effort for name, effort in self.efforts.items()},
                "kp": zeros,
                "kd": dampers,
            }
            for sign in (1.0, -1.0)
        )
        self._count, self._shut = len(names), True
        self._last = Command(), Command(**self._own[0])

    @property
    def inner(self) -> tuple[Any, ...]:
        """What all other joints do."""
        return () if self.motion is None else (self.motion,)

    def __call__(self, time: float, measurement: Measurement) -> Command:
        """What the motion says, with the jaws' own part."""
        shut = self._when is None or bool(self._when())
        told = self._last[0] if self.motion is None else self.motion(time, measurement)
        # the same object again is the same command
        if told is not self._last[0] or shut != self._shut:
            own = self._own[0 if shut else 1]
            fields = {name: self._with(getattr(told, name), value) for name, value in own.items()}
            self._last = told, Command(told.position, **fields, over=told.over)
            self._shut = shut
        return self._last[1]

    def _with(self, value: Any, own: Mapping[str, float]) -> Any:
        """Values of a command, of the jaws their own."""
        if value is None:
            return own
        if isinstance(value, Mapping):
            return {**value, **own}
        values = np.array(np.broadcast_to(np.asarray(value, float), (self._count,)))
        for name, x in own.items():
            values[self._places[name]] = x
        return values

    def holds(self, measurement: Measurement) -> bool:
        """Whether all jaws press with what they were told, and so hold something or are shut."""
        return all(
            measurement.effort[self._places[name]] / effort >= PRESSES
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
        motion: what all other joints do.
        when: tells whether they are to be shut, and opens them while not; shut unless given.
    """
    return Grip(robot, efforts, speed, motion, when)
