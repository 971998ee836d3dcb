"""Values of joints as users specify them, one for all, an array or by name, as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, real, unknown
from tabi.model.lookup import freedoms
from tabi.model.robot import Robot

Array = NDArray[np.float64]


class JointChoice:
    """Selected joints of a robot, or all of them, of one degree of freedom each.

    Attributes:
        names: of the joints, in the order of ``Robot.joint_names``.
        at: their indices in arrays of a measurement or command. every: whether all are selected.
        count: degrees of freedom of the whole robot.
    """

    def __init__(self, robot: Robot, joints: Iterable[str] | None = None) -> None:
        all_names = freedoms(robot)
        selected = set(all_names if joints is None else joints)
        for name in sorted(selected.difference(all_names)):
            raise unknown("joint", name, robot.name, robot.joint_names)
        self.names = tuple(name for name in all_names if name in selected)
        for name in self.names:
            if robot.joint(name).v_count != 1:
                raise ModelError(
                    f"joint {name!r} of {robot.name} is {robot.joint(name).kind}; expected joints "
                    f"with one degree of freedom: name the other joints"
                )
        if not self.names:
            raise ModelError(f"no joint of {robot.name} is named; expected one or more")
        self.robot, self.count = robot, len(all_names)
        self.at = np.array([all_names.index(name) for name in self.names], np.int64)
        self.every = len(self.names) == self.count

    def values(self, what: str, inputs: Any, least: float = -np.inf) -> Array:
        """Return one number for each of the joints, shape (n,).

        Args:
            what: name of the values, for errors.
            inputs: one number, an array for the joints, or {joint: number} of each of them.
            least: smallest valid number.
        """
        owner = f"{what} of {self.robot.name}"
        if isinstance(inputs, Mapping):
            for name in inputs:
                if name not in self.names:
                    raise unknown("joint", name, owner, self.names)
            for name in self.names:
                if name not in inputs:
                    raise ModelError(f"{owner} has no number for joint {name!r}; name it too")
            inputs = [real(f"{owner} for joint {name!r}", inputs[name]) for name in self.names]
        try:
            values: Array = np.array(inputs, float)
        except (TypeError, ValueError):
            raise ModelError(
                f"{owner} is {inputs!r}; expected a number, {len(self.names)} numbers, or numbers "
                f"by joint"
            ) from None
        if values.shape not in ((), (len(self.names),)):
            raise ModelError(
                f"{owner} has shape {values.shape}; expected one number, or "
                f"({len(self.names)},), one for each joint in the order of robot.joint_names"
            )
        values = np.array(np.broadcast_to(values, (len(self.names),)))
        wrong = np.flatnonzero(~(np.isfinite(values) & (values >= least)))
        if len(wrong):
            floor = "a finite number" if least == -np.inf else f"a finite number ≥ {least:g}"
            raise ModelError(
                f"{owner} is {values[wrong[0]]:g} for joint {self.names[wrong[0]]!r}; "
                f"expected {floor}"
            )
        return values

    def motors(self, gain: str) -> Array:
        """Return ``kp`` or ``kd`` of their motors, 0 without a motor."""
        return motor_gains(self.robot, gain)[self.at]

    def limits(self) -> tuple[Array, Array, Array]:
        """Return lower and upper position limits, and velocity limits, infinite where there is
        none.
        """
        joints = [self.robot.joint(name) for name in self.names]
        lower, upper = ([getattr(j, side) for j in joints] for side in ("lower", "upper"))
        return np.array(lower), np.array(upper), np.array([j.velocity_limit for j in joints])

    def command_values(self, values: Array) -> Array | dict[str, float]:
        """Return numbers of the joints in the form of a command: an array if all joints are
        selected, else by name.
        """
        return values if self.every else dict(zip(self.names, values.tolist(), strict=True))


def motor_gains(robot: Robot, gain: str) -> Array:
    """Return ``kp`` or ``kd`` of the motor of each degree of freedom, 0 without one."""
    motors = [robot.joint(name).motor for name in freedoms(robot)]
    return np.array([0.0 if motor is None else getattr(motor, gain) for motor in motors])


def posed(robot: Robot, pose: Any) -> tuple[JointChoice, Array]:
    """Return the joints of a pose, an array of all or {joint: position}, and their positions."""
    if isinstance(pose, str):
        pose = {b.joint.name: float(q[0]) for b, q in robot.positions(pose).items() if len(q) == 1}
        pose = {name: q for name, q in pose.items() if name in robot.joint_names}
    choice = JointChoice(robot, pose if isinstance(pose, Mapping) else None)
    return choice, choice.values("pose", pose)
