"""A person's hand in a simulation, from its device to the bodies it pushes, for as long as both are
there.

After every step the hand reads its device and pushes for the next one; robots see it. A device with
a process of its own that has ended is started again, and meanwhile nothing pushes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, TabiError
from tabi.interaction.device_law import make_law
from tabi.interaction.device_process import DeviceProcess, HandFelt
from tabi.interaction.devices import catalogue
from tabi.interaction.devices.protocol import HandReading
from tabi.interaction.devices.scripted import ScriptedDevice, ScriptedHand
from tabi.interaction.hand import HapticHand, Lockstep
from tabi.interaction.local_model import LENGTH
from tabi.interaction.presence import HandMeters, presence_of

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]
# seconds between two attempts to start a process that has ended
AGAIN = 0.5


class ProcessSource:
    """Readings of a device that has a process of its own.

    Attributes:
        process: it. restarts: how often it had to be started again.
        felt: what the hand felt at the last reading, and how the loop fares.
    """

    def __init__(self, process: DeviceProcess) -> None:
        self.process, self.restarts = process, 0
        self.felt: HandFelt = process.felt()
        self._tried = time.monotonic()

    def latest(self) -> HandReading | None:
        """The hand now; None where it cannot be believed."""
        if not self.process.alive and time.monotonic() - self._tried > AGAIN:
            self._tried, self.restarts = time.monotonic(), self.restarts + 1
            self.process.restart()
        self.felt = self.process.felt()
        return self.felt.reading if self.felt.running else None

    def tell(self, vector: Array) -> None:
        """What the device's loop goes by; its heartbeat."""
        self.process.tell(vector)

    def close(self) -> None:
        """End the process."""
        self.process.close()


Source = ProcessSource | Lockstep


class HapticSession:
    """A hand and its simulation.

    Attributes:
        device: its name. hand: what pushes. source: where it reads from.
        strongest: largest force on a body so far [N].
    """

    def __init__(self, sim: Simulator, device: str, hand: HapticHand) -> None:
        self.device, self.hand, self.sim = device, hand, sim
        self.source: Any = hand.source
        self.strongest = 0.0
        self._presence = presence_of(sim)
        self._presence.meters = self.meters
        self._callback = sim.every(1, self._pull)
        self._pull(sim.data)

    def _pull(self, data: Any) -> None:
        """Push bodies in the step to come."""
        hand = self.hand
        hand.pull()
        self.strongest = max(self.strongest, float(np.linalg.norm(hand.force)))
        if hand.reading is None:
            self._presence.leave(self)
        else:
            band = hand.band()
            self._presence.put(self, band.target, hand.reading.buttons, band)

    def meters(self) -> HandMeters:
        """How the device fares."""
        pushed = float(np.linalg.norm(self.hand.force))
        if isinstance(self.source, ProcessSource):
            felt = self.source.felt
            force = float(np.linalg.norm(felt.force))
            return HandMeters(self.device, felt.state, felt.words, force, felt.energy, pushed)
        energy = sum(monitor.energy for monitor in self.source.law.monitors)
        state = "running" if self.hand.reading is not None else "lost"
        return HandMeters(self.device, state, "", pushed, energy, pushed)

    def told(self) -> dict[str, Any]:
        """All of it, as plain data."""
        now = self.meters()
        return {
            "device": now.device,
            "state": now.state,
            "words": now.words,
            "mode": self.hand.mode.name.lower(),
            "strongest_n": self.strongest,
            "work_j": self.hand.work + self.hand.turn_work,
            "energy_j": now.energy,
        }

    def close(self) -> None:
        """Let go, and end the device's process."""
        self._presence.leave(self)
        self._presence.meters = None
        with suppress(TabiError, ValueError):
            self._callback.cancel()
        close = getattr(self.source, "close", None)
        if callable(close):
            close()


def source_of(
    sim: Simulator, device: str, script: Callable[[], ScriptedHand] | None = None
) -> Source:
    """Where the readings of a device come from: in step with the simulation for a script, from a
    process of its own for all others.

    Args:
        device: as ``devices.catalogue`` knows it; "scripted" without a file is ``script``.
    """
    if device == "scripted":
        if script is None:
            raise ModelError(
                "device 'scripted' has no script; expected frames of the scene's hand, or "
                "'scripted:FILE.hand.csv'"
            )
        return Lockstep(ScriptedDevice(script(), clock=lambda: sim.time), sim)
    if catalogue.check(device).startswith("scripted"):
        return Lockstep(catalogue.open_device(device, clock=lambda: sim.time), sim)
    return ProcessSource(DeviceProcess(device, make_law, {}, size=LENGTH))
