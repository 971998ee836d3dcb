"""Where a robot is and how it leans, from its IMU, its encoders and what its feet feel.

Frames: W the world, B the base, I the IMU, F a foot. b is the gyro's bias, g gravity. The IMU tells

    gyro = ω_WI + b + noise,   f = R_WIᵀ (a_I − g) + noise                                      (1)
Attitude is the gyro's integral, turned so that gravity comes out vertical: a complementary filter
on the rotations (Mahony, Hamel and Pflimlin),

    Ṙ_WI = R_WI [ω]× + [k_P e]× R_WI,   ω = gyro − b,   e = n/|n| × z                           (2)
    ḃ = −k_I R_WIᵀ e                                                                            (3)
n is what gravity would read as in the world's axes. An accelerometer alone tells it at rest only;
the feet tell how the IMU accelerates. A point C of a stance foot, its centre of pressure, is at
rest, so that base and IMU move with

    ω_WB = R_BI ω − ω_BI,   v_B = −(ω_WB × r_BC + ṙ_BC),   v_I = v_B + ω_WB × p_BI + v_BI       (4)
in the base's axes, and, with a low-pass of the first order,

    n = lowpass(R_WI f − d/dt (R_WB v_I))                                                       (5)
Nothing in (4) asks a foot not to turn: it may roll over its edge. One that lies flat does not, and
tells what the gyro should read; the mean difference is the bias:

    ḃ = k_B (gyro − b − R_BIᵀ (ω_BI − ω_BF))                                                    (6)
One that rolls over an edge turns about that edge, and one that bears a robot in motion may turn
with what it stands on, always in the same sense in a walk: both still tell the part of (6) along
the vertical, which gravity does not.
On ground that is known to be level a flat sole also tells the vertical: k_L turns it level as k_P
does n. Yaw is an integral and drifts with what is left of the bias.

The base is where the feet stood when they landed: with shares s of the load,

    p_WB = Σ s (p_WF,landed − R_WB p_BF),   v_WB = Σ s R_WB v_B                                 (7)
A foot that rolls about C takes its place along, ṗ_WF = ω_WF × (p_WF − p_WC). With no foot on the
ground the accelerometer is integrated and (2) keeps its gyro only.

Start: the robot stands, both soles flat. The vertical and the bias are from the first reading,
heading and place as told. Gains begin larger, as 1/t, which makes means of what was seen, until
they are as small as told.
Delay: (2) to (6) run at the time of the IMU's sample, with limbs as they were then; the gyro takes
the attitude from there to now.

Reference: R. Mahony, T. Hamel, J.-M. Pflimlin, Nonlinear complementary filters on the special
orthogonal group, IEEE Trans. Automatic Control 53 (2008) 1203–1218.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import cos, exp, inf, pi, sin, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, real
from tabi.control.body_sense import BodySense, Limbs, Pressed, cross
from tabi.model.robot import Robot
from tabi.model.signals import Measurement
from tabi.spatial.transform import Transform, cross_matrix, z_to
from tabi.spatial.twist import Twist

Array = NDArray[np.float64]
ONE, UP = np.eye(3), np.array([0.0, 0.0, 1.0])
# 1/s: no gain is larger at the start, where 1/t is: of the vertical, and of the bias
FASTEST = (2.0, 10.0)
# of g: readings that differ so much from gravity in size tell nothing about its direction
DOUBTFUL = 0.2
# rad/s: limbs that turn faster between the IMU and a foot may make the ground under it give way
STILL = 0.05


@dataclass(frozen=True)
class EstimatorGains:
    """How fast an estimator believes what.

    Attributes:
        gravity: k_P, the accelerometer about the vertical [1/s].
        bias: k_I, the same about the gyro's bias [1/s²].
        stance: k_B, a flat foot about the gyro's bias [1/s].
        level: k_L, a flat sole about the vertical [1/s]; 0 where ground may slope or feet be soft.
        bandwidth: of the low-pass of (5) [Hz].
        least_load: of the robot's weight: a foot with less does not stand.
    """

    gravity: float = 0.5
    bias: float = 0.01
    stance: float = 0.5
    level: float = 0.0
    bandwidth: float = 5.0
    least_load: float = 0.05

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0 <= real(f"gain {field.name!r} of the estimator", value) < inf:
                raise ModelError(
                    f"gain {field.name!r} of the estimator is {value}; expected a number ≥ 0"
                )


@dataclass(frozen=True, eq=False)
class StateEstimate:
    """Of a robot, in the world's axes.

    Attributes:
        base: X_WB. base_velocity: of its origin, and angular.
        centre_of_mass: [m]. centre_of_mass_velocity: [m/s].
        gyro_bias: in the IMU's axes [rad/s].
        stance: of each foot its share of the load, together 1, or all 0 with no foot on the ground.
    """

    base: Transform
    base_velocity: Twist
    centre_of_mass: Array
    centre_of_mass_velocity: Array
    gyro_bias: Array
    stance: Mapping[str, float]


class _Felt(NamedTuple):
    """Limbs, the IMU's readings, and the feet's loads and shares of it."""

    limbs: Limbs
    gyro: Array
    f: Array
    pressed: list[Pressed]
    shares: list[float]


class Estimator:
    """Estimates from measurements: ``estimate = estimator(time, measurement)``, once in every
    period of a controller. No truth is read.

    Args:
        imu: a sensor's name, or those of a gyro and an accelerometer; found unless given.
        feet: of each foot its sensor of force or touch; found unless given.
        delay: of the IMU [s]; what the robot's sensor says unless given, and half the time between
            its samples.
        start: where the base is at the start; where the robot is built to stand unless given. Its
            tilt and height are measured: the lowest sole is on the ground.
        gains: see ``EstimatorGains``.
    """

    def __init__(
        self,
        robot: Robot,
        imu: str | tuple[str, str] | None = None,
        feet: Mapping[str, str] | None = None,
        delay: float | None = None,
        start: Transform | None = None,
        gains: EstimatorGains | None = None,
    ) -> None:
        self._sense, self.gains = BodySense(robot, imu, feet), gains or EstimatorGains()
        self.delay = self._sense.lag if delay is None else real("delay of the estimator", delay)
        if not 0 <= self.delay < inf:
            raise ModelError(f"delay of the estimator is {delay} s; expected a number ≥ 0")
        self._start = robot.placements()[robot.base] if start is None else start
        self._ground, self._g = robot.ground_height, float(np.linalg.norm(self._sense.gravity))
        self.reset()

    def reset(self) -> None:
        """Begin anew with the next measurement."""
        self._last: tuple[float, StateEstimate] | None = None
        self._past: deque[tuple[float, Limbs]] = deque()
        self._R, self._b = ONE, np.zeros(3)
        self._n = self._g * UP
        # world velocity of the IMU in the last period, where feet told one
        self._v_I: Array | None = None
        # how long the feet have told of gravity, and of the bias
        self._stood = self._still = 0.0
        self._landed: list[Array | None] = [None] * len(self._sense.feet)

    def __call__(self, time: float, measurement: Measurement) -> StateEstimate:
        """The estimate now; a time that is past begins anew."""
        if self._last is not None and time == self._last[0]:
            return self._last[1]
        if self._last is not None and time < self._last[0]:
            self.reset()
        self._sense.bend(measurement, 0.0 if self._last is None else time - self._last[0])
        felt, dt = self._felt(measurement), 0.0
        if self._last is None:
            base, moves = self._first(felt), np.zeros(3)
        else:
            dt, before = time - self._last[0], self._last[1]
            base, moves = before.base, before.base_velocity.linear
            self._turn(dt, self._then(time, felt.limbs), felt)
        estimate = self._estimate(dt, base.p, moves, felt)
        self._last = time, estimate
        return estimate

    def _felt(self, measurement: Measurement) -> _Felt:
        sense, pressed = self._sense, self._sense.pressed(measurement)
        # feet with little load have none
        loads = [max(0.0, foot.load - self.gains.least_load * sense.weight) for foot in pressed]
        total = sum(loads) or 1.0
        return _Felt(
            sense.limbs(measurement),
            *sense.inertial(measurement),
            pressed,
            [load / total for load in loads],
        )

    def _first(self, felt: _Felt) -> Transform:
        """The base on the ground, leaning as the accelerometer says."""
        R, R_BI = self._start.R, felt.limbs.imu.R
        if abs(float(np.linalg.norm(felt.f)) - self._g) < DOUBTFUL * self._g:
            R = z_to(R @ R_BI @ felt.f).T @ R
        self._R = R @ R_BI
        told = [R_BI.T @ (felt.limbs.imu.w - foot.w) for foot in felt.limbs.feet]
        self._b = felt.gyro - sum(told) / len(told)
        p = np.array([*self._start.p[:2], self._ground - self._sense.lowest(felt.limbs, R)])
        self._landed = [p + R @ foot.p for foot in felt.limbs.feet]
        return Transform(R, p)

    def _then(self, time: float, limbs: Limbs) -> Limbs:
        """The limbs when the IMU measured."""
        past = self._past
        past.append((time, limbs))
        while len(past) > 1 and past[1][0] <= time - self.delay + 1e-9:
            past.popleft()
        return past[0][1]

    def _turn(self, dt: float, limbs: Limbs, felt: _Felt) -> None:
        """Attitude and bias, (2) to (6), at the time of the IMU's sample."""
        gains, R, R_BI = self.gains, self._R, limbs.imu.R
        R_WB, omega = R @ R_BI.T, felt.gyro - self._b
        turn, bias = np.zeros(3), np.zeros(3)
        n = self._gravity(dt, R_WB, omega, limbs, felt)
        if n is not None:
            self._stood += dt
            size = sqrt(n @ n)
            trust = max(0.0, 1.0 - abs(size - self._g) / (DOUBTFUL * self._g))
            e = trust * cross(n / size, UP)
            turn += _at_first(gains.gravity, self._stood, FASTEST[0]) * e
            bias -= gains.bias * (R.T @ e)
        # (6)
        self._still += dt * sum(felt.shares)
        for share, foot, F in zip(felt.shares, felt.pressed, limbs.feet, strict=True):
            if share > 0:
                limb = limbs.imu.w - F.w
                turns = omega - R_BI.T @ limb
                if not foot.flat or limb @ limb > STILL**2:
                    turns = (R[2] @ turns) * R[2]
                bias += _at_first(gains.stance, self._still, FASTEST[1]) * share * turns
                if foot.flat:
                    turn += gains.level * share * cross(R_WB @ F.R[:, 2], UP)
        R = rotation(dt * turn) @ R @ rotation(dt * omega)
        # a product of many rotations slowly ceases to be one: a step of Newton's method mends it
        self._R = 1.5 * R - 0.5 * R @ (R.T @ R)
        self._b = self._b + dt * bias

    def _gravity(
        self, dt: float, R_WB: Array, omega: Array, limbs: Limbs, felt: _Felt
    ) -> Array | None:
        """n of (5); None where no foot tells."""
        w_B, v_B = limbs.imu.R @ omega - limbs.imu.w, np.zeros(3)
        for share, foot, F in zip(felt.shares, felt.pressed, limbs.feet, strict=True):
            v_B += share * _base_velocity(w_B, *F.point(foot.centre))
        before, self._v_I = self._v_I, R_WB @ (v_B + cross(w_B, limbs.imu.p) + limbs.imu.v)
        if not any(felt.shares):
            self._v_I = None
        if before is None or self._v_I is None:
            return None
        low = 1.0 - exp(-2.0 * pi * self.gains.bandwidth * dt)
        self._n = self._n + low * (self._R @ felt.f - (self._v_I - before) / dt - self._n)
        return self._n

    def _estimate(self, dt: float, p: Array, v: Array, felt: _Felt) -> StateEstimate:
        """(7) and what follows from it, with the base's last place and velocity."""
        limbs, omega = felt.limbs, felt.gyro - self._b
        R_WI = self._R @ rotation(self.delay * omega)
        R, w_B = R_WI @ limbs.imu.R.T, limbs.imu.R @ omega - limbs.imu.w
        if any(felt.shares):
            v = np.zeros(3)
            for share, foot, F in zip(felt.shares, felt.pressed, limbs.feet, strict=True):
                v += share * (R @ _base_velocity(w_B, *F.point(foot.centre)))
        elif dt > 0:
            v = v + dt * (R_WI @ felt.f + self._sense.gravity)
        p = self._place(dt, p + dt * v, R, w_B, felt)
        c = limbs.centre
        return StateEstimate(
            Transform(R, p),
            Twist(v, R @ w_B),
            p + R @ c,
            v + R @ (cross(w_B, c) + limbs.centre_velocity),
            self._b,
            dict(zip(self._sense.feet, felt.shares, strict=True)),
        )

    def _place(self, dt: float, p: Array, R: Array, w_B: Array, felt: _Felt) -> Array:
        """p_WB of (7), or p where no foot stood before; what lands is there from now on."""
        told, total = np.zeros(3), 0.0
        for k, (share, foot) in enumerate(zip(felt.shares, felt.pressed, strict=True)):
            F, landed = felt.limbs.feet[k], self._landed[k]
            if share > 0 and landed is not None:
                if not foot.flat:
                    landed = landed - dt * (R @ cross(w_B + F.w, F.R @ foot.centre))
                    self._landed[k] = landed
                told, total = told + share * (landed - R @ F.p), total + share
        p = told / total if total > 0 else p
        for k, share in enumerate(felt.shares):
            if share > 0 and self._landed[k] is None:
                self._landed[k] = p + R @ felt.limbs.feet[k].p
            # before the first step forces are not known: all feet are where they were put
            elif share == 0 and dt > 0:
                self._landed[k] = None
        return p


def _at_first(gain: float, time: float, fastest: float) -> float:
    """A gain that makes a mean of what was seen, while the time [s] of it is short."""
    return max(gain, min(fastest, 1.0 / time))


def _base_velocity(w_B: Array, r: Array, moves: Array) -> Array:
    """v_B of (4) with a point at r, which moves so in the base, at rest in the world."""
    return -(cross(w_B, r) + moves)


def rotation(phi: Array) -> Array:
    """The rotation by |phi| [rad] about phi, after Rodrigues."""
    K, angle = cross_matrix(phi), sqrt(phi @ phi)
    if angle < 1e-8:
        return ONE + K
    return ONE + (sin(angle) / angle) * K + ((1.0 - cos(angle)) / angle**2) * K @ K
