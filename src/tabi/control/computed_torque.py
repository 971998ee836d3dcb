"""Computed torque with soft gains: compensation of gravity and contact forces.

The joints of a robot at rest have to exert, with g(q) the generalised forces of gravity, f_i the
contact forces on points of its soles and J_i their Jacobians,

    τ = S (g(q) − Σ J_iᵀ f_i)                                                                   (1)
where S selects the rows of the joints. The rows of the floating base are zero if the f_i bear the
weight, and do not determine τ, so the f_i have to be known:

"weight": the least vertical forces that bear the robot's weight at the corners of the soles in
contact (``weight_shares``), from its centre of mass. A foot is in contact if its force or touch
sensor reads more than a twentieth of the weight; without such sensors, all feet are.

"measured": readings of the feet's force sensors, with the foot's weight below the sensor, through a
low-pass of 1 Hz that starts at the forces of "weight". As contact forces react to the motors, (1)
then integrates the error of the servo loops, which also compensates a payload, and is slower.

The motors' servo loops hold the pose with the specified gains:

    motor: k_p (q_d − q) − k_d q̇ + τ                                                            (2)
so that joints are soft, and sag only by the error of (1).
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
# share of the weight below which a foot is not in contact; low-pass of measured forces [Hz]
LEAST_LOAD, BANDWIDTH = 0.05, 1.0


class ComputedTorque(Controller):
    """A controller with gravity and contact compensation: see ``torque``.

    Attributes:
        carried: torques τ of (1) at the last call, of all joints [N·m or N].
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
        self._loops: dict[str, Any] = {
            "position": choice.command_values(goal),
            "velocity": choice.command_values(np.zeros(len(goal))),
            "kp": choice.command_values(kp),
            "kd": choice.command_values(kd),
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
                f"{robot.name} has no feet, so its contact forces are unknown; declare some: "
                f"robot.add_foot(name, body, polygon)"
            )
        if contacts == "measured":
            for foot in self._feet:
                foot.check_wrench(robot)
        self.reset()

    @property
    def inner(self) -> tuple[Any, ...]:
        """The source of the base pose."""
        return (self._base,)

    def reset(self) -> None:
        """Restart with the next measurement."""
        super().reset()
        self.carried = np.zeros(len(self._rows))
        # time of the last call, and Σ Jᵀ f then
        self._last: tuple[float, Array] | None = None

    def __call__(self, time: float, measurement: Measurement) -> Command:
        """Return the command of (2): pose, gains, and compensation torques."""
        base = self._base(time, measurement) if self._floats else None
        here = self._here
        here.set_joints(measurement.position, 0.0, base)
        if self._last is None or self._contacts == "weight":
            contact_forces = self._contact_forces(measurement)
        else:
            before, contact_forces = self._last
            share = 1.0 - exp(-2 * pi * BANDWIDTH * max(0.0, time - before))
            read = sum(
                (foot.measured(here, measurement) for foot in self._feet), 0.0 * contact_forces
            )
            contact_forces = contact_forces + share * (read - contact_forces)
        self._last = time, contact_forces
        self.carried = (here.gravity_forces() - contact_forces)[self._rows]
        return Command(effort=self.carried, **self._loops)

    def _contact_forces(self, measurement: Measurement) -> Array:
        """Return Σ J_iᵀ f_i of the least forces that bear the weight."""
        here = self._here
        min_load = LEAST_LOAD * self._weight
        # before the first step sensors read no force: all feet are in contact
        in_contact = [f for f in self._feet if self._last is None or f.load(measurement) > min_load]
        if not in_contact:
            return np.zeros(here.model.v_count)
        poses = [here.pose(foot.name) for foot in in_contact]
        corners = [X @ foot.corners for X, foot in zip(poses, in_contact, strict=True)]
        across, centre = np.concatenate(corners) @ self._across.T, here.centre_of_mass()
        loads = self._weight * corner_loads(across, self._across @ centre)
        contact_forces, first = np.zeros(here.model.v_count), 0
        for foot, X, points in zip(in_contact, poses, corners, strict=True):
            foot_loads = loads[first : first + len(points)]
            first += len(points)
            # force at the foot's origin, and moment about it
            force, arm = foot_loads.sum() * self._up, foot_loads @ (points - X.p)
            contact_forces += here.jacobian(foot.name).T @ np.concatenate(
                [force, cross(arm, self._up)]
            )
        return contact_forces


class _StandingFoot:
    """A foot with its sensor, if any."""

    def __init__(self, robot: Robot, foot: Foot) -> None:
        self.name, polygon = foot.name, foot.polygon
        self.corners = np.column_stack([polygon, np.zeros(len(polygon))])
        sensors = [s for s in robot.sensors.values() if s.body is foot.body]
        load_sensors = [s for s in sensors if s.kind == "force" and not s.part]
        load_sensors += [s for s in sensors if s.kind == "touch"]
        self._sensor: Sensor | None = load_sensors[0] if load_sensors else None
        self._bodies_below = below(robot, foot.body)
        self._X_SF = (
            foot.placement
            if self._sensor is None
            else self._sensor.placement.inverse() @ foot.placement
        )

    def check_wrench(self, robot: Robot) -> None:
        """Reject a foot whose wrench is not measured."""
        if self._sensor is None or self._sensor.kind != "force":
            raise ModelError(
                f"foot {self.name!r} of {robot.name} has no force sensor, so its wrench is not "
                f"measured; add one, or use contacts='weight'"
            )

    def load(self, measurement: Measurement) -> float:
        """Return the load on the sole [N]; infinite if it is not measured."""
        sensor = self._sensor
        if sensor is None:
            return np.inf
        reading = read(sensor, measurement)
        return float(self._X_SF.R[:, 2] @ reading[:3] if sensor.kind == "force" else reading[0])

    def measured(self, here: Configuration, measurement: Measurement) -> Array:
        """Return Jᵀ f of the sensor's reading."""
        sensor = self._sensor
        assert sensor is not None
        reading = read(sensor, measurement)
        R, g = here.pose(sensor.name).R, np.array(here.model.arrays.gravity)
        wrench = np.concatenate([R @ reading[:3], R @ reading[3:]])
        contact_forces = here.jacobian(sensor.name).T @ wrench
        for body in self._bodies_below:
            # the weight below the sensor is not measured
            J = here.jacobian(body.name, body.inertia.centre)
            contact_forces -= J[:3].T @ (body.inertia.mass * g)
        return contact_forces


def torque(
    robot: Robot,
    pose: Any,
    kp: Any,
    kd: Any,
    contacts: str = "weight",
    base: BasePose = None,
) -> ComputedTorque:
    """Hold a pose with soft gains: gravity and contact forces are compensated by commanded efforts.

    Args:
        pose: {joint: position [rad or m]}, a name of a pose, or an array of all joints. Joints that
            are not named keep their commands; efforts are commanded to all.
        kp, kd: gains, one number, an array or by joint [N·m/rad or N/m, N·m·s/rad or N·s/m].
        contacts: source of the contact forces, "weight" or "measured": see this module.
        base: rotation of the base, see ``tabi.control.base_pose.BaseGuess``; default: an
            ``Estimator``. For a robot without an IMU: ``base=lambda time, seen: seen.base`` with
            ``sim.set_controller(…, truth=True)``, or a Transform for a trunk that stays upright.

    Example: docs/controllers.md
    """
    if contacts not in CONTACTS:
        raise ModelError(
            f"contacts is {contacts!r}; expected 'weight', from the centre of mass, or 'measured', "
            f"from the feet's force sensors"
        )
    return ComputedTorque(robot, pose, (kp, kd), contacts, base)
