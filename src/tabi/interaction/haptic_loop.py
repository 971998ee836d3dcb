"""Loop of a haptic device: 1000 times a second, in a separate process.

A period: read the device and the latest local model of the simulation, compute a wrench by the law,
limit it (``force_guard``), write it, publish it (``shared_link``). It never waits for the
simulation. There is no force if

    the last heartbeat of the simulation is older than ``age``      state "waiting"
    the last reading of the device is                               state "late"
    the law fails, or its wrench is not finite                      state "failed"
    the device fails; it is reopened repeatedly                     state "lost"
and after each of these the force returns slowly, with the law restarted (``reset``, if it has one).

Energy from the device to the hand, with the wrench constant from reading k to reading k + 1:

    E ← E + f_k · (x_{k+1} − x_k) + τ_k · ω_{k+1} Δt                                            (1)
Waiting for the next period is a sleep up to its deadline.

Reference: Colgate, Schenkel (1997), Passivity of a class of sampled-data systems, for why the
period matters; Hannaford, Ryu (2002), Time-domain passivity control of haptic interfaces, for (1).
"""

from __future__ import annotations

import contextlib
import math
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tabi._errors import TabiError
from tabi.interaction.devices.protocol import Array, DeviceError, HandReading, HapticDevice
from tabi.interaction.force_guard import ForceGuard, HapticLimits
from tabi.interaction.shared_link import BINS, NUMBERS, SharedLink

STATES = ("connecting", "running", "waiting", "late", "failed", "lost", "ended")
CONNECTING, RUNNING, WAITING, LATE, FAILED, LOST, ENDED = range(len(STATES))
# largest distance of the handle [m]; limits of the period as an argument of a law [s]
MAX_DISTANCE, MIN_PERIOD_S, MAX_PERIOD_S = 10.0, 1e-4, 1e-2

# wrench and up to NUMBERS further numbers, from a reading, the local model and the time step
Law = Callable[[HandReading, Array, float], tuple[Array, Array, Sequence[float] | Array]]


