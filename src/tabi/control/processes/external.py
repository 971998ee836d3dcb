"""The robot's end of a controller that is another process: see ``external``.

A robot and its controller take turns: a measurement, a command (``messages``). Two ways to wait,

    lock-step     the answer to this measurement, for at most ``timeout`` of wall time
    free-running  for nothing: the newest command that has come
In lock-step a run is the same however fast the controller is; free-running it is not. A controller
that is late is not waited for again until it has answered; that answer is old and is dropped, and
it is asked anew. One whose connection is closed is gone at once, and another may connect to the
same address: from its first command on it drives the robot.

Reference: Hirukawa et al. (2003), sec. 2.1.1: controllers are processes of their own.
"""

from __future__ import annotations

import subprocess
import time as clock
import warnings
from collections.abc import Sequence
from pathlib import Path

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
DOES = {"hold": "keeps its last command", "limp": "goes limp", "stop": "stops the run"}
NOTHING = Command()
# how long one that takes over may take to greet, at least [s]
GREETING = 0.5


class ControllerWarning(UserWarning):
    """A controller in another process is late or gone, or another one was refused."""


class External(Controller):
    """A controller that is another process: see ``external``.

    Attributes:
        address: where controllers connect. process: the program that was started, if one was.
        fault: why nobody drives the robot just now, one sentence; None while somebody does.
        reproducible: whether a rerun is the same: not free-running, nor after a late answer or a
            lost controller.
        late_count, lost_count: how often that was.
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
        self._robot, self._late = robot, late
        self._timeout, self._start, self._locked = timeout, start, mode == MODES[0]
        self.fault: str | None = None
        self.reproducible, self.late_count, self.lost_count = self._locked, 0, 0
        self._listener = Listener(robot.name, command, address)
        self.address, self.close = self._listener.address, self._listener.close
        zeros = np.zeros(len(freedoms(robot)))
        self._limp = Command(effort=zeros, kp=zeros, kd=zeros)
        gains = [robot.joint(name).motor for name in freedoms(robot)]
        self._gains = {name: np.array([getattr(m, name) for m in gains]) for name in ("kp", "kd")}
        self._layout: Layout | None = None
        self._sequence, self._begun = 0, False
        self.reset()

    @property
    def process(self) -> subprocess.Popen[bytes] | None:
        """The program that was started."""
        return self._listener.process

    @property
    def connected(self) -> bool:
        """Whether a controller is there."""
        return self._listener.link is not None

    def __enter__(self) -> External:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def reset(self) -> None:
        """A run begins: the controller is told, and a program that has ended is started again."""
        self._first, self._last, self._told = self._sequence + 1, NOTHING, dict(self._gains)
        self._new, self._limped, self._heard = 1, False, clock.monotonic()
        process = self.process
        if self._begun and process is not None and process.poll() is not None:
            self._listener.drop()
            self._listener.restart()
            self._begun = False

    def __call__(self, time: float, measurement: Measurement) -> Command:
        """What the other process says, or what is done without it."""
        if not self.close.alive:
            raise SimulationError(
                f"the external controller of {self._robot.name} was closed before {time:g} s; let "
                "the run end first, or set another controller"
            )
        try:
            link = self._listener.link or self._connect(time, measurement)
            if link is None:
                return self._without()
            answer = self._locked_answer if self._locked else self._newest_answer
            return answer(link, time, measurement)
        except LostError as e:
            return self._lose(str(e), time)
        except SimulationError as e:
            self._listener.drop()
            self.fault = str(e)
            raise

    # ---- questions and answers ------------------------------------------------------------------

    def _locked_answer(self, link: Connection, time: float, measurement: Measurement) -> Command:
        """The answer to this measurement."""
        if self._open:
            # the answer to an earlier question has to come before the next is asked
            if not link.receive(0.0):
                return self._without()
            self._read_sequence(link)
            self._open = False
        self._write(time, measurement)
        link.send(self._out, self._timeout)
        # an interrupt leaves an answer open, too
        self._open = True
        if not link.receive(self._timeout):
            return self._miss(time)
        self._open = False
        self._read_sequence(link)
        return self._take()

    def _newest_answer(self, link: Connection, time: float, measurement: Measurement) -> Command:
        """The newest command that is there."""
        begins = self._new
        self._write(time, measurement)
        if not link.send(self._out, 0.0):
            # not told; nobody may answer it
            self._sequence, self._new = self._sequence - 1, begins
        while link.receive(0.0):
            if self._read_sequence(link) >= self._first:
                self._take()
                self._heard = clock.monotonic()
        if clock.monotonic() - self._heard > self._timeout:
            return self._without() if self.fault else self._miss(time)
        return self._last

    def _write(self, time: float, measurement: Measurement) -> None:
        """A measurement into the message that is sent."""
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
            *(self._out, 0, MAGIC, VERSION, MEASUREMENT, size, self._new, self._sequence, time)
        )
        self._new = 0

    def _read_sequence(self, link: Connection) -> int:
        """Which question a command answers; one that was not asked is refused."""
        given, sequence, _ = read_header(link.message, COMMAND, "the controller")
        if sequence > self._sequence or (self._locked and sequence != self._sequence):
            raise SimulationError(
                f"a command of the controller answers measurement {sequence}, the last one was "
                f"{self._sequence}; copy the sequence number from the measurement it answers"
            )
        if given >> len(FIELDS):
            raise SimulationError(
                f"a command of the controller has given = {given:#x}; expected one bit for each of "
                f"{', '.join(FIELDS)}"
            )
        self._given = given
        return sequence

    def _take(self) -> Command:
        """The command that was received."""
        given, rows = self._given, self._rows
        said = {name: rows[i] for i, name in enumerate(FIELDS) if given >> i & 1}
        if self._limped:
            # what was told before it went limp
            said, self._limped = self._told | said, False
        self._last = command = Command(**said)  # pyright: ignore[reportArgumentType]
        self.fault = None
        self._told |= {name: getattr(command, name) for name in said}
        return command

    # ---- without an answer ----------------------------------------------------------------------

    def _miss(self, time: float) -> Command:
        self.late_count += 1
        return self._warn(f"gave no answer within {self._timeout:g} s", time, "let it be faster")

    def _lose(self, how: str, time: float) -> Command:
        self._listener.drop()
        self.lost_count += 1
        if self.process is not None:
            # the socket is closed a little before the process is over
            how = program.how_it_ended(self.process, 0.1) or how
        return self._warn(how, time, f"another may connect to {self.address!r}")

    def _warn(self, how: str, time: float, remedy: str) -> Command:
        self.reproducible = False
        name = self._robot.name
        self.fault = f"the external controller of {name} {how} at {time:g} s: "
        self.fault += f"{name} {DOES[self._late]}; {remedy}"
        if self._late != "stop":
            warnings.warn(self.fault, ControllerWarning, stacklevel=2)
        return self._without()

    def _without(self) -> Command:
        """What is commanded while nobody answers."""
        if self._late == "stop":
            raise SimulationError(str(self.fault))
        if self._late == "hold":
            return self._last
        self._limped = True
        return self._limp

    # ---- connections ----------------------------------------------------------------------------

    def _connect(self, time: float, measurement: Measurement) -> Connection | None:
        """The first controller is waited for; later there may be another."""
        if self._layout is None:
            self._layout = Layout.of(self._robot, measurement)
        layout = self._layout
        if not self._begun:
            link = self._listener.first(layout, self._start)
            self._begun, self.fault = True, None
        else:
            try:
                link = self._listener.another(layout, max(self._timeout, GREETING))
            except (LostError, SimulationError) as e:
                why = f"a controller that connected at {time:g} s was refused: {e}"
                warnings.warn(why, ControllerWarning, stacklevel=4)
                return None
            if link is None:
                return None
        # numbers of both messages, in their places
        self._out = bytearray(layout.measurement_size)
        self._values = np.frombuffer(self._out, "<f8", offset=HEADER.size)
        self._sensors = [name for name, _, _ in layout.sensors]
        told = np.frombuffer(link.message, "<f8", offset=HEADER.size)
        self._rows = told.reshape(len(FIELDS), layout.count)
        self._open, self._new, self._heard = False, 1, clock.monotonic()
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
        command: a program and its arguments, to be started; it finds the address in the environment
            variable TABI_ADDRESS. Without it the controller is started by hand.
        address: where it connects: a path, or "localhost:port"; one of its own unless given.
        robot: what it drives.
        mode: "lock-step": each answer is waited for; "free-running": none is, and a rerun is not
            the same.
        late: what the robot does where no answer comes, or the process is gone: "hold" its last
            command, go "limp", or "stop" the run with a SimulationError.
        timeout: how long an answer may take [s of wall time].
        start: how long the first connection may take [s of wall time].
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
            "an external controller was given neither a command nor an address; expected a program "
            "to start, or where a program that you start connects"
        )
    return External(robot, command, address, mode, late, float(timeout), float(start))
