"""One control tick of a steered walk as a kernel: sensors, step plan, pendulum, joints, stabiliser.

The planned divergent component of motion ξ = c + ċ/ω jumps whenever the plan of the steps changes,
and joints cannot jump. So the reference motion of the centre of mass c is that of a separate
pendulum. Its zero moment point p steers it towards the plan and is clipped to the soles:

    p = p_plan + k (ξ_ref − ξ_plan),   c̈ = ω² (c − p)                                           (1)
The pendulum is also drawn towards the measured state with a time constant τ, so that a robot that
was pushed continues from where it is:

    d(c, ċ)/dt += (c_measured − c, ċ_measured − ċ)/τ                                            (2)
The height of c follows the ground. It is higher where a knee could not bear the weight
(``knee_load``), and lower where a leg could not reach its foot.

``whole_body`` solves for the joint angles, and inverse dynamics for their efforts. The results are
the second row of a reference; the first row is that of the tick before. The stabiliser reads these
two rows in the same way as it reads two rows of a walking pattern.
"""

from math import sqrt

from tabi.jit import kernel
from tabi.spatial.trigonometry import sincos
from tabi.spatial.vector import add, load3, load9, mul, store3, store9, sub
from tabi.walking.balance.stabiliser import estimate_body, stabilise
from tabi.walking.balance.ticks import begin_tick, command_joints
from tabi.walking.legs import whole_body
from tabi.walking.legs.leg import LEFT, RIGHT, sole
from tabi.walking.legs.whole_body import facing
from tabi.walking.steered.knee_load import required_rise
from tabi.walking.steered.sideways_target import set_sideways_target
from tabi.walking.steered.step_choice import clip
from tabi.walking.steered.steps import next_phase, touch_down
from tabi.walking.steered.steps_ahead import SWING, plan_motion, plan_steps

# rates at which the centre of mass rises and descends to its desired height [1/s]
ASCENT_RATE, DESCENT_RATE = 8.0, 25.0
# height difference of two feet that is attributed to errors of the legs, not to the ground [m]
HEIGHT_TOLERANCE = 0.004
# largest stretch of a leg, share of its length
MAX_STRETCH = 0.985


@kernel
def support_of(plan):
    """Return the support as in ``Schedule``: 0 on both feet, 1 on the left one, 2 on the right."""
    now = plan.now[0]
    return 1 + now.stance if now.phase == SWING else 0


@kernel
def clip_to_soles(plan, box, x, y):
    """Clip a zero moment point to the soles that stand, less a margin [m].

    Args:
        box: of each sole, in its axes: rear, front, right and left end [m].
    """
    s = plan.settings[0]
    support = support_of(plan)
    L, R = plan.foot[LEFT], plan.foot[RIGHT]
    ux, uy = L[0] - R[0], L[1] - R[1]
    distance = sqrt(ux * ux + uy * uy)
    if support != 0 or distance < 1e-6:
        side = support - 1 if support != 0 else LEFT
        F = plan.foot[side]
        sn, c = sincos(F[3])
        dx, dy = x - F[0], y - F[1]
        a = clip(c * dx + sn * dy, box[side, 0] + s.margin, box[side, 1] - s.margin)
        b = clip(-sn * dx + c * dy, box[side, 2] + s.margin, box[side, 3] - s.margin)
        return F[0] + c * a - sn * b, F[1] + sn * a + c * b
    # along the line between the feet, and beside it within the soles
    ux, uy = ux / distance, uy / distance
    dx, dy = x - R[0], y - R[1]
    along = clip(ux * dx + uy * dy, box[RIGHT, 2] + s.margin, distance + box[LEFT, 3] - s.margin)
    beside = clip(uy * dx - ux * dy, box[LEFT, 0] + s.margin, box[LEFT, 1] - s.margin)
    return R[0] + along * ux + beside * uy, R[1] + along * uy - beside * ux


