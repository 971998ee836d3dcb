"""Controller in another process, at the robot's end: see ``external``.

A robot and its controller alternate: a measurement, a command (``messages``). There are two modes,

    lock-step     waits for the command of this measurement, for at most ``timeout`` of wall time
    free-running  does not wait: uses the latest received command
In lock-step a run is reproducible however fast the controller is; free-running it is not. After a
timeout the controller is not waited for again until it has answered; that outdated command is
discarded, and it gets a new measurement. A closed connection is lost at once, and another
controller may connect to the same address: from its first command on it drives the robot.

Reference: Hirukawa et al. (2003), sec. 2.1.1: controllers are processes of their own.
"""

from __future__ import annotations

import subprocess
import time as clock
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tabi._errors import ModelError, SimulationError, near, real
from tabi.control.processes import program
from tabi.control.processes.connection import Connection, LostError
from tabi.control.processes.listening import Listener
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
from tabi.model.controllers.controller import Controller
from tabi.model.controllers.signals import Command, Measurement
from tabi.model.lookup import freedoms
from tabi.model.robot import Robot

MODES, LATE = ("lock-step", "free-running"), ("hold", "limp", "stop")
CONSEQUENCES = {"hold": "keeps its last command", "limp": "goes limp", "stop": "stops the run"}
NO_COMMAND = Command()
# minimum timeout for the greeting of a controller that takes over [s]
MIN_GREETING_TIMEOUT_S = 0.5


class ControllerWarning(UserWarning):
    """A controller in another process timed out or was lost, or another one was rejected."""


