"""The stabiliser of a walk: body inclination control, ZMP damping control, foot adjusting control.

It knows the joints' angles, the body's inclination and angular velocity, and the wrench at each
foot; of a walking pattern the reference at this tick.

1. **Where the body is.** A foot that stands is flat on the ground where it was planned. Its pivot,
   the ankle, in which rubber bends, is at rest, so that the base is at

       p = Σ s (p_pivot,planned − R r),   ṗ = −Σ s (ω × R r + R J q̇)                            (1)
   r: the pivot from the base, by the encoders; s: shares of the load. Direction is that of the
   foot, never that of the gyro. The centre of mass and its velocity c, ċ follow from all joints.
2. **Body inclination control.** A body that leans away has a divergent component ξ = c + ċ/ω that
   differs from the planned one; the zero moment point has to be beyond it:

       p_zmp = p_planned + k (ξ − ξ_planned),   k > 1                                            (2)
   and no closer to the edge of the soles than a margin. One foot takes all of it; two share the
   weight as its place between them says. (2) is one case of the law of ``dcm``; a
   ``DcmStabiliser`` has the others, and ``wrench_distribution`` says what each foot gives. What
   follows is common to both.
3. **ZMP damping control.** The ankle's torque τ_d that makes p_zmp is approached by turning the
   foot about its pivot: by what rubber of the stiffness K_b gives way under τ_d, and by an
   integral, with the stiffness K of rubber and motors in series. What differs from the planned
   torque is told to the motors of the leg as an effort, so that their loops need not yield:

       θ = −τ_d/K_b + φ,   φ̇ = a (τ − τ_d)/K − φ/T,   Δeffort = −J_ωᵀ R_Bᵀ (τ_d − τ_planned)     (3)
4. **Foot adjusting control.** A foot is lowered by what rubber gives way under its load, and by the
   integral of the difference of the loads; and a foot that swings is put where it is planned in
   the world, whatever the body does.

Reference: Hirukawa et al. (2003), sec. 2.1.4, which names the three; the equations are those of
Kajita et al. (2010), Biped walking stabilization based on linear inverted pendulum tracking.
"""

from math import atan2

from tabi.dynamics import centroidal, kinematics
from tabi.jit import kernel
from tabi.spatial import quaternion
from tabi.spatial.trigonometry import sincos
from tabi.spatial.vector import add, cross, load3, load9, matmul, mul, mul_t, scale, store3, sub
from tabi.walking.balance.course import keep_course, moved_sole, seen_sole, trunk_velocity
from tabi.walking.balance.dcm import find_zmp, sum_error
from tabi.walking.balance.wrench_distribution import centre_of_pressure, distribute
from tabi.walking.legs.leg import LEFT, RIGHT, reach, rotation_about, rotation_between, sole
from tabi.walking.legs.whole_body import facing, product_t, share_of_left

# a foot with less of the load does not stand
LIGHT = 0.02
# of the correction of a foot that swings, and of what is left of it on the ground [s]
SWING, LANDED = 0.05, 0.1
# farthest turn and shift of a foot [rad, m]
TURN, SHIFT = 0.3, 0.03
# T of (3), and what forgets a difference of heights with one foot on the ground [s]
LEAK, FORGET = 2.0, 0.1
# stiffness of a leg without rubber [N/m]: of the motors of knees and hips
RIGID = 2e5


@kernel
def smooth_wrenches(loop):
    """Wrenches about the pivots, after a low-pass."""
    s = loop.settings[0]
    share = s.tick / (s.smoothing + s.tick)
    for side in range(2):
        w, out = loop.wrench[side], loop.smooth[side]
        f = load3(w)
        n = sub(load3(w[3:]), cross(load3(loop.pivot[side]), f))
        for i in range(3):
            out[i] += share * (f[i] - out[i])
            out[3 + i] += share * (n[i] - out[3 + i])


