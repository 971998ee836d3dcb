"""Local model of the simulation, for the loop of a haptic device between two steps.

A grasped point, or the plane that a probe touches, with its velocity at a time t₀:

    x(t) = x₀ + v₀ τ,   q(t) = exp(ω₀ τ / 2) ⊗ q₀,   τ = min(max(t − t₀, 0), MAX_EXTRAPOLATION_S)
          (1)
so a late simulation is extrapolated for a few steps only, then its last state is constant. All
values are in the world. The device's frame is placed there by

    x_world = p + s R x_device                                                              (2)
with a scale s. A model is sent between processes as ``LENGTH`` numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import IntEnum
from math import cos, sin, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi._renamed import renamed_attributes

Array = NDArray[np.float64]
MAX_EXTRAPOLATION_S = 0.02  # of (1)
NO_LIMIT = 1e9  # N, N·m


class Mode(IntEnum):
    """Interaction of the probe: none, hold a point, touch a surface."""

    FREE = 0
    ATTACH = 1
    TOUCH = 2


def _zeros() -> Array:
    return np.zeros(3)


def _unit() -> Array:
    return np.array([1.0, 0.0, 0.0, 0.0])


@renamed_attributes(held="clutched")
@dataclass(frozen=True, eq=False)
class LocalModel:
    """The grasped point or the touched plane, and the law that holds there.

    Attributes:
        mode: kind of interaction.
        time: of the reading on which this model is based [s], by the device's clock.
        place: the grasped point, or the position of the probe on the surface [m].
        quaternion: orientation of the handle without torque of a grasp.
        velocity, spin: of that point of the body [m/s, rad/s].
        normal: of the plane, out of the body.
        stiffness, damping: [N/m, N·s/m]. turn_stiffness, turn_damping: [N·m/rad, N·m·s/rad].
        friction: of the plane. force_limit, torque_limit: of the coupling [N, N·m].
        work, turn_work: of force and torque of the coupling on bodies since its start [J].
        scale: of (2), metres in the world per metre of the device. gain: force on the hand per
            force on the body.
        origin, frame: p of (2) [m], and R as a quaternion.
        clutched: whether the clutch is pressed: the hand moves, the probe does not.
    """

    mode: Mode = Mode.FREE
    time: float = 0.0
    place: Array = field(default_factory=_zeros)
    quaternion: Array = field(default_factory=_unit)
    velocity: Array = field(default_factory=_zeros)
    spin: Array = field(default_factory=_zeros)
    normal: Array = field(default_factory=_zeros)
    stiffness: float = 0.0
    damping: float = 0.0
    turn_stiffness: float = 0.0
    turn_damping: float = 0.0
    friction: float = 0.0
    force_limit: float = NO_LIMIT
    torque_limit: float = NO_LIMIT
    work: float = 0.0
    turn_work: float = 0.0
    scale: float = 1.0
    gain: float = 1.0
    origin: Array = field(default_factory=_zeros)
    frame: Array = field(default_factory=_unit)
    clutched: bool = False

    def to_vector(self) -> Array:
        """Return the model as numbers, shape (LENGTH,)."""
        numbers: list[float] = []
        for name in PLACES:
            value = getattr(self, name)
            numbers += value.tolist() if isinstance(value, np.ndarray) else [float(value)]
        return np.array(numbers)

    @classmethod
    def from_vector(cls, vector: Array) -> LocalModel:
        """Return the model of a vector by ``to_vector``."""
        x = np.asarray(vector, float)
        if x.shape != (LENGTH,):
            raise ModelError(f"a local model has shape {x.shape}; expected ({LENGTH},) numbers")
        parts: dict[str, Any] = {}
        for name, (start, end) in PLACES.items():
            parts[name] = x[start:end].copy() if end - start > 1 else float(x[start])
        number = x[0]
        parts["mode"] = Mode(int(number)) if number in (0.0, 1.0, 2.0) else Mode.FREE
        parts["clutched"] = bool(x[PLACES["clutched"][0]])
        return cls(**parts)

    def at(self, time: float) -> tuple[Array, Array]:
        """Return position and quaternion at a time by the device's clock, by (1)."""
        tau = extrapolation_time(time - self.time)
        rotation = turn(tuple(self.quaternion.tolist()), tuple((tau * self.spin).tolist()))
        return self.place + tau * self.velocity, np.array(rotation)


def extrapolation_time(age: float) -> float:
    """Return τ of (1) for an age [s]."""
    return min(max(age, 0.0), MAX_EXTRAPOLATION_S)


def turn(q: tuple[float, ...], phi: tuple[float, ...]) -> tuple[float, float, float, float]:
    """Return exp(φ/2) ⊗ q."""
    angle = sqrt(phi[0] * phi[0] + phi[1] * phi[1] + phi[2] * phi[2])
    s = 0.5 if angle < 1e-6 else sin(0.5 * angle) / angle
    return product((cos(0.5 * angle), s * phi[0], s * phi[1], s * phi[2]), q)


def product(p: tuple[float, ...], q: tuple[float, ...]) -> tuple[float, float, float, float]:
    """Return p ⊗ q of plain numbers: arrays are too slow for the device's loop."""
    return (
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    )


def _slices() -> dict[str, tuple[int, int]]:
    slices, at, first = {}, 0, LocalModel()
    for part in fields(LocalModel):
        size = int(np.size(getattr(first, part.name)))
        slices[part.name] = (at, at + size)
        at += size
    return slices


# start and end of each part among the numbers, and their count
PLACES = _slices()
LENGTH = max(end for _, end in PLACES.values())
