"""Standing and moving with soft gains: what gravity and the ground take is told to the motors.

Of a robot at rest the joints have to give, with g(q) the generalised forces of gravity, f_i the
forces of the ground on points of its soles and J_i their Jacobians,

    τ = S (g(q) − Σ J_iᵀ f_i)                                                                   (1)
where S leaves out the rows of the floating base. These are zero where the f_i bear the weight, so
that they say nothing about τ, but the f_i have to be known:

"weight": the least vertical forces that bear the robot's weight at the corners of the soles that
touch (``weight_shares``), from its centre of mass. Feet touch where their sensors of force or touch
read more than a twentieth of the weight; all of them do where there are no such sensors.

"measured": what the feet's force sensors read, with the foot's weight below the sensor, through a
low-pass of 1 Hz that begins with the weight's way. As the ground answers what the motors give, (1)
then integrates the error of the loops, which is right also for what the robot carries, and slower.

The motors' own loops hold the pose with the gains given:

    motor: k_p (q_d − q) − k_d q̇ + τ                                                            (2)
so that joints are soft, and sag by no more than what (1) does not know.
"""

from __future__ import annotations

from math import exp, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.control.base_pose import BaseGuess, BasePose
from tabi.control.chains import below
from tabi.control.joint_values import JointChoice, posed
from tabi.control.weight_shares import corner_loads
from tabi.dynamics.configuration import Configuration
from tabi.estimation.body_sense import cross, read
from tabi.model.body import Foot
from tabi.model.controllers.controller import Controller
from tabi.model.controllers.signals import Command, Measurement
from tabi.model.robot import Robot
from tabi.model.sensors import Sensor

Array = NDArray[np.float64]
CONTACTS = ("weight", "measured")
# of the weight: a foot with less does not stand; low-pass of measured forces [Hz]
LEAST_LOAD, BANDWIDTH = 0.05, 1.0


class ComputedTorque(Controller):
    """A controller with gravity and contact compensation: see ``torque``.

    Attributes:
        carried: τ of (1) at the last call, of all joints [N·m or N].
    """

    MEMORY = ("carried", "_last")

    def __init__(
        self,
        robot: Robot,
        pose: Any,
        gains: tuple[Any, Any],
        contacts: str,
        base: BasePose,
    ) -> None:
        choice, goal = posed(robot, pose)
        kp, kd = (choice.values(n, g, 0.0) for n, g in zip(("kp", "kd"), gains, strict=True))
        self._whole = JointChoice(robot)
        self._loops = {
            "position": choice.told(goal),
            "velocity": choice.told(np.zeros(len(goal))),
            "kp": choice.told(kp),
            "kd": choice.told(kd),
        }
        self._floats = robot.base.joint.kind == "floating"
        self._base = BaseGuess(robot, base)
        self._here = Configuration(robot)
        self._rows = [self._here.model.v_index(name) for name in self._whole.names]
        self._up = -np.array(self._here.model.arrays.gravity)
        self._weight = robot.mass * float(np.linalg.norm(self._up))
        self._up /= np.linalg.norm(self._up)
        self._across = np.linalg.svd(self._up[None])[2][1:]
        self._contacts, feet = contacts, robot.feet.values() if self._floats else ()
        self._feet = [_StandingFoot(robot, foot) for foot in feet]
        if self._floats and not self._feet:
            raise ModelError(
                f"{robot.name} has no feet, so nothing is known of what bears it; declare some: "
                f"robot.add_foot(name, body, polygon)"
            )
        if contacts == "measured":
            for foot in self._feet:
                foot.check_wrench(robot)
        self.reset()

    @property
    def inner(self) -> tuple[Any, ...]:
        """Where the base is."""
        return (self._base,)

    def reset(self) -> None:
        """Begin anew."""
        super().reset()
        self.carried = np.zeros(len(self._rows))
        # time of the last call, and Σ Jᵀ f then
        self._last: tuple[float, Array] | None = None

    def __call__(self, time: float, measurement: Measurement) -> Command:
        """(2): the pose, its gains, and what is carried."""
        base = self._base(time, measurement) if self._floats else None
        here = self._here
        here.set_joints(measurement.position, 0.0, base)
        if self._last is None or self._contacts == "weight":
            borne = self._borne(measurement)
        else:
            before, borne = self._last
            share = 1.0 - exp(-2 * pi * BANDWIDTH * max(0.0, time - before))
            read = sum((foot.measured(here, measurement) for foot in self._feet), 0.0 * borne)
            borne = borne + share * (read - borne)
        self._last = time, borne
        self.carried = (here.gravity_forces() - borne)[self._rows]
        return Command(effort=self.carried, **self._loops)  # pyright: ignore[reportArgumentType]

    def _borne(self, measurement: Measurement) -> Array:
        """Σ J_iᵀ f_i of the least forces that bear the weight."""
        here = self._here
        least = LEAST_LOAD * self._weight
        # before the first step no sensor knows of a force: then all feet stand
        touching = [f for f in self._feet if self._last is None or f.load(measurement) > least]
        if not touching:
            return np.zeros(here.model.v_count)
        poses = [here.pose(foot.name) for foot in touching]
        corners = [X @ foot.corners for X, foot in zip(poses, touching, strict=True)]
        across, centre = np.concatenate(corners) @ self._across.T, here.centre_of_mass()
        loads = self._weight * corner_loads(across, self._across @ centre)
        borne, first = np.zeros(here.model.v_count), 0
        for foot, X, points in zip(touching, poses, corners, strict=True):
            own = loads[first : first + len(points)]
            first += len(points)
            # force at the foot's origin, and moment about it
            force, arm = own.sum() * self._up, own @ (points - X.p)
            borne += here.jacobian(foot.name).T @ np.concatenate([force, cross(arm, self._up)])
        return borne


