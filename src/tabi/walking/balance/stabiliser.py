"""The stabiliser of a walk: body inclination control, ZMP damping control, foot adjusting control.

Its inputs are the joint angles, the body's inclination and angular velocity, the wrench at each
foot, and the reference of a walking pattern at this tick.

1. **Position of the body.** A stance foot is flat on the ground where it was planned. Its pivot,
   the ankle, in which rubber bends, is at rest, so that the base is at

       p = Σ s (p_pivot,planned − R r),   ṗ = −Σ s (ω × R r + R J q̇)                            (1)
   r: the pivot in the base frame, from the encoders; s: shares of the load. The yaw is that of the
   foot, never that of the gyro. The centre of mass and its velocity c, ċ follow from all joints.
2. **Body inclination control.** A leaning body has a divergent component ξ = c + ċ/ω that
   differs from the planned one; the zero moment point has to be beyond it:

       p_zmp = p_planned + k (ξ − ξ_planned),   k > 1                                            (2)
   and no closer to the edge of the soles than a margin. One foot takes all of it; two share the
   weight by its position between them. (2) is one case of the law of ``dcm``; a ``DcmStabiliser``
   has the others, and ``wrench_distribution`` computes the wrench of each foot. The rest is common
   to both.
3. **ZMP damping control.** The ankle torque τ_d that produces p_zmp is approached by rotating the
   foot about its pivot: by the deflection of rubber of stiffness K_b under τ_d, and by an integral,
   with the stiffness K of rubber and motors in series. The difference from the planned torque is
   commanded to the leg's motors as an effort, so that their position loops need not yield:

       θ = −τ_d/K_b + φ,   φ̇ = a (τ − τ_d)/K − φ/T,   Δeffort = −J_ωᵀ R_Bᵀ (τ_d − τ_planned)
       (3)
4. **Foot adjusting control.** A foot is lowered by the compression of rubber under its load, and by
   the integral of the load difference; a swing foot keeps its planned pose in the world, whatever
   the body does.

Reference: Hirukawa et al. (2003), sec. 2.1.4, which names the three; the equations are those of
Kajita et al. (2010), Biped walking stabilization based on linear inverted pendulum tracking.
"""

from math import atan2

from tabi.dynamics import centroidal, kinematics
from tabi.jit import kernel
from tabi.spatial import quaternion
from tabi.spatial.trigonometry import sincos
from tabi.spatial.vector import add, cross, load3, load9, matmul, mul, mul_t, scale, store3, sub
from tabi.walking.balance.course import measured_sole, offset_sole, trunk_velocity, update_course
from tabi.walking.balance.dcm import compute_zmp, integrate_error
from tabi.walking.balance.wrench_distribution import centre_of_pressure, distribute
from tabi.walking.legs.leg import LEFT, RIGHT, reach, rotation_about, rotation_between, sole
from tabi.walking.legs.whole_body import facing, product_t, share_of_left

# share of the load below which a foot is no stance foot
MIN_STANCE_SHARE = 0.02
# time constants of a swing foot's correction, and of its decay on the ground [s]
SWING_TIME_S, LANDING_TIME_S = 0.05, 0.1
# rotation and displacement of a foot [rad, m]
MAX_TURN, MAX_SHIFT = 0.3, 0.03
# T of (3), and time constant of the height difference's decay in single support [s]
LEAK_TIME_S, HEIGHT_DECAY_S = 2.0, 0.1
# stiffness of a leg without rubber [N/m]: motors of knees and hips
RIGID_LEG_STIFFNESS = 2e5


@kernel
def smooth_wrenches(loop):
    """Low-pass filter the wrenches about the pivots."""
    s = loop.settings[0]
    share = s.tick / (s.smoothing + s.tick)
    for side in range(2):
        w, out = loop.wrench[side], loop.smooth_wrench[side]
        f = load3(w)
        n = sub(load3(w[3:]), cross(load3(loop.pivot[side]), f))
        for i in range(3):
            out[i] += share * (f[i] - out[i])
            out[3 + i] += share * (n[i] - out[3 + i])


