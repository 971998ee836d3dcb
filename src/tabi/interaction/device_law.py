"""What a haptic device is told at each of its readings: ``coupling`` against the local model.

Equations (1), (3) and (4) of ``coupling``, with the point that ``local_model`` leads on in place of
the body, the sign turned round, and then bounded by ``energy``. In the device's frame, with
x_world = p + s R x_device and g newtons felt for one on the body,

    f_device = g Rᵀ f_hand,    dE_device = f_device·dx_device = (g / s) f_hand·dx_world      (1)
so energies of the world count by g / s at the device. A damper that turns a light handle round
within one period would make it buzz, so of c the hand feels at most what stops it,

    g s c ≤ m / H                                                                                (2)
with the handle's mass m and the longest time H until the next force acts; likewise for turns.

Plain numbers only: a call takes some ten microseconds.
"""

from __future__ import annotations

from math import isfinite, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.interaction.coupling import log
from tabi.interaction.devices.protocol import HandReading
from tabi.interaction.energy import (
    ALLOWED,
    EnergyMonitor,
    PassivityController,
    Vector,
    dot,
    finite,
)
from tabi.interaction.local_model import PLACES, Mode, ahead, product, turn

Array = NDArray[np.float64]
STALE = 0.5  # s: a simulation that has been silent for longer is not believed
AT = {name: start for name, (start, _) in PLACES.items()}
ZERO: Vector = (0.0, 0.0, 0.0)
# what ``numbers`` are
NUMBERS = ("energy", "turn_energy", "share", "age")


def make_law(**settings: Any) -> DeviceLaw:
    """A law for a device's loop; settings as of ``DeviceLaw``."""
    return DeviceLaw(**settings)