class _StandingFoot:
    """A foot with its sensor, if it has one."""

    def __init__(self, robot: Robot, foot: Foot) -> None:
        self.name, polygon = foot.name, foot.polygon
        self.corners = np.column_stack([polygon, np.zeros(len(polygon))])
        sensors = [s for s in robot.sensors.values() if s.body is foot.body]
        found = [s for s in sensors if s.kind == "force" and not s.part]
        found += [s for s in sensors if s.kind == "touch"]
        self._sensor: Sensor | None = found[0] if found else None
        self._hanging = below(robot, foot.body)
        self._X_SF = (
            foot.placement
            if self._sensor is None
            else self._sensor.placement.inverse() @ foot.placement
        )

    def check_wrench(self, robot: Robot) -> None:
        """Refuse a foot whose wrench nobody measures."""
        if self._sensor is None or self._sensor.kind != "force":
            raise ModelError(
                f"foot {self.name!r} of {robot.name} has no force sensor, so its wrench is not "
                f"measured; give it one, or use contacts='weight'"
            )

    def load(self, measurement: Measurement) -> float:
        """On the sole [N]; infinite where nobody measures it."""
        sensor = self._sensor
        if sensor is None:
            return np.inf
        reading = read(sensor, measurement)
        return float(self._X_SF.R[:, 2] @ reading[:3] if sensor.kind == "force" else reading[0])

    def measured(self, here: Configuration, measurement: Measurement) -> Array:
        """Jᵀ f of the reading."""
        sensor = self._sensor
        assert sensor is not None
        reading = read(sensor, measurement)
        R, g = here.pose(sensor.name).R, np.array(here.model.arrays.gravity)
        wrench = np.concatenate([R @ reading[:3], R @ reading[3:]])
        borne = here.jacobian(sensor.name).T @ wrench
        for body in self._hanging:
            # what the sensor does not feel: the weight below it
            J = here.jacobian(body.name, body.inertia.centre)
            borne -= J[:3].T @ (body.inertia.mass * g)
        return borne


def torque(
    robot: Robot,
    pose: Any,
    kp: Any,
    kd: Any,
    contacts: str = "weight",
    base: BasePose = None,
) -> ComputedTorque:
    """Hold a pose with soft gains: gravity, and what the ground takes of it, are told as efforts.

    Args:
        pose: {joint: position [rad or m]}, a name of a pose, or an array of all joints. Joints that
            are not named keep what they were told; what they carry is told for all.
        kp, kd: gains, one number, an array or by joint [N·m/rad or N/m, N·m·s/rad or N·s/m].
        contacts: where forces of the ground come from, "weight" or "measured": see this module.
        base: how the base is turned, see ``tabi.control.base_pose.BaseGuess``; an ``Estimator``
            unless given. Of a robot without an IMU: ``base=lambda time, seen: seen.base`` with
            ``sim.set_controller(…, truth=True)``, or a Transform for a trunk that stays upright.
    """
    if contacts not in CONTACTS:
        raise ModelError(
            f"contacts is {contacts!r}; expected 'weight', from the centre of mass, or 'measured', "
            f"from the feet's force sensors"
        )
    return ComputedTorque(robot, pose, (kp, kd), contacts, base)
