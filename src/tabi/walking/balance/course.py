"""Foot odometry of a walk against its plan; each landing returns towards the planned path.

A walk that located its plan from the stance foot alone would follow that foot's rotation and slip,
and landings that missed their place. So the soles are tracked on the ground and about the vertical,
with the base rotation of the estimator. For a sole that rolls over its edge the estimator gives the
distance rolled; rubber bends about the ankle, the pivot, and does not displace it: with rubber, the
encoders measure a foot that landed from the other foot.

With X = (p, ψ) of a sole at its pivot, X* of the plan, and [·] limited to a share of the sole size,
as the centre of pressure has to stay inside the sole,

    d = [½ (p − p*)]                                                                            (1)
is the offset of a stance sole from its plan that the stabiliser assumes: by d the body and the zero
moment point stay on the plan of the whole walk, by the rest they follow the foot. So the
stabiliser's axes are not the world's, and a swing foot lands on the plan p*⁺ if it moves, from its
place there, by

    c = p* + d + R_z(ψ* − ψ) (p*⁺ − p) − p*⁺                                                    (2)
Each step corrects a share of c and of ψ* − ψ; a swing foot gives up its own d as it travels over
the ground. The landing error of a foot on soft legs,

    e ← e − ⅓ (p − p* − c)                                                                      (3)
is added to its next landing: each foot has its own e, as an error that rotates both feet to one
side differs between them when measured outwards.

Reference: none; (1) and (2) are the odometry of legs, closed over the plan.
"""

from math import atan2

import numpy as np
from numpy.typing import NDArray

from tabi.dynamics import kinematics
from tabi.jit import kernel
from tabi.jit.structure import Structure
from tabi.spatial.trigonometry import sincos
from tabi.spatial.vector import (
    add,
    angular,
    cross,
    linear,
    load3,
    load6,
    load9,
    matmul,
    mul,
    store3,
    store9,
    sub,
)
from tabi.walking.legs.leg import LEFT, RIGHT, sole
from tabi.walking.legs.whole_body import facing

# foot that swung last: value before the first tick, and before the first swing
NOT_STARTED, NO_SWING = -1, 2
# time constant of (1) [s]
SMOOTHING_TIME_S = 0.05
# shares of the error in (1), (2) and (3)
OFFSET_SHARE, RETURN_SHARE, LEARNING_SHARE = 0.5, 0.3, 0.3
# rotation of a landing [rad]
MAX_LANDING_TURN = 0.01


class Course(Structure):
    """Odometry of a walk and corrections of its landings.

    Attributes:
        share: of all corrections, 0: off, shape (1,).
        max_offset: of d and c ahead of the sole and beside it [m], shape (2,).
        parent: body to which each leg is attached, 0 for the base, shape (2,). hip: its rotation
            row by row and position in the base frame, as the robot stands, shape (2, 12).
        landing: planned x and y of the pivot at the next landing, shape (n, 2). swing_progress: of
            the swing foot over the ground, 0 to 1, shape (n,).
        base: its estimated position [m], shape (3,). yaw_offset: of the estimate from the plan at
            the first tick [rad], shape (1,). start: x and y of the plan relative to the rotated
            estimate, shape (2,).
        last_swing: foot that swung last, NOT_STARTED or NO_SWING, and whether it swings now,
            shape (2,).
        pivot_pose: measured x, y and yaw of each sole at its pivot, in the plan's axes, shape (2,
            3).
        landing_error: e of (3), of each foot, shape (2, 2). landing_correction: c, shape (2,).
            landing_shift: both, and the rotation, shape (3,).
        lift_offset: d of the swing foot when it lifted, shape (3,). offset: d, shape (2, 3).
        position, rotation, under: of the soles at this tick, as in ``Reference``, shapes (2, 3),
            (2, 9) and (2, 3).
    """

    share: NDArray[np.float64]
    max_offset: NDArray[np.float64]
    parent: NDArray[np.int64]
    hip: NDArray[np.float64]
    landing: NDArray[np.float64]
    swing_progress: NDArray[np.float64]
    base: NDArray[np.float64]
    yaw_offset: NDArray[np.float64]
    start: NDArray[np.float64]
    last_swing: NDArray[np.int64]
    pivot_pose: NDArray[np.float64]
    landing_error: NDArray[np.float64]
    landing_correction: NDArray[np.float64]
    landing_shift: NDArray[np.float64]
    lift_offset: NDArray[np.float64]
    offset: NDArray[np.float64]
    position: NDArray[np.float64]
    rotation: NDArray[np.float64]
    under: NDArray[np.float64]


@kernel(inline=True)
def rotate2(yaw, x, y):
    """Return x and y rotated by ``yaw`` about the vertical."""
    s, c = sincos(yaw)
    return c * x - s * y, s * x + c * y


@kernel(inline=True)
def wrap_angle(yaw):
    """Return the angle between −π and π."""
    s, c = sincos(yaw)
    return atan2(s, c)


