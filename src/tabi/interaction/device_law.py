"""Force law of a haptic device at each of its readings: ``coupling`` with the local model.

Equations (1), (3) and (4) of ``coupling``, with the extrapolated point of ``local_model`` in place
of the body, the sign reversed, and then bounded by ``energy``. In the device's frame, with
x_world = p + s R x_device and a gain g from the force on the body to that on the hand,

    f_device = g Rᵀ f_hand,    dE_device = f_device·dx_device = (g / s) f_hand·dx_world      (1)
so energies of the world are scaled by g / s at the device. A damper that reverses a light handle
within one period would make it buzz, so c is limited to the value that stops it,

    g s c ≤ m / H                                                                                (2)
with the handle's mass m and the longest time H until the next force acts; likewise for rotations.

Only plain numbers: a call takes about ten microseconds.
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
    MAX_ENERGY_J,
    EnergyMonitor,
    PassivityController,
    Vector,
    dot,
    finite,
)
from tabi.interaction.local_model import PLACES, Mode, extrapolation_time, product, turn

Array = NDArray[np.float64]
MODEL_TIMEOUT_S = 0.5  # age of a local model beyond which it is ignored
AT = {name: start for name, (start, _) in PLACES.items()}
ZERO: Vector = (0.0, 0.0, 0.0)
# names of ``numbers``
NUMBERS = ("energy", "turn_energy", "share", "age")


def make_law(**settings: Any) -> DeviceLaw:
    """Make a law for a device's loop; settings as in ``DeviceLaw``."""
    return DeviceLaw(**settings)


