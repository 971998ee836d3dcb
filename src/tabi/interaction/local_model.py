"""What the loop of a haptic device knows of the simulation between two of its steps.

A grasped point, or the plane that a probe touches, with its velocity at a time t₀:

    x(t) = x₀ + v₀ τ,   q(t) = exp(ω₀ τ / 2) ⊗ q₀,   τ = min(max(t − t₀, 0), AHEAD)          (1)
so a simulation that is late is led on for a few steps only, then what it said last stands still.
All is in the world. The device's own frame is placed there by

    x_world = p + s R x_device                                                              (2)
with a scale s. The whole travels between processes as ``LENGTH`` numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import IntEnum
from math import cos, sin, sqrt

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError

Array = NDArray[np.float64]
AHEAD = 0.02  # s, of (1)
NO_LIMIT = 1e9  # N, N·m


class Mode(IntEnum):
    """What the probe does: nothing, hold a point, touch a surface."""

    FREE = 0
    ATTACH = 1
    TOUCH = 2


def _zeros() -> Array:
    return np.zeros(3)


def _unit() -> Array:
    return np.array([1.0, 0.0, 0.0, 0.0])


@dataclass(frozen=True, eq=False)
class LocalModel:
    """The grasped point or the touched plane, and the law that holds there.

    Attributes:
        mode: whether there is one.
        time: of the reading that the simulation answered with this [s], by the device's clock.
        place: the grasped point, or where the probe stays on the surface [m].
        quaternion: what the handle's should be where a grasp has no torque.
        velocity, spin: of that point of the body [m/s, rad/s].
        normal: of the plane, out of the body.
        stiffness, damping: [N/m, N·s/m]. turn_stiffness, turn_damping: [N·m/rad, N·m·s/rad].
        friction: of the plane. force_limit, torque_limit: of the coupling [N, N·m].
        work, turn_work: what force and torque of the coupling have done on bodies since it began
            [J].
        scale: of (2), metres of the world for one of the device. gain: newtons that the hand feels
            for one on the body.
        origin, frame: p of (2) [m], and R as a quaternion.
        held: whether the clutch is: the hand moves, the probe does not.
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
    held: bool = False

    def to_vector(self) -> Array:
        """As numbers, shape (LENGTH,)."""
        numbers: list[float] = []
        for name in PLACES:
            value = getattr(self, name)
            numbers += value.tolist() if isinstance(value, np.ndarray) else [float(value)]
        return np.array(numbers)

    @classmethod
    def from_vector(cls, vector: Array) -> LocalModel:
        """From what ``to_vector`` made."""
        x = np.asarray(vector, float)
        if x.shape != (LENGTH,):
            raise ModelError(
                f"a local model of shape {x.shape} was given; expected ({LENGTH},) numbers"
            )
        parts: dict[str, object] = {}
        for name, (start, end) in PLACES.items():
            parts[name] = x[start:end].copy() if end - start > 1 else float(x[start])
        number = x[0]
        parts["mode"] = Mode(int(number)) if number in (0.0, 1.0, 2.0) else Mode.FREE
        parts["held"] = bool(x[PLACES["held"][0]])
        return cls(**parts)  # type: ignore[arg-type]

    def at(self, time: float) -> tuple[Array, Array]:
        """Place and quaternion at a time by the device's clock, by (1)."""
        tau = ahead(time - self.time)
        turned = turn(tuple(self.quaternion.tolist()), tuple((tau * self.spin).tolist()))
        return self.place + tau * self.velocity, np.array(turned)


def ahead(age: float) -> float:
    """τ of (1) for an age [s]."""
    return min(max(age, 0.0), AHEAD)


def turn(q: tuple[float, ...], phi: tuple[float, ...]) -> tuple[float, float, float, float]:
    """exp(φ/2) ⊗ q."""
    angle = sqrt(phi[0] * phi[0] + phi[1] * phi[1] + phi[2] * phi[2])
    s = 0.5 if angle < 1e-6 else sin(0.5 * angle) / angle
    return product((cos(0.5 * angle), s * phi[0], s * phi[1], s * phi[2]), q)


def product(p: tuple[float, ...], q: tuple[float, ...]) -> tuple[float, float, float, float]:
    """p ⊗ q, plain numbers: the device's loop has no time for arrays."""
    return (
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    )


def _places() -> dict[str, tuple[int, int]]:
    made, at, first = {}, 0, LocalModel()
    for one in fields(LocalModel):
        size = int(np.size(getattr(first, one.name)))
        made[one.name] = (at, at + size)
        at += size
    return made


# where each part stands among the numbers, and how many they are
PLACES = _places()
LENGTH = max(end for _, end in PLACES.values())
