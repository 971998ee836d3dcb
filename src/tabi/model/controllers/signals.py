"""What a robot's controller sees and says: a measurement in, a command out; no simulator in
between.

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
    """What no sensor of a robot tells.

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
    """In place of a ``Truth`` that was not asked for: false, and without any value."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "NoTruth()"

    def __getattr__(self, what: str) -> Any:
        # names of protocols, as of copy and pickle, are asked for by others
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
    """What the robot knows of itself, at one moment; it may be kept.

    Attributes:
        position, velocity, effort: of its joints [rad or m, per second, N·m or N], as its encoders
            say where it has some.
        sensors: what each of its sensors tells, by name: see ``tabi.model.sensors``.
        truth: what it does not know; false, and without values, unless it was asked for.
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
        """Of the truth: pose of the base."""
        return self.truth.base

    @property
    def base_velocity(self) -> Twist:
        """Of the truth: velocity of the base."""
        return self.truth.base_velocity

    @property
    def forces(self) -> Mapping[str, Array]:
        """Of the truth: wrenches on feet."""
        return self.truth.forces


Values = Array | float | Mapping[str, float]
# what a command says of each joint, in this order wherever its values are numbers in rows
FIELDS = ("position", "velocity", "effort", "kp", "kd")


@dataclass(frozen=True, eq=False, init=False)
class Command:
    """What the robot's motors are told; what is None stays as it was told last.

    Each is an array, one number for all joints, or numbers by joint names; joints that are not
    named keep what they were told last, and a robot begins by holding its pose. A command is a
    value: it keeps copies, so that what is done to an array later does not change it.

    Attributes:
        position, velocity: where the joints should go.
        effort: force in addition to the loops [N·m or N].
        kp, kd: gains of the loops, instead of those of the motors.
        over: time [s] in which the positions go, evenly, from what was told last to these; at once
            unless given. For a controller that is slower than the simulation, its period: motors
            then see no jumps.
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
        told = {
            "position": None if position is None else _kept(position),
            "velocity": None if velocity is None else _kept(velocity),
            "effort": None if effort is None else _kept(effort),
            "kp": None if kp is None else _kept(kp),
            "kd": None if kd is None else _kept(kd),
            "over": over,
        }
        object.__setattr__(self, "__dict__", told)


def _kept(value: Any) -> Any:
    """A copy of a value that nobody can change."""
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
