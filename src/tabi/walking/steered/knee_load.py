"""How high a robot has to stand so that one of its knees bears the weight.

A leg that stands alone with the zero moment point at p has the force of the ground, through the
centre of mass c at the height z_c above p, and its knee, about the axis a at r, needs

    F = W ((c − p)/z_c, 1),   τ = a · ((p − r) × F)                                             (1)
Where that is more than its motor has, the knee gives way: the waist sinks, and the foot that swings
meets the ground early and short of where it should land. A straighter leg has its knee nearer to
the line of force. So the centre is led up by

    Δz = ρ ℓ clip((τ/τ_max − b₀)/(b₁ − b₀), 0, 1)                                               (2)
of the leg's length ℓ, as far as legs reach, with τ as if each leg that stands were alone: a knee
that is at its limit lifts nothing any more, and two that share the weight still do.
"""

from tabi.jit import kernel
from tabi.spatial import quaternion
from tabi.spatial.vector import cross, mul, mul_t
from tabi.walking.legs.leg import sole
from tabi.walking.legs.whole_body import facing
from tabi.walking.steered.step_choice import clip
from tabi.walking.steered.steps_ahead import SWING, compose, ground_pose, seen_from

# b₀, b₁ and ρ of (2): the rest of the torque holds the posture and lifts
BEGINS, FULL, RISE = 0.75, 0.95, 0.1


@kernel
def knee_torque(plan, loop, side):
    """τ of (1) of a leg in the reference [N·m], with the zero moment point as near to that which is
    wanted as its sole allows.
    """
    s, b, box, q = plan.settings[0], loop.body, loop.box[side], loop.reference.q[1]
    legs, k = b.legs, b.legs.knee[side]
    X = ground_pose(plan, side)
    x, y = seen_from(X, loop.zmp[0], loop.zmp[1])
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
def rise(plan, loop, bounds):
    """Δz of (2) [m].

    Args:
        bounds: of ``Progress``.
    """
    now, legs, most = plan.now[0], loop.body.legs, 0.0
    for side in range(2):
        if now.phase == SWING and side != now.stance:
            continue
        limit = bounds[legs.columns[side, legs.knee[side]], 3]
        if limit > 0.0:
            most = max(most, knee_torque(plan, loop, side) / limit)
    return RISE * plan.settings[0].leg * clip((most - BEGINS) / (FULL - BEGINS), 0.0, 1.0)
