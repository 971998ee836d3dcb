"""Height of the centre of mass at which each knee alone can bear the weight.

A stance leg with the zero moment point at p bears the ground reaction force through the centre of
mass c at the height z_c above p, and its knee, about the axis a at r, needs

    F = W ((c − p)/z_c, 1),   τ = a · ((p − r) × F)                                             (1)
Beyond the torque limit of its motor the knee gives way: the waist sinks, and the swing foot meets
the ground early and short of its landing. A straighter leg has its knee nearer to the line of
force. So the centre of mass is raised by

    Δz = ρ ℓ clip((τ/τ_max − b₀)/(b₁ − b₀), 0, 1)                                               (2)
of the leg's length ℓ, as far as legs reach, with τ as if each stance leg bore all the weight: a
knee at its limit cannot lift any more, and two knees that share the weight still can.
"""

from tabi.jit import kernel
from tabi.spatial import quaternion
from tabi.spatial.vector import cross, mul, mul_t
from tabi.walking.legs.leg import sole
from tabi.walking.legs.whole_body import facing
from tabi.walking.steered.step_choice import clip
from tabi.walking.steered.steps_ahead import SWING, compose, ground_pose, in_frame

# b₀, b₁ and ρ of (2): the remaining torque holds the posture and lifts
MIN_TORQUE_RATIO, MAX_TORQUE_RATIO, MAX_RISE = 0.75, 0.95, 0.1


@kernel
def knee_torque(plan, loop, side):
    """Return τ of (1) of a leg in the reference [N·m], with the zero moment point as near to the
    desired one as its sole allows.
    """
    s, b, box, q = plan.settings[0], loop.body, loop.box[side], loop.reference.q[1]
    legs, k = b.legs, b.legs.knee[side]
    X = ground_pose(plan, side)
    x, y = in_frame(X, loop.zmp[0], loop.zmp[1])
    x = clip(x, box[0] + s.margin, box[1] - s.margin)
    y = clip(y, box[2] + s.margin, box[3] - s.margin)
    px, py, _ = compose(X, x, y, 0.0)
    c, pull = plan.pendulum, s.weight / s.height
    at = b.base_at[0]
    R = quaternion.matrix(q[at + 3], q[at + 4], q[at + 5], q[at + 6])
    F = mul_t(R, (pull * (c[0, 0] - px), pull * (c[1, 0] - py), s.weight))
    N = cross(mul_t(R, mul(facing(X[2]), (x, y, 0.0))), F)
    for i in range(legs.count[side]):
        b.angles[i] = q[legs.q_at[side, i]]
    sole(legs, side, b.angles)
    J = legs.J
    along = J[0, k] * F[0] + J[1, k] * F[1] + J[2, k] * F[2]
    return abs(along + J[3, k] * N[0] + J[4, k] * N[1] + J[5, k] * N[2])


@kernel
def required_rise(plan, loop, bounds):
    """Return the rise Δz of (2) [m].

    Args:
        bounds: as in ``Progress``.
    """
    now, legs, max_ratio = plan.now[0], loop.body.legs, 0.0
    for side in range(2):
        if now.phase == SWING and side != now.stance:
            continue
        limit = bounds[legs.columns[side, legs.knee[side]], 3]
        if limit > 0.0:
            max_ratio = max(max_ratio, knee_torque(plan, loop, side) / limit)
    return (
        MAX_RISE
        * plan.settings[0].leg
        * clip((max_ratio - MIN_TORQUE_RATIO) / (MAX_TORQUE_RATIO - MIN_TORQUE_RATIO), 0.0, 1.0)
    )
