"""The controller's end in Python: any controller function, in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tabi._errors import ModelError, SimulationError, unknown
from tabi.control.processes.addresses import connect
from tabi.control.processes.connection import Connection, LostError
from tabi.control.processes.messages import (
    COMMAND,
    FIELDS,
    HEADER,
    MAGIC,
    MEASUREMENT,
    VERSION,
    Layout,
    read_header,
)
from tabi.model.controllers.controller import reset
from tabi.model.controllers.signals import Command, ControlLaw, Measurement


def serve(controller: ControlLaw, address: str | Path | None = None, wait: float = 20.0) -> int:
    """Run a controller against the simulator at an address, until that closes its connection.

    Args:
        controller: function (time [s], Measurement) → Command; its ``reset``, if it has one, is
            called where a run begins.
        address: a path or "localhost:port"; of the environment variable TABI_ADDRESS unless given.
        wait: for a simulator that is not there yet [s].

    Returns:
        how many measurements were answered.
    """
    if not callable(controller):
        raise ModelError(
            f"controller is {controller!r}; expected a function (time, measurement) → command"
        )
    link, answered = Connection(connect(address, wait)), 0
    try:
        layout = _greet(link, wait)
        end = RobotEnd(layout)
        while True:
            try:
                link.receive(None)
                out = end.answer(controller, link.message)
                link.send(out, None)
            except LostError as e:
                check_refused(link.message)
                if "within a message" in str(e):
                    raise SimulationError(f"the simulator {e}; it has ended unexpectedly") from None
                return answered
            answered += 1
    finally:
        link.close()


def _greet(link: Connection, wait: float) -> Layout:
    """Names and sizes of the robot."""
    try:
        lines = link.receive_lines(wait)
        if lines is None:
            raise SimulationError(
                f"the simulator said nothing within {wait:g} s; it asks its controller when a run "
                "begins, and talks to one at a time"
            )
        layout = Layout.read(lines)
        link.send_lines(layout.lines(), wait)
    except LostError as e:
        raise SimulationError(f"the simulator {e} before a run began") from None
    link.expect(layout.measurement_size)
    return layout


def check_refused(message: bytearray) -> None:
    """Tell the line with which a simulator refuses, where it comes instead of a measurement."""
    if message[:6] == b"error ":
        why = message[6:].partition(b"\n")[0].rstrip(b"\0").decode(errors="replace")
        raise SimulationError(f"the simulator refused this controller: {why}")


class RobotEnd:
    """Measurements out of messages, and commands into them."""

    def __init__(self, layout: Layout) -> None:
        self._layout, n = layout, layout.count
        self._names = [name for name, count in layout.joints for _ in range(count)]
        ends = 3 * n + np.cumsum([0] + [count for _, _, count in layout.sensors])
        self._spans = {
            name: slice(first, first + count)
            for (name, _, count), first in zip(layout.sensors, ends.tolist(), strict=False)
        }
        self._out = bytearray(layout.command_size)
        self._rows = np.frombuffer(self._out, "<f8", offset=HEADER.size).reshape(len(FIELDS), n)
        self._told, self._shape = 0, (n,)

    def answer(self, controller: ControlLaw, message: bytearray) -> bytearray:
        """The command for a measurement."""
        if not message.startswith(MAGIC):
            check_refused(message)
        begins, sequence, time = read_header(message, MEASUREMENT, "the simulator")
        # a copy: measurements may be kept
        x, n = np.frombuffer(message, "<f8", offset=HEADER.size).copy(), self._layout.count
        sensors = {name: x[span] for name, span in self._spans.items()}
        seen = Measurement(x[:n], x[n : 2 * n], x[2 * n : 3 * n], sensors)
        if begins:
            self._begin(controller, seen)
        command = controller(time, seen)
        if not isinstance(command, Command):
            raise ModelError(
                f"the controller returned a {type(command).__name__} at {time:g} s; expected a "
                "tabi.Command"
            )
        given = 0
        if command.over is not None:
            raise ModelError(
                f"over in a command is {command.over}, at {time:g} s; the message to a simulator "
                "has no place for it: leave it out"
            )
        for i, field in enumerate(FIELDS):
            value = getattr(command, field)
            if value is not None:
                plain = type(value) is np.ndarray and value.shape == self._shape
                self._rows[i] = value if plain else self._values(i, value)
                given |= 1 << i
        self._told |= given
        size = len(self._out)
        HEADER.pack_into(self._out, 0, MAGIC, VERSION, COMMAND, size, given, sequence, time)
        return self._out

    def _begin(self, controller: Any, seen: Measurement) -> None:
        """A run begins: the robot holds its pose."""
        self._rows[:], self._told = 0.0, 0b111
        self._rows[0] = seen.position
        reset(controller)

    def _values(self, field: int, value: Any) -> Any:
        """An array or a number as it is; joints that are not named keep what they were told."""
        if not isinstance(value, Mapping):
            try:
                return np.broadcast_to(np.asarray(value, float), len(self._names))
            except (TypeError, ValueError):
                raise ModelError(
                    f"{FIELDS[field]} in a command is {value!r}; expected {len(self._names)} "
                    "numbers, one for each joint"
                ) from None
        for name in value:
            if name not in self._names:
                raise unknown("joint", name, self._layout.robot, self._names)
        last = self._rows[field]
        if not self._told >> field & 1 and any(name not in value for name in self._names):
            raise ModelError(
                f"{FIELDS[field]} in a command names {len(value)} of {len(self._names)} joints, "
                "and the others were told none yet; give it for all joints once"
            )
        return [value.get(name, x) for name, x in zip(self._names, last.tolist(), strict=True)]
