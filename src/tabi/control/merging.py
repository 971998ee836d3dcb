"""Merge of several controllers: for each joint the last one in the list has priority, and efforts
add.

A command stays in effect until the next one, as in a motor: position, velocity and gains of a joint
are those of the last controller in the list that has commanded them, and the effort is the sum of
the latest efforts. So ``together(robot, hold(pose), gaze(…), compliance(…))`` stands in a pose,
looks at something, and yields with one arm.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tabi._errors import ModelError, real, unknown
from tabi.model.controllers.controller import Controller, checked
from tabi.model.controllers.signals import FIELDS, Command, ControlLaw, Measurement
from tabi.model.lookup import freedoms
from tabi.model.robot import Robot

EFFORT = FIELDS.index("effort")


class Together(Controller):
    """A controller made of several: see ``together``."""

    MEMORY = (
        "_commands",
        "_has_command",
        "_last",
        "_over",
        "_merged_command",
        "_active",
        "_joints",
    )

    def __init__(self, robot: Robot, controllers: tuple[ControlLaw, ...]) -> None:
        if not controllers:
            raise ModelError(
                f"together has no controller of {robot.name}; expected one or more, as hold(pose)"
            )
        self.parts = tuple(checked(part, f"part {k}") for k, part in enumerate(controllers))
        self._robot, self._names = robot, freedoms(robot)
        self._indices: dict[str, list[int]] = {}
        for k, name in enumerate(self._names):
            self._indices.setdefault(name, []).append(k)
        self._active: Any = None
        self._joints: list[list[int]] = []
        self.reset()

    @property
    def inner(self) -> tuple[ControlLaw, ...]:
        """The controllers that are merged."""
        return self.parts

    def reset(self) -> None:
        """Discard all commands, also in all parts."""
        super().reset()
        # by part, field and joint; and whether it was ever commanded
        shape = (len(self.parts), len(FIELDS), len(self._names))
        self._commands, self._has_command = np.zeros(shape), np.zeros(shape, bool)
        self._last: list[Command | None] = [None] * len(self.parts)
        self._over: list[float | None] = [None] * len(self.parts)
        self._merged_command, self._active = Command(), None

    def __call__(self, time: float, measurement: Measurement) -> Command:
        """Return the merged command; the same object again if all parts returned theirs again."""
        new = False
        for k, part in enumerate(self.parts):
            command = part(time, measurement)
            if command is None or command is not self._last[k]:
                self._store(k, command, time)
                self._last[k], new = command, True
        if new:
            self._merged_command = self._merge()
        return self._merged_command

    def _store(self, part: int, command: Any, time: float) -> None:
        if not isinstance(command, Command):
            what = "nothing" if command is None else f"a {type(command).__name__}"
            raise ModelError(
                f"part {part} of together, for {self._robot.name}, returned {what} at {time:g} s; "
                f"expected a tabi.Command"
            )
        self._over[part] = command.over
        for i, field in enumerate(FIELDS):
            value = getattr(command, field)
            if value is None:
                continue
            row, known = self._commands[part, i], self._has_command[part, i]
            if isinstance(value, Mapping):
                places = self._indices_of(value, f"{FIELDS[i]} in part {part} of together", time)
                row[places] = [value[self._names[k]] for k in places]
            else:
                if np.shape(value) not in ((), row.shape):
                    raise ModelError(
                        f"{FIELDS[i]} in part {part} of together at {time:g} s has shape "
                        f"{np.shape(value)}; expected {row.shape}, one number per joint in the "
                        f"order of robot.joint_names"
                    )
                row[:], places = value, slice(None)
            if not known[places].all():
                known[places], self._active = True, None

    def _indices_of(self, value: Mapping[str, float], owner: str, time: float) -> list[int]:
        """Return the indices of the named joints."""
        for name, number in value.items():
            if name not in self._indices:
                raise unknown("joint", name, f"{owner} at {time:g} s", self._robot.joint_names)
            real(f"{owner} at {time:g} s, for joint {name!r},", number)
        return [k for name in value for k in self._indices[name]]

    def _merge(self) -> Command:
        if self._active is None:
            # by field and joint: index of the last part with a command; and joints with any command
            count = len(self.parts) - 1
            last = count - self._has_command[::-1].argmax(axis=0)
            fields, joints = np.indices(last.shape)
            self._active = np.ravel_multi_index((last, fields, joints), self._commands.shape)
            self._joints = [
                np.flatnonzero(self._has_command[:, i].any(axis=0)).tolist()
                for i in range(len(FIELDS))
            ]
        whole = self._commands.take(self._active)
        # efforts add
        self._commands[:, EFFORT].sum(axis=0, out=whole[EFFORT])
        # the longest duration of all parts
        over = max((x for x in self._over if x is not None), default=None)
        return Command(*map(self._field, whole, self._joints), over=over)

    def _field(self, row: Any, joints: list[int]) -> Any:
        if len(joints) == len(row):
            return row
        return {self._names[k]: float(row[k]) for k in joints} if joints else None


def together(robot: Robot, *controllers: ControlLaw) -> Together:
    """Merge controllers of a robot: for each joint the last controller that commands it has
    priority, and efforts add.

    Examples:
        >>> look = tabi.control.gaze(robot, "head", (1.5, -0.4, 0.8))
        >>> hold = tabi.control.hold(robot.half_sitting)
        >>> sim.set_controller(robot, tabi.control.together(robot, hold, look), rate=200)
    """
    return Together(robot, controllers)
