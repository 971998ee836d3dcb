"""How much friction a walk needs, and a walk that needs less.

A pendulum of height z_c over the zero moment point p is pushed along the ground by ω² (c − p) m,
ω² = g/z_c, and presses with m g. A foot does not slip while

    |c − p|/z_c ≤ μ                                                                             (1)
Walking straight on, steps of length ℓ and of width w between the points under both feet, p rests
for T_s and then goes over evenly within T_d. With x = c − p along and y across, from the middle of
each phase on, the periodic walk is

    single support:  x = A sinh ωt, y = C cosh ωt;   double:  x = B sinh ωt, y = D sinh ωt
and c and ċ do not jump where phases meet. With a = ωT_s/2, b = ωT_d/2 both are largest there:

    x = ℓ/(2b (coth b + coth a)),    y = w/(2b (coth b + tanh a))                                (2)
A short double support asks for friction, not speed: y is there on the spot as well. Longer ones
take it away, as 1/T_d; the swing stays as it is, and steps get shorter as they take longer.

What (2) leaves out, masses that swing and feedback, is left to a margin.
"""

from __future__ import annotations

from dataclasses import replace
from math import hypot, sqrt, tanh

import numpy as np

from tabi._errors import ModelError, real
from tabi.model.robot import Robot
from tabi.walking.plan.biped import Biped
from tabi.walking.plan.gait import Gait, gait_for

# of the friction, that (1) may use
SHARE = 0.6
# the longest double support, in step times of the robot's own gait
LONGEST = 4.0


def friction_demand(robot: Robot | Biped, gait: Gait) -> float:
    """Horizontal force over weight that a walk straight on needs, equations (1) and (2)."""
    biped = robot if isinstance(robot, Biped) else Biped(robot)
    omega = sqrt(float(np.linalg.norm(biped.model.arrays.gravity)) / gait.centre_height)
    across = biped.stance["left"].p - biped.stance["right"].p
    width = float(np.hypot(across[0], across[1])) + 2.0 * gait.zmp[1]
    a, b = 0.5 * omega * gait.swing_time, 0.5 * omega * gait.double_support
    x = gait.length / (2.0 * b * (1.0 / tanh(b) + 1.0 / tanh(a)))
    y = width / (2.0 * b * (1.0 / tanh(b) + tanh(a)))
    return hypot(x, y) / gait.centre_height


def gait_for_friction(robot: Robot | Biped, friction: float) -> Gait:
    """A gait for slippery ground: the robot's own, ``gait_for``, with a double support that is long
    enough not to slip, and shorter steps.

    Args:
        friction: of soles on the ground.

    Returns:
        one whose ``friction_demand`` is at most 0.6 of it; the robot's own where that is one.
    """
    biped = robot if isinstance(robot, Biped) else Biped(robot)
    mu = real("friction of the ground", friction)
    if not mu > 0.0:
        raise ModelError(f"friction of the ground is {friction}; expected a positive number")
    own = gait_for(biped)
    gait = own
    for k in range(1, int(LONGEST * own.step_time / own.tick)):
        if friction_demand(biped, gait) <= SHARE * mu:
            return gait
        double = own.double_support + k * own.tick
        step_time = own.swing_time + double
        gait = replace(
            own,
            double_support=double,
            step_time=step_time,
            length=own.length * own.step_time / step_time,
            shift=max(own.shift, double),
        )
    least = friction_demand(biped, gait) / SHARE
    raise ModelError(
        f"friction of the ground is {mu:g}, too little for {biped.robot.name} to walk on; expected "
        f"{least:.3f} or more"
    )
