"""Admittance control of an arm: it yields to forces on its hand like a mass with a damper.

The joints q of the arm, with a mass M_d and a damping B_d each, follow

    M_d q̈_d + B_d q̇_d = J_eᵀ f_e                                                               (1)
(Chardonnet 2012, eq. 16), where J_e is the Jacobian of the force sensor and f_e the external
wrench on the hand beyond it. The sensor reads a wrench (f, τ) that includes the load of the hand:
with m and I the mass and the inertia tensor of all bodies beyond it, r from the sensor to their
centre of mass c,

    f_e = f + m (a_c − g),   τ_e = τ + r × m (a_c − g) + I ω̇ + ω × I ω                          (2)
Accelerations are differences of measured joint velocities, for a base at rest. Over a period T with
a constant right-hand side x, (1) is solved exactly: with a = B_d T/M_d,

    q̇⁺ = q̇ e^{−a} + (x T/M_d) φ₁,   q⁺ = q + T q̇ φ₁ + (x T²/M_d) φ₂
    (3) φ₁ = (1 − e^{−a})/a,   φ₂ = (1 − φ₁)/a
    (4)
The joints are commanded q_d and q̇_d of the next call, to be reached at constant velocity: jumps
would shake the sensor. q_d stays within the position limits, q̇_d within the velocity limits.

In contact with a stiff environment, the joint's servo loop, k_p (q_d − q) + k_d (q̇_d − q̇), is the
spring and damper of (1), with a reading that is up to a period old: it is stable for about

    M_d > k_d T,   B_d + k_d > 1.5 k_p T                                                        (5)
(1) has no spring: a sensor bias makes the arm creep at bias/B_d.

Reference: J.-R. Chardonnet, Interactive dynamic simulator for multibody systems, Int. J. Humanoid
Robotics 9 (2012).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, real, unknown
from tabi.control.base_pose import BaseGuess, BasePose
from tabi.control.chains import below, limb
from tabi.control.joint_values import JointChoice
from tabi.dynamics.configuration import Configuration
from tabi.estimation.body_sense import cross, read
from tabi.model.body import Body
from tabi.model.controllers.controller import Controller
from tabi.model.controllers.signals import Command, Measurement
from tabi.model.robot import Robot
from tabi.model.sensors import Sensor
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import Transform

Array = NDArray[np.float64]


class Compliance(Controller):
    """A controller for the admittance of an arm: see ``compliance``.

    Attributes:
        joints: names of the arm's joints. sensor: its force sensor.
        wrench: f_e of (2) at the last call, in the world's axes about the sensor, shape (6,).
        base: pose of the base at the last call.
    """

    MEMORY = ("wrench", "base", "_last", "_read", "_x", "_ahead", "_q", "_v")

    def __init__(
        self,
        robot: Robot,
        sensor: Sensor,
        choice: JointChoice,
        base: BasePose,
        law: tuple[Array, Array],
        period: float,
    ) -> None:
        self.sensor, self.joints = sensor, choice.names
        self._choice, (self._mass, self._damping) = choice, law
        self._base, self._floats = BaseGuess(robot, base), robot.base.joint.kind == "floating"
        self._here = Configuration(robot)
        self._columns = [self._here.model.v_index(name) for name in choice.names]
        self._hand = _carried_inertia(robot, sensor)
        self._g = np.array(self._here.model.arrays.gravity)
        self._lower, self._upper, self._fastest = choice.limits()
        self._period = period
        self.reset()

    @property
    def inner(self) -> tuple[Any, ...]:
        """The source of the base pose."""
        return (self._base,)

    def reset(self) -> None:
        """Restart at the arm's next measured position."""
        super().reset()
        self.wrench, self.base = np.zeros(6), Transform()
        # time and joint velocities of the last call; time of the last reading, and x of (1) from it
        self._last: tuple[float, Array] | None = None
        self._read, self._x, self._ahead = 0.0, np.zeros(len(self.joints)), 0.0
        self._q = self._v = np.zeros(len(self.joints))

    def __call__(self, time: float, measurement: Measurement) -> Command:
        """Return position and velocity of the arm; a time in the past restarts it."""
        if self._last is not None and time < self._last[0]:
            self.reset()
        velocity, base = measurement.velocity, self._base(time, measurement)
        self.base = base
        if self._last is None:
            self._q, self._read = measurement.position[self._choice.at].copy(), time
        elif time > self._last[0] and time - self._read > self._period - 1e-9:
            rates = (velocity - self._last[1]) * (1.0 / (time - self._last[0]))
            self._here.set_joints(measurement.position, velocity, base if self._floats else None)
            self._x = self._joint_forces(measurement, rates)
            self._q, self._v = self._integrated(time - self._read)
            self._read = time
        # the motion until the next call
        if self._last is not None and time > self._last[0]:
            self._ahead = time - self._last[0]
        self._last, T = (time, velocity), self._ahead
        q, v = self._integrated(time + T - self._read)
        return Command(
            self._choice.command_values(q), self._choice.command_values(v), over=T or None
        )

    def _joint_forces(self, measurement: Measurement, rates: Array) -> Array:
        """Return J_eᵀ f_e, (2), with the accelerations of all joints."""
        sensor, hand, here = self.sensor, self._hand, self._here
        reading = read(sensor, measurement)
        R, omega = here.pose(sensor.name).R, here.velocity(sensor.name).angular
        J, bias = here.jacobian(sensor.name), here.jacobian_bias(sensor.name)
        # joints are the last columns, after a base assumed at rest
        acceleration = (
            J[:, -len(rates) :] @ rates if len(rates) == self._choice.count else J @ rates
        )
        a, alpha = acceleration[:3] + bias.linear, acceleration[3:] + bias.angular
        r, tensor = R @ hand.centre, R @ hand.tensor @ R.T
        hand_force = hand.mass * (a + cross(alpha, r) + cross(omega, cross(omega, r)) - self._g)
        hand_torque = tensor @ alpha + cross(omega, tensor @ omega)
        self.wrench[:3] = R @ reading[:3] + hand_force
        self.wrench[3:] = R @ reading[3:] + cross(r, hand_force) + hand_torque
        return J[:, self._columns].T @ self.wrench

    def _integrated(self, T: float) -> tuple[Array, Array]:
        """Return q and q̇ of (3) and (4) within the limits, from the last reading on."""
        a = self._damping * T / self._mass
        small = a < 1e-5
        a = np.where(small, 1.0, a)
        phi_1 = np.where(small, 1.0, -np.expm1(-a) / a)
        phi_2 = np.where(small, 0.5, (1.0 - phi_1) / a)
        impulse = self._x * T / self._mass
        v = np.where(small, self._v, self._v * np.exp(-a)) + impulse * phi_1
        q = self._q + T * (self._v * phi_1 + impulse * phi_2)
        v_limited = np.clip(v, -self._fastest, self._fastest)
        q = np.where(v_limited == v, q, self._q + T * v_limited)
        limited = np.clip(q, self._lower, self._upper)
        return limited, np.where(limited == q, v_limited, 0.0)


