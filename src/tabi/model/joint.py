"""Joints: how a body may move against its parent.

A joint frame J is fixed in the parent; at the joint's zero the child's frame coincides with it.

| kind                 | q                                | v (axes of J)                   |
|----------------------|----------------------------------|---------------------------------|
| fixed                | none                             | none                            |
| revolute, continuous | angle about the axis [rad]       | its rate                        |
| prismatic            | distance along the axis [m]      | its rate                        |
| spherical            | quaternion (w, x, y, z)          | angular velocity                |
| planar               | x, y [m], angle [rad] about axis | their rates                     |
| floating             | position [m], quaternion         | velocity of its origin, angular |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.spatial.transform import Transform, about, from_quaternion, translation, z_to

Array = NDArray[np.float64]
INFINITY = float("inf")

# kind → (number of positions, number of velocities)
SIZES = {
    "fixed": (0, 0),
    "revolute": (1, 1),
    "continuous": (1, 1),
    "prismatic": (1, 1),
    "spherical": (4, 3),
    "planar": (3, 3),
    "floating": (7, 6),
}


@dataclass
class Motor:
    """A geared motor and its position loop.

    ``torque_limit`` [N·m or N] bounds the joint side; ``kp`` [N·m/rad] and ``kd`` [N·m·s/rad] act
    there too.
    """

    rotor_inertia: float = 0.0
    gear_ratio: float = 1.0
    torque_limit: float = INFINITY
    kp: float = 0.0
    kd: float = 0.0

    @property
    def armature(self) -> float:
        """Rotor inertia as the joint feels it: inertia × gear ratio² [kg·m²]."""
        return self.rotor_inertia * self.gear_ratio**2


@dataclass
class Mimic:
    """This joint follows another one: q = ratio · q_leader + offset."""

    leader: str
    ratio: float = 1.0
    offset: float = 0.0


@dataclass
class Joint:
    """A joint and its physical parameters; SI units, rotational or linear by kind.

    Attributes:
        placement: X_PJ, the joint frame in the parent body's frame.
        lower, upper: position limits of a joint with one degree of freedom.
        armature: inertia added to the joint's own coordinate, apart from the motor's.
        damping: viscous coefficient. friction: dry friction torque or force.
        stiffness, rest: spring towards ``rest``.
        prescribed: its motion is given, not simulated (the torque is what comes out).
        passive: nothing drives it and no encoder reads it, as the rubber in an ankle: controllers
            neither see nor command it, and no gains are made up for it.
        position: configuration the world starts in; the joint's zero if not given.
        line: line of the file it was read from.
        number: its number in the robot's own software, by which motion files order their columns
            (OpenHRP's jointId).
    """

    name: str
    kind: str
    placement: Transform = field(default_factory=Transform)
    axis: Sequence[float] = (0.0, 0.0, 1.0)
    lower: float = -INFINITY
    upper: float = INFINITY
    velocity_limit: float = INFINITY
    effort_limit: float = INFINITY
    armature: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    motor: Motor | None = None
    mimic: Mimic | None = None
    prescribed: bool = False
    passive: bool = False
    position: Array = None  # type: ignore[assignment]
    line: int | None = None
    number: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in SIZES:
            raise ModelError(
                f"joint {self.name!r} has unknown type {self.kind!r}; "
                f"expected one of {', '.join(SIZES)}"
            )
        if self.position is None:
            self.position = self.zero()

    @property
    def q_count(self) -> int:
        """Number of positions."""
        return SIZES[self.kind][0]

    @property
    def v_count(self) -> int:
        """Number of velocities."""
        return SIZES[self.kind][1]

    @property
    def total_armature(self) -> float:
        """Armature of the joint and of its motor's rotor together [kg·m²]."""
        return self.armature + (self.motor.armature if self.motor else 0.0)

    def zero(self) -> Array:
        """The position in which the child's frame is the joint frame, shape (q_count,)."""
        q = np.zeros(self.q_count)
        if self.kind == "spherical":
            q[0] = 1.0
        elif self.kind == "floating":
            q[3] = 1.0
        return q

    def motion(self, q: Array) -> Transform:
        """X_JB(q): where the child stands in the joint frame."""
        if self.kind == "fixed":
            return Transform()
        if self.kind in ("revolute", "continuous"):
            return about(self.axis, q[0])
        if self.kind == "prismatic":
            a = np.array(self.axis, float)
            return translation(q[0] * a / np.linalg.norm(a))
        if self.kind == "spherical":
            return from_quaternion(q)
        if self.kind == "floating":
            return from_quaternion(q[3:], q[:3])
        A = z_to(self.axis)
        return Transform(about(self.axis, q[2]).R, A @ np.array([q[0], q[1], 0.0]))
