"""Coupling of a hand and a body: pose of the probe, grasp and touch.

The handle of a device is a probe in the world, at p + s R x. While the clutch is pressed the
hand moves and the probe stays; p is then adapted.

Attached, a spring and a damper between the probe and a point of the body push the body with

    f = k (x_probe − x) + c (ẋ_probe − ẋ),    c = √(2 m k)                                   (1)
and the hand with −f, which is Chardonnet et al. 2012, eq (14); the damping ratio of m on k is
1/√2. m is the apparent mass of the point, and I its apparent inertia for rotations,

    m = 3 / tr(J M⁻¹ Jᵀ),    I = 3 / tr(J_ω M⁻¹ J_ωᵀ),    k ≤ m (0.1 / h)²                   (2)
    τ = k_ω log(q_probe q⁻¹) + c_ω (ω_probe − ω),    c_ω = √(2 I k_ω)                        (3)
Touching, the probe stays on the surface where the hand goes inside, ``god_object``, and with x_s
there and n out of the body the force on the hand is

    f = max(0, k n·(x_s − x) + c n·(ẋ_s − ẋ)) n,  and along the surface at most μ of that     (4)
The device's loop has a ``LocalModel`` in place of the body, and the work of its force on the hand
is bounded by ``energy``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import atan2, isfinite, sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi import dynamics
from tabi._errors import ModelError
from tabi._renamed import renamed_attributes
from tabi.interaction.devices.protocol import HandReading
from tabi.interaction.local_model import product
from tabi.model.compiled import Link
from tabi.spatial.transform import Transform, cross_matrix
from tabi.spatial.twist import Twist

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]
# tolerance of a quaternion's length
ROUNDING = 1e-12
MAX_OMEGA_STEP = 0.1  # ω h of (2)


@dataclass(frozen=True, eq=False)
class Probe:
    """State of a handle in the world: position [m], quaternion, velocity [m/s] and angular velocity
    [rad/s].
    """

    position: Array
    quaternion: Array
    velocity: Array
    spin: Array


@renamed_attributes(held="clutched")
class Placement:
    """Placement of a device's frame in the world.

    Args:
        frame: X of the device's frame at the start. scale: metres in the world per metre of the
            device. gain: force on the hand per force on the body.
        clutch: the button that freezes the probe; None for no clutch.

    Attributes:
        clutched: whether the clutch is pressed.
        offset: rotation of the handle from the probe since the clutch was pressed.
    """

    def __init__(
        self,
        frame: Transform | None = None,
        scale: float = 1.0,
        gain: float = 1.0,
        clutch: int | None = None,
    ) -> None:
        if not 0.0 < scale < np.inf or not 0.0 <= gain < np.inf:
            raise ModelError(
                f"a device has the scale {scale} and the gain {gain}; expected finite numbers, "
                "the scale > 0 and the gain ≥ 0"
            )
        self.gain, self.clutch = float(gain), clutch
        frame = Transform() if frame is None else frame
        self.R, self.origin, self.scale = frame.R, frame.p.copy(), float(scale)
        self.quaternion, self.clutched = frame.quaternion, False
        self.offset = np.array([1.0, 0.0, 0.0, 0.0])
        self._frozen: Probe | None = None

    def probe(self, reading: HandReading) -> Probe:
        """Return the probe for a reading."""
        clutch = pressed(reading, self.clutch)
        if self.clutched and not clutch and self._frozen is not None:
            self.shift(reading, self._frozen.position)
            rotation = product(tuple(self.quaternion), tuple(reading.quaternion))
            self.offset = np.array(product(_inverse(rotation), tuple(self._frozen.quaternion)))
        if clutch:
            if not self.clutched or self._frozen is None:
                free = self._free(reading)
                self._frozen = replace(free, velocity=np.zeros(3), spin=np.zeros(3))
            self.clutched = True
            return self._frozen
        self.clutched, self._frozen = False, None
        return self._free(reading)

    def shift(self, reading: HandReading, place: Array) -> None:
        """Shift the device's frame so that the handle is at a position [m]."""
        self.origin = place - self.scale * (self.R @ reading.position)

    def _free(self, reading: HandReading) -> Probe:
        rotation = product(tuple(self.quaternion), tuple(reading.quaternion))
        return Probe(
            self.origin + self.scale * (self.R @ reading.position),
            np.array(product(rotation, tuple(self.offset))),
            self.scale * (self.R @ reading.velocity),
            self.R @ reading.spin,
        )