@kernel
def offset_sole(loop, k, side):
    """Return rotation and position of a planned sole at tick k, displaced by d about its pivot."""
    ref, d = loop.reference, loop.course.offset[side]
    R, p = load9(ref.rotation[k, side]), load3(ref.position[k, side])
    if d[0] == 0.0 and d[1] == 0.0 and d[2] == 0.0:
        return R, p
    pivot = load3(loop.pivot[side])
    there = add(add(p, mul(R, pivot)), (d[0], d[1], 0.0))
    R = matmul(facing(d[2]), R)
    return R, sub(there, mul(R, pivot))


@kernel
def update_soles(loop, k):
    """Write the planned soles at tick k and the points under them, displaced by d."""
    ref, course = loop.reference, loop.course
    for side in range(2):
        R, p = offset_sole(loop, k, side)
        arm = sub(load3(ref.under[k, side]), load3(ref.position[k, side]))
        store9(course.rotation[side], R)
        store3(course.position[side], p)
        store3(course.under[side], add(p, mul(facing(course.offset[side, 2]), arm)))


@kernel
def measured_sole(loop, side):
    """Return rotation and position of a sole in the base frame, from the encoders, after
    ``kinematics.positions``; its Jacobian goes to ``legs.J``. Trunk joints above a leg yield like
    others.
    """
    b, course = loop.body, loop.course
    for i in range(b.legs.count[side]):
        b.angles[i] = loop.joint[b.legs.q_at[side, i]]
    R, p = sole(b.legs, side, b.angles)
    if course.parent[side] == 0:
        return R, p
    hip, planned = b.work.body[course.parent[side]], course.hip[side]
    T = matmul(load9(hip.rotation), transposed(load9(planned)))
    arm = sub(p, load3(planned[9:]))
    for i in range(b.legs.count[side]):
        J = b.legs.J
        J[0, i], J[1, i], J[2, i] = mul(T, (J[0, i], J[1, i], J[2, i]))
        J[3, i], J[4, i], J[5, i] = mul(T, (J[3, i], J[4, i], J[5, i]))
    return matmul(T, R), add(load3(hip.position), mul(T, arm))


@kernel
def trunk_velocity(loop, side, p):
    """Return the velocity of a point of a leg due to the joints above the leg, in the base frame,
    after ``kinematics.velocities`` of a base at rest.
    """
    above = loop.course.parent[side]
    if above == 0:
        return (0.0, 0.0, 0.0)
    V = load6(loop.body.work.body[above].velocity)
    return add(linear(V), cross(angular(V), p))


@kernel(inline=True)
def transposed(R):
    """Rᵀ, row by row."""
    return (R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8])


@kernel
def estimated_pivot(loop, side):
    """Return x and y of a sole's pivot from the base [m] and its yaw, with the estimated
    rotation.
    """
    R = load9(loop.attitude)
    R_F, p_F = measured_sole(loop, side)
    F, p = matmul(R, R_F), mul(R, add(p_F, mul(R_F, load3(loop.pivot[side]))))
    return p[0], p[1], atan2(F[3], F[0])


@kernel
def planned_pivot(loop, k, side):
    """Return x, y and yaw of a planned sole at its pivot."""
    ref = loop.reference
    R = load9(ref.rotation[k, side])
    p = add(load3(ref.position[k, side]), mul(R, load3(loop.pivot[side])))
    return p[0], p[1], atan2(R[3], R[0])


@kernel
def begin_course(loop, k):
    """Compute rotation and position of the estimate relative to the plan; both feet stand on it."""
    course = loop.course
    base, at = course.base, course.pivot_pose
    a, b = estimated_pivot(loop, LEFT), estimated_pivot(loop, RIGHT)
    left, right = planned_pivot(loop, k, LEFT), planned_pivot(loop, k, RIGHT)
    off = wrap_angle(a[2] - left[2])
    # the two yaws may be on both sides of π
    course.yaw_offset[0] = off + 0.5 * wrap_angle(b[2] - right[2] - off)
    x, y = base[0] + 0.5 * (a[0] + b[0]), base[1] + 0.5 * (a[1] + b[1])
    x, y = rotate2(-course.yaw_offset[0], x, y)
    course.start[0] = 0.5 * (left[0] + right[0]) - x
    course.start[1] = 0.5 * (left[1] + right[1]) - y
    at[LEFT, 0], at[LEFT, 1] = left[0], left[1]
    at[RIGHT, 0], at[RIGHT, 1] = right[0], right[1]
    course.last_swing[0] = NO_SWING


