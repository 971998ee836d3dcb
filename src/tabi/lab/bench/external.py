"""``tabi bench external``: how long a controller in another process takes to answer, in lock-step.

HRP-2's measurement goes to the other process and its command comes back; no simulation in between.
Peer: an echo of as many bytes over a bare socket of the same kind, by another Python, in blocks
that take turns. What is measured is the whole way, with arrays into messages and back on the
robot's end.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Annotated, Any

import numpy as np

from tabi.control.processes import addresses
from tabi.control.processes.external import external
from tabi.control.processes.messages import Layout
from tabi.lab.study import Argument, Benchmark, BenchPart, Option
from tabi.model.world import World
from tabi.robots import hrp2
from tabi.simulation.simulator import Simulator

# questions in a block
BLOCK = 100
SERVE = """
import tabi
start = []
def hold(time, measurement):
    start.extend([measurement.position] if not start else [])
    return tabi.Command(position=start[0])
tabi.control.serve(hold)
"""
ECHO = """
import socket, sys
host, colon, port = sys.argv[1].rpartition(":")
if colon and "/" not in sys.argv[1]:
    link = socket.create_connection((host, int(port)))
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
else:
    link = socket.socket(socket.AF_UNIX)
    link.connect(sys.argv[1])
size, back = int(sys.argv[2]), bytes(int(sys.argv[3]))
while len(link.recv(size, socket.MSG_WAITALL)) == size:
    link.sendall(back)
"""


class ExternalBench(Benchmark, name="external"):
    """Round-trip time of a controller in another process, against a bare socket."""

    program: Annotated[
        list[str] | None,
        Argument(help="A controller's program and its arguments, beside the one in Python."),
    ] = None
    blocks: Annotated[int, Option(min=3, help="Blocks of 100 questions.")] = 61

    packages = ("numpy",)

    def parts(self) -> Iterator[BenchPart]:
        """Measure all programs in turn."""
        yield BenchPart("", "", self.round_times)

    def round_times(self) -> dict[str, Any]:
        """Return times of rounds to the controllers [µs], and ratios to a bare socket."""
        world = World()
        robot = world.add_robot(hrp2())
        seen = Simulator(world).measure(robot)
        layout = Layout.of(robot, seen)
        programs = {"tabi.control.serve": [sys.executable, "-c", SERVE]}
        if self.program:
            programs[os.path.basename(self.program[0])] = list(self.program)
        with ExitStack() as stack:
            echo = Echo(layout.measurement_size, layout.command_size)
            rounds: dict[str, Callable[[], object]] = {"bare socket": stack.enter_context(echo)}
            for name, words in programs.items():
                drive = stack.enter_context(external(words, robot=robot, late="stop"))
                rounds[name] = lambda drive=drive: drive(0.0, seen)
            times = _microseconds(rounds, self.blocks)
        bare = np.median(times["bare socket"])
        return {
            "settings": self.settings() | {"questions": self.blocks * BLOCK, "robot": robot.name},
            "bytes": {"measurement": layout.measurement_size, "command": layout.command_size},
            "microseconds": {
                name: {
                    "median": round(float(np.median(t)), 2),
                    "95%": round(float(np.percentile(t, 95)), 2),
                    "least": round(float(t.min()), 2),
                }
                for name, t in times.items()
            },
            "ratio_to_bare_socket": {
                name: round(float(np.median(t) / bare), 2) for name, t in times.items()
            },
        }

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines for a terminal."""
        size, settings = result["bytes"], result["settings"]
        yield (
            f"{result['hardware']['processor']}, {settings['robot']}: {size['measurement']} bytes "
            f"there, {size['command']} back, {settings['questions']} questions [µs a round]"
        )
        for name, us in result["microseconds"].items():
            ratio = result["ratio_to_bare_socket"][name]
            yield (
                f"  {name:<20} median {us['median']:7.1f}   95 % {us['95%']:7.1f}   "
                f"{ratio:.2f} × socket"
            )


class Echo:
    """Another Python that answers so many bytes with so many others."""

    def __init__(self, there: int, back: int) -> None:
        self._message, self._back = bytes(there), back
        with tempfile.TemporaryDirectory() as folder:
            place = f"{folder}/echo" if addresses.has_unix_sockets() else "localhost:0"
            door, address = addresses.listen(place)
            words = [sys.executable, "-S", "-E", "-c", ECHO, address, str(there), str(back)]
            self._process = subprocess.Popen(words)
            with door:
                self._here = addresses.without_delay(door.accept()[0])

    def __call__(self) -> bytes:
        """Send one message and wait for the answer."""
        self._here.sendall(self._message)
        return self._here.recv(self._back, socket.MSG_WAITALL)

    def __enter__(self) -> Echo:
        return self

    def __exit__(self, *problem: object) -> None:
        self._here.close()
        self._process.wait()


def _microseconds(rounds: dict[str, Callable[[], object]], blocks: int) -> dict[str, np.ndarray]:
    """Return the time of each round [µs] without the first blocks, in which processes start."""
    times: dict[str, list[float]] = {name: [] for name in rounds}
    for turn in range(blocks + 1):
        for name, ask in rounds.items():
            for _ in range(BLOCK):
                start = time.perf_counter()
                ask()
                if turn:
                    times[name].append((time.perf_counter() - start) * 1e6)
    return {name: np.array(t) for name, t in times.items()}