@dataclass(frozen=True)
class CouplingGains:
    """Gains of equations (1) and (3).

    Attributes:
        stiffness, damping: [N/m, N·s/m]. turn_stiffness, turn_damping: [N·m/rad, N·m·s/rad].
        force_limit, torque_limit: [N, N·m].
    """

    stiffness: float
    damping: float
    turn_stiffness: float = 0.0
    turn_damping: float = 0.0
    force_limit: float = 400.0
    torque_limit: float = 40.0

    def force(self, error: Array, rate: Array) -> Array:
        """Return the force on the body by (1), from x_probe − x and its rate."""
        return bounded(self.stiffness * error + self.damping * rate, self.force_limit)

    def torque(self, error: Array, rate: Array) -> Array:
        """Return the torque on the body by (3)."""
        return bounded(self.turn_stiffness * error + self.turn_damping * rate, self.torque_limit)


def gains(
    masses: tuple[float, float],
    dt: float,
    stiffness: float,
    turn_stiffness: float = 0.0,
    limits: tuple[float, float] = (400.0, 40.0),
) -> CouplingGains:
    """Return the gains at a point of apparent masses (m, I), with steps of dt [s]; stiffnesses are
    limited by (2).
    """
    mass, inertia = masses
    k = min(stiffness, mass * (MAX_OMEGA_STEP / dt) ** 2)
    turn = min(turn_stiffness, inertia * (MAX_OMEGA_STEP / dt) ** 2)
    return CouplingGains(k, sqrt(2.0 * mass * k), turn, sqrt(2.0 * inertia * turn), *limits)


def apparent_masses(sim: Simulator, link: Link, point: ArrayLike) -> tuple[float, float]:
    """Return m and I of (2) at a point of the world [m] on a link [kg, kg·m²]."""
    x = np.asarray(point, float)
    places = [x, *(x + axis for axis in np.eye(3))]
    inverse = dynamics.delassus(sim.model, sim.state.q, [(link.name, p) for p in places])
    # ω = ½ Σ e_j × (v_j − v_0)
    turns = [0.5 * cross_matrix(axis) for axis in np.eye(3)]
    L = np.hstack([-sum(turns, np.zeros((3, 3))), *turns])
    angular = L @ inverse @ L.T
    return (
        3.0 / max(float(np.trace(inverse[:3, :3])), 1e-9),
        3.0 / max(float(np.trace(angular)), 1e-9),
    )


def rotation_between(start: ArrayLike, end: ArrayLike) -> Array:
    """Return log(q_end q_start⁻¹): the rotation [rad] from one orientation to the other, at most
    half a turn, in the world's axes.
    """
    a, b = np.asarray(start, float).tolist(), np.asarray(end, float).tolist()
    return np.array(log(product(tuple(b), _inverse(tuple(a)))))


def log(q: tuple[float, ...]) -> tuple[float, float, float]:
    """Return the rotation vector of a unit quaternion."""
    w, x, y, z = q if q[0] >= 0.0 else (-q[0], -q[1], -q[2], -q[3])
    size = sqrt(x * x + y * y + z * z)
    share = 2.0 if size < 1e-12 else 2.0 * atan2(size, w) / size
    return share * x, share * y, share * z


def point_velocity(V: Twist, arm: Array) -> Array:
    """Return v + ω × r [m/s]; NumPy's own cross product takes longer than a step."""
    (wx, wy, wz), (x, y, z) = V.angular.tolist(), arm.tolist()
    return V.linear + np.array([wy * z - wz * y, wz * x - wx * z, wx * y - wy * x])


def bounded(vector: Array, limit: float) -> Array:
    """Return the vector, limited in length."""
    size = sqrt(float(vector @ vector))
    return vector * (limit / size) if size > limit else vector


def valid_reading(reading: HandReading) -> HandReading | None:
    """Return a valid reading with a unit quaternion; None for an invalid one."""
    try:
        numbers = [
            *map(float, reading.position),
            *map(float, reading.velocity),
            *map(float, reading.quaternion),
            *map(float, reading.spin),
            float(reading.time),
        ]
    except (TypeError, ValueError):
        return None
    if len(numbers) != 14 or not isfinite(sum(map(abs, numbers))):
        return None
    length = sqrt(sum(c * c for c in numbers[6:10]))
    if not 0.5 < length < 2.0:
        return None
    if abs(length - 1.0) < ROUNDING:
        return reading
    return replace(reading, quaternion=np.array(numbers[6:10]) / length)


def pressed(reading: HandReading, button: int | None) -> bool:
    """Check whether a button is pressed; None is never."""
    return button is not None and button < len(reading.buttons) and bool(reading.buttons[button])


def _inverse(q: tuple[float, ...]) -> tuple[float, float, float, float]:
    return q[0], -q[1], -q[2], -q[3]
