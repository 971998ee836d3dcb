"""The loop that a hand feels: 1000 times a second, in a process of its own.

A period: read the device, take the newest local model of the simulation, ask the law for a wrench,
guard it (``force_guard``), write it, publish it (``shared_link``). It never waits for the
simulation. There is no force where

    the last heartbeat of the simulation is older than ``age``      state "waiting"
    the last reading of the device is                               state "late"
    the law fails, or asks for what is not finite                   state "failed"
    the device fails; it is opened anew, again and again            state "lost"
and after each of these it comes back slowly, to a law that was told to begin anew (``reset``, where
it has one).

Energy that the device gave to the hand, with the wrench held from reading k to reading k + 1:

    E ← E + f_k · (x_{k+1} − x_k) + τ_k · ω_{k+1} Δt                                            (1)
Waiting for the next period is sleep up to 0.3 ms before it, then yielding: a sleep alone is late by
whatever the scheduler likes.

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
# farthest place [m]; shortest and longest period that a law is told [s]
FARTHEST, SHORTEST, LONGEST = 10.0, 1e-4, 1e-2

# wrench and up to NUMBERS of its own, of a reading, the local model and the time since the last
Law = Callable[[HandReading, Array, float], tuple[Array, Array, Sequence[float] | Array]]


class HapticLoop:
    """The loop of one device.

    Args:
        open_device: opens the device, now and whenever it was lost.
        law: what the hand is to feel.
        link: to the simulation.
        limits: of the force.
        clock: tells the time [s].

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
        self._retry, self._gap, self._said = -math.inf, True, ""
        self._reading = HandReading(np.zeros(3), time=-math.inf)
        self._force = self._torque = self._zero = np.zeros(3)
        self._numbers, self._then = [0.0] * NUMBERS, clock()
        self._connections, self._begun = 0, -math.inf
        self._counts = [0] * (len(BINS) + 1)
        self._worst = self._work = self._worst_work = 0.0

    def period(self) -> bool:
        """One period; whether there is to be another."""
        start = self.clock()
        self._count(start)
        told = self._link.told()
        if told is not None and told[1]:
            return False
        if self._device is None and start >= self._retry:
            self._connect()
        if self._device is not None:
            try:
                self._touch(self._device, told, start)
            except Exception as e:
                # whatever a driver does, the loop goes on without force
                self._lose(e)
        self._publish(start)
        return True

    def run(self, alive: Callable[[], bool]) -> None:
        """Period after period, as long as whoever asked for them is alive."""
        deadline = self.clock()
        try:
            while alive() and self.period():
                length = 1e-3 if self._device is None else 1.0 / self._device.info.rate
                # one that is late is not followed by a burst
                deadline = max(deadline + length, self.clock())
                self._wait(deadline)
        finally:
            self.end()

    def end(self) -> None:
        """No force any more; let go of the device."""
        self._let_go()
        self.state = ENDED
        self._publish(self.clock())

    # ---- a period -------------------------------------------------------------------------------

    def _touch(
        self, device: HapticDevice, told: tuple[float, bool, Array] | None, start: float
    ) -> None:
        """Read, compute, write."""
        assert self._guard is not None
        reading = _sound(device.read(), device.info.name)
        dt = min(max(start - self._then, SHORTEST), LONGEST)
        moved = reading.position - self._reading.position
        self.energy += float(self._force @ moved) + float(self._torque @ reading.spin) * dt
        self._reading, self._then = reading, start
        now, why = self.clock(), ""
        force = torque = self._zero
        if now - reading.time > self._limits.age:
            self.state, why = LATE, f"{device.info.name} has told nothing new for a while"
        elif told is None or now - told[0] > self._limits.age:
            self.state, why = WAITING, "the simulation has not been heard for a while"
        else:
            try:
                force, torque = self._felt(reading, told[2], now, dt)
                self.state = RUNNING
            except Exception as e:
                self.state = FAILED
                why = f"the law of what is felt failed: {type(e).__name__}: {e}"
        if self.state != RUNNING:
            self._guard.stop()
            self._gap = True
        self._say(why)
        self._force, self._torque = force, torque
        device.write(force, torque)

    def _felt(
        self, reading: HandReading, model: Array, now: float, dt: float
    ) -> tuple[Array, Array]:
        assert self._guard is not None
        if self._gap:
            reset: Any = getattr(self._law, "reset", None)
            if reset is not None:
                reset()
            self._guard.begin(now)
            self._gap = False
        force, torque, numbers = self._law(reading, model, dt)
        guarded = self._guard.guard(force, torque, now, dt)
        told = [float(x) for x in numbers][:NUMBERS]
        self._numbers = told + [0.0] * (NUMBERS - len(told))
        return guarded

    # ---- the device comes and goes ---------------------------------------------------------------

    def _connect(self) -> None:
        try:
            self._device = self._open()
            self._guard = ForceGuard(self._limits, self._device.info)
            self._reading = _sound(self._device.read(), self._device.info.name)
            self._connections += 1
            # opening takes longer than a period
            self._begun = -math.inf
            self._say("")
        except Exception as e:
            self._lose(e)

    def _lose(self, why: Exception) -> None:
        self._let_go()
        self.state, self._retry = LOST, self.clock() + self._limits.retry
        # errors of tabi are sentences; others are not
        said = str(why) if isinstance(why, TabiError) else f"{type(why).__name__}: {why}"
        self._say(said)
        self._begun = -math.inf

    def _let_go(self) -> None:
        device, self._device, self._gap = self._device, None, True
        self._force = self._torque = self._zero
        if device is not None:
            with contextlib.suppress(Exception):
                device.write(self._zero, self._zero)
            with contextlib.suppress(Exception):
                device.close()

    # ---- what is told ---------------------------------------------------------------------------

    def _publish(self, start: float) -> None:
        now, r = self.clock(), self._reading
        # a period in which a device is opened or lost is none to be judged by
        if self._begun > -math.inf:
            self._work += 0.01 * (now - start - self._work)
            self._worst_work = max(self._worst_work, now - start)
        mask = sum(1 << k for k, pressed in enumerate(r.buttons[:52]) if pressed)
        hand = (*r.position.tolist(), *r.velocity.tolist(), *r.quaternion.tolist())
        wrench = (*self._force.tolist(), *self._torque.tolist(), self.energy, *self._numbers)
        periods = (*self._counts, self._worst, self._work, self._worst_work, self._connections)
        self._link.publish(
            (now, self.state, *hand, *r.spin.tolist(), mask, r.time, *wrench, *periods)
        )

    def _say(self, text: str) -> None:
        if text != self._said:
            self._said = text
            self._link.say(text)

    def _count(self, start: float) -> None:
        """How long it is since the last period began."""
        if self._begun > -math.inf:
            length = start - self._begun
            self._counts[bisect_right(BINS, length)] += 1
            self._worst = max(self._worst, length)
        self._begun = start

    def _wait(self, deadline: float) -> None:
        # asleep to the end: one that spins where it goes before others takes their time
        left = deadline - self.clock()
        if left > 0.0:
            time.sleep(left)


def _sound(reading: HandReading, name: str) -> HandReading:
    """A reading that can be; one that cannot is a fault of the device."""
    total = reading.position.tolist() + reading.velocity.tolist() + reading.spin.tolist()
    total += reading.quaternion.tolist()
    if not math.isfinite(sum(total)) or max(map(abs, total[:3])) > FARTHEST:
        raise DeviceError(
            f"{name} tells a place of {total[:3]} m and a velocity of {total[3:6]} m/s; expected "
            f"finite numbers within {FARTHEST:g} m"
        )
    return reading
