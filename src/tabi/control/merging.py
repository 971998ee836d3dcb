"""Several controllers at once: of each joint the later one is heard, and efforts add.

What a controller has told stays told, as it does in a motor: position, velocity and gains of a
joint are those of the last controller in the list that ever told them, and the effort is the sum of
what each of them told last. So ``together(robot, hold(pose), gaze(…), compliance(…))`` stands in a
pose, looks at something, and gives way with one arm.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tabi._errors import ModelError, real, unknown
from tabi.model.lookup import freedoms
from tabi.model.robot import Robot
from tabi.model.signals import Command, Controller, Measurement

FIELDS = ("position", "velocity", "effort", "kp", "kd")
EFFORT = FIELDS.index("effort")


class Together:
    """A controller made of several: see ``together``."""

    def __init__(self, robot: Robot, controllers: tuple[Controller, ...]) -> None:
        if not controllers:
            raise ModelError(
                f"together has no controller of {robot.name}; expected one or more, as hold(pose)"
            )
        self.parts = tuple(checked(part, f"part {k}") for k, part in enumerate(controllers))
        self._robot, self._names = robot, freedoms(robot)
        self._places = {name: k for k, name in enumerate(self._names)}
        self.reset()

    def reset(self) -> None:
        """Forget what was told, in all parts too."""
        for part in self.parts:
            restart(part)
        # of each part, field and joint; not a number where nothing was told
        self._told = np.full((len(self.parts), len(FIELDS), len(self._names)), np.nan)
        self._last: list[Command | None] = [None] * len(self.parts)
        self._whole = Command()

    def __call__(self, time: float, measurement: Measurement) -> Command:
        """What the parts tell together; the same object again where all of them say the same."""
        new = False
        for k, part in enumerate(self.parts):
            command = part(time, measurement)
            if command is None or command is not self._last[k]:
                self._keep(k, command, time)
                self._last[k], new = command, True
        if new:
            self._whole = self._merged()
        return self._whole

    def _keep(self, part: int, command: Any, time: float) -> None:
        if not isinstance(command, Command):
            what = "nothing" if command is None else f"a {type(command).__name__}"
            raise ModelError(
                f"part {part} of together, for {self._robot.name}, returned {what} at {time:g} s; "
                f"expected a tabi.Command"
            )
        for row, field in zip(self._told[part], FIELDS, strict=True):
            value = getattr(command, field)
            if value is None:
                continue
            owner = f"{field} in part {part} of together at {time:g} s"
            if isinstance(value, Mapping):
                self._keep_names(row, value, owner)
                continue
            if np.shape(value) not in ((), row.shape):
                raise ModelError(
                    f"{owner} has shape {np.shape(value)}; expected {row.shape}, one number per "
                    f"joint in the order of robot.joint_names"
                )
            row[:] = value
            if np.isnan(row).any():
                raise ModelError(
                    f"{owner} is nan for joint {self._names[int(np.isnan(row).argmax())]!r}; "
                    f"expected a finite number"
                )

    def _keep_names(self, row: Any, value: Mapping[str, float], owner: str) -> None:
        for name, number in value.items():
            if name not in self._places:
                raise unknown("joint", name, owner, self._robot.joint_names)
            number = real(f"{owner}, for joint {name!r},", number)
            if number != number:
                raise ModelError(f"{owner} is nan for joint {name!r}; expected a finite number")
            row[[k for k, other in enumerate(self._names) if other == name]] = number

    def _merged(self) -> Command:
        whole, untold = self._told[0].copy(), np.isnan(self._told)
        for told, missing in zip(self._told[1:], untold[1:], strict=True):
            whole = np.where(missing, whole, told)
        # efforts add; what nobody told is not commanded
        efforts = np.where(untold[:, EFFORT], 0.0, self._told[:, EFFORT]).sum(axis=0)
        whole[EFFORT] = np.where(untold[:, EFFORT].all(axis=0), np.nan, efforts)
        return Command(*(self._as_told(row) for row in whole))

    def _as_told(self, row: Any) -> Any:
        missing = np.isnan(row)
        if not missing.any():
            return row
        if missing.all():
            return None
        return {n: x for n, x in zip(self._names, row.tolist(), strict=True) if x == x}


def together(robot: Robot, *controllers: Controller) -> Together:
    """Several controllers of a robot at once: joints that a later one names are its own, and
    efforts add.
    """
    return Together(robot, controllers)


def checked(part: Any, name: str) -> Any:
    """A part of a controller, refused where it is none."""
    if not callable(part):
        raise ModelError(
            f"{name} is {part!r}; expected a controller, a function (time, measurement) → command"
        )
    return part


def restart(part: Controller) -> None:
    """Tell a controller that has a method ``reset`` to begin anew."""
    told = getattr(part, "reset", None)
    if callable(told):
        told()
