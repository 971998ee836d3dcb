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
from tabi.model.controllers.controller import Controller, checked
from tabi.model.controllers.signals import FIELDS, Command, ControlLaw, Measurement
from tabi.model.lookup import freedoms
from tabi.model.robot import Robot

EFFORT = FIELDS.index("effort")


class Together(Controller):
    """A controller made of several: see ``together``."""

    MEMORY = ("_told", "_known", "_last", "_over", "_whole", "_heard", "_joints")

    def __init__(self, robot: Robot, controllers: tuple[ControlLaw, ...]) -> None:
        if not controllers:
            raise ModelError(
                f"together has no controller of {robot.name}; expected one or more, as hold(pose)"
            )
        self.parts = tuple(checked(part, f"part {k}") for k, part in enumerate(controllers))
        self._robot, self._names = robot, freedoms(robot)
        self._places: dict[str, list[int]] = {}
        for k, name in enumerate(self._names):
            self._places.setdefault(name, []).append(k)
        self._heard: Any = None
        self._joints: list[list[int]] = []
        self.reset()

    @property
    def inner(self) -> tuple[ControlLaw, ...]:
        """The parts."""
        return self.parts

    def reset(self) -> None:
        """Forget what was told, in all parts too."""
        super().reset()
        # of each part, field and joint; and whether it was told
        shape = (len(self.parts), len(FIELDS), len(self._names))
        self._told, self._known = np.zeros(shape), np.zeros(shape, bool)
        self._last: list[Command | None] = [None] * len(self.parts)
        self._over: list[float | None] = [None] * len(self.parts)
        self._whole, self._heard = Command(), None

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
        self._over[part] = command.over
        for i, field in enumerate(FIELDS):
            value = getattr(command, field)
            if value is None:
                continue
            row, known = self._told[part, i], self._known[part, i]
            if isinstance(value, Mapping):
                places = self._named(value, f"{FIELDS[i]} in part {part} of together", time)
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
                known[places], self._heard = True, None

    def _named(self, value: Mapping[str, float], owner: str, time: float) -> list[int]:
        """Places of the joints that are named."""
        for name, number in value.items():
            if name not in self._places:
                raise unknown("joint", name, f"{owner} at {time:g} s", self._robot.joint_names)
            real(f"{owner} at {time:g} s, for joint {name!r},", number)
        return [k for name in value for k in self._places[name]]

    def _merged(self) -> Command:
        if self._heard is None:
            # of each field and joint, the last part that told it; and whether any did
            count = len(self.parts) - 1
            last = count - self._known[::-1].argmax(axis=0)
            fields, joints = np.indices(last.shape)
            self._heard = np.ravel_multi_index((last, fields, joints), self._told.shape)
            self._joints = [
                np.flatnonzero(self._known[:, i].any(axis=0)).tolist() for i in range(len(FIELDS))
            ]
        whole = self._told.take(self._heard)
        # efforts add
        self._told[:, EFFORT].sum(axis=0, out=whole[EFFORT])
        # the slowest part sets the pace
        over = max((x for x in self._over if x is not None), default=None)
        return Command(*map(self._as_told, whole, self._joints), over=over)

    def _as_told(self, row: Any, joints: list[int]) -> Any:
        if len(joints) == len(row):
            return row
        return {self._names[k]: float(row[k]) for k in joints} if joints else None


def together(robot: Robot, *controllers: ControlLaw) -> Together:
    """Several controllers of a robot at once: joints that a later one names are its own, and
    efforts add.
    """
    return Together(robot, controllers)