@kernel
def move_pendulum(plan, loop):
    """Integrate (1) and (2) over a tick; return the zero moment point [m]."""
    s, c = plan.settings[0], plan.pendulum
    T, w = s.tick, s.omega
    # cosh(ωT) and sinh(ωT)/ω, without terms beyond T³
    cosh, sinh = 1.0 + 0.5 * (w * T) ** 2, T * (1.0 + (w * T) ** 2 / 6.0)
    x = plan.zmp[1, 0] + s.gain * (c[0, 0] + c[0, 1] / w - plan.xi[0])
    y = plan.zmp[1, 1] + s.gain * (c[1, 0] + c[1, 1] / w - plan.xi[1])
    p = clip_to_soles(plan, loop.box, x, y)
    for i in range(2):
        a, v = c[i, 0], c[i, 1]
        c[i, 0] = p[i] + (a - p[i]) * cosh + v * sinh
        c[i, 1] = (a - p[i]) * w * w * sinh + v * cosh
        c[i, 0] += T * s.yield_rate * (loop.centre[i] - a)
        c[i, 1] += T * s.yield_rate * (loop.centre[3 + i] - v)
    return p


@kernel
def move_height(plan, loop, bounds):
    """Integrate the height of the centre of mass over a tick.

    The target is the height of the gait above the lower foot, more if the robot is to stand and a
    knee needs a straighter leg for that, less if a leg could not reach its foot.
    """
    s, c, b = plan.settings[0], plan.pendulum, loop.body
    ground = plan.foot[LEFT, 2]
    if plan.now[0].phase == SWING:
        ground = min(plan.foot[plan.now[0].stance, 2], plan.rise[1])
    else:
        ground = min(ground, plan.foot[RIGHT, 2])
    target = ground + s.height
    if plan.now[0].walk == 0 and s.adapts != 0.0:
        target += required_rise(plan, loop, bounds)
    base = load3(loop.reference.q[1, b.base_at[0] :])
    Z = facing(loop.reference.yaw[1])
    for side in range(2):
        hip = add(base, mul(Z, load3(plan.hips[side])))
        dx, dy = hip[0] - plan.foot[side, 0], hip[1] - plan.foot[side, 1]
        up = (MAX_STRETCH * s.leg) ** 2 - dx * dx - dy * dy
        most = plan.foot[side, 2] + s.ankle + sqrt(max(up, 0.25 * s.leg * s.leg))
        target = min(target, c[2, 0] + most - hip[2])
    rate = ASCENT_RATE if target > c[2, 0] else DESCENT_RATE
    a = rate * rate * (target - c[2, 0]) - 2.0 * rate * c[2, 1]
    c[2, 1] += s.tick * a
    c[2, 0] += s.tick * c[2, 1]


@kernel
def write_feet(plan, ref):
    """Write poses of both soles, their mean yaw and the support to the row of the next tick."""
    s = plan.settings[0]
    for side in range(2):
        F, out = plan.foot[side], s.outwards if side == LEFT else -s.outwards
        R, p = facing(F[3]), load3(F)
        store9(ref.rotation[1, side], R)
        store3(ref.position[1, side], p)
        store3(ref.under[1, side], add(p, mul(R, (s.ahead, out, 0.0))))
    ref.yaw[1] = 0.5 * (plan.foot[LEFT, 3] + plan.foot[RIGHT, 3])
    ref.support[1] = support_of(plan)