class External(Controller):
    """A controller in another process: see ``external``.

    Attributes:
        address: where controllers connect. process: the started program, if any.
        fault: why no controller drives the robot now, one sentence; None while one does.
        reproducible: whether a rerun is the same: not free-running, nor after a timeout or a lost
            controller.
        late_count, lost_count: numbers of timeouts and of lost controllers.

    Example: ``tabi.control.external`` in docs/external_controllers.md
    """

    def __init__(
        self,
        robot: Robot,
        command: Sequence[str] | None,
        address: str | Path | None,
        mode: str,
        late: str,
        timeout: float,
        start: float,
    ) -> None:
        self._robot, self._on_timeout = robot, late
        self._timeout, self._start, self._is_lock_step = timeout, start, mode == MODES[0]
        self.fault: str | None = None
        self.reproducible, self.late_count, self.lost_count = self._is_lock_step, 0, 0
        self._listener = Listener(robot.name, command, address)
        self.address, self.close = self._listener.address, self._listener.close
        zeros = np.zeros(len(freedoms(robot)))
        self._limp = Command(effort=zeros, kp=zeros, kd=zeros)
        gains = [robot.joint(name).motor for name in freedoms(robot)]
        self._gains: dict[str, Any] = {
            name: np.array([getattr(m, name) for m in gains]) for name in ("kp", "kd")
        }
        self._layout: Layout | None = None
        self._sequence, self._has_begun = 0, False
        self.reset()

    @property
    def process(self) -> subprocess.Popen[bytes] | None:
        """The started program, if any."""
        return self._listener.process

    @property
    def connected(self) -> bool:
        """Whether a controller is connected."""
        return self._listener.link is not None

    def __enter__(self) -> External:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def reset(self) -> None:
        """Announce a new run to the controller; a program that has ended is started again."""
        self._first_sequence, self._last, self._last_fields = (
            self._sequence + 1,
            NO_COMMAND,
            dict(self._gains),
        )
        self._is_first, self._went_limp, self._receive_time = 1, False, clock.monotonic()
        process = self.process
        if self._has_begun and process is not None and process.poll() is not None:
            self._listener.drop()
            self._listener.restart()
            self._has_begun = False

    def __call__(self, time: float, measurement: Measurement) -> Command:
        """Return the command of the other process, or the fallback without it."""
        if not self.close.alive:
            raise SimulationError(
                f"the external controller of {self._robot.name} was closed before {time:g} s; let "
                "the run end first, or set another controller"
            )
        try:
            link = self._listener.link or self._connect(time, measurement)
            if link is None:
                return self._fallback()
            answer = self._lock_step_answer if self._is_lock_step else self._newest_answer
            return answer(link, time, measurement)
        except LostError as e:
            return self._handle_loss(str(e), time)
        except SimulationError as e:
            self._listener.drop()
            self.fault = str(e)
            raise

    # ---- measurements and commands
    # ----------------------------------------------------------------

    def _lock_step_answer(self, link: Connection, time: float, measurement: Measurement) -> Command:
        """Return the command for this measurement."""
        if self._open:
            # the answer to an earlier measurement has to arrive before the next one is sent
            if not link.receive(0.0):
                return self._fallback()
            self._read_sequence(link)
            self._open = False
        self._write(time, measurement)
        link.send(self._out, self._timeout)
        # an interrupt leaves an answer open, too
        self._open = True
        if not link.receive(self._timeout):
            return self._handle_timeout(time)
        self._open = False
        self._read_sequence(link)
        return self._use_received()

    def _newest_answer(self, link: Connection, time: float, measurement: Measurement) -> Command:
        """Return the latest received command."""
        begins = self._is_first
        self._write(time, measurement)
        if not link.send(self._out, 0.0):
            # not sent; it gets no answer
            self._sequence, self._is_first = self._sequence - 1, begins
        while link.receive(0.0):
            if self._read_sequence(link) >= self._first_sequence:
                self._use_received()
                self._receive_time = clock.monotonic()
        if clock.monotonic() - self._receive_time > self._timeout:
            return self._fallback() if self.fault else self._handle_timeout(time)
        return self._last

    def _write(self, time: float, measurement: Measurement) -> None:
        """Write a measurement into the message to send."""
        self._sequence += 1
        m, sensors = measurement, measurement.sensors
        try:
            parts = [m.position, m.velocity, m.effort, *[sensors[name] for name in self._sensors]]
            np.concatenate(parts, out=self._values)
        except (ValueError, KeyError, ModelError):
            raise ModelError(
                f"a measurement has other joints or sensors than robot {self._robot.name}; give "
                "tabi.control.external the robot that it drives"
            ) from None
        size = len(self._out)
        HEADER.pack_into(
            *(self._out, 0, MAGIC, VERSION, MEASUREMENT, size, self._is_first, self._sequence, time)
        )
        self._is_first = 0

    def _read_sequence(self, link: Connection) -> int:
        """Return the sequence number of the measurement that a command answers; reject unknown
        ones.
        """
        command_mask, sequence, _ = read_header(link.message, COMMAND, "the controller")
        if sequence > self._sequence or (self._is_lock_step and sequence != self._sequence):
            raise SimulationError(
                f"a command of the controller answers measurement {sequence}, the last one was "
                f"{self._sequence}; copy the sequence number from the measurement it answers"
            )
        if command_mask >> len(FIELDS):
            raise SimulationError(
                f"a command of the controller has given = {command_mask:#x}; expected one bit for "
                f"each of {', '.join(FIELDS)}"
            )
        self._command_mask = command_mask
        return sequence

    def _use_received(self) -> Command:
        """Return the received command."""
        command_mask, rows = self._command_mask, self._rows
        fields: dict[str, Any] = {
            name: rows[i] for i, name in enumerate(FIELDS) if command_mask >> i & 1
        }
        if self._went_limp:
            # the commands from before it went limp
            fields, self._went_limp = self._last_fields | fields, False
        self._last = command = Command(**fields)
        self.fault = None
        self._last_fields |= {name: getattr(command, name) for name in fields}
        return command

    # ---- without an answer ----------------------------------------------------------------------

    def _handle_timeout(self, time: float) -> Command:
        self.late_count += 1
        return self._warn(f"gave no answer within {self._timeout:g} s", time, "let it be faster")

    def _handle_loss(self, how: str, time: float) -> Command:
        self._listener.drop()
        self.lost_count += 1
        if self.process is not None:
            # the socket is closed a little before the process is over
            how = program.describe_end(self.process, 0.1) or how
        return self._warn(how, time, f"another may connect to {self.address!r}")

    def _warn(self, how: str, time: float, remedy: str) -> Command:
        self.reproducible = False
        name = self._robot.name
        self.fault = f"the external controller of {name} {how} at {time:g} s: "
        self.fault += f"{name} {CONSEQUENCES[self._on_timeout]}; {remedy}"
        if self._on_timeout != "stop":
            warnings.warn(self.fault, ControllerWarning, stacklevel=2)
        return self._fallback()

    def _fallback(self) -> Command:
        """Return the command without a controller."""
        if self._on_timeout == "stop":
            raise SimulationError(str(self.fault))
        if self._on_timeout == "hold":
            return self._last
        self._went_limp = True
        return self._limp

    # ---- connections ----------------------------------------------------------------------------

    def _connect(self, time: float, measurement: Measurement) -> Connection | None:
        """Connect a controller: wait for the first one; later ones may replace it."""
        if self._layout is None:
            self._layout = Layout.of(self._robot, measurement)
        layout = self._layout
        if not self._has_begun:
            link = self._listener.first(layout, self._start)
            self._has_begun, self.fault = True, None
        else:
            try:
                link = self._listener.another(layout, max(self._timeout, MIN_GREETING_TIMEOUT_S))
            except (LostError, SimulationError) as e:
                why = f"a controller that connected at {time:g} s was refused: {e}"
                warnings.warn(why, ControllerWarning, stacklevel=4)
                return None
            if link is None:
                return None
        # views of the numbers of both messages
        self._out = bytearray(layout.measurement_size)
        self._values = np.frombuffer(self._out, "<f8", offset=HEADER.size)
        self._sensors = [name for name, _, _ in layout.sensors]
        values = np.frombuffer(link.message, "<f8", offset=HEADER.size)
        self._rows = values.reshape(len(FIELDS), layout.count)
        self._open, self._is_first, self._receive_time = False, 1, clock.monotonic()
        return link


