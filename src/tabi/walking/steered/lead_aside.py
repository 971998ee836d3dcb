"""Where ξ is led sideways in a step that catches a push.

A foot that is put aside lands where the robot can stop with ξ anywhere from the foot that stands to
a part of the way to the other one (``where_it_can_stop``). Over the planned zero moment point p
under the foot that stands, ξ comes by itself to

    y = p + (ξ − p) e^(ωt)                                                                      (1)
by the landing, and is led to the nearest of those places,

    ξ* = clip(y, least, most)                                                                   (2)
and not on to the foot that lands, where a walk would have it. A robot that is lifted from between
its feet, the gap g from the inner edge of the sole that stands, has ξ go on by

    ω T_d g e^(ωt_s)                                                                            (3)
while its weight comes to the foot that lands, T_d: double support, t_s: shortest swing. A sole that
is wider to both sides stops it, and is led to as planned; so is one that lands as planned. Along
the step nothing changes.
"""

from math import exp

from tabi.jit import kernel
from tabi.walking.legs.leg import LEFT, RIGHT
from tabi.walking.plan.dcm_plan import before
from tabi.walking.steered.step_choice import LITTLE, clip
from tabi.walking.steered.steps import shortest_swing, where_it_can_stop
from tabi.walking.steered.steps_ahead import SWING, compose, following, ground_pose, seen_from


@kernel
def goes_over(plan, box, stance):
    """Whether ξ goes by (3) over the sole of the foot that lands."""
    s, b, lands = plan.settings[0], box[stance], 1 - stance
    inner = -b[2] if stance == LEFT else b[3]
    gap = 0.5 * (plan.beside[LEFT, 1] - plan.beside[RIGHT, 1]) - inner
    half = 0.5 * (box[lands, 3] - box[lands, 2])
    return s.omega * s.double * gap * exp(s.omega * shortest_swing(plan)) > half - s.margin


@kernel
def lead_aside(plan, box, xi):
    """Equation (2) for the planned ξ, now and at the landing, of a robot that is to stop.

    Args:
        box: bounds of the soles. xi: measured ξ [m].
    """
    s, now = plan.settings[0], plan.now[0]
    if now.phase != SWING or now.walk != 0 or s.adapts == 0.0:
        return
    if not goes_over(plan, box, now.stance):
        return
    X = ground_pose(plan, now.stance)
    L, Y = following(plan, X, now.stance, True), plan.hold[1]
    if not (L[0] - Y[0]) ** 2 + (L[1] - Y[1]) ** 2 > LITTLE * LITTLE:
        return
    a, b = seen_from(X, plan.at_landing[0], plan.at_landing[1])
    landing = seen_from(X, Y[0], Y[1])
    _, _, least, most = where_it_can_stop(plan, box, now.stance, (a, b), landing)
    _, here = seen_from(X, plan.under[0, 0], plan.under[0, 1])
    _, y = seen_from(X, xi[0], xi[1])
    b = clip(here + (y - here) * exp(s.omega * now.left), least, most)
    end = compose(X, a, b, 0.0)
    for i in range(2):
        here = plan.under[0, i]
        plan.at_landing[i] = end[i]
        plan.xi[i] = before(s.omega, now.left, here, here, end[i])