class HapticLoop:
    """Loop of one haptic device.

    Args:
        open_device: function that opens the device, at the start and after a loss.
        law: of the force on the hand.
        link: to the simulation.
        limits: of the force.
        clock: function that returns the time [s].

    Attributes:
        state: index into ``STATES``. energy: (1) [J].
    """

    def __init__(
        self,
        open_device: Callable[[], HapticDevice],
        law: Law,
        link: SharedLink,
        limits: HapticLimits,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open, self._law, self._link, self._limits = open_device, law, link, limits
        self.clock, self.state, self.energy = clock, CONNECTING, 0.0
        self._device: HapticDevice | None = None
        self._guard: ForceGuard | None = None
        self._retry, self._must_restart, self._message = -math.inf, True, ""
        self._reading = HandReading(np.zeros(3), time=-math.inf)
        self._force = self._torque = self._zero = np.zeros(3)
        self._numbers, self._read_time = [0.0] * NUMBERS, clock()
        self._connections, self._period_start = 0, -math.inf
        self._counts = [0] * (len(BINS) + 1)
        self._worst = self._work = self._worst_work = 0.0

    def period(self) -> bool:
        """Run one period; return whether to continue."""
        start = self.clock()
        self._count(start)
        model = self._link.read_model()
        if model is not None and model[1]:
            return False
        if self._device is None and start >= self._retry:
            self._connect()
        if self._device is not None:
            try:
                self._update_device(self._device, model, start)
            except Exception as e:
                # after any error of a driver, the loop continues without force
                self._handle_loss(e)
        self._publish(start)
        return True

    def run(self, alive: Callable[[], bool]) -> None:
        """Run periods as long as the caller is alive."""
        deadline = self.clock()
        try:
            while alive() and self.period():
                length = 1e-3 if self._device is None else 1.0 / self._device.info.rate
                # a late period is not followed by a burst
                deadline = max(deadline + length, self.clock())
                self._wait(deadline)
        finally:
            self.end()

    def end(self) -> None:
        """Release the force and the device."""
        self._release()
        self.state = ENDED
        self._publish(self.clock())

    # ---- a period -------------------------------------------------------------------------------

    def _update_device(
        self, device: HapticDevice, model: tuple[float, bool, Array] | None, start: float
    ) -> None:
        """Read the device, compute the wrench, write it."""
        assert self._guard is not None
        reading = _valid_reading(device.read(), device.info.name)
        dt = min(max(start - self._read_time, MIN_PERIOD_S), MAX_PERIOD_S)
        displacement = reading.position - self._reading.position
        self.energy += float(self._force @ displacement) + float(self._torque @ reading.spin) * dt
        self._reading, self._read_time = reading, start
        now, message = self.clock(), ""
        force = torque = self._zero
        if now - reading.time > self._limits.age:
            self.state, message = LATE, f"{device.info.name} has sent no new reading for a while"
        elif model is None or now - model[0] > self._limits.age:
            self.state, message = WAITING, "no heartbeat of the simulation for a while"
        else:
            try:
                force, torque = self._guarded_wrench(reading, model[2], now, dt)
                self.state = RUNNING
            except Exception as e:
                self.state = FAILED
                message = f"the law of the force failed: {type(e).__name__}: {e}"
        if self.state != RUNNING:
            self._guard.stop()
            self._must_restart = True
        self._report(message)
        self._force, self._torque = force, torque
        device.write(force, torque)

    def _guarded_wrench(
        self, reading: HandReading, model: Array, now: float, dt: float
    ) -> tuple[Array, Array]:
        assert self._guard is not None
        if self._must_restart:
            reset: Any = getattr(self._law, "reset", None)
            if reset is not None:
                reset()
            self._guard.begin(now)
            self._must_restart = False
        force, torque, numbers = self._law(reading, model, dt)
        guarded = self._guard.guard(force, torque, now, dt)
        outputs = [float(x) for x in numbers][:NUMBERS]
        self._numbers = outputs + [0.0] * (NUMBERS - len(outputs))
        return guarded

    # ---- connection of the device
    # ------------------------------------------------------------------

    def _connect(self) -> None:
        try:
            self._device = self._open()
            self._guard = ForceGuard(self._limits, self._device.info)
            self._reading = _valid_reading(self._device.read(), self._device.info.name)
            self._connections += 1
            # opening takes longer than a period
            self._period_start = -math.inf
            self._report("")
        except Exception as e:
            self._handle_loss(e)

    def _handle_loss(self, why: Exception) -> None:
        self._release()
        self.state, self._retry = LOST, self.clock() + self._limits.retry
        # only errors of tabi are sentences
        text = str(why) if isinstance(why, TabiError) else f"{type(why).__name__}: {why}"
        self._report(text)
        self._period_start = -math.inf

    def _release(self) -> None:
        device, self._device, self._must_restart = self._device, None, True
        self._force = self._torque = self._zero
        if device is not None:
            with contextlib.suppress(Exception):
                device.write(self._zero, self._zero)
            with contextlib.suppress(Exception):
                device.close()

    # ---- published data --------------------------------------------------------------------------

    def _publish(self, start: float) -> None:
        now, r = self.clock(), self._reading
        # periods in which a device is opened or lost are not counted
        if self._period_start > -math.inf:
            self._work += 0.01 * (now - start - self._work)
            self._worst_work = max(self._worst_work, now - start)
        mask = sum(1 << k for k, pressed in enumerate(r.buttons[:52]) if pressed)
        hand = (*r.position.tolist(), *r.velocity.tolist(), *r.quaternion.tolist())
        wrench = (*self._force.tolist(), *self._torque.tolist(), self.energy, *self._numbers)
        periods = (*self._counts, self._worst, self._work, self._worst_work, self._connections)
        self._link.publish_hand(
            (now, self.state, *hand, *r.spin.tolist(), mask, r.time, *wrench, *periods)
        )

    def _report(self, text: str) -> None:
        if text != self._message:
            self._message = text
            self._link.report(text)

    def _count(self, start: float) -> None:
        """Count the time since the last period began."""
        if self._period_start > -math.inf:
            length = start - self._period_start
            self._counts[bisect_right(BINS, length)] += 1
            self._worst = max(self._worst, length)
        self._period_start = start

    def _wait(self, deadline: float) -> None:
        # sleep to the end: with real-time priority, spinning would block others
        left = deadline - self.clock()
        if left > 0.0:
            time.sleep(left)


def _valid_reading(reading: HandReading, name: str) -> HandReading:
    """Return a valid reading; raise an error of the device for an invalid one."""
    total = reading.position.tolist() + reading.velocity.tolist() + reading.spin.tolist()
    total += reading.quaternion.tolist()
    if not math.isfinite(sum(total)) or max(map(abs, total[:3])) > MAX_DISTANCE:
        raise DeviceError(
            f"{name} reports the position {total[:3]} m and the velocity {total[3:6]} m/s; "
            f"expected finite numbers within {MAX_DISTANCE:g} m"
        )
    return reading
