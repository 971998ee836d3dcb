"""Session of a person's hand in a simulation, from its device to the bodies it pushes.

After every step the hand reads its device and pushes for the next one; robots see it. A device
process that has ended is started again, and meanwhile there is no force.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, TabiError
from tabi._renamed import renamed_attributes
from tabi.interaction.device_law import make_law
from tabi.interaction.device_process import DeviceProcess, HandState
from tabi.interaction.devices import catalogue
from tabi.interaction.devices.protocol import HandReading
from tabi.interaction.devices.scripted import ScriptedDevice, ScriptedHand
from tabi.interaction.hand import HapticHand, Lockstep
from tabi.interaction.local_model import LENGTH
from tabi.interaction.presence import HandMeters, presence_of

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]
# time between two attempts to restart a process [s]
RESTART_PERIOD_S = 0.5


@renamed_attributes(tell="publish_model", felt="hand_state")
class ProcessSource:
    """Source of readings from a device in a separate process.

    Attributes:
        process: of the device. restarts: their number.
        hand_state: at the last reading, with the statistics of the loop.
    """

    def __init__(self, process: DeviceProcess) -> None:
        self.process, self.restarts = process, 0
        self.hand_state: HandState = process.hand_state()
        self._tried = time.monotonic()

    def latest(self) -> HandReading | None:
        """Return the latest reading; None if it is invalid."""
        if not self.process.alive and time.monotonic() - self._tried > RESTART_PERIOD_S:
            self._tried, self.restarts = time.monotonic(), self.restarts + 1
            self.process.restart()
        self.hand_state = self.process.hand_state()
        return self.hand_state.reading if self.hand_state.running else None

    def publish_model(self, vector: Array) -> None:
        """Publish the local model to the device's loop, as a heartbeat."""
        self.process.publish_model(vector)

    def close(self) -> None:
        """End the device's process."""
        self.process.close()


Source = ProcessSource | Lockstep


@renamed_attributes(told="summary")
class HapticSession:
    """A hand in a simulation, with its device.

    Attributes:
        device: its name. hand: the hand. source: of its readings.
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
        """Push bodies in the next step."""
        hand = self.hand
        hand.pull()
        self.strongest = max(self.strongest, float(np.linalg.norm(hand.force)))
        if hand.reading is None:
            self._presence.leave(self)
        else:
            band = hand.band()
            self._presence.put(self, band.target, hand.reading.buttons, band)

    def meters(self) -> HandMeters:
        """Return the state of the device."""
        pushed = float(np.linalg.norm(self.hand.force))
        if isinstance(self.source, ProcessSource):
            hand_state = self.source.hand_state
            force = float(np.linalg.norm(hand_state.force))
            return HandMeters(
                self.device, hand_state.state, hand_state.words, force, hand_state.energy, pushed
            )
        energy = sum(monitor.energy for monitor in self.source.law.monitors)
        state = "running" if self.hand.reading is not None else "lost"
        return HandMeters(self.device, state, "", pushed, energy, pushed)

    def summary(self) -> dict[str, Any]:
        """Return the result of the session as plain data."""
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
        """Release the hand, and end the device's process."""
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
    """Return the source of a device's readings: synchronous with the simulation for a script, from
    a separate process for all others.

    Args:
        device: name in ``devices.catalogue``; "scripted" without a file is ``script``.
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
