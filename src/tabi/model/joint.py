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
from dataclasses import InitVar, dataclass, field
from typing import Any, cast

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
    """A geared motor and its position loop. With gear ratio R the joint gets (Chardonnet 2012,
    eq. 22, where the two frictions are printed with the wrong sign)

        Γ = R (K_p (q_d − q) + K_v (q̇_d − q̇)) − μ_v q̇ − μ_d sign(q̇)
    K_p, K_v: ``motor_kp``, ``motor_kd``; μ_v, μ_d: ``damping`` and ``friction`` of the joint.

    Attributes:
        rotor_inertia: motor side [kg·m²]; at the joint it counts times R².
        gear_ratio: R, turns of the motor for one of the joint.
        torque_limit: joint side [N·m or N]: the most that it gives at rest, and in braking.
        kp, kd: of the loop, joint side [N·m/rad, N·m·s/rad]: what the joint gets for its own error.
        no_load_speed: joint side [rad/s or m/s]: in the direction in which the joint moves, what
            the motor can give falls on a straight line from ``torque_limit`` at rest to nothing at
            this speed. Default: no such line.
        motor_kp, motor_kd: instead of kp and kd, the same loop on the motor side: torque of the
            motor for an error of the joint; kp = R · motor_kp, kd = R · motor_kd are kept. (A loop
            on the motor's own angle has errors R times as large: give it R · gain here.)

    Example: docs/worlds.md
    """

    rotor_inertia: float = 0.0
    gear_ratio: float = 1.0
    torque_limit: float = INFINITY
    kp: float = 0.0
    kd: float = 0.0
    no_load_speed: float = INFINITY
    motor_kp: InitVar[float | None] = None
    motor_kd: InitVar[float | None] = None

    def __post_init__(self, motor_kp: float | None, motor_kd: float | None) -> None:
        for name, gain in (("kp", motor_kp), ("kd", motor_kd)):
            if gain is None:
                continue
            if getattr(self, name):
                raise ModelError(
                    f"a motor has both {name} and motor_{name}; expected its gain on one side: "
                    f"{name} at the joint, motor_{name} at the motor"
                )
            setattr(self, name, self.gear_ratio * gain)

    @property
    def armature(self) -> float:
        """Rotor inertia at the joint: inertia × gear ratio² [kg·m²]."""
        return self.rotor_inertia * self.gear_ratio**2


@dataclass
class Mimic:
    """This joint follows another one: q = ratio · q_leader + offset.

    Example: docs/worlds.md
    """

    leader: str
    ratio: float = 1.0
    offset: float = 0.0


@dataclass
class Joint:
    """A joint and its physical parameters; SI units, rotational or linear by kind.

    Attributes:
        placement: X_PJ, the joint frame in the parent body's frame.
        lower, upper: position limits of a joint with one degree of freedom [rad or m].
        armature: inertia added to the joint's own coordinate, apart from the motor's [kg·m² or kg].
        damping: viscous coefficient [N·m·s/rad or N·s/m]. friction: dry friction [N·m or N].
        stiffness, rest: spring towards ``rest`` [N·m/rad or N/m].
        prescribed: its motion is given, not simulated (the torque is what comes out): it runs on
            with its velocity, or moves as commanded after ``Simulator.prescribe``.
        passive: nothing drives it and no encoder reads it, as the rubber in an ankle: controllers
            neither see nor command it, and no gains are made up for it.
        driven: False where the robot's file lists actuators and none of them acts on this joint, as
            on springs and rods: no gains are made up for it.
        position: configuration that the world starts in; default: the joint's zero.
        line: line of the file it was read from.
        number: its number in the robot's own software, by which motion files order their columns
            (OpenHRP's jointId).

    Example: docs/worlds.md
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
    driven: bool = True
    position: Array = field(default=cast(Any, None))
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
        """Number of positions in q."""
        return SIZES[self.kind][0]

    def check_radians(self, position: float) -> None:
        """Refuse an angle beyond the joint's range that is more than a turn: it is in degrees."""
        beyond = not self.lower <= position <= self.upper
        if self.kind == "revolute" and beyond and abs(position) > 2.0 * np.pi:
            raise ModelError(
                f"position of joint {self.name!r} is {position:g} rad, beyond its range from "
                f"{self.lower:g} to {self.upper:g}; is it in degrees? angles are in radians, see "
                "numpy.radians"
            )

    @property
    def v_count(self) -> int:
        """Number of velocities in v."""
        return SIZES[self.kind][1]

    @property
    def total_armature(self) -> float:
        """Armature of the joint and of its motor's rotor together [kg·m²]."""
        return self.armature + (self.motor.armature if self.motor else 0.0)

    @property
    def stall_effort(self) -> float:
        """Effort of its motor's line at rest [N·m or N]; infinite without a line."""
        if self.motor is None or self.motor.no_load_speed == INFINITY:
            return INFINITY
        limit = self.motor.torque_limit
        return limit if limit < INFINITY else self.effort_limit

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