@kernel
def write_reference(m, plan, loop, progress, zmp):
    """Write the row of the next tick: joints, efforts, zero moment point."""
    ref, b, T = loop.reference, loop.body, plan.settings[0].tick
    shift_rows(ref, progress)
    write_feet(plan, ref)
    for i in range(3):
        ref.centre[1, i], ref.centre_velocity[1, i] = plan.pendulum[i, 0], plan.pendulum[i, 1]
    ground = min(plan.foot[LEFT, 2], plan.foot[RIGHT, 2])
    if plan.now[0].phase == SWING:
        ground = plan.foot[plan.now[0].stance, 2]
    ref.zmp[1, 0], ref.zmp[1, 1], ref.zmp[1, 2] = zmp[0], zmp[1], ground
    q = ref.q[1:]
    whole_body.follow(
        m,
        b,
        ref.centre[1:],
        ref.yaw[1:],
        ref.position[1:],
        ref.rotation[1:],
        plan.offset,
        q,
        plan.left,
    )
    at, first = b.base_at[0], b.base_at[1]
    v, a = plan.v, plan.a
    for i in range(v.shape[1]):
        a[0, i] = v[0, i]
    for i in range(3):
        v[0, first + i] = (ref.q[1, at + i] - ref.q[0, at + i]) / T
    v[0, first + 5] = (ref.yaw[1] - ref.yaw[0]) / T
    for j in range(b.v_at.shape[0]):
        k = m.dof[b.v_at[j]].q
        if k >= 0:
            v[0, b.v_at[j]] = (ref.q[1, k] - ref.q[0, k]) / T
    for i in range(v.shape[1]):
        a[0, i] = (v[0, i] - a[0, i]) / T
    plan.ground[0] = ground
    whole_body.inverse_dynamics(m, b, q, v, a, plan.ground, plan.tau, plan.whole_zmp)
    whole_body.efforts(
        b,
        q,
        plan.tau,
        ref.zmp[1:],
        ref.under[1:],
        ref.position[1:],
        ref.support[1:],
        ref.share[1:],
        progress.effort[1:],
    )


@kernel
def shift_rows(ref, progress):
    """Copy the row of the next tick to that of this tick."""
    for i in range(ref.q.shape[1]):
        ref.q[0, i] = ref.q[1, i]
    for side in range(2):
        store3(ref.position[0, side], load3(ref.position[1, side]))
        store9(ref.rotation[0, side], load9(ref.rotation[1, side]))
        store3(ref.under[0, side], load3(ref.under[1, side]))
        ref.share[0, side] = ref.share[1, side]
    for i in range(3):
        ref.zmp[0, i], ref.centre[0, i] = ref.zmp[1, i], ref.centre[1, i]
        ref.centre_velocity[0, i] = ref.centre_velocity[1, i]
    ref.support[0], ref.yaw[0] = ref.support[1], ref.yaw[1]
    for j in range(progress.effort.shape[1]):
        progress.effort[0, j] = progress.effort[1, j]


@kernel(apart="none", rare=True)
def update_landed_foot(m, plan, loop):
    """Set the planned position and ground height of the foot that has landed to the measured ones,
    from joint angles and the estimated pose of the base.
    """
    side, legs, b = 1 - plan.now[0].stance, loop.body.legs, loop.body
    R, p = estimate_body(m, loop, 0)
    for i in range(legs.count[side]):
        b.angles[i] = loop.joint[legs.q_at[side, i]]
    R_F, p_F = sole(legs, side, b.angles)
    pivot = load3(loop.pivot[side])
    ankle = add(p, mul(R, add(p_F, mul(R_F, pivot))))
    position = sub(ankle, mul(facing(plan.foot[side, 3]), pivot))
    plan.foot[side, 0], plan.foot[side, 1] = position[0], position[1]
    # height differences below the tolerance are attributed to errors of the legs, not to the ground
    other = plan.foot[1 - side, 2]
    up = position[2] - other
    plan.level[side] = other + up - clip(up, -HEIGHT_TOLERANCE, HEIGHT_TOLERANCE)


@kernel
def steered_tick(walk):
    """Compute the command of a steered walk: readings, estimate, plan, reference, stabiliser."""
    loop, plan, progress, tick = walk.loop, walk.plan, walk.progress, begin_tick(walk)
    if tick < 0:
        return
    if tick > 0:
        c, w = loop.centre, plan.settings[0].omega
        xi = (c[0] + c[3] / w, c[1] + c[4] / w)
        load = (loop.smooth_wrench[LEFT, 2], loop.smooth_wrench[RIGHT, 2])
        if next_phase(plan, loop.box, xi, load):
            update_landed_foot(walk.model, plan, loop)
            touch_down(plan)
        plan_steps(plan)
        plan_motion(plan)
        set_sideways_target(plan, loop.box, xi)
        zmp = move_pendulum(plan, loop)
        move_height(plan, loop, progress.bounds)
        write_reference(walk.model, plan, loop, progress, zmp)
    stabilise(walk.model, loop, 0)
    command_joints(walk, 0)