def compliance(
    robot: Robot,
    body: Body | str,
    mass: Any,
    damping: Any,
    sensor: str | None = None,
    joints: Iterable[str] | None = None,
    base: BasePose = None,
    rate: float | None = None,
) -> Compliance:
    """Let an arm yield to forces on its hand, and stay where it was pushed.

    Args:
        body: the hand.
        mass, damping: M_d and B_d of (1), one number, or one for each joint [kg·m² or kg,
            N·m·s/rad or N·s/m].
        sensor: name of a force sensor; default: the one nearest to the hand on its arm.
        joints: that yield; default: those of the arm, inwards to the branch of another limb.
        base: see ``tabi.control.base_pose.BaseGuess``; default: an ``Estimator``.
        rate: of sensor readings for (1) [Hz]; default: at every call. Between readings joints are
            commanded the motion of (3): motors that get a position every 5 ms only are shaken by
            its steps, and so is the sensor.

    Example: docs/controllers.md
    """
    hand = robot.body(body if isinstance(body, str) else body.name)
    choice = JointChoice(robot, limb(robot, hand) if joints is None else joints)
    force_sensor = _sensor(robot, hand, sensor)
    law = choice.values("mass", mass, least=0.0), choice.values("damping", damping, least=0.0)
    if not (law[0] > 0).all():
        raise ModelError(
            f"mass of {robot.name} is 0 for joint {choice.names[int(law[0].argmin())]!r}; "
            f"expected a positive number"
        )
    if rate is not None and not 0 < real("rate of the compliance", rate) < np.inf:
        raise ModelError(f"rate of the compliance is {rate:g} Hz; expected a positive number")
    return Compliance(robot, force_sensor, choice, base, law, 1.0 / rate if rate else 0.0)


def _sensor(robot: Robot, hand: Body, name: str | None) -> Sensor:
    if name is not None:
        if name not in robot.sensors:
            raise unknown("sensor", name, robot.name, robot.sensors)
        sensor = robot.sensors[name]
        if sensor.kind != "force" or sensor.part:
            raise ModelError(
                f"sensor {name!r} of {robot.name} is of kind {sensor.kind!r}"
                f"{' without torques or forces' if sensor.part else ''}; expected a 'force' sensor "
                f"of force and torque"
            )
        return sensor
    force_sensors = [s for s in robot.sensors.values() if s.kind == "force" and not s.part]
    link: Body | None = hand
    while link is not None:
        for candidate in force_sensors:
            if candidate.body is link:
                return candidate
        link = link.parent
    raise ModelError(
        f"{robot.name} has no force sensor between its base and {hand.name!r}; "
        f"add one: robot.add_sensor(name, 'force', body)"
    )


def _carried_inertia(robot: Robot, sensor: Sensor) -> Inertia:
    """Return the inertia of all bodies beyond a sensor, as the robot is posed, in the sensor's
    frame.
    """
    X = robot.placements()
    X_SW = (X[sensor.body] @ sensor.placement).inverse()
    return reduce(add, (b.inertia.transformed(X_SW @ X[b]) for b in below(robot, sensor.body)))