@kernel
def estimate_body(m, loop, k):
    """Return rotation and position of the base by equation (1); writes ``loop.centre``."""
    b, ref, J = loop.body, loop.reference, loop.body.legs.J
    R, w = load9(loop.attitude), load3(loop.angular_velocity)
    p, v = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    # the base is at rest at the origin here
    kinematics.positions(m, loop.joint, b.work)
    kinematics.velocities(m, loop.joint_velocity, b.work)
    # yaw by the foot with the larger share of the load
    lead = LEFT if ref.share[k, LEFT] >= ref.share[k, RIGHT] else RIGHT
    for order in range(2):
        side = lead if order == 0 else 1 - lead
        part = ref.share[k, side]
        if part < MIN_STANCE_SHARE:
            continue
        R_F, p_F = measured_sole(loop, side)
        planned = load9(loop.course.rotation[side])
        if order == 0:
            F = matmul(R, R_F)
            Z = facing(atan2(planned[3], planned[0]) - atan2(F[3], F[0]))
            R, w = matmul(Z, R), mul(Z, w)
        up = mul(R_F, load3(loop.pivot[side]))
        # velocity of the pivot in the base frame
        pivot_velocity = trunk_velocity(loop, side, add(p_F, up))
        for i in range(b.legs.count[side]):
            rate = loop.joint_velocity[b.legs.v_at[side, i]]
            axis = (J[3, i], J[4, i], J[5, i])
            pivot_velocity = add(
                pivot_velocity, scale(rate, add((J[0, i], J[1, i], J[2, i]), cross(axis, up)))
            )
        arm = mul(R, add(p_F, up))
        pivot = add(load3(loop.course.position[side]), mul(planned, load3(loop.pivot[side])))
        compression = (
            loop.smooth_wrench[side, 2] / loop.settings[0].leg
            if loop.settings[0].leg > 0.0
            else 0.0
        )
        pivot = sub(pivot, (0.0, 0.0, compression))
        p = add(p, scale(part, sub(pivot, arm)))
        v = sub(v, scale(part, add(cross(w, arm), mul(R, pivot_velocity))))
    total = 0.0
    for side in range(2):
        total += ref.share[k, side] if ref.share[k, side] >= MIN_STANCE_SHARE else 0.0
    p, v = scale(1.0 / total, p), scale(1.0 / total, v)
    mass, c, P, _ = centroidal.tree_momentum(m, b.work, 1)
    arm = mul(R, c)
    store3(loop.centre, add(p, arm))
    store3(loop.centre[3:], add(v, add(cross(w, arm), mul(R, scale(1.0 / mass, P)))))
    return R, p


@kernel
def distribute_load(loop, k):
    """Write each foot's share of the load and its ankle torque to ``loop.wanted``: from the zero
    moment point's position between the feet, or from ``distribute``.
    """
    ref, s = loop.reference, loop.settings[0]
    zmp, plan, inverse_height = load3(loop.zmp), load3(ref.zmp[k]), 1.0 / s.height
    for side in range(2):
        part, left = ref.share[k, side], ref.share[k, LEFT]
        loop.planned[side, 0], loop.planned[side, 1] = ankle_torque(loop, k, side, left, part, plan)
    if s.distributes > 0.0:
        c, c_plan = load3(loop.centre), load3(ref.centre[k])
        force = (inverse_height * (c[0] - zmp[0]), inverse_height * (c[1] - zmp[1]), 1.0)
        planned = (
            inverse_height * (c_plan[0] - plan[0]),
            inverse_height * (c_plan[1] - plan[1]),
            1.0,
        )
        distribute(loop, k, force, planned)
        return
    share, under = ref.share[k, LEFT], loop.course.under
    if ref.support[k] == 0 and s.inclination > 0.0:
        share = share_of_left(zmp, load3(under[LEFT]), load3(under[RIGHT]), 0)
    for side in range(2):
        part, wanted = share if side == LEFT else 1.0 - share, loop.wanted[side]
        wanted[0] = part
        wanted[1], wanted[2] = ankle_torque(loop, k, side, share, part, zmp)


