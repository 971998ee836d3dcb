"""Guard of the force on a hand: limits of size and rate, and a slow start.

A commanded force f is limited to g,

    f' = f min(1, F/|f|)                    limited to F                                        (1)
    f″ = r f',  r = min(1, (t − t₀)/T)      after a start at t₀, ramped over T                  (2)
    g ← g + (f″ − g) min(1, s Δt/|f″ − g|)  limited rate of change s                            (3)
and g = 0 at once after a failure, followed by a new start. Torques are limited likewise, with their
own limit and a rate in proportion to it. Forces that are not finite are rejected.

Reference: Salisbury, Conti, Barbagli, Haptic rendering: introductory concepts (2004).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tabi._errors import ModelError
from tabi.interaction.devices.protocol import Array, DeviceInfo


@dataclass(frozen=True)
class HapticLimits:
    """Limits of the force on a hand.

    Attributes:
        force, torque: largest [N], [N·m]; those of the device where they are None or smaller.
        slew: maximum rate of a force [N/s].
        ramp: duration of a start [s].
        age: timeout of a reading or a heartbeat [s]; with a period of the loop and the delay to
            the device, forces end within 50 ms.
        retry: time until a lost device is opened again [s].
    """

    force: float | None = None
    torque: float | None = None
    slew: float = 2000.0
    ramp: float = 0.5
    age: float = 0.04
    retry: float = 0.5

    def __post_init__(self) -> None:
        for name in ("force", "torque", "slew", "ramp", "age", "retry"):
            value = getattr(self, name)
            if value is not None and not 0.0 < value < math.inf:
                raise ModelError(
                    f"{name} of the limits of a haptic device is {value!r}; expected a number > 0"
                )


class ForceGuard:
    """Guard of one device by (1) to (3)."""

    def __init__(self, limits: HapticLimits, info: DeviceInfo) -> None:
        device_force = info.force_limit if info.wrench else 0.0
        device_torque = info.torque_limit if info.wrench == 6 else 0.0
        self.force_limit = min(limits.force or math.inf, device_force)
        self.torque_limit = min(limits.torque or math.inf, device_torque)
        self._limits, self._start = limits, math.inf
        self._force, self._torque = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)

    def begin(self, now: float) -> None:
        """Start from no force, slowly."""
        self.stop()
        self._start = now

    def stop(self) -> None:
        """Stop the force at once."""
        self._force, self._torque = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        self._start = math.inf

    def guard(self, force: Array, torque: Array, now: float, dt: float) -> tuple[Array, Array]:
        """Return the limited force and torque; raise ValueError if they are not finite."""
        rise = min(max((now - self._start) / self._limits.ramp, 0.0), 1.0)
        step = self._limits.slew * dt
        turn = step * self.torque_limit / self.force_limit if self.force_limit else 0.0
        self._force = _limited(force, self.force_limit, rise, self._force, step)
        self._torque = _limited(torque, self.torque_limit, rise, self._torque, turn)
        return np.array(self._force), np.array(self._torque)


def _limited(
    wanted: Array, limit: float, rise: float, last: tuple[float, ...], step: float
) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in wanted)
    size = math.hypot(x, y, z)
    if not math.isfinite(size):
        raise ValueError(f"({x:g}, {y:g}, {z:g}) is not finite")
    scale = rise * (limit / size if size > limit else 1.0)
    x, y, z = scale * x - last[0], scale * y - last[1], scale * z - last[2]
    change = math.hypot(x, y, z)
    part = step / change if change > step else 1.0
    return last[0] + part * x, last[1] + part * y, last[2] + part * z
