"""Measurement and command: input and output of a robot's controller, without a simulator.

Arrays are in the order of the robot's joints, ``Robot.joint_names``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import MissingAttributeError, ModelError
from tabi.spatial.transform import Transform
from tabi.spatial.twist import Twist

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Truth:
    """True state of a robot that no sensor measures.

    Attributes:
        base: pose of its base in the world. base_velocity: of the base's origin, in the world's
            axes.
        forces: force [N] and moment [N·m] of the ground on each foot, at its frame's origin in the
            world's axes, shape (6,), force first.
    """

    base: Transform
    base_velocity: Twist
    forces: Mapping[str, Array] = field(default_factory=dict)


class NoTruth:
    """Placeholder for a ``Truth`` that was not requested: false, and without values."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "NoTruth()"

    def __getattr__(self, what: str) -> Any:
        # names of protocols, as of copy and pickle
        if what.startswith("__"):
            raise AttributeError(what)
        raise MissingAttributeError(
            f"no sensor of the robot measures {what!r}, so a measurement has none; estimate it "
            f"from measurement.sensors (tabi.estimation.estimator), or ask for the truth: "
            f"sim.set_controller(robot, controller, truth=True), sim.measure(robot, truth=True)"
        )


NO_TRUTH = NoTruth()


@dataclass(frozen=True, eq=False, init=False)
class Measurement:
    """Measurement of a robot at one time; it may be stored.

    Attributes:
        position, velocity, effort: of its joints [rad or m, per second, N·m or N], from its
            encoders if it has any.
        sensors: readings of its sensors by name: see ``tabi.model.sensors``.
        truth: true state; false, and without values, by default.

    Examples:
        >>> measurement = sim.measure(robot)
        >>> measurement.position.shape == (len(robot.joint_names),)
        True
    """

    position: Array
    velocity: Array
    effort: Array
    sensors: Mapping[str, Array] = field(default_factory=dict)
    truth: Truth | NoTruth = NO_TRUTH

    # as of ``Command``
    def __init__(
        self,
        position: Array,
        velocity: Array,
        effort: Array,
        sensors: Mapping[str, Array] | None = None,
        truth: Truth | NoTruth | None = None,
    ) -> None:
        seen: dict[str, Any] = {"position": position, "velocity": velocity, "effort": effort}
        seen["sensors"] = {} if sensors is None else sensors
        seen["truth"] = NO_TRUTH if truth is None else truth
        object.__setattr__(self, "__dict__", seen)

    @property
    def base(self) -> Transform:
        """Pose of the base, from the truth."""
        return self.truth.base

    @property
    def base_velocity(self) -> Twist:
        """Velocity of the base, from the truth."""
        return self.truth.base_velocity

    @property
    def forces(self) -> Mapping[str, Array]:
        """Wrenches on the feet, from the truth."""
        return self.truth.forces


Values = Array | float | Mapping[str, float]
# fields of a command for each joint, in the order of the rows of arrays
FIELDS = ("position", "velocity", "effort", "kp", "kd")


@dataclass(frozen=True, eq=False, init=False)
class Command:
    """Command of a robot's motors; fields that are None keep their last command.

    Each is an array, one number for all joints, or numbers by joint names; joints that are not
    named keep their last command, and a robot begins by holding its pose. A command stores copies,
    so that later changes of an array have no effect.

    Attributes:
        position, velocity: targets of the joints.
        effort: force in addition to the loops [N·m or N].
        kp, kd: gains of the loops, instead of those of the motors.
        over: time [s] of a linear interpolation from the last positions to these; default: at once.
            For a controller slower than the simulation, its period, so that commands do not jump.

    Examples:
        >>> sim.set_controller(robot, lambda time, measurement: tabi.Command(robot.half_sitting))
    """

    position: Values | None = None
    velocity: Values | None = None
    effort: Values | None = None
    kp: Values | None = None
    kd: Values | None = None
    over: float | None = None

    # one is made in every step: all fields at once, as a dataclass sets them one by one
    def __init__(
        self,
        position: Values | None = None,
        velocity: Values | None = None,
        effort: Values | None = None,
        kp: Values | None = None,
        kd: Values | None = None,
        over: float | None = None,
    ) -> None:
        fields = {
            "position": None if position is None else _frozen_copy(position),
            "velocity": None if velocity is None else _frozen_copy(velocity),
            "effort": None if effort is None else _frozen_copy(effort),
            "kp": None if kp is None else _frozen_copy(kp),
            "kd": None if kd is None else _frozen_copy(kd),
            "over": over,
        }
        object.__setattr__(self, "__dict__", fields)


def _frozen_copy(value: Any) -> Any:
    """Return a read-only copy of a value."""
    if isinstance(value, np.ndarray):
        value = value.copy()
        value.setflags(write=False)
    elif isinstance(value, Mapping):
        value = MappingProxyType(dict(value))
    elif isinstance(value, list):
        value = tuple(value)
    elif isinstance(value, str):
        raise ModelError(
            f"a value of a command is {value!r}; expected numbers: a number for all joints, an "
            "array, or {joint: number}; a pose by its name is robot.half_sitting or robot.poses[…]"
        )
    return value


ControlLaw = Callable[[float, Measurement], Command]
