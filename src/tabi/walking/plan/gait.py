"""Gait of a biped: times, lengths and heights, with defaults that suit a robot.

Robots of different size walk alike when lengths scale with the leg length ℓ and times with the
pendulum's √(ℓ/g): equal Froude numbers. The ratios are those of HRP-2's usual walk, 0.2 m in 0.8 s
with legs of 0.705 m:

    step = 0.28 ℓ,   T = 2.98 √(ℓ/g),   T_double = T/8,   lift = 0.07 ℓ                          (1)
Legs without a roll joint at the ankle tilt their soles as the robot sways. It sways less in shorter
time, so these make quick and short steps,

    step = 0.14 ℓ,   T = 1.1 √(ℓ/g),   T_double = 0.4 T,   lift = 0.035 ℓ                        (2)
in the middle of the range in which Unitree's H1 walks in simulation.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import inf, sqrt

import numpy as np

from tabi._errors import ModelError, real
from tabi.model.robot import Robot
from tabi.walking.plan.biped import Biped
from tabi.walking.plan.footsteps import SIDES

STEP, TIME, DOUBLE, LIFT, SHIFT = 0.2837, 2.984, 0.125, 0.0709, 0.75
# the same ratios in (2); the first weight shift takes as long as in (1)
QUICK = (0.14, 1.1, 0.4, 0.035, 2.0)


@dataclass(frozen=True)
class Gait:
    """Times, lengths and heights of a walk.

    Attributes:
        length: default length of a step [m]. step_time: from one landing to the next [s].
        double_support: its part with both feet on the ground [s].
        lift: height of the swing foot above its lift-off and landing [m].
        centre_height: of the centre of mass above the soles [m].
        zmp: reference of the zero moment point under each sole, ahead and outwards of the foot's
            frame [m].
        shift: duration of the first and the last weight shift [s]. rest: time to stand before
            the first and after the last one [s].
        landing_speed: downwards, at the end of a swing [m/s]; 0 lands at rest.
        tick: period of the references [s].

    Examples:
        >>> gait = dataclasses.replace(tabi.walking.gait_for(robot), step_time=1.0)
    """

    length: float
    step_time: float
    double_support: float
    lift: float
    centre_height: float
    zmp: tuple[float, float]
    shift: float
    rest: float = 1.0
    landing_speed: float = 0.0
    tick: float = 0.005

    def __post_init__(self) -> None:
        for field in fields(self):
            if field.name == "zmp":
                continue
            value, name = getattr(self, field.name), field.name
            minimum = 0.0 if name in ("landing_speed", "length", "rest") else 1e-9
            if not minimum <= real(f"{name} of a gait", value) < inf:
                raise ModelError(f"{name} of a gait is {value}; expected a positive number")
        if not np.isfinite(self.zmp).all():
            raise ModelError(f"zmp of a gait is {self.zmp}; expected two numbers [m]")
        if not self.double_support < self.step_time:
            raise ModelError(
                f"double_support of a gait is {self.double_support} s of a step of "
                f"{self.step_time} s; expected less, so that a foot may swing"
            )

    @property
    def swing_time(self) -> float:
        """Time of each step with one foot on the ground [s]."""
        return self.step_time - self.double_support


def gait_for(robot: Robot | Biped) -> Gait:
    """Return a gait that suits a robot as it stands, equation (1) or (2): from its legs, its centre
    of mass and its soles.

    Examples:
        >>> gait = tabi.walking.gait_for(robot)
        >>> round(gait.step_time, 2)
        0.8
    """
    biped = robot if isinstance(robot, Biped) else Biped(robot)
    legs, tick = biped.leg_length, 0.005
    g = float(np.linalg.norm(biped.model.arrays.gravity))
    if not g > 0:
        raise ModelError(f"{biped.robot.name} has no weight to walk with; expected gravity")
    usual = (STEP, TIME, DOUBLE, LIFT, SHIFT)
    step, time, double, lift, shift = QUICK if "roll" in biped.free.values() else usual
    step_time = tick * round(time * sqrt(legs / g) / tick)
    middles = {side: 0.5 * (o.min(axis=0) + o.max(axis=0)) for side, o in biped.outline.items()}
    left, right = (middles[side] for side in SIDES)
    standing = 0.5 * sum(biped.stance[side].p[2] for side in SIDES)
    return Gait(
        length=round(step * legs, 3),
        step_time=step_time,
        double_support=tick * max(1, round(double * step_time / tick)),
        lift=round(lift * legs, 3),
        centre_height=float(biped.centre[2] - standing),
        zmp=(float(0.5 * (left[0] + right[0])), float(0.5 * (left[1] - right[1]))),
        shift=tick * round(shift * step_time / tick),
    )
