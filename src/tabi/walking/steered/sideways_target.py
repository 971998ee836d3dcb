"""Target of ξ in a sideways step that catches a push.

A foot that steps sideways lands where the robot can stop with ξ anywhere from the stance foot to a
share of the distance to the other one (``stop_range``). Over the planned zero moment point p under
the stance foot, ξ reaches by itself

    y = p + (ξ − p) e^(ωt)                                                                      (1)
at the landing, and is controlled to the nearest of those positions,

    ξ* = clip(y, least, most)                                                                   (2)
and not on to the landing foot, as in a walk. If ξ starts between the feet, at the gap g from the
inner edge of the stance sole, it moves on by

    ω T_d g e^(ωt_s)                                                                            (3)
while the weight is shifted to the landing foot, T_d: double support, t_s: shortest swing. A sole
that is wider to both sides stops it, and the plan is kept; likewise for a landing as planned. Along
the step nothing changes.
"""

from math import exp

from tabi.jit import kernel
from tabi.walking.legs.leg import LEFT, RIGHT
from tabi.walking.plan.dcm_plan import before
from tabi.walking.steered.step_choice import MIN_DISPLACEMENT, clip
from tabi.walking.steered.steps import shortest_swing, stop_range
from tabi.walking.steered.steps_ahead import SWING, compose, ground_pose, in_frame, next_landing


@kernel
def passes_sole(plan, box, stance):
    """Check whether ξ passes the sole of the landing foot by (3)."""
    s, b, lands = plan.settings[0], box[stance], 1 - stance
    inner = -b[2] if stance == LEFT else b[3]
    gap = 0.5 * (plan.beside[LEFT, 1] - plan.beside[RIGHT, 1]) - inner
    half = 0.5 * (box[lands, 3] - box[lands, 2])
    return s.omega * s.double * gap * exp(s.omega * shortest_swing(plan)) > half - s.margin


@kernel
def set_sideways_target(plan, box, xi):
    """Set the planned ξ, now and at the landing, by equation (2), for a robot that is to stop.

    Args:
        box: bounds of the soles. xi: measured ξ [m].
    """
    s, now = plan.settings[0], plan.now[0]
    if now.phase != SWING or now.walk != 0 or s.adapts == 0.0:
        return
    if not passes_sole(plan, box, now.stance):
        return
    X = ground_pose(plan, now.stance)
    L, Y = next_landing(plan, X, now.stance, True), plan.footstep[1]
    if not (L[0] - Y[0]) ** 2 + (L[1] - Y[1]) ** 2 > MIN_DISPLACEMENT * MIN_DISPLACEMENT:
        return
    a, b = in_frame(X, plan.at_landing[0], plan.at_landing[1])
    landing = in_frame(X, Y[0], Y[1])
    _, _, least, most = stop_range(plan, box, now.stance, (a, b), landing)
    _, here = in_frame(X, plan.under[0, 0], plan.under[0, 1])
    _, y = in_frame(X, xi[0], xi[1])
    b = clip(here + (y - here) * exp(s.omega * now.left), least, most)
    end = compose(X, a, b, 0.0)
    for i in range(2):
        here = plan.under[0, i]
        plan.at_landing[i] = end[i]
        plan.xi[i] = before(s.omega, now.left, here, here, end[i])