class DeviceLaw:
    """Force and torque on the hand.

    Args:
        force_limit, torque_limit: of the device [N, N·m]; 0 for no torque.
        mass, inertia: least of the handle [kg, kg·m²].
        pull: most that a hand pulls along the force [N].
        longest, delay: of the loop: see ``PassivityController`` [s].
        passive: whether energy is bounded; else it is only watched.
        clutch: button during which the hand feels nothing.
        allowed: most energy that the hand may get [J].
    """

    def __init__(
        self,
        force_limit: float = 5.0,
        torque_limit: float = 0.0,
        mass: float = 0.05,
        inertia: float = 5e-5,
        pull: float = 5.0,
        longest: float = 6e-3,
        delay: float = 0.0,
        passive: bool = True,
        clutch: int | None = None,
        allowed: float = ALLOWED,
    ) -> None:
        if not force_limit >= 0.0 or not torque_limit >= 0.0:
            raise ModelError(
                f"limits of a device are {force_limit} N and {torque_limit} N·m; expected both ≥ 0"
            )
        self.force_limit, self.torque_limit = float(force_limit), float(torque_limit)
        self.passive, self.clutch = passive, clutch
        self._most = (mass / (longest + delay), inertia / (longest + delay))
        share = allowed if torque_limit == 0.0 else 0.5 * allowed
        # the arm of a hand's force about a handle is some centimetres
        self._force = PassivityController(mass, pull, longest, delay, share)
        self._torque = PassivityController(inertia, 0.02 * pull, longest, delay, share)
        self._angle, self._quaternion = ZERO, (1.0, 0.0, 0.0, 0.0)
        self._work: tuple[float, float] | None = None
        self._frame: tuple[list[float], list[float]] = ([], [])

    @property
    def monitors(self) -> tuple[EnergyMonitor, EnergyMonitor]:
        """Of forces, of torques."""
        return self._force.monitor, self._torque.monitor

    def reset(self) -> None:
        """After a gap: nothing is known of the hand's motion since then."""
        self._force.lose()
        self._torque.lose()

    def __call__(
        self, reading: HandReading, vector: Array, dt: float
    ) -> tuple[Array, Array, Array]:
        """Force and torque on the hand in the device's frame [N, N·m], and NUMBERS.

        Args:
            vector: a ``LocalModel``. dt: since the last reading [s].
        """
        m, x, v = vector.tolist(), _three(reading.position), _three(reading.velocity)
        q, w = tuple(map(float, reading.quaternion)), _three(reading.spin)
        length = sqrt(sum(c * c for c in q))
        if not (finite(x) and finite(v) and finite(w) and 0.5 < length < 2.0 and dt >= 0.0):
            self._force.lose()
            self._torque.lose()
            return np.zeros(3), np.zeros(3), self._numbers(0.0, 0.0)
        q = tuple(c / length for c in q)
        force, torque, stored, turn_stored = ZERO, ZERO, 0.0, 0.0
        age, given, turn_given = reading.time - m[AT["time"]], 0.0, 0.0
        if isfinite(sum(map(abs, m))):
            given, turn_given = self._given(m)
            if m[0] != Mode.FREE and age < STALE and not self._clutched(reading, m):
                R, share = self._rotation(m), m[AT["gain"]] / m[AT["scale"]]
                if self.passive:
                    self._ease(m)
                world = _wrench(m, R, (x, v, q, w), age)
                force = limited(_back(R, world[0], m[AT["gain"]]), self.force_limit)
                torque = limited(_back(R, world[1], m[AT["gain"]]), self.torque_limit)
                stored, turn_stored = share * world[2], m[AT["gain"]] * world[3]
        wanted = sqrt(dot(force, force))
        force = self._kept(self._force, (x, v, dt), force, stored, given)
        if self.torque_limit > 0.0:
            torque = self._kept(
                self._torque, (self._turned(q), w, dt), torque, turn_stored, turn_given
            )
        share = sqrt(dot(force, force)) / wanted if wanted > 0.0 else 1.0
        return np.array(force), np.array(torque), self._numbers(share, age)

    def _kept(
        self,
        controller: PassivityController,
        reading: tuple[Vector, Vector, float],
        wanted: Vector,
        stored: float,
        given: float,
    ) -> Vector:
        if self.passive:
            return controller.limited(reading, wanted, stored, given)
        controller.monitor.see(*reading)
        controller.monitor.energy += given
        controller.monitor.hold(wanted)
        return wanted

    def _ease(self, m: list[float]) -> None:
        """Equation (2)."""
        gain, scale = m[AT["gain"]], m[AT["scale"]]
        if gain > 0.0:
            force, turn = AT["damping"], AT["turn_damping"]
            m[force] = min(m[force], self._most[0] / (gain * scale))
            m[turn] = min(m[turn], self._most[1] / gain)

    def _numbers(self, share: float, age: float) -> Array:
        force, torque = self.monitors
        return np.array([force.energy, torque.energy, share, age])

    def _clutched(self, reading: HandReading, m: list[float]) -> bool:
        k, buttons = self.clutch, reading.buttons
        return m[AT["held"]] != 0.0 or (k is not None and k < len(buttons) and bool(buttons[k]))

    def _given(self, m: list[float]) -> tuple[float, float]:
        """What the coupling did on bodies since the last look, as it counts at the device [J]."""
        work = (m[AT["work"]], m[AT["turn_work"]])
        before, self._work = self._work or work, work
        share = m[AT["gain"]] / m[AT["scale"]]
        return share * (work[0] - before[0]), m[AT["gain"]] * (work[1] - before[1])

    def _rotation(self, m: list[float]) -> list[float]:
        """R of the device's frame, row by row."""
        frame = m[AT["frame"] : AT["frame"] + 4]
        if frame != self._frame[0]:
            w, x, y, z = frame
            R = [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)]
            R += [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)]
            R += [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]
            self._frame = (frame, R)
        return self._frame[1]

    def _turned(self, q: tuple[float, ...]) -> Vector:
        """The sum of all turns of the handle: in place of a place, as only its steps count."""
        p, a = self._quaternion, self._angle
        step = log(product(q, (p[0], -p[1], -p[2], -p[3])))
        self._angle = (a[0] + step[0], a[1] + step[1], a[2] + step[2])
        self._quaternion = (q[0], q[1], q[2], q[3])
        return self._angle