@kernel
def track_feet(loop, k):
    """Write the measured soles at tick k to ``pivot_pose``."""
    course = loop.course
    at, base, start = course.pivot_pose, course.base, course.start
    last, yaw = course.last_swing[0], course.yaw_offset[0]
    a, b = estimated_pivot(loop, LEFT), estimated_pivot(loop, RIGHT)
    at[LEFT, 2], at[RIGHT, 2] = a[2] - yaw, b[2] - yaw
    if not loop.settings[0].rubber > 0.0:
        x, y = rotate2(-yaw, base[0] + a[0], base[1] + a[1])
        at[LEFT, 0], at[LEFT, 1] = start[0] + x, start[1] + y
        x, y = rotate2(-yaw, base[0] + b[0], base[1] + b[1])
        at[RIGHT, 0], at[RIGHT, 1] = start[0] + x, start[1] + y
    elif loop.reference.support[k] == 0 and last != NO_SWING:
        x, y = rotate2(-yaw, a[0] - b[0], a[1] - b[1])
        sign = 1.0 if last == LEFT else -1.0
        at[last, 0] = at[1 - last, 0] + sign * x
        at[last, 1] = at[1 - last, 1] + sign * y


@kernel
def limit_offset(course, heading, x, y):
    """Return x and y, limited to the largest offset ahead of a sole and beside it."""
    x, y = rotate2(-heading, x, y)
    a, b = x / course.max_offset[0], y / course.max_offset[1]
    size = (a * a + b * b) ** 0.5
    scale = 1.0 / size if size > 1.0 else 1.0
    return rotate2(heading, scale * x, scale * y)


@kernel
def update_offset(loop, k, side):
    """Update d of a stance sole by equation (1), low-pass filtered."""
    course = loop.course
    at, d, share = course.pivot_pose[side], course.offset[side], OFFSET_SHARE * course.share[0]
    x, y, yaw = planned_pivot(loop, k, side)
    x, y = limit_offset(course, yaw, share * (at[0] - x), share * (at[1] - y))
    follow = loop.settings[0].tick / (SMOOTHING_TIME_S + loop.settings[0].tick)
    d[0] += follow * (x - d[0])
    d[1] += follow * (y - d[1])
    d[2] -= follow * d[2]


@kernel
def aim_landing(loop, k, n, side):
    """Compute the landing shift of a swing foot at tick n by equations (2) and (3)."""
    course = loop.course
    at, d, goal = course.pivot_pose[1 - side], course.offset[1 - side], course.landing[n]
    x, y, yaw = planned_pivot(loop, k, 1 - side)
    turn, share = wrap_angle(yaw - at[2]), RETURN_SHARE * course.share[0]
    u, v = rotate2(turn, goal[0] - at[0], goal[1] - at[1])
    u, v = limit_offset(
        course, yaw, share * (x + d[0] + u - goal[0]), share * (y + d[1] + v - goal[1])
    )
    a, b = rotate2(yaw, course.landing_error[side, 0], course.landing_error[side, 1])
    course.landing_correction[0], course.landing_correction[1] = u, v
    course.landing_shift[0], course.landing_shift[1] = u + a, v + b
    course.landing_shift[2] = min(max(share * turn, -MAX_LANDING_TURN), MAX_LANDING_TURN)


@kernel
def learn_landing_error(loop, k):
    """Update the landing error of the foot that landed last, equation (3)."""
    course, side = loop.course, loop.course.last_swing[0]
    if side == NO_SWING:
        return
    x, y, yaw = planned_pivot(loop, k, side)
    at, error = course.pivot_pose[side], course.landing_error[side]
    x, y = rotate2(
        -yaw, at[0] - x - course.landing_correction[0], at[1] - y - course.landing_correction[1]
    )
    error[0] = min(max(error[0] - LEARNING_SHARE * x, -course.max_offset[0]), course.max_offset[0])
    error[1] = min(max(error[1] - LEARNING_SHARE * y, -course.max_offset[1]), course.max_offset[1])


@kernel
def update_course(m, loop, k):
    """Update d: of stance soles at tick k, and of a swing sole at the next tick."""
    ref, course = loop.reference, loop.course
    last_swing, offset, lift = course.last_swing, course.offset, course.lift_offset
    if course.share[0] == 0.0:
        update_soles(loop, k)
        return
    kinematics.positions(m, loop.joint, loop.body.work)
    if last_swing[0] == NOT_STARTED:
        begin_course(loop, k)
    track_feet(loop, k)
    n = min(k + 1, ref.support.shape[0] - 1)
    for side in range(2):
        if ref.support[n] == 2 - side:
            if last_swing[1] == 0:
                for i in range(3):
                    lift[i] = offset[side, i]
                learn_landing_error(loop, k)
                last_swing[0], last_swing[1] = side, 1
            aim_landing(loop, k, n, side)
            for i in range(3):
                offset[side, i] = lift[i] + course.swing_progress[n] * (
                    course.landing_shift[i] - lift[i]
                )
        elif ref.support[k] != 2 - side:
            update_offset(loop, k, side)
    if ref.support[n] == 0:
        last_swing[1] = 0
    update_soles(loop, k)
