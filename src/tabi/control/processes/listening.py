"""Where a robot waits for its controllers: the socket, the program that was started for it, and the
lines with which a connection begins.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tabi._errors import ModelError, SimulationError
from tabi.control.processes import addresses, program
from tabi.control.processes.connection import Connection, LostError
from tabi.control.processes.messages import Layout


class Listener:
    """An address of a robot, and the program that connects to it.

    Args:
        robot: its name. command: of a program to start, if any.
        address: a path or "localhost:port"; in a folder of its own unless given
            (a free port where there are no Unix sockets).

    Attributes:
        address: where controllers connect. link: the connection that there is.
        close: closes sockets and ends the program; so does the end of Python.
    """

    def __init__(
        self, robot: str, command: Sequence[str] | None, address: str | Path | None
    ) -> None:
        own = address is None and addresses.paths()
        folder = tempfile.mkdtemp(prefix="tabi-") if own else None
        where = f"{folder}/controller" if own else address or "localhost:0"
        self._socket, self.address = addresses.listen(where)
        self._who = f"the external controller of {robot} at {self.address!r}"
        self._kept: dict[str, Any] = {"socket": self._socket, "folder": folder}
        self._kept |= {"link": None, "process": None, "path": None}
        if self._socket.family != socket.AF_INET:
            self._kept["path"] = self.address
        self.close = weakref.finalize(self, _close, self._kept)
        self._command, self.link = command, None
        try:
            self.restart()
        except ModelError:
            self.close()
            raise

    @property
    def process(self) -> subprocess.Popen[bytes] | None:
        """The program that was started."""
        return self._kept["process"]

    def restart(self) -> None:
        """Start the program, if there is one."""
        if self._command is not None:
            self._kept["process"] = program.start(self._command, self.address)

    def drop(self) -> None:
        """Close the connection that there is."""
        if self.link is not None:
            self.link.close()
        self.link = self._kept["link"] = None

    def first(self, layout: Layout, wait: float) -> Connection:
        """The first controller, within so many seconds of wall time."""
        try:
            return self._greet(self._accept_first(wait), layout, wait)
        except LostError as e:
            raise SimulationError(f"{self._who} {e}; it did not begin") from None

    def another(self, layout: Layout, wait: float) -> Connection | None:
        """A controller that has connected meanwhile, if one has."""
        self._socket.settimeout(0.0)
        try:
            found = self._socket.accept()[0]
        except BlockingIOError:
            return None
        return self._greet(found, layout, wait)

    def _accept_first(self, wait: float) -> socket.socket:
        end = time.monotonic() + wait
        self._socket.settimeout(0.02)
        while time.monotonic() < end:
            with contextlib.suppress(TimeoutError):
                return self._socket.accept()[0]
            ended = program.how_it_ended(self.process) if self.process else ""
            if ended:
                raise SimulationError(
                    f"{self._who} {ended} before it connected; it has to connect to the address in "
                    f"the environment variable {addresses.VARIABLE}"
                )
        raise SimulationError(
            f"{self._who} did not connect within {wait:g} s; start it, or give "
            "tabi.control.external a longer start"
        )

    def _greet(self, found: socket.socket, layout: Layout, wait: float) -> Connection:
        """Exchange names and sizes with a controller, and keep it if it fits."""
        link = Connection(addresses.quick(found))
        try:
            link.send_lines(layout.lines(), wait)
            told = link.receive_lines(wait)
            if told is None:
                raise SimulationError(
                    f"{self._who} connected and said nothing within {wait:g} s; expected lines of "
                    "text with an empty one at their end"
                )
            layout.check(told)
        except (LostError, SimulationError) as e:
            with contextlib.suppress(LostError):
                link.send_lines([f"error {e}"], 0.0)
            link.close()
            raise
        link.expect(layout.command_size)
        self.link = self._kept["link"] = link
        return link


def _close(kept: dict[str, Any]) -> None:
    """Close sockets, and end the program."""
    for name in ("link", "socket"):
        if kept[name] is not None:
            kept[name].close()
    if kept["process"] is not None:
        program.end(kept["process"])
    if kept["path"]:
        with contextlib.suppress(OSError):
            os.unlink(kept["path"])
    if kept["folder"]:
        shutil.rmtree(kept["folder"], ignore_errors=True)
