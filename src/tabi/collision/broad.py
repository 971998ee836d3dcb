"""Which shapes may touch: boxes along the world's axes, sorted along one of them and swept.

    travel = h (‖ẋ‖ + r ‖ω‖),   band = margin + h (‖ẋ_a − ẋ_b‖ + r ‖ω_a − ω_b‖)                 (1)
A shape's box holds all that it may reach within the step: it grows by the travel of its points. The
band of a pair is what these two may close; ẋ: at the centre of the smaller one, r: its reach.

The order is kept from call to call; shapes move little in a step, so an insertion sort finds it
nearly done. What is found does not depend on it: the pairs are sorted by their shapes afterwards,
in one pass over buckets.
"""

import math
from math import sqrt

from tabi.collision.arrays import PLANE
from tabi.jit import kernel
from tabi.spatial.vector import (
    add,
    angular,
    cross,
    dot,
    load3,
    load6,
    load9,
    matmul,
    mul,
    store3,
    store9,
    sub,
)


@kernel
def begin(c, cw):
    """Place what stands still, and any order to begin with; once for a workspace."""
    for i in range(c.shape.shape[0]):
        if c.shape[i].body == 0:
            pose, out = c.fixed[i], cw.pose[i]
            store9(out.rotation, load9(pose.rotation))
            store3(out.position, load3(pose.position))
            store3(out.low, load3(pose.low))
            store3(out.high, load3(pose.high))
    for f in range(c.bounded.shape[0]):
        cw.order[f] = c.bounded[f]
    cw.axis[0] = 0


@kernel
def place(m, c, w, h, cw):
    """Pose of every moving shape in the world, and the box around it; h: of the step [s]."""
    for i in range(c.shape.shape[0]):
        s, x = c.shape[i], cw.pose[i]
        if s.body == 0:
            continue
        row = w.body[s.body]
        B = load9(row.rotation)
        R = matmul(B, load9(s.rotation))
        arm = add(load3(row.position), mul(B, load3(s.position)))
        p = add(load3(w.body[m.body[s.body].root].origin), arm)
        V = load6(row.velocity)
        u = add((V[3], V[4], V[5]), cross(angular(V), arm))
        x.travel = 0.0
        if h > 0.0 and s.kind != PLANE:
            x.travel = h * (sqrt(dot(u, u)) + s.reach * sqrt(dot(angular(V), angular(V))))
        k, r = s.half, s.radius + x.travel
        e = (
            abs(R[0]) * k[0] + abs(R[1]) * k[1] + abs(R[2]) * k[2] + r,
            abs(R[3]) * k[0] + abs(R[4]) * k[1] + abs(R[5]) * k[2] + r,
            abs(R[6]) * k[0] + abs(R[7]) * k[1] + abs(R[8]) * k[2] + r,
        )
        store9(x.rotation, R)
        store3(x.position, p)
        store3(x.low, sub(p, e))
        store3(x.high, add(p, e))


@kernel
def relative(m, c, w, cw, i, k):
    """Velocity of shape i relative to shape k: bound on the speed of its points [m/s] and angular
    velocity [rad/s].
    """
    s, t = c.shape[i], c.shape[k]
    j = i if s.reach <= t.reach else k
    V, W = _twist_at(m, w, s.body, cw.pose[j]), _twist_at(m, w, t.body, cw.pose[j])
    turn, u = sub(V[0], W[0]), sub(V[1], W[1])
    return sqrt(dot(u, u)) + c.shape[j].reach * sqrt(dot(turn, turn)), turn


@kernel(inline=True)
def _twist_at(m, w, body, x):
    """Angular velocity of a body, and velocity of its point at a shape's centre."""
    if body == 0:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    V = load6(w.body[body].velocity)
    arm = sub(load3(x.position), load3(w.body[m.body[body].root].origin))
    return angular(V), add((V[3], V[4], V[5]), cross(angular(V), arm))


@kernel
def candidates(c, cw, band):
    """Fill ``cw.sorted_pair`` with pairs of shapes (a, b) whose boxes are closer than the band;
    returns how many there are, also if too many.
    """
    count = _with_planes(c, cw, band)
    _sort(cw, _axis(c, cw))
    count = _sweep(c, cw, band, count)
    if count <= cw.pair.shape[0]:
        _sort_pairs(cw, count)
    return count


@kernel(inline=True)
def _allowed(c, i, k):
    s, t = c.shape[i], c.shape[k]
    if s.body == t.body:
        return False
    for e in range(s.never, s.never_end):  # noqa: SIM110 (kernels have no generators)
        if c.never[e] == k:
            return False
    return True


