"""A haptic device in a process of its own, and the simulation's view of it.

The loop of ``haptic_loop`` runs in a process that is started anew (``spawn``): no compilation,
drawing or garbage collection of the simulation holds it up. Where the machine allows it (Linux: a
limit ``rtprio``), it goes before all that has no deadline. Both ends share memory (``shared_link``)
and nothing else.

    simulation ends or is killed    the process sees that its parent is another one: it lets the
                                    force go, gives the memory back and ends
    simulation stands still         no heartbeat: no force
    process ends or is stopped      what it published gets old: the simulation takes the force to be
                                    zero; ``restart`` starts another. The device lets go by itself
"""

from __future__ import annotations

import gc
import math
import multiprocessing
import os
import pickle
import signal
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.context import SpawnProcess
from typing import Any

import numpy as np

from tabi._errors import ModelError
from tabi.interaction.devices import catalogue
from tabi.interaction.devices.priority import hurry
from tabi.interaction.devices.protocol import Array, HandReading, HapticDevice
from tabi.interaction.force_guard import HapticLimits
from tabi.interaction.haptic_loop import STATES, HapticLoop, Law
from tabi.interaction.shared_link import BINS, COUNT, SharedLink, field

# how long the process may take to end [s]
ENDING = 1.0

_running: weakref.WeakValueDictionary[str, DeviceProcess] = weakref.WeakValueDictionary()


@dataclass(frozen=True)
class LoopPeriods:
    """How evenly the loop runs.

    Attributes:
        counts: periods in each of ``BINS``, and longer ones. worst: the longest [s].
        work: how long the work of a period takes, on average [s]. worst_work: the longest [s].
    """

    counts: tuple[int, ...]
    worst: float
    work: float
    worst_work: float

    @property
    def count(self) -> int:
        """All periods."""
        return sum(self.counts)

    @property
    def below_two(self) -> float:
        """Share of periods below 2 ms."""
        return sum(self.counts[: BINS.index(0.002) + 1]) / max(self.count, 1)


@dataclass(frozen=True, eq=False)
class HandFelt:
    """A hand as the simulation sees it.

    Attributes:
        reading: the hand. force, torque: what it feels [N], [N·m]; zero where that is not known.
        state: one of ``STATES``, or "silent" where the process tells nothing new.
        words: what is wrong, one sentence; empty where all is well.
        age: how old this is [s]. energy: what the device gave to the hand [J].
        numbers: what the law tells. periods: of the loop. connections: how often it was opened.
    """

    reading: HandReading
    force: Array
    torque: Array
    state: str
    words: str
    age: float
    energy: float
    numbers: Array
    periods: LoopPeriods
    connections: int

    @property
    def running(self) -> bool:
        """Whether the hand feels the simulation."""
        return self.state == "running"


