"""Emergency stop: a walk along a pattern that cannot continue stops on both feet.

In a single support the divergent component's distance e = ξ − ξ_planned grows as ė = ω (e − Δp), Δp
the deviation of the zero moment point from its plan. A sole whose centre of pressure can move no
farther than e cannot bring ξ back:

    e within {p − p_planned : p in the sole, less a margin}                                     (1)
is checked at the last tick before a foot lifts. If it fails, no foot lifts any more: the robot
holds its pose, with its centre of mass at rest above the zero moment point.
"""

from tabi.jit import kernel
from tabi.spatial.vector import load3, load9, mul_t, store3, store9, sub
from tabi.walking.legs.leg import LEFT, RIGHT
from tabi.walking.legs.whole_body import share_of_left


@kernel
def must_halt(loop, k, gap):
    """Check whether the foot that would lift after tick k must not, by (1); write e [m] to
    ``gap``.
    """
    ref, s = loop.reference, loop.settings[0]
    last = ref.support.shape[0] - 1
    if k >= last or ref.support[k] != 0 or ref.support[k + 1] == 0:
        return False
    stance = ref.support[k + 1] - 1
    for i in range(2):
        gap[i] = loop.centre[i] - ref.centre[k, i]
        gap[i] += (loop.centre[3 + i] - ref.centre_velocity[k, i]) / s.omega
    R, box, soles = load9(loop.course.rotation[stance]), loop.box[stance], loop.course
    # the plan is not displaced
    at = mul_t(R, sub(load3(ref.under[k, stance]), load3(soles.position[stance])))
    e = mul_t(R, (gap[0], gap[1], 0.0))
    x, y = at[0] + e[0], at[1] + e[1]
    inside = box[0] + s.margin <= x <= box[1] - s.margin
    inside = inside and box[2] + s.margin <= y <= box[3] - s.margin
    return not inside


@kernel
def hold_reference(loop, stand, k):
    """Fill two rows of ``stand`` with the reference of tick k at rest."""
    ref = loop.reference
    zmp = (ref.centre[k, 0], ref.centre[k, 1], ref.zmp[k, 2])
    share = share_of_left(zmp, load3(ref.under[k, LEFT]), load3(ref.under[k, RIGHT]), 0)
    for row in range(2):
        for i in range(ref.q.shape[1]):
            stand.q[row, i] = ref.q[k, i]
        for side in range(2):
            store3(stand.position[row, side], load3(ref.position[k, side]))
            store9(stand.rotation[row, side], load9(ref.rotation[k, side]))
            store3(stand.under[row, side], load3(ref.under[k, side]))
        stand.support[row], stand.yaw[row] = 0, ref.yaw[k]
        stand.share[row, LEFT], stand.share[row, RIGHT] = share, 1.0 - share
        store3(stand.zmp[row], zmp)
        store3(stand.centre[row], load3(ref.centre[k]))
        store3(stand.centre_velocity[row], (0.0, 0.0, 0.0))