@kernel
def find_body(m, loop, k):
    """Equation (1): rotation and place of the base; writes ``loop.centre``."""
    b, ref, J = loop.body, loop.reference, loop.body.legs.J
    R, w = load9(loop.attitude), load3(loop.turning)
    p, v = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    # the base is at rest at the origin here
    kinematics.positions(m, loop.joint, b.work)
    kinematics.velocities(m, loop.joint_velocity, b.work)
    # direction by the foot that bears more
    lead = LEFT if ref.share[k, LEFT] >= ref.share[k, RIGHT] else RIGHT
    for turn in range(2):
        side = lead if turn == 0 else 1 - lead
        part = ref.share[k, side]
        if part < LIGHT:
            continue
        R_F, p_F = seen_sole(loop, side)
        planned = load9(loop.course.rotation[side])
        if turn == 0:
            F = matmul(R, R_F)
            Z = facing(atan2(planned[3], planned[0]) - atan2(F[3], F[0]))
            R, w = matmul(Z, R), mul(Z, w)
        up = mul(R_F, load3(loop.pivot[side]))
        # velocity of the pivot from the base
        moves = trunk_velocity(loop, side, add(p_F, up))
        for i in range(b.legs.count[side]):
            rate = loop.joint_velocity[b.legs.v_at[side, i]]
            axis = (J[3, i], J[4, i], J[5, i])
            moves = add(moves, scale(rate, add((J[0, i], J[1, i], J[2, i]), cross(axis, up))))
        arm = mul(R, add(p_F, up))
        place = add(load3(loop.course.position[side]), mul(planned, load3(loop.pivot[side])))
        sunk = loop.smooth[side, 2] / loop.settings[0].leg if loop.settings[0].leg > 0.0 else 0.0
        place = sub(place, (0.0, 0.0, sunk))
        p = add(p, scale(part, sub(place, arm)))
        v = sub(v, scale(part, add(cross(w, arm), mul(R, moves))))
    total = 0.0
    for side in range(2):
        total += ref.share[k, side] if ref.share[k, side] >= LIGHT else 0.0
    p, v = scale(1.0 / total, p), scale(1.0 / total, v)
    mass, c, P, _ = centroidal.tree_momentum(m, b.work, 1)
    arm = mul(R, c)
    store3(loop.centre, add(p, arm))
    store3(loop.centre[3:], add(v, add(cross(w, arm), mul(R, scale(1.0 / mass, P)))))
    return R, p


@kernel
def share_load(loop, k):
    """Of each foot its share of the load and its torque, into ``loop.wanted``: the place of the
    zero moment point between the feet says, or all ``distribute`` says.
    """
    ref, s = loop.reference, loop.settings[0]
    zmp, plan, pull = load3(loop.zmp), load3(ref.zmp[k]), 1.0 / s.height
    for side in range(2):
        part, left = ref.share[k, side], ref.share[k, LEFT]
        loop.planned[side, 0], loop.planned[side, 1] = torque(loop, k, side, left, part, plan)
    if s.distributes > 0.0:
        c, c_plan = load3(loop.centre), load3(ref.centre[k])
        force = (pull * (c[0] - zmp[0]), pull * (c[1] - zmp[1]), 1.0)
        planned = (pull * (c_plan[0] - plan[0]), pull * (c_plan[1] - plan[1]), 1.0)
        distribute(loop, k, force, planned)
        return
    share, under = ref.share[k, LEFT], loop.course.under
    if ref.support[k] == 0 and s.inclination > 0.0:
        share = share_of_left(zmp, load3(under[LEFT]), load3(under[RIGHT]), 0)
    for side in range(2):
        part, wanted = share if side == LEFT else 1.0 - share, loop.wanted[side]
        wanted[0] = part
        wanted[1], wanted[2] = torque(loop, k, side, share, part, zmp)


