"""Friction demand of a walk, and gaits for slippery ground.

A pendulum of height z_c over the zero moment point p exerts the horizontal force ω² (c − p) m,
ω² = g/z_c, and the vertical force m g. A foot does not slip while

    |c − p|/z_c ≤ μ                                                                             (1)
Walking straight on, steps of length ℓ and of width w between the points under both feet, p rests
for T_s and then moves over at constant speed within T_d. With x = c − p along and y across, from
the middle of each phase on, the periodic walk is

    single support:  x = A sinh ωt, y = C cosh ωt;   double:  x = B sinh ωt, y = D sinh ωt
with c and ċ continuous between phases. With a = ωT_s/2, b = ωT_d/2 both are largest there:

    x = ℓ/(2b (coth b + coth a)),    y = w/(2b (coth b + tanh a))                                (2)
The demand comes from short double supports, not from speed: y exists when stepping in place, too.
It decreases as 1/T_d; the swing time is kept, and steps get shorter as they take longer.

Swinging masses and feedback, which (2) neglects, are covered by a margin.
"""

from __future__ import annotations

from dataclasses import replace
from math import hypot, sqrt, tanh

import numpy as np

from tabi._errors import ModelError, real
from tabi.model.robot import Robot
from tabi.walking.plan.biped import Biped
from tabi.walking.plan.gait import Gait, gait_for

# share of the friction that (1) may use
FRICTION_SHARE = 0.6
# longest double support, in step times of the robot's default gait
MAX_DOUBLE_SUPPORT_STEPS = 4.0


def friction_demand(robot: Robot | Biped, gait: Gait) -> float:
    """Return the ratio of horizontal force to weight of a straight walk, equations (1) and (2).

    Example: docs/balance.md
    """
    biped = robot if isinstance(robot, Biped) else Biped(robot)
    omega = sqrt(float(np.linalg.norm(biped.model.arrays.gravity)) / gait.centre_height)
    across = biped.stance["left"].p - biped.stance["right"].p
    width = float(np.hypot(across[0], across[1])) + 2.0 * gait.zmp[1]
    a, b = 0.5 * omega * gait.swing_time, 0.5 * omega * gait.double_support
    x = gait.length / (2.0 * b * (1.0 / tanh(b) + 1.0 / tanh(a)))
    y = width / (2.0 * b * (1.0 / tanh(b) + tanh(a)))
    return hypot(x, y) / gait.centre_height


def gait_for_friction(robot: Robot | Biped, friction: float) -> Gait:
    """Return a gait for slippery ground: the robot's default, ``gait_for``, with a double support
    long enough not to slip, and shorter steps.

    Args:
        friction: coefficient of the soles on the ground.

    Returns:
        a gait with a ``friction_demand`` of at most 0.6 of it; the default gait if it fulfils that.

    Example: docs/balance.md
    """
    biped = robot if isinstance(robot, Biped) else Biped(robot)
    mu = real("friction of the ground", friction)
    if not mu > 0.0:
        raise ModelError(f"friction of the ground is {friction}; expected a positive number")
    default = gait_for(biped)
    gait = default
    for k in range(1, int(MAX_DOUBLE_SUPPORT_STEPS * default.step_time / default.tick)):
        if friction_demand(biped, gait) <= FRICTION_SHARE * mu:
            return gait
        double = default.double_support + k * default.tick
        step_time = default.swing_time + double
        gait = replace(
            default,
            double_support=double,
            step_time=step_time,
            length=default.length * default.step_time / step_time,
            shift=max(default.shift, double),
        )
    least = friction_demand(biped, gait) / FRICTION_SHARE
    raise ModelError(
        f"friction of the ground is {mu:g}, too little for {biped.robot.name} to walk on; expected "
        f"{least:.3f} or more"
    )
