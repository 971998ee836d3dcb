"""Listener of a robot for its controllers: the socket, the started program, and the greeting of a
connection.
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
    """Address of a robot, and the program that connects to it.

    Args:
        robot: its name. command: of a program to start, if any.
        address: a path or "localhost:port"; default: in a new folder (a free port without Unix
            sockets).

    Attributes:
        address: where controllers connect. link: the current connection.
        close: closes sockets and ends the program; so does the end of Python.
    """

    def __init__(
        self, robot: str, command: Sequence[str] | None, address: str | Path | None
    ) -> None:
        has_folder = address is None and addresses.has_unix_sockets()
        folder = tempfile.mkdtemp(prefix="tabi-") if has_folder else None
        where = f"{folder}/controller" if has_folder else address or "localhost:0"
        self._socket, self.address = addresses.listen(where)
        self._owner = f"the external controller of {robot} at {self.address!r}"
        self._resources: dict[str, Any] = {"socket": self._socket, "folder": folder}
        self._resources |= {"link": None, "process": None, "path": None}
        if self._socket.family != socket.AF_INET:
            self._resources["path"] = self.address
        self.close = weakref.finalize(self, _close, self._resources)
        self._command, self.link = command, None
        try:
            self.restart()
        except ModelError:
            self.close()
            raise

    @property
    def process(self) -> subprocess.Popen[bytes] | None:
        """The started program, if any."""
        return self._resources["process"]

    def restart(self) -> None:
        """Start the program, if there is one."""
        if self._command is not None:
            self._resources["process"] = program.start(self._command, self.address)

    def drop(self) -> None:
        """Close the current connection."""
        if self.link is not None:
            self.link.close()
        self.link = self._resources["link"] = None

    def first(self, layout: Layout, wait: float) -> Connection:
        """Wait for the first controller, at most ``wait`` seconds of wall time."""
        try:
            return self._greet(self._accept_first(wait), layout, wait)
        except LostError as e:
            raise SimulationError(f"{self._owner} {e}; it did not begin") from None

    def another(self, layout: Layout, wait: float) -> Connection | None:
        """Return a newly connected controller, if any."""
        self._socket.settimeout(0.0)
        try:
            connected = self._socket.accept()[0]
        except BlockingIOError:
            return None
        return self._greet(connected, layout, wait)

    def _accept_first(self, wait: float) -> socket.socket:
        end = time.monotonic() + wait
        self._socket.settimeout(0.02)
        while time.monotonic() < end:
            with contextlib.suppress(TimeoutError):
                return self._socket.accept()[0]
            ended = program.describe_end(self.process) if self.process else ""
            if ended:
                raise SimulationError(
                    f"{self._owner} {ended} before it connected; it has to connect to the address "
                    f"in the environment variable {addresses.VARIABLE}"
                )
        raise SimulationError(
            f"{self._owner} did not connect within {wait:g} s; start it, or pass "
            "tabi.control.external a longer start"
        )

    def _greet(self, connected: socket.socket, layout: Layout, wait: float) -> Connection:
        """Exchange names and sizes with a controller, and accept it if they match."""
        link = Connection(addresses.without_delay(connected))
        try:
            link.send_lines(layout.lines(), wait)
            lines = link.receive_lines(wait)
            if lines is None:
                raise SimulationError(
                    f"{self._owner} connected and sent nothing within {wait:g} s; expected lines "
                    "of text with an empty one at their end"
                )
            layout.check(lines)
        except (LostError, SimulationError) as e:
            with contextlib.suppress(LostError):
                link.send_lines([f"error {e}"], 0.0)
            link.close()
            raise
        link.expect(layout.command_size)
        self.link = self._resources["link"] = link
        return link


def _close(resources: dict[str, Any]) -> None:
    """Close sockets, and end the program."""
    for name in ("link", "socket"):
        if resources[name] is not None:
            resources[name].close()
    if resources["process"] is not None:
        program.end(resources["process"])
    if resources["path"]:
        with contextlib.suppress(OSError):
            os.unlink(resources["path"])
    if resources["folder"]:
        shutil.rmtree(resources["folder"], ignore_errors=True)