@kernel
def torque(loop, k, side, share, part, zmp):
    """About the pivot in the sole's axes, x and y [N·m], of a foot that bears a part of the weight
    so that the zero moment point is there.
    """
    ref, s, soles = loop.reference, loop.settings[0], loop.course
    R = load9(soles.rotation[side])
    if ref.support[k] == 0:
        # what is not along the line between the feet, both alike
        left, right = load3(soles.under[LEFT]), load3(soles.under[RIGHT])
        on_line = add(right, scale(share, sub(left, right)))
        zmp = add(load3(soles.under[side]), sub(zmp, on_line))
    at, box = mul_t(R, sub(zmp, load3(soles.position[side]))), loop.box[side]
    x = min(max(at[0], box[0] + s.margin), box[1] - s.margin)
    y = min(max(at[1], box[2] + s.margin), box[3] - s.margin)
    # horizontally the pendulum pushes away from its foot
    pull = s.weight / s.height
    F = (
        pull * (ref.centre[k, 0] - ref.zmp[k, 0]),
        pull * (ref.centre[k, 1] - ref.zmp[k, 1]),
        s.weight,
    )
    arm = sub((x, y, 0.0), load3(loop.pivot[side]))
    n = cross(arm, scale(part, mul_t(R, F)))
    return n[0], n[1]


@kernel
def turn_foot(loop, side, part, wanted):
    """θ of (3), about x and y of the sole [rad]."""
    s, turn, gives = loop.settings[0], loop.turn[side], loop.given_way[side]
    share = s.tick / (s.smoothing + s.tick)
    for i in range(2):
        target = 0.0
        if part < LIGHT or s.zmp_damping == 0.0:
            turn[i] -= s.tick / LANDED * turn[i]
        else:
            gap = loop.smooth[side, 3 + i] - wanted[i]
            turn[i] += s.tick * (s.zmp_damping * gap / s.ankle - turn[i] / LEAK)
            turn[i] = min(max(turn[i], -TURN), TURN)
            target = -wanted[i] / s.rubber if s.rubber > 0.0 else 0.0
        gives[i] += share * (target - gives[i])
    return turn[0] + gives[0], turn[1] + gives[1]


@kernel
def push_ankle(loop, side, R_sole, more):
    """Δeffort of (3), for ``more`` torque about x and y of the sole than planned."""
    b, n = loop.body, mul(R_sole, (more[0], more[1], 0.0))
    sole(b.legs, side, b.angles)
    for i in range(b.legs.count[side]):
        J = b.legs.J
        push = J[3, i] * n[0] + J[4, i] * n[1] + J[5, i] * n[2]
        loop.effort[b.legs.columns[side, i]] = -push


@kernel
def adjust_heights(loop, k):
    """The integral of the difference of loads; how much the left foot is lowered [m]."""
    s = loop.settings[0]
    if loop.reference.support[k] == 0 and s.foot_adjusting > 0.0:
        more = loop.wanted[LEFT, 0] - loop.wanted[RIGHT, 0]
        gap = more * s.weight - (loop.smooth[LEFT, 2] - loop.smooth[RIGHT, 2])
        stiff = s.leg if s.leg > 0.0 else RIGID
        loop.lower[0] += s.tick * (s.foot_adjusting * gap / stiff - loop.lower[0])
    else:
        loop.lower[0] -= s.tick / FORGET * loop.lower[0]
    loop.lower[0] = min(max(loop.lower[0], -SHIFT), SHIFT)
    return 0.5 * loop.lower[0]


@kernel
def place_swing(loop, k, side, part, R_body, p_body, R_F, p_F):
    """How far the foot that swings is to be moved from the base so that it is where it is planned
    in the world: writes ``loop.shift``.

    Args:
        R_body, p_body: the base as it is. R_F, p_F: the sole in the world.
    """
    s, shift = loop.settings[0], loop.shift[side]
    if part >= LIGHT:
        for i in range(6):
            shift[i] -= s.tick / LANDED * shift[i]
        return
    R_base, p_base = planned_base(loop, k)
    place = sub(mul_t(R_body, sub(p_F, p_body)), mul_t(R_base, sub(p_F, p_base)))
    turn = rotation_between(product_t(R_base, R_F), product_t(R_body, R_F))
    for i in range(3):
        shift[i] += s.tick / SWING * (s.swing * place[i] - shift[i])
        shift[3 + i] += s.tick / SWING * (s.swing * turn[i] - shift[3 + i])


