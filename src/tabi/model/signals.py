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

from tabi.spatial.transform import Transform
from tabi.spatial.twist import Twist

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, init=False)
class Measurement:
    """What the robot knows of itself.

    Attributes:
        position, velocity, effort: of its joints [rad or m, per second, N·m or N].
        base: pose of its base in the world. base_velocity: of the base's origin, in the world's
            axes.
        forces: force [N] and moment [N·m] of the ground on each foot, at its frame's origin in the
            world's axes, shape (6,), force first.
    """

    position: Array
    velocity: Array
    effort: Array
    base: Transform
    base_velocity: Twist
    forces: Mapping[str, Array] = field(default_factory=dict)

    # as of ``Command``
    def __init__(
        self,
        position: Array,
        velocity: Array,
        effort: Array,
        base: Transform,
        base_velocity: Twist,
        forces: Mapping[str, Array] | None = None,
    ) -> None:
        seen = {"position": position, "velocity": velocity, "effort": effort, "base": base}
        seen |= {"base_velocity": base_velocity, "forces": {} if forces is None else forces}
        object.__setattr__(self, "__dict__", seen)


Values = Array | float | Mapping[str, float]


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
    """

    position: Values | None = None
    velocity: Values | None = None
    effort: Values | None = None
    kp: Values | None = None
    kd: Values | None = None

    # one is made in every step: all fields at once, as a dataclass sets them one by one
    def __init__(
        self,
        position: Values | None = None,
        velocity: Values | None = None,
        effort: Values | None = None,
        kp: Values | None = None,
        kd: Values | None = None,
    ) -> None:
        told = {"position": position, "velocity": velocity, "effort": effort, "kp": kp, "kd": kd}
        for name, value in told.items():
            if value is not None:
                told[name] = _kept(value)
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
    return value


Controller = Callable[[float, Measurement], Command]
