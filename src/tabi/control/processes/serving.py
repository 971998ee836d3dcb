"""Server for a controller in Python: any controller function, in a separate process."""

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
        address: a path or "localhost:port"; default: of the environment variable TABI_ADDRESS.
        wait: timeout for the simulator to start [s].

    Returns:
        the number of answered measurements.

    Example: docs/external_controllers.md
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
    """Receive names and sizes of the robot, and answer."""
    try:
        lines = link.receive_lines(wait)
        if lines is None:
            raise SimulationError(
                f"the simulator sent nothing within {wait:g} s; it connects to its controller when "
                "a run begins, and to one at a time"
            )
        layout = Layout.read(lines)
        link.send_lines(layout.lines(), wait)
    except LostError as e:
        raise SimulationError(f"the simulator {e} before a run began") from None
    link.expect(layout.measurement_size)
    return layout


def check_refused(message: bytearray) -> None:
    """Raise an error with the line by which a simulator rejects, if the message has one."""
    if message[:6] == b"error ":
        why = message[6:].partition(b"\n")[0].rstrip(b"\0").decode(errors="replace")
        raise SimulationError(f"the simulator refused this controller: {why}")


class RobotEnd:
    """Decoder of measurements and encoder of commands."""

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
        self._commanded_mask, self._shape = 0, (n,)

    def answer(self, controller: ControlLaw, message: bytearray) -> bytearray:
        """Return the message with the command for a measurement."""
        if not message.startswith(MAGIC):
            check_refused(message)
        is_first, sequence, time = read_header(message, MEASUREMENT, "the simulator")
        # a copy: measurements may be stored
        x, n = np.frombuffer(message, "<f8", offset=HEADER.size).copy(), self._layout.count
        sensors = {name: x[span] for name, span in self._spans.items()}
        measurement = Measurement(x[:n], x[n : 2 * n], x[2 * n : 3 * n], sensors)
        if is_first:
            self._begin(controller, measurement)
        command = controller(time, measurement)
        if not isinstance(command, Command):
            raise ModelError(
                f"the controller returned a {type(command).__name__} at {time:g} s; expected a "
                "tabi.Command"
            )
        command_mask = 0
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
                command_mask |= 1 << i
        self._commanded_mask |= command_mask
        size = len(self._out)
        HEADER.pack_into(self._out, 0, MAGIC, VERSION, COMMAND, size, command_mask, sequence, time)
        return self._out

    def _begin(self, controller: Any, seen: Measurement) -> None:
        """Begin a run: the robot holds its pose."""
        self._rows[:], self._commanded_mask = 0.0, 0b111
        self._rows[0] = seen.position
        reset(controller)

    def _values(self, field: int, value: Any) -> Any:
        """Return an array or a number unchanged; joints that are not named keep their last
        command.
        """
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
        if not self._commanded_mask >> field & 1 and any(name not in value for name in self._names):
            raise ModelError(
                f"{FIELDS[field]} in a command names {len(value)} of {len(self._names)} joints, "
                "and the others have no command yet; command all joints once"
            )
        return [value.get(name, x) for name, x in zip(self._names, last.tolist(), strict=True)]