def _wrench(
    m: list[float],
    R: list[float],
    reading: tuple[Vector, Vector, tuple[float, ...], Vector],
    age: float,
) -> tuple[Vector, Vector, float, float]:
    """Force and torque on the hand in the world, and the energies of their springs [J]."""
    x, v, q, w = reading
    tau, s, at = ahead(age), m[AT["scale"]], AT["place"]
    place, origin, speed = m[at : at + 3], m[AT["origin"] :], m[AT["velocity"] :]
    X, V = _forth(R, x, s), _forth(R, v, s)
    e = (
        place[0] + tau * speed[0] - origin[0] - X[0],
        place[1] + tau * speed[1] - origin[1] - X[1],
        place[2] + tau * speed[2] - origin[2] - X[2],
    )
    u = (speed[0] - V[0], speed[1] - V[1], speed[2] - V[2])
    k, c = m[AT["stiffness"]], m[AT["damping"]]
    if m[0] == Mode.TOUCH:
        n = AT["normal"]
        force, spring = _touch((m[n], m[n + 1], m[n + 2]), e, u, (k, c, m[AT["friction"]]))
        return limited(force, m[AT["force_limit"]]), ZERO, spring, 0.0
    force = limited(_sum(k, e, c, u), m[AT["force_limit"]])
    spring, torque, turned = 0.5 * k * dot(e, e), ZERO, 0.0
    kr = m[AT["turn_stiffness"]]
    if kr > 0.0:
        a, b, f = m[AT["quaternion"] :], m[AT["spin"] :], m[AT["frame"] : AT["frame"] + 4]
        goal = turn(tuple(a[:4]), (tau * b[0], tau * b[1], tau * b[2]))
        h, W = product(tuple(f), q), _forth(R, w, 1.0)
        phi = log(product(goal, (h[0], -h[1], -h[2], -h[3])))
        rate = (b[0] - W[0], b[1] - W[1], b[2] - W[2])
        torque = limited(_sum(kr, phi, m[AT["turn_damping"]], rate), m[AT["torque_limit"]])
        turned = 0.5 * kr * dot(phi, phi)
    return force, torque, spring, turned


def _touch(
    n: Vector, e: Vector, u: Vector, law: tuple[float, float, float]
) -> tuple[Vector, float]:
    """Force of (4) of ``coupling``, and the energy of its spring."""
    k, c, mu = law
    depth = dot(n, e)
    press = k * depth + c * dot(n, u)
    if not (depth > 0.0 and press > 0.0):
        return ZERO, 0.0
    t = (e[0] - depth * n[0], e[1] - depth * n[1], e[2] - depth * n[2])
    side = sqrt(dot(t, t))
    drag = min(k * side, mu * press)
    share = drag / side if side > 0.0 else 0.0
    force = (press * n[0] + share * t[0], press * n[1] + share * t[1], press * n[2] + share * t[2])
    return force, 0.5 * k * depth * depth + (0.5 * drag * drag / k if k > 0.0 else 0.0)


def limited(f: Vector, most: float) -> Vector:
    """The vector, no longer than ``most``."""
    size = sqrt(dot(f, f))
    if size <= most:
        return f
    share = most / size
    return share * f[0], share * f[1], share * f[2]


def _sum(k: float, a: Vector, c: float, b: Vector) -> Vector:
    return k * a[0] + c * b[0], k * a[1] + c * b[1], k * a[2] + c * b[2]


def _forth(R: list[float], x: Vector, s: float) -> Vector:
    return (
        s * (R[0] * x[0] + R[1] * x[1] + R[2] * x[2]),
        s * (R[3] * x[0] + R[4] * x[1] + R[5] * x[2]),
        s * (R[6] * x[0] + R[7] * x[1] + R[8] * x[2]),
    )


def _back(R: list[float], x: Vector, s: float) -> Vector:
    return (
        s * (R[0] * x[0] + R[3] * x[1] + R[6] * x[2]),
        s * (R[1] * x[0] + R[4] * x[1] + R[7] * x[2]),
        s * (R[2] * x[0] + R[5] * x[1] + R[8] * x[2]),
    )


def _three(x: Any) -> Vector:
    return float(x[0]), float(x[1]), float(x[2])
