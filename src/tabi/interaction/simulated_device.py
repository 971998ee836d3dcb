"""Simulated haptic device: a handle of some mass in a hand.

    m ẍ = f + F,    F = K (x_h − x) + D (ẋ_h − ẋ),  |F| ≤ F_max                                 (1)
f is the last commanded force, held until the next one acts; F that of the hand, a spring and a
damper to its target x_h(t). Integrated at 10 kHz, velocity first, so that the work of f is
Σ f·Δx to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError
from tabi.interaction.devices.protocol import DeviceInfo, HandReading

Array = NDArray[np.float64]
STEP = 1e-4  # s


def _still(time: float) -> tuple[float, float, float]:
    return (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class SpringHand:
    """Hand of equation (1).

    Attributes:
        stiffness, damping: K, D [N/m, N·s/m]. strength: F_max [N].
        wants: target x_h as a function of time [m].
    """

    stiffness: float = 200.0
    damping: float = 2.0
    strength: float = 5.0
    wants: Callable[[float], Sequence[float]] = _still


class SampledHandle:
    """Device with the protocol of ``HapticDevice``.

    Args:
        mass: [kg]. hand: None for a free handle.
        position, velocity: at the start [m, m/s].
        clock: function that returns the time [s]: ``read`` and ``write`` first integrate until
            then; without it the caller calls ``advance``.
        axes: number of axes of its motion, 1 or 3.

    Attributes:
        energy: work of the commanded forces on the handle and the hand [J]; worst: its maximum.
    """

    def __init__(
        self,
        mass: float = 0.1,
        hand: SpringHand | None = None,
        position: ArrayLike = (0.0, 0.0, 0.0),
        velocity: ArrayLike = (0.0, 0.0, 0.0),
        clock: Callable[[], float] | None = None,
        axes: int = 3,
    ) -> None:
        if not 0.0 < mass < np.inf or axes not in (1, 3):
            raise ModelError(
                f"a handle of {mass} kg along {axes} axes; expected a mass > 0 and 1 or 3 axes"
            )
        self.info = DeviceInfo("simulated handle", force_limit=1e3)
        self.mass, self.hand, self.axes, self.clock = mass, hand, axes, clock
        self.x, self.v = _list(position), _list(velocity)
        self.force = [0.0, 0.0, 0.0]
        self.ticks, self.energy, self.worst = 0, 0.0, 0.0
        self.buttons: tuple[bool, ...] = ()

    @property
    def time(self) -> float:
        """Time since the start [s]."""
        return self.ticks * STEP

    def advance(self, ticks: int) -> None:
        """Integrate (1) by ``ticks`` steps of 0.1 ms."""
        x, v, f, h, m, hand = self.x, self.v, self.force, STEP, self.mass, self.hand
        for _ in range(ticks):
            F = self._pull(hand) if hand is not None else (0.0, 0.0, 0.0)
            for i in range(self.axes):
                v[i] += h * (f[i] + F[i]) / m
                step = h * v[i]
                x[i] += step
                self.energy += f[i] * step
            self.worst = max(self.worst, self.energy)
            self.ticks += 1

    def _pull(self, hand: SpringHand) -> list[float]:
        a, b = hand.wants(self.time), hand.wants(self.time + STEP)
        k, c, x, v = hand.stiffness, hand.damping, self.x, self.v
        F = [k * (a[i] - x[i]) + c * ((b[i] - a[i]) / STEP - v[i]) for i in range(3)]
        size = (F[0] * F[0] + F[1] * F[1] + F[2] * F[2]) ** 0.5
        return F if size <= hand.strength else [hand.strength / size * c for c in F]

    def _follow_clock(self) -> None:
        if self.clock is not None:
            self.advance(max(0, round(self.clock() / STEP) - self.ticks))

    def read(self) -> HandReading:
        """Return the reading of the handle now."""
        self._follow_clock()
        return HandReading(np.array(self.x), np.array(self.v), buttons=self.buttons, time=self.time)

    def write(self, force: Array, torque: Array) -> None:
        """Push the handle until the next call."""
        self._follow_clock()
        self.force = _list(force)

    def close(self) -> None:
        """Release the force on the handle."""
        self.force = [0.0, 0.0, 0.0]


def _list(x: ArrayLike) -> list[float]:
    a = np.asarray(x, float)
    if a.shape != (3,) or not np.isfinite(a).all():
        raise ModelError(f"a vector of a simulated handle is {x!r}; expected three finite numbers")
    return [float(c) for c in a]