@kernel
def ankle_torque(loop, k, side, share, part, zmp):
    """Return the torque about the pivot in the sole's axes, x and y [N·m], of a foot that bears
    ``part`` of the weight with the zero moment point at ``zmp``.
    """
    ref, s, soles = loop.reference, loop.settings[0], loop.course
    R = load9(soles.rotation[side])
    if ref.support[k] == 0:
        # both feet share the distance from the line between them
        left, right = load3(soles.under[LEFT]), load3(soles.under[RIGHT])
        on_line = add(right, scale(share, sub(left, right)))
        zmp = add(load3(soles.under[side]), sub(zmp, on_line))
    at, box = mul_t(R, sub(zmp, load3(soles.position[side]))), loop.box[side]
    x = min(max(at[0], box[0] + s.margin), box[1] - s.margin)
    y = min(max(at[1], box[2] + s.margin), box[3] - s.margin)
    # horizontal force of the pendulum
    stiffness = s.weight / s.height
    F = (
        stiffness * (ref.centre[k, 0] - ref.zmp[k, 0]),
        stiffness * (ref.centre[k, 1] - ref.zmp[k, 1]),
        s.weight,
    )
    arm = sub((x, y, 0.0), load3(loop.pivot[side]))
    n = cross(arm, scale(part, mul_t(R, F)))
    return n[0], n[1]


@kernel
def rotate_foot(loop, side, part, wanted):
    """Return θ of (3), about x and y of the sole [rad]."""
    s, phi, bending = loop.settings[0], loop.foot_rotation[side], loop.rubber_rotation[side]
    share = s.tick / (s.smoothing + s.tick)
    for i in range(2):
        target = 0.0
        if part < MIN_STANCE_SHARE or s.zmp_damping == 0.0:
            phi[i] -= s.tick / LANDING_TIME_S * phi[i]
        else:
            excess = loop.smooth_wrench[side, 3 + i] - wanted[i]
            phi[i] += s.tick * (s.zmp_damping * excess / s.ankle - phi[i] / LEAK_TIME_S)
            phi[i] = min(max(phi[i], -MAX_TURN), MAX_TURN)
            target = -wanted[i] / s.rubber if s.rubber > 0.0 else 0.0
        bending[i] += share * (target - bending[i])
    return phi[0] + bending[0], phi[1] + bending[1]


@kernel
def command_ankle_torque(loop, side, R_sole, extra_torque):
    """Write Δeffort of (3), for ``extra_torque`` about x and y of the sole beyond the planned
    one.
    """
    b, n = loop.body, mul(R_sole, (extra_torque[0], extra_torque[1], 0.0))
    sole(b.legs, side, b.angles)
    for i in range(b.legs.count[side]):
        J = b.legs.J
        effort = J[3, i] * n[0] + J[4, i] * n[1] + J[5, i] * n[2]
        loop.effort[b.legs.columns[side, i]] = -effort


@kernel
def adjust_heights(loop, k):
    """Integrate the load difference; return how far the left foot is lowered [m]."""
    s = loop.settings[0]
    if loop.reference.support[k] == 0 and s.foot_adjusting > 0.0:
        share_difference = loop.wanted[LEFT, 0] - loop.wanted[RIGHT, 0]
        load_error = share_difference * s.weight - (
            loop.smooth_wrench[LEFT, 2] - loop.smooth_wrench[RIGHT, 2]
        )
        stiffness = s.leg if s.leg > 0.0 else RIGID_LEG_STIFFNESS
        loop.foot_lowering[0] += s.tick * (
            s.foot_adjusting * load_error / stiffness - loop.foot_lowering[0]
        )
    else:
        loop.foot_lowering[0] -= s.tick / HEIGHT_DECAY_S * loop.foot_lowering[0]
    loop.foot_lowering[0] = min(max(loop.foot_lowering[0], -MAX_SHIFT), MAX_SHIFT)
    return 0.5 * loop.foot_lowering[0]


