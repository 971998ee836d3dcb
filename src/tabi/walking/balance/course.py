"""Where the feet of a walk are, against the plan of its whole way, to which each landing returns.

A walk that knew its plan from the foot that stands alone would go where that foot turns and slips,
and where its last landing missed its place. So the soles are followed, on the ground and about the
vertical, with the base as the estimator turns it. Of a sole that rolls over its edge the estimator
tells how far that goes; rubber bends about the ankle, the pivot, and does not move it: with rubber
a foot that landed is where the encoders have it from the other one.

With X = (p, ψ) of a sole at its pivot, X* of the plan, and [·] a bound by a share of the sole, as
what is pressed under a sole has to stay inside of it,

    d = [½ (p − p*)]                                                                            (1)
is how far off its plan the stabiliser takes a sole that stands to be: by so much the body and the
zero moment point stay on the plan of the whole way, by the rest of it they go along with the foot.
So the stabiliser's axes are not the world's, and a foot that swings lands on the plan p*⁺ if it
goes, beside its place there, to

    c = p* + d + R_z(ψ* − ψ) (p*⁺ − p) − p*⁺                                                    (2)
A share of c is made up for by each step, and of ψ* − ψ; a foot that swings leaves its own d behind
as it goes its way over the ground. By what a foot of soft legs lands beside it,

    e ← e − ⅓ (p − p* − c)                                                                      (3)
it is sent farther the next time: each foot by its own, as what turns both to one side is not the
same for both, seen outwards.

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

# the foot that swung last: before the first tick, and before the first swing
NOBODY, NEITHER = -1, 2
# of (1) [s]
SMOOTHING = 0.05
# shares of (1), of (2) and of (3)
BELIEVED, RETURNED, LEARNT = 0.5, 0.3, 0.3
# a landing is turned by so much at most [rad]
TURN = 0.01


class Course(Structure):
    """What a walk knows of its way.

    Attributes:
        share: of all this, 0: nothing of it is done, shape (1,).
        most: of d and c ahead of the sole and beside it [m], shape (2,).
        above: body that each leg hangs on, 0 for the base, shape (2,). hip: rotation row by row and
            place of it from the base, as the robot stands, shape (2, 12).
        along: of the way over the ground of the foot that swings, 0 to 1, shape (n,).
        base: its place by the estimator [m], shape (3,). turned: direction of the estimate against
            the plan at the first tick [rad], shape (1,). start: of the plan beside the estimate,
            once turned, x and y, shape (2,).
        swung: the foot that swung last, NOBODY or NEITHER, and whether it swings now, shape (2,).
        stands: x, y and yaw of each sole at its pivot, in the plan's axes, shape (2, 3).
        own: e of (3), of each foot, shape (2, 2). sent: c, shape (2,). aim: both, and the turn,
            shape (3,).
        left: d of the foot that swings as it lifted, shape (3,). moved: d, shape (2, 3).
        position, rotation, under: of the soles in this tick, as in ``Reference``, shapes (2, 3),
            (2, 9) and (2, 3).
    """

    share: NDArray[np.float64]
    most: NDArray[np.float64]
    above: NDArray[np.int64]
    hip: NDArray[np.float64]
    landing: NDArray[np.float64]
    along: NDArray[np.float64]
    base: NDArray[np.float64]
    turned: NDArray[np.float64]
    start: NDArray[np.float64]
    swung: NDArray[np.int64]
    stands: NDArray[np.float64]
    own: NDArray[np.float64]
    sent: NDArray[np.float64]
    aim: NDArray[np.float64]
    left: NDArray[np.float64]
    moved: NDArray[np.float64]
    position: NDArray[np.float64]
    rotation: NDArray[np.float64]
    under: NDArray[np.float64]


@kernel(inline=True)
def turned_by(yaw, x, y):
    """x and y after a turn about the vertical."""
    s, c = sincos(yaw)
    return c * x - s * y, s * x + c * y


@kernel(inline=True)
def wrapped(yaw):
    """The same direction between −π and π."""
    s, c = sincos(yaw)
    return atan2(s, c)


@kernel
def moved_sole(loop, k, side):
    """Rotation and place of a sole of the plan in tick k, moved by d about its pivot."""
    ref, d = loop.reference, loop.course.moved[side]
    R, p = load9(ref.rotation[k, side]), load3(ref.position[k, side])
    if d[0] == 0.0 and d[1] == 0.0 and d[2] == 0.0:
        return R, p
    pivot = load3(loop.pivot[side])
    there = add(add(p, mul(R, pivot)), (d[0], d[1], 0.0))
    R = matmul(facing(d[2]), R)
    return R, sub(there, mul(R, pivot))


@kernel
def place_soles(loop, k):
    """Soles of the plan in tick k and the points under them, moved."""
    ref, course = loop.reference, loop.course
    for side in range(2):
        R, p = moved_sole(loop, k, side)
        arm = sub(load3(ref.under[k, side]), load3(ref.position[k, side]))
        store9(course.rotation[side], R)
        store3(course.position[side], p)
        store3(course.under[side], add(p, mul(facing(course.moved[side, 2]), arm)))


@kernel
def seen_sole(loop, side):
    """Rotation and place of a sole from the base by the encoders, after ``kinematics.positions``;
    its Jacobian goes to ``legs.J``. Joints of the trunk above a leg give way as others do.
    """
    b, course = loop.body, loop.course
    for i in range(b.legs.count[side]):
        b.angles[i] = loop.joint[b.legs.q_at[side, i]]
    R, p = sole(b.legs, side, b.angles)
    if course.above[side] == 0:
        return R, p
    hip, planned = b.work.body[course.above[side]], course.hip[side]
    T = matmul(load9(hip.rotation), transposed(load9(planned)))
    arm = sub(p, load3(planned[9:]))
    for i in range(b.legs.count[side]):
        J = b.legs.J
        J[0, i], J[1, i], J[2, i] = mul(T, (J[0, i], J[1, i], J[2, i]))
        J[3, i], J[4, i], J[5, i] = mul(T, (J[3, i], J[4, i], J[5, i]))
    return matmul(T, R), add(load3(hip.position), mul(T, arm))


@kernel
def trunk_velocity(loop, side, p):
    """Of a point of a leg from the base, by what the leg hangs on, after ``kinematics.velocities``
    of a base at rest.
    """
    above = loop.course.above[side]
    if above == 0:
        return (0.0, 0.0, 0.0)
    V = load6(loop.body.work.body[above].velocity)
    return add(linear(V), cross(angular(V), p))


@kernel(inline=True)
def transposed(R):
    """Rᵀ, row by row."""
    return (R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8])


@kernel
def sole_of(loop, side):
    """Of a sole as the estimator turns the base: x and y of its pivot from there [m], and yaw."""
    R = load9(loop.attitude)
    R_F, p_F = seen_sole(loop, side)
    F, p = matmul(R, R_F), mul(R, add(p_F, mul(R_F, load3(loop.pivot[side]))))
    return p[0], p[1], atan2(F[3], F[0])


@kernel
def planned_pivot(loop, k, side):
    """x, y and yaw of a sole of the plan, at its pivot."""
    ref = loop.reference
    R = load9(ref.rotation[k, side])
    p = add(load3(ref.position[k, side]), mul(R, load3(loop.pivot[side])))
    return p[0], p[1], atan2(R[3], R[0])


@kernel
def begin_course(loop, k):
    """Both feet stand where the plan has them: how the estimate is turned and moved against it."""
    course = loop.course
    base, at = course.base, course.stands
    a, b = sole_of(loop, LEFT), sole_of(loop, RIGHT)
    left, right = planned_pivot(loop, k, LEFT), planned_pivot(loop, k, RIGHT)
    off = wrapped(a[2] - left[2])
    # two directions may be on both sides of π
    course.turned[0] = off + 0.5 * wrapped(b[2] - right[2] - off)
    x, y = base[0] + 0.5 * (a[0] + b[0]), base[1] + 0.5 * (a[1] + b[1])
    x, y = turned_by(-course.turned[0], x, y)
    course.start[0] = 0.5 * (left[0] + right[0]) - x
    course.start[1] = 0.5 * (left[1] + right[1]) - y
    at[LEFT, 0], at[LEFT, 1] = left[0], left[1]
    at[RIGHT, 0], at[RIGHT, 1] = right[0], right[1]
    course.swung[0] = NEITHER


@kernel
def follow_feet(loop, k):
    """Where the soles are in tick k, into ``stands``."""
    course = loop.course
    at, base, start = course.stands, course.base, course.start
    swung, turned = course.swung[0], course.turned[0]
    a, b = sole_of(loop, LEFT), sole_of(loop, RIGHT)
    at[LEFT, 2], at[RIGHT, 2] = a[2] - turned, b[2] - turned
    if not loop.settings[0].rubber > 0.0:
        x, y = turned_by(-turned, base[0] + a[0], base[1] + a[1])
        at[LEFT, 0], at[LEFT, 1] = start[0] + x, start[1] + y
        x, y = turned_by(-turned, base[0] + b[0], base[1] + b[1])
        at[RIGHT, 0], at[RIGHT, 1] = start[0] + x, start[1] + y
    elif loop.reference.support[k] == 0 and swung != NEITHER:
        x, y = turned_by(-turned, a[0] - b[0], a[1] - b[1])
        sign = 1.0 if swung == LEFT else -1.0
        at[swung, 0] = at[1 - swung, 0] + sign * x
        at[swung, 1] = at[1 - swung, 1] + sign * y


@kernel
def within(course, heading, x, y):
    """x and y, no farther ahead of a sole and beside it than they may be."""
    x, y = turned_by(-heading, x, y)
    a, b = x / course.most[0], y / course.most[1]
    far = (a * a + b * b) ** 0.5
    part = 1.0 / far if far > 1.0 else 1.0
    return turned_by(heading, part * x, part * y)


@kernel
def believe(loop, k, side):
    """Equation (1) of a sole that stands, smoothed."""
    course = loop.course
    at, d, share = course.stands[side], course.moved[side], BELIEVED * course.share[0]
    x, y, yaw = planned_pivot(loop, k, side)
    x, y = within(course, yaw, share * (at[0] - x), share * (at[1] - y))
    follow = loop.settings[0].tick / (SMOOTHING + loop.settings[0].tick)
    d[0] += follow * (x - d[0])
    d[1] += follow * (y - d[1])
    d[2] -= follow * d[2]


@kernel
def aim(loop, k, n, side):
    """Equation (2) of a foot that swings in tick n, with (3)."""
    course = loop.course
    at, d, goal = course.stands[1 - side], course.moved[1 - side], course.landing[n]
    x, y, yaw = planned_pivot(loop, k, 1 - side)
    turn, share = wrapped(yaw - at[2]), RETURNED * course.share[0]
    u, v = turned_by(turn, goal[0] - at[0], goal[1] - at[1])
    u, v = within(course, yaw, share * (x + d[0] + u - goal[0]), share * (y + d[1] + v - goal[1]))
    a, b = turned_by(yaw, course.own[side, 0], course.own[side, 1])
    course.sent[0], course.sent[1] = u, v
    course.aim[0], course.aim[1] = u + a, v + b
    course.aim[2] = min(max(share * turn, -TURN), TURN)


@kernel
def learn(loop, k):
    """Equation (3), of the foot that landed last."""
    course, side = loop.course, loop.course.swung[0]
    if side == NEITHER:
        return
    x, y, yaw = planned_pivot(loop, k, side)
    at, own = course.stands[side], course.own[side]
    x, y = turned_by(-yaw, at[0] - x - course.sent[0], at[1] - y - course.sent[1])
    own[0] = min(max(own[0] - LEARNT * x, -course.most[0]), course.most[0])
    own[1] = min(max(own[1] - LEARNT * y, -course.most[1]), course.most[1])


@kernel
def keep_course(m, loop, k):
    """d of the soles: of those that stand in tick k, and of one that swings in the next tick."""
    ref, course = loop.reference, loop.course
    swung, moved, left = course.swung, course.moved, course.left
    if course.share[0] == 0.0:
        place_soles(loop, k)
        return
    kinematics.positions(m, loop.joint, loop.body.work)
    if swung[0] == NOBODY:
        begin_course(loop, k)
    follow_feet(loop, k)
    n = min(k + 1, ref.support.shape[0] - 1)
    for side in range(2):
        if ref.support[n] == 2 - side:
            if swung[1] == 0:
                for i in range(3):
                    left[i] = moved[side, i]
                learn(loop, k)
                swung[0], swung[1] = side, 1
            aim(loop, k, n, side)
            for i in range(3):
                moved[side, i] = left[i] + course.along[n] * (course.aim[i] - left[i])
        elif ref.support[k] != 2 - side:
            believe(loop, k, side)
    if ref.support[n] == 0:
        swung[1] = 0
    place_soles(loop, k)