def external(
    command: Sequence[str] | None = None,
    address: str | Path | None = None,
    *,
    robot: Robot,
    mode: str = "lock-step",
    late: str = "hold",
    timeout: float = 1.0,
    start: float = 20.0,
) -> External:
    """Let another process drive a robot, over a local socket: see docs/external_controllers.md.

    Args:
        command: a program and its arguments, to be started; it gets the address in the environment
            variable TABI_ADDRESS. Without it the controller is started by hand.
        address: where it connects: a path, or "localhost:port"; default: a new one.
        robot: the robot to drive.
        mode: "lock-step": wait for each command; "free-running": do not wait, reruns differ.
        late: reaction of the robot to a timeout or a lost process: "hold" its last command, go
            "limp", or "stop" the run with a SimulationError.
        timeout: for an answer [s of wall time].
        start: timeout for the first connection [s of wall time].

    Example: ``tabi.control.external`` in docs/external_controllers.md
    """
    for name, value, choices in (("mode", mode, MODES), ("late", late, LATE)):
        if value not in choices:
            raise ModelError(
                f"{name} of an external controller is {value!r}; expected one of "
                f"{', '.join(map(repr, choices))}{near(str(value), choices)}"
            )
    for name, value in (("timeout", timeout), ("start", start)):
        if not 0 < real(f"{name} of an external controller", value) < np.inf:
            raise ModelError(
                f"{name} of an external controller is {value!r}; expected a number of seconds > 0"
            )
    if command is None and address is None:
        raise ModelError(
            "an external controller has neither a command nor an address; expected a program "
            "to start, or where a program that you start connects"
        )
    return External(robot, command, address, mode, late, float(timeout), float(start))
