"""Haptic device in a separate process, and its state in the simulation.

The loop of ``haptic_loop`` runs in a newly started process (``spawn``): no compilation, drawing or
garbage collection of the simulation delays it. If the machine permits it (Linux: a limit
``rtprio``), it has real-time priority. Both ends share memory (``shared_link``) and nothing else.

    simulation ends or is killed    the process detects a new parent process: it releases the
                                    force and the memory, and ends
    simulation is paused            no heartbeat: no force
    process ends or is stopped      its data time out: the simulation assumes zero force;
                                    ``restart`` starts another. The device releases by itself
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
from tabi._renamed import renamed_attributes, renamed_in_module
from tabi.interaction.devices import catalogue
from tabi.interaction.devices.priority import raise_priority
from tabi.interaction.devices.protocol import Array, HandReading, HapticDevice
from tabi.interaction.force_guard import HapticLimits
from tabi.interaction.haptic_loop import STATES, HapticLoop, Law
from tabi.interaction.shared_link import BINS, COUNT, SharedLink, field

# timeout for the process to end [s]
END_TIMEOUT_S = 1.0

__getattr__ = renamed_in_module(__name__, {"HandFelt": "tabi.interaction.device_process.HandState"})

_running: weakref.WeakValueDictionary[str, DeviceProcess] = weakref.WeakValueDictionary()


@dataclass(frozen=True)
class LoopPeriods:
    """Statistics of the loop's periods.

    Attributes:
        counts: periods in each of ``BINS``, and longer ones. worst: the longest [s].
        work: mean computation time of a period [s]. worst_work: the longest [s].
    """

    counts: tuple[int, ...]
    worst: float
    work: float
    worst_work: float

    @property
    def count(self) -> int:
        """Number of all periods."""
        return sum(self.counts)

    @property
    def below_two(self) -> float:
        """Share of periods below 2 ms."""
        return sum(self.counts[: BINS.index(0.002) + 1]) / max(self.count, 1)


@dataclass(frozen=True, eq=False)
class HandState:
    """State of a hand in the simulation.

    Attributes:
        reading: of the hand. force, torque: on the hand [N], [N·m]; zero if unknown.
        state: one of ``STATES``, or "silent" if the process publishes no new data.
        words: error message, one sentence; empty without an error.
        age: of the data [s]. energy: from the device to the hand [J].
        numbers: output of the law. periods: of the loop. connections: number of openings.
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
        """Whether the hand is coupled to the simulation."""
        return self.state == "running"


@renamed_attributes(tell="publish_model", felt="hand_state")
class DeviceProcess:
    """A device and its loop, in another process.

    Args:
        device: its name in ``devices.catalogue``.
        make_law: function of a module that makes the law in the other process; it is pickled.
        settings: its arguments.
        size: number of values of a local model.
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
        self._law_and_settings = (make_law, dict(settings or {}))
        try:
            pickle.dumps(self._law_and_settings)
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
        """Whether the process was closed."""
        return not self._finalizer.alive

    @property
    def alive(self) -> bool:
        """Whether the process is running."""
        return not self.closed and self._processes[-1].is_alive()

    @property
    def pid(self) -> int | None:
        """Identifier of the process."""
        return self._processes[-1].pid

    @property
    def memory(self) -> str:
        """Name of the shared memory."""
        return self._link.name

    def publish_model(self, model: Sequence[float] | Array) -> None:
        """Publish the current local model, and a heartbeat.

        Call it in each step; if the last call is older than ``limits.age`` there is no force on
        the hand, and it returns slowly.
        """
        self._check_open()
        numbers = np.asarray(model, float)
        if numbers.shape != (self.size,):
            raise ModelError(
                f"a local model for device {self.device!r} has shape {numbers.shape}; "
                f"expected ({self.size},)"
            )
        if not np.all(np.isfinite(numbers)):
            raise ModelError(
                f"a local model for device {self.device!r} is not finite at index "
                f"{int(np.argmin(np.isfinite(numbers)))}; expected finite numbers"
            )
        self._link.publish_model(time.monotonic(), numbers)

    def hand_state(self) -> HandState:
        """Return the state of the hand as of the last period."""
        self._check_open()
        numbers = self._link.read_hand()
        if numbers is None:
            numbers = _initial_numbers()
        age = time.monotonic() - float(field(numbers, "time")[0])
        state = STATES[int(field(numbers, "state")[0])]
        words, alive = self._link.status(), self.alive
        # opening a device takes time
        if not alive or (age > self.limits.age and state not in ("connecting", "lost")):
            state, prefix = "silent", f"{words}; " if words else ""
            how = "publishes no new data" if alive else "has ended: restart it"
            words = f"{prefix}the process of device {self.device!r} {how}"
        is_running = state == "running"
        zero = np.zeros(3)
        return HandState(
            _reading(numbers),
            field(numbers, "force").copy() if is_running else zero,
            field(numbers, "torque").copy() if is_running else zero.copy(),
            state,
            words,
            age,
            float(field(numbers, "energy")[0]),
            field(numbers, "numbers").copy(),
            _periods(numbers),
            int(field(numbers, "connections")[0]),
        )

    def restart(self) -> None:
        """End the process, in any state, and start another."""
        self._check_open()
        _stop(self._processes, self._link, self.size)
        self._start()

    def close(self) -> None:
        """Release the force, the process and the memory; a second call does nothing."""
        self._finalizer()

    def _start(self) -> None:
        # a heartbeat in the distant past: neither force nor end
        self._link.publish_model(-math.inf, np.zeros(self.size))
        child = multiprocessing.get_context("spawn").Process(
            target=_child,
            args=(
                self.device,
                self._link.name,
                self.size,
                self.limits,
                os.getpid(),
                *self._law_and_settings,
            ),
            name=f"tabi device {self.device}",
            daemon=True,
        )
        child.start()
        self._processes.append(child)

    def _check_open(self) -> None:
        if self.closed:
            raise ModelError(f"the process of device {self.device!r} was closed; make another")


def _initial_numbers() -> Array:
    """Return the numbers before the first period."""
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
    """End the process and release the memory, at the close or when the simulation ends
    without one.
    """
    _stop(processes, link, size)
    link.close(unlink=True)


def _stop(processes: list[SpawnProcess], link: SharedLink, size: int) -> None:
    """Ask the process to end; kill it after a timeout."""
    while processes:
        child = processes.pop()
        link.publish_model(-math.inf, np.zeros(size), end=True)
        child.join(END_TIMEOUT_S if child.is_alive() else 0.0)
        if child.is_alive():
            # a stopped process ignores other signals
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
    """Run the loop in the other process."""
    # an interrupt is handled by the simulation, which then ends this process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signals: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: signals.append(number))
    try:
        link = SharedLink(size, name)
    except FileNotFoundError:
        return
    try:
        try:
            law = make_law(**settings)
        except Exception as e:
            link.report(f"the law of device {device!r} could not be made: {type(e).__name__}: {e}")
            return

        def opened() -> HapticDevice:
            # outside of the time-critical loop
            gc.collect()
            return catalogue.open_device(device)

        loop = HapticLoop(opened, law, link, limits)
        gc.freeze()
        gc.disable()
        raise_priority()
        loop.run(lambda: not signals and not _orphaned(parent))
    finally:
        link.close(unlink=_orphaned(parent))


def _orphaned(parent: int) -> bool:
    """Check whether the simulation has ended; Windows gives a child no other parent."""
    started_by = multiprocessing.parent_process() if os.name == "nt" else None
    return os.getppid() != parent if started_by is None else not started_by.is_alive()