class DeviceProcess:
    """A device and its loop, in another process.

    Args:
        device: its name, as ``devices.catalogue`` knows it.
        make_law: makes the law in the other process; a function of a module, for it is pickled.
        settings: what it is called with.
        size: how many numbers a local model has.
        limits: of the force.
    """

    def __init__(
        self,
        device: str,
        make_law: Callable[..., Law],
        settings: Mapping[str, Any] | None = None,
        *,
        size: int,
        limits: HapticLimits | None = None,
    ) -> None:
        catalogue.check(device)
        if device in _running and not _running[device].closed:
            raise ModelError(
                f"device {device!r} is in use by another hand of this session; close that first"
            )
        if not (isinstance(size, int) and 0 <= size <= 10_000):
            raise ModelError(f"a local model has {size!r} numbers; expected 0 to 10000")
        self.device, self.size, self.limits = device, size, limits or HapticLimits()
        self._made = (make_law, dict(settings or {}))
        try:
            pickle.dumps(self._made)
        except Exception as e:
            raise ModelError(
                f"the law of device {device!r} cannot be sent to its process: {e}; expected a "
                "function of a module and settings that can be pickled"
            ) from None
        self._model, self._link = np.zeros(size), SharedLink(size)
        self._processes: list[SpawnProcess] = []
        self._finalizer = weakref.finalize(self, _end, self._processes, self._link, size)
        _running[device] = self
        self._start()

    def __enter__(self) -> DeviceProcess:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return not self._finalizer.alive

    @property
    def alive(self) -> bool:
        """Whether the process is there."""
        return not self.closed and self._processes[-1].is_alive()

    @property
    def pid(self) -> int | None:
        """Number of the process."""
        return self._processes[-1].pid

    @property
    def memory(self) -> str:
        """Name of the memory that is shared."""
        return self._link.name

    def tell(self, model: Sequence[float] | Array) -> None:
        """The local model as of now, and a heartbeat.

        To be called in each step; where the last one is older than ``limits.age`` the hand feels
        nothing, and the force comes back slowly.
        """
        self._check_open()
        numbers = np.asarray(model, float)
        if numbers.shape != (self.size,):
            raise ModelError(
                f"a local model of shape {numbers.shape} was told to device {self.device!r}; "
                f"expected ({self.size},)"
            )
        if not np.all(np.isfinite(numbers)):
            raise ModelError(
                f"a local model told to device {self.device!r} is not finite at index "
                f"{int(np.argmin(np.isfinite(numbers)))}; expected finite numbers"
            )
        self._link.tell(time.monotonic(), numbers)

    def felt(self) -> HandFelt:
        """The hand, and what it feels, as of the last period."""
        self._check_open()
        numbers = self._link.felt()
        if numbers is None:
            numbers = _nothing()
        age = time.monotonic() - float(field(numbers, "time")[0])
        state = STATES[int(field(numbers, "state")[0])]
        words, alive = self._link.words(), self.alive
        # opening a device takes its time
        if not alive or (age > self.limits.age and state not in ("connecting", "lost")):
            state, said = "silent", f"{words}; " if words else ""
            how = "tells nothing new" if alive else "has ended: restart it"
            words = f"{said}the process of device {self.device!r} {how}"
        felt = state == "running"
        zero = np.zeros(3)
        return HandFelt(
            _reading(numbers),
            field(numbers, "force").copy() if felt else zero,
            field(numbers, "torque").copy() if felt else zero.copy(),
            state,
            words,
            age,
            float(field(numbers, "energy")[0]),
            field(numbers, "numbers").copy(),
            _periods(numbers),
            int(field(numbers, "connections")[0]),
        )

    def restart(self) -> None:
        """End the process, however it is, and start another."""
        self._check_open()
        _stop(self._processes, self._link, self.size)
        self._start()

    def close(self) -> None:
        """No force any more; end the process, and give the memory back. Once."""
        self._finalizer()

    def _start(self) -> None:
        # a heartbeat that is long past: neither force nor end
        self._link.tell(-math.inf, np.zeros(self.size))
        child = multiprocessing.get_context("spawn").Process(
            target=_child,
            args=(self.device, self._link.name, self.size, self.limits, os.getpid(), *self._made),
            name=f"tabi device {self.device}",
            daemon=True,
        )
        child.start()
        self._processes.append(child)

    def _check_open(self) -> None:
        if self.closed:
            raise ModelError(f"the process of device {self.device!r} was closed; make another")


def _nothing() -> Array:
    """What is published before the first period."""
    numbers = np.zeros(COUNT)
    field(numbers, "time")[0] = field(numbers, "read")[0] = -math.inf
    field(numbers, "quaternion")[0] = 1.0
    return numbers


def _reading(numbers: Array) -> HandReading:
    mask = int(field(numbers, "buttons")[0])
    return HandReading(
        field(numbers, "position").copy(),
        field(numbers, "velocity").copy(),
        field(numbers, "quaternion").copy(),
        field(numbers, "spin").copy(),
        tuple(bool(mask >> k & 1) for k in range(mask.bit_length())),
        float(field(numbers, "read")[0]),
    )


def _periods(numbers: Array) -> LoopPeriods:
    counts = tuple(int(x) for x in field(numbers, "periods"))
    worst, work, longest = (float(field(numbers, n)[0]) for n in ("worst", "work", "worst_work"))
    return LoopPeriods(counts, worst, work, longest)


def _end(processes: list[SpawnProcess], link: SharedLink, size: int) -> None:
    """What is done at the close, or when the simulation ends without one."""
    _stop(processes, link, size)
    link.close(unlink=True)


def _stop(processes: list[SpawnProcess], link: SharedLink, size: int) -> None:
    """Ask the process to end; then make it."""
    while processes:
        child = processes.pop()
        link.tell(-math.inf, np.zeros(size), end=True)
        child.join(ENDING if child.is_alive() else 0.0)
        if child.is_alive():
            # one that was stopped hears nothing else
            child.kill()
            child.join()
        child.close()


def _child(
    device: str,
    name: str,
    size: int,
    limits: HapticLimits,
    parent: int,
    make_law: Callable[..., Law],
    settings: Mapping[str, Any],
) -> None:
    """The other process."""
    # an interrupt is for the simulation, which then ends this
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asked: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: asked.append(number))
    try:
        link = SharedLink(size, name)
    except FileNotFoundError:
        return
    try:
        try:
            law = make_law(**settings)
        except Exception as e:
            link.say(f"the law of device {device!r} could not be made: {type(e).__name__}: {e}")
            return

        def opened() -> HapticDevice:
            # there is time now, and none in the loop
            gc.collect()
            return catalogue.open_device(device)

        loop = HapticLoop(opened, law, link, limits)
        gc.freeze()
        gc.disable()
        hurry()
        loop.run(lambda: not asked and not _orphaned(parent))
    finally:
        link.close(unlink=_orphaned(parent))


def _orphaned(parent: int) -> bool:
    """Whether the simulation is gone; Windows gives a child no other parent."""
    started_by = multiprocessing.parent_process() if os.name == "nt" else None
    return os.getppid() != parent if started_by is None else not started_by.is_alive()