@kernel(inline=True)
def planned_base(loop, k):
    """Rotation and place of the base in tick k of the pattern."""
    row = loop.reference.q[k, loop.body.base_at[0] :]
    return quaternion.matrix(row[3], row[4], row[5], row[6]), load3(row)


@kernel(apart="none")
def stabilise(m, loop, k):
    """Tick k: joint angles for the next one into ``loop.answer``, and their efforts."""
    b, ref, s = loop.body, loop.reference, loop.settings[0]
    n = min(k + 1, ref.q.shape[0] - 1)
    smooth_wrenches(loop)
    keep_course(m, loop, k)
    R_body, p_body = find_body(m, loop, k)
    find_zmp(loop, k)
    share_load(loop, k)
    if s.integral > 0.0:
        sum_error(loop, centre_of_pressure(loop, k))
    lower = adjust_heights(loop, k)
    R_base, p_base = planned_base(loop, n)
    for i in range(ref.q.shape[1]):
        used = loop.answer[i]
        loop.answer[i] = ref.q[n, i]
        for side in range(2):
            for j in range(b.legs.count[side]):
                if b.legs.q_at[side, j] == i:
                    loop.answer[i] = used
    for side in range(2):
        part, wanted = loop.wanted[side, 0], (loop.wanted[side, 1], loop.wanted[side, 2])
        planned = (loop.planned[side, 0], loop.planned[side, 1])
        x, y = turn_foot(loop, side, part, wanted)
        R_plan, p_plan = moved_sole(loop, n, side)
        R, pivot = matmul(R_plan, tilted(x, y)), load3(loop.pivot[side])
        p = add(p_plan, mul(R_plan, pivot))
        sink = part * s.weight / s.leg if s.leg > 0.0 and s.foot_adjusting > 0.0 else 0.0
        sink += lower if side == LEFT else -lower
        p = sub(sub(p, mul(R, pivot)), (0.0, 0.0, sink))
        R_wanted, p_wanted = product_t(R_base, R), mul_t(R_base, sub(p, p_base))
        place_swing(loop, k, side, part, R_body, p_body, R, p)
        phi = load3(loop.shift[side, 3:])
        R_wanted = matmul(rotation_by(phi), R_wanted)
        p_wanted = add(p_wanted, load3(loop.shift[side]))
        for i in range(b.legs.count[side]):
            b.angles[i] = loop.answer[b.legs.q_at[side, i]]
        reach(b.legs, side, b.angles, R_wanted, p_wanted, 4)
        for i in range(b.legs.count[side]):
            loop.answer[b.legs.q_at[side, i]] = b.angles[i]
        if s.zmp_damping > 0.0:
            push_ankle(loop, side, R_wanted, sub2(wanted, planned))


@kernel(inline=True)
def sub2(a, b):
    """a − b."""
    return (a[0] - b[0], a[1] - b[1])


@kernel(inline=True)
def tilted(x, y):
    """Rotation by y about y, then by x about x, row by row."""
    (sx, cx), (sy, cy) = sincos(x), sincos(y)
    return (cy, sy * sx, sy * cx, 0.0, cx, -sx, -sy, cy * sx, cy * cx)


@kernel(inline=True)
def rotation_by(phi):
    """Rotation by a small vector [rad]."""
    angle = (phi[0] * phi[0] + phi[1] * phi[1] + phi[2] * phi[2]) ** 0.5
    if angle < 1e-12:
        return (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    return rotation_about(scale(1.0 / angle, phi), angle)