@kernel
def correct_swing(loop, k, side, part, R_body, p_body, R_F, p_F):
    """Compute the displacement of the swing foot in the base frame that keeps its planned pose in
    the world: writes ``loop.swing_correction``.

    Args:
        R_body, p_body: estimated base. R_F, p_F: the sole in the world.
    """
    s, correction = loop.settings[0], loop.swing_correction[side]
    if part >= MIN_STANCE_SHARE:
        for i in range(6):
            correction[i] -= s.tick / LANDING_TIME_S * correction[i]
        return
    R_base, p_base = planned_base(loop, k)
    position = sub(mul_t(R_body, sub(p_F, p_body)), mul_t(R_base, sub(p_F, p_base)))
    rotation = rotation_between(product_t(R_base, R_F), product_t(R_body, R_F))
    for i in range(3):
        correction[i] += s.tick / SWING_TIME_S * (s.swing * position[i] - correction[i])
        correction[3 + i] += s.tick / SWING_TIME_S * (s.swing * rotation[i] - correction[3 + i])


@kernel(inline=True)
def planned_base(loop, k):
    """Return the pattern's rotation and position of the base at tick k."""
    row = loop.reference.q[k, loop.body.base_at[0] :]
    return quaternion.matrix(row[3], row[4], row[5], row[6]), load3(row)


@kernel(apart="none")
def stabilise(m, loop, k):
    """Stabilise tick k: write joint angles for the next tick to ``loop.q_desired``, and their
    efforts.
    """
    b, ref, s = loop.body, loop.reference, loop.settings[0]
    n = min(k + 1, ref.q.shape[0] - 1)
    smooth_wrenches(loop)
    update_course(m, loop, k)
    R_body, p_body = estimate_body(m, loop, k)
    compute_zmp(loop, k)
    distribute_load(loop, k)
    if s.integral > 0.0:
        integrate_error(loop, centre_of_pressure(loop, k))
    lower = adjust_heights(loop, k)
    R_base, p_base = planned_base(loop, n)
    for i in range(ref.q.shape[1]):
        current = loop.q_desired[i]
        loop.q_desired[i] = ref.q[n, i]
        for side in range(2):
            for j in range(b.legs.count[side]):
                if b.legs.q_at[side, j] == i:
                    loop.q_desired[i] = current
    for side in range(2):
        part, wanted = loop.wanted[side, 0], (loop.wanted[side, 1], loop.wanted[side, 2])
        planned = (loop.planned[side, 0], loop.planned[side, 1])
        x, y = rotate_foot(loop, side, part, wanted)
        R_plan, p_plan = offset_sole(loop, n, side)
        R, pivot = matmul(R_plan, tilt_rotation(x, y)), load3(loop.pivot[side])
        p = add(p_plan, mul(R_plan, pivot))
        sink = part * s.weight / s.leg if s.leg > 0.0 and s.foot_adjusting > 0.0 else 0.0
        sink += lower if side == LEFT else -lower
        p = sub(sub(p, mul(R, pivot)), (0.0, 0.0, sink))
        R_wanted, p_wanted = product_t(R_base, R), mul_t(R_base, sub(p, p_base))
        correct_swing(loop, k, side, part, R_body, p_body, R, p)
        phi = load3(loop.swing_correction[side, 3:])
        R_wanted = matmul(rotation_by(phi), R_wanted)
        p_wanted = add(p_wanted, load3(loop.swing_correction[side]))
        for i in range(b.legs.count[side]):
            b.angles[i] = loop.q_desired[b.legs.q_at[side, i]]
        reach(b.legs, side, b.angles, R_wanted, p_wanted, 4)
        for i in range(b.legs.count[side]):
            loop.q_desired[b.legs.q_at[side, i]] = b.angles[i]
        if s.zmp_damping > 0.0:
            command_ankle_torque(loop, side, R_wanted, subtract2(wanted, planned))


@kernel(inline=True)
def subtract2(a, b):
    """Return a − b of pairs."""
    return (a[0] - b[0], a[1] - b[1])


@kernel(inline=True)
def tilt_rotation(x, y):
    """Return the rotation by y about y, then by x about x, row by row."""
    (sx, cx), (sy, cy) = sincos(x), sincos(y)
    return (cy, sy * sx, sy * cx, 0.0, cx, -sx, -sy, cy * sx, cy * cx)


@kernel(inline=True)
def rotation_by(phi):
    """Return the rotation by a rotation vector [rad]."""
    angle = (phi[0] * phi[0] + phi[1] * phi[1] + phi[2] * phi[2]) ** 0.5
    if angle < 1e-12:
        return (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    return rotation_about(scale(1.0 / angle, phi), angle)