@kernel(inline=True)
def _note(c, cw, count, i, k):
    """Keep a pair: a moves; of two moving shapes a is the later one."""
    if count < cw.pair.shape[0]:
        a, b = (i, k) if i > k else (k, i)
        if c.shape[a].body == 0:
            a, b = b, a
        cw.pair[count, 0], cw.pair[count, 1] = a, b
    return count + 1


@kernel
def _with_planes(c, cw, band):
    """Bounded shapes within the band of a half-space."""
    count = int(0.0)
    for e in range(c.planes.shape[0]):
        k = c.planes[e]
        R, o = cw.pose[k].rotation, load3(cw.pose[k].position)
        n = (R[2], R[5], R[8])
        height = dot(n, o)
        # of a plane that moves, everything may come near
        far = math.inf if c.shape[k].body > 0 else band
        for f in range(c.bounded.shape[0]):
            i = c.bounded[f]
            x = cw.pose[i]
            if dot(n, load3(x.position)) - height - c.shape[i].reach >= far + x.travel:
                continue
            # the lowest corner of its box
            low = (x.low[0] if n[0] > 0.0 else x.high[0]) * n[0] + (
                x.low[1] if n[1] > 0.0 else x.high[1]
            ) * n[1]
            low += (x.low[2] if n[2] > 0.0 else x.high[2]) * n[2]
            if low - height < far and _allowed(c, i, k):
                count = _note(c, cw, count, i, k)
    return count


@kernel
def _axis(c, cw):
    """The axis along which the shapes are spread most; the last one while it is nearly as good."""
    count = c.bounded.shape[0]
    mean, square = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for f in range(count):
        p = load3(cw.pose[c.bounded[f]].position)
        mean = add(mean, p)
        square = add(square, (p[0] * p[0], p[1] * p[1], p[2] * p[2]))
    if count == 0:
        return 0
    x = square[0] - mean[0] * mean[0] / count
    y = square[1] - mean[1] * mean[1] / count
    z = square[2] - mean[2] * mean[2] / count
    axis = 0 if x >= y and x >= z else 1 if y >= z else 2
    old = cw.axis[0]
    best = x if axis == 0 else y if axis == 1 else z
    before = x if old == 0 else y if old == 1 else z
    if best > 1.5 * before:
        cw.axis[0] = axis
    return cw.axis[0]


@kernel
def _sort(cw, axis):
    """Insertion sort of the order along an axis."""
    order, pose = cw.order, cw.pose
    for f in range(1, order.shape[0]):
        i = order[f]
        low = pose[i].low[axis]
        e = f - 1
        while e >= 0 and pose[order[e]].low[axis] > low:
            order[e + 1] = order[e]
            e -= 1
        order[e + 1] = i


@kernel
def _sweep(c, cw, band, count):
    """Pairs whose boxes, grown by the band, overlap."""
    order, pose, axis = cw.order, cw.pose, cw.axis[0]
    j, l = (1, 2) if axis == 0 else (0, 2) if axis == 1 else (0, 1)
    for f in range(order.shape[0]):
        i = order[f]
        x, fixed = pose[i], c.shape[i].body == 0
        end = x.high[axis] + band
        low_j = x.low[j] - band
        high_j = x.high[j] + band
        low_l = x.low[l] - band
        high_l = x.high[l] + band
        for e in range(f + 1, order.shape[0]):
            k = order[e]
            y = pose[k]
            if y.low[axis] > end:
                break
            # so written that what is nowhere, NaN, meets nothing
            if not (
                y.low[j] <= high_j
                and y.high[j] >= low_j
                and y.low[l] <= high_l
                and y.high[l] >= low_l
            ):
                continue
            if not (fixed and c.shape[k].body == 0) and _allowed(c, i, k):
                count = _note(c, cw, count, i, k)
    return count


@kernel
def _sort_pairs(cw, count):
    """Pairs by shape a, then b: into buckets of a, and by insertion inside them."""
    pair, out, start = cw.pair, cw.sorted_pair, cw.start
    for k in range(start.shape[0]):
        start[k] = 0
    for e in range(count):
        start[pair[e, 0] + 1] += 1
    for k in range(1, start.shape[0]):
        start[k] += start[k - 1]
    for e in range(count):
        at = start[pair[e, 0]]
        start[pair[e, 0]] += 1
        out[at, 0], out[at, 1] = pair[e, 0], pair[e, 1]
    # only now: before, rows of the last call stood between
    for e in range(1, count):
        a, b, at = out[e, 0], out[e, 1], e
        while at > 0 and out[at - 1, 0] == a and out[at - 1, 1] > b:
            out[at, 0], out[at, 1] = out[at - 1, 0], out[at - 1, 1]
            at -= 1
        out[at, 0], out[at, 1] = a, b