class DeviceLaw:
    """Law of force and torque on the hand.

    Args:
        force_limit, torque_limit: of the device [N, N·m]; 0 for no torque.
        mass, inertia: minimum of the handle [kg, kg·m²].
        pull: maximum force of a hand along the force [N].
        longest, delay: of the loop: see ``PassivityController`` [s].
        passive: whether energy is bounded; else it is only monitored.
        clutch: button that switches the force off.
        allowed: maximum energy given to the hand [J].
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
        allowed: float = MAX_ENERGY_J,
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
        """Energy monitors of forces and torques."""
        return self._force.monitor, self._torque.monitor

    def reset(self) -> None:
        """Restart after a gap, in which the hand's motion is unknown."""
        self._force.lose()
        self._torque.lose()

    def __call__(
        self, reading: HandReading, vector: Array, dt: float
    ) -> tuple[Array, Array, Array]:
        """Return force and torque on the hand in the device's frame [N, N·m], and NUMBERS.

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
        age, work_done, turn_work_done = reading.time - m[AT["time"]], 0.0, 0.0
        if isfinite(sum(map(abs, m))):
            work_done, turn_work_done = self._coupling_work(m)
            if m[0] != Mode.FREE and age < MODEL_TIMEOUT_S and not self._clutched(reading, m):
                R, share = self._rotation(m), m[AT["gain"]] / m[AT["scale"]]
                if self.passive:
                    self._limit_damping(m)
                world = _wrench(m, R, (x, v, q, w), age)
                force = limited(_to_device(R, world[0], m[AT["gain"]]), self.force_limit)
                torque = limited(_to_device(R, world[1], m[AT["gain"]]), self.torque_limit)
                stored, turn_stored = share * world[2], m[AT["gain"]] * world[3]
        wanted = sqrt(dot(force, force))
        force = self._passive_wrench(self._force, (x, v, dt), force, stored, work_done)
        if self.torque_limit > 0.0:
            torque = self._passive_wrench(
                self._torque,
                (self._accumulated_angle(q), w, dt),
                torque,
                turn_stored,
                turn_work_done,
            )
        share = sqrt(dot(force, force)) / wanted if wanted > 0.0 else 1.0
        return np.array(force), np.array(torque), self._numbers(share, age)

    def _passive_wrench(
        self,
        controller: PassivityController,
        reading: tuple[Vector, Vector, float],
        wanted: Vector,
        stored: float,
        work_done: float,
    ) -> Vector:
        if self.passive:
            return controller.limited(reading, wanted, stored, work_done)
        controller.monitor.see(*reading)
        controller.monitor.energy += work_done
        controller.monitor.hold(wanted)
        return wanted

    def _limit_damping(self, m: list[float]) -> None:
        """Limit the damping by equation (2)."""
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
        return m[AT["clutched"]] != 0.0 or (k is not None and k < len(buttons) and bool(buttons[k]))

    def _coupling_work(self, m: list[float]) -> tuple[float, float]:
        """Return the work of the coupling on bodies since the last call, scaled to the device
        [J].
        """
        work = (m[AT["work"]], m[AT["turn_work"]])
        before, self._work = self._work or work, work
        share = m[AT["gain"]] / m[AT["scale"]]
        return share * (work[0] - before[0]), m[AT["gain"]] * (work[1] - before[1])

    def _rotation(self, m: list[float]) -> list[float]:
        """Return R of the device's frame, row by row."""
        frame = m[AT["frame"] : AT["frame"] + 4]
        if frame != self._frame[0]:
            w, x, y, z = frame
            R = [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)]
            R += [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)]
            R += [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]
            self._frame = (frame, R)
        return self._frame[1]

    def _accumulated_angle(self, q: tuple[float, ...]) -> Vector:
        """Return the accumulated rotation vector of the handle; only its increments are used."""
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
    """Return force and torque on the hand in the world, and the energies of their springs [J]."""
    x, v, q, w = reading
    tau, s, at = extrapolation_time(age), m[AT["scale"]], AT["place"]
    place, origin, speed = m[at : at + 3], m[AT["origin"] :], m[AT["velocity"] :]
    X, V = _to_world(R, x, s), _to_world(R, v, s)
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
    spring, torque, turn_spring = 0.5 * k * dot(e, e), ZERO, 0.0
    kr = m[AT["turn_stiffness"]]
    if kr > 0.0:
        a, b, f = m[AT["quaternion"] :], m[AT["spin"] :], m[AT["frame"] : AT["frame"] + 4]
        goal = turn(tuple(a[:4]), (tau * b[0], tau * b[1], tau * b[2]))
        h, W = product(tuple(f), q), _to_world(R, w, 1.0)
        phi = log(product(goal, (h[0], -h[1], -h[2], -h[3])))
        rate = (b[0] - W[0], b[1] - W[1], b[2] - W[2])
        torque = limited(_sum(kr, phi, m[AT["turn_damping"]], rate), m[AT["torque_limit"]])
        turn_spring = 0.5 * kr * dot(phi, phi)
    return force, torque, spring, turn_spring


def _touch(
    n: Vector, e: Vector, u: Vector, law: tuple[float, float, float]
) -> tuple[Vector, float]:
    """Return the force of (4) of ``coupling``, and the energy of its spring."""
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


def limited(f: Vector, limit: float) -> Vector:
    """Return the vector, limited to the length ``limit``."""
    size = sqrt(dot(f, f))
    if size <= limit:
        return f
    share = limit / size
    return share * f[0], share * f[1], share * f[2]


def _sum(k: float, a: Vector, c: float, b: Vector) -> Vector:
    return k * a[0] + c * b[0], k * a[1] + c * b[1], k * a[2] + c * b[2]


def _to_world(R: list[float], x: Vector, s: float) -> Vector:
    return (
        s * (R[0] * x[0] + R[1] * x[1] + R[2] * x[2]),
        s * (R[3] * x[0] + R[4] * x[1] + R[5] * x[2]),
        s * (R[6] * x[0] + R[7] * x[1] + R[8] * x[2]),
    )


def _to_device(R: list[float], x: Vector, s: float) -> Vector:
    return (
        s * (R[0] * x[0] + R[3] * x[1] + R[6] * x[2]),
        s * (R[1] * x[0] + R[4] * x[1] + R[7] * x[2]),
        s * (R[2] * x[0] + R[5] * x[1] + R[8] * x[2]),
    )


def _three(x: Any) -> Vector:
    return float(x[0]), float(x[1]), float(x[2])
