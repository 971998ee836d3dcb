"""Rigid polygons on planes: the contact problem of feet in the space of their own twists.

Points in which one body, a foot, meets another in one plane are the corners of a convex polygon.
A polygon f has one twist ξ_f against the other body and bears one wrench w_f, both about its
middle, in its frame (two tangents, then the normal), angular first:

    ξ = A w + b,   A_fg = X_f Ω X_gᵀ                                                           (1)
    u_n(x, y) = ξ_vz + ξ_ωx y − ξ_ωy x                                                         (2)
    pressure point: x = −w_τy / w_fz,   y = w_τx / w_fz                                        (3)
b: the twist without impulses, including velocities added to the rows (gaps, belts), fitted over the
corners. A is computed once; a law of feet then needs small dense systems and no dynamics.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.contact import trees
from tabi.contact.bodies import apply_omega, at, push
from tabi.contact.rows import CONTACT
from tabi.jit import kernel
from tabi.jit.structure import Structure
from tabi.spatial.vector import add, load3, load9, mul, mul_t, scale, store3, sub

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# largest number of polygons in a group; planes whose normals differ by less are one
MAX_POLYGONS, SAME_PLANE = 16, 1e-9


class Polygons(Structure):
    """Polygons of a group of contacts, one after the other.

    Attributes:
        count: of them, shape (1,). start: where the corners of each begin.
        row: of each corner its row in the group. x, y: its place [m]. free: its normal velocity
            without impulses [m/s]. gap: its distance from the plane [m].
        owner: polygon of each row of the group, −1 without one.
        first: a row of each. body: the two bodies of each, −1 for what does not move.
        arm: the middle of each, from the origins of its two bodies [m], shape (·, 2, 3).
        mu: friction. A, b: of (1). span: how far the corners are from the middle at most [m].
        force, twist: over bodies. order: scratch of the hull.
    """

    count: Integers
    start: Integers
    row: Integers
    x: Floats
    y: Floats
    free: Floats
    gap: Floats
    owner: Integers
    first: Integers
    body: Integers
    arm: Floats
    mu: Floats
    A: Floats
    b: Floats
    span: Floats
    force: Floats
    twist: Floats
    order: Integers


def allocate(points: int, bodies: int, most: int = MAX_POLYGONS) -> Polygons:
    """Allocate memory for groups of so many points and bodies, with ``most`` polygons."""
    most = min(most, bodies, points)
    over_points = {name: np.zeros(points) for name in ("x", "y", "free", "gap")}
    over_bodies = {name: np.zeros(6 * bodies) for name in ("force", "twist")}
    return Polygons(
        **over_points,
        **over_bodies,
        count=np.zeros(1, np.int64),
        start=np.zeros(most + 1, np.int64),
        row=np.zeros(points, np.int64),
        owner=np.zeros(points, np.int64),
        first=np.zeros(most, np.int64),
        body=np.zeros((most, 2), np.int64),
        arm=np.zeros((most, 2, 3)),
        mu=np.zeros(most),
        A=np.zeros((6 * most, 6 * most)),
        b=np.zeros(6 * most),
        span=np.zeros(most),
        order=np.zeros(2 * points + 2, np.int64),
    )


@kernel
def gather(p, foot, gap, P):
    """Make polygons from the rows of a group, with A and b.

    Args:
        p: the problem of the group. foot: of each row, whether it is of a foot.
        gap: of each row [m].
    """
    count, most = 0, P.first.shape[0]
    for k in range(p.kind.shape[0]):
        P.owner[k] = -1
        if foot[k] == 0 or p.kind[k] != CONTACT:
            continue
        c = p.contact[k]
        for f in range(count):
            o = p.contact[P.first[f]]
            if o.a == c.a and o.b == c.b and _is_same_plane(o.frame, c.frame):
                P.owner[k] = f
                break
        if P.owner[k] < 0 and count < most:
            P.owner[k], P.first[count] = count, k
            count += 1
    P.count[0], P.start[0] = count, 0
    for f in range(count):
        _outline(p, gap, P, f)
        _fit(p, P, f)
    _respond(p, P)


@kernel(inline=True)
def _is_same_plane(E, G):
    """Whether two frames have the same normal."""
    return E[6] * G[6] + E[7] * G[7] + E[8] * G[8] > 1.0 - SAME_PLANE


@kernel
def _outline(p, gap, P, f):
    """Find the corners of a polygon: the convex hull of its points, anticlockwise, about its
    middle.

    Andrew's chain over the points by (x, y).
    """
    first, begin, n = P.first[f], P.start[f], 0
    c = p.contact[first]
    E = load9(c.frame)
    for k in range(p.kind.shape[0]):
        if P.owner[k] == f:
            r = mul(E, sub(load3(p.contact[k].arm_a), load3(c.arm_a)))
            # insertion by x, then y
            j = begin + n
            while j > begin and (P.x[j - 1] > r[0] or (P.x[j - 1] == r[0] and P.y[j - 1] > r[1])):
                P.x[j], P.y[j], P.row[j] = P.x[j - 1], P.y[j - 1], P.row[j - 1]
                j -= 1
            P.x[j], P.y[j], P.row[j] = r[0], r[1], k
            n += 1
    count = _chain(P, begin, n)
    # in the order of the hull; the points of the group that are no corners are not kept
    x, y = 0.0, 0.0
    for i in range(count):
        P.free[begin + i], P.gap[begin + i] = P.x[P.order[i]], P.y[P.order[i]]
        P.order[i] = P.row[P.order[i]]
    for i in range(count):
        P.x[begin + i], P.y[begin + i] = P.free[begin + i], P.gap[begin + i]
        P.row[begin + i] = P.order[i]
        x, y = x + P.x[begin + i] / count, y + P.y[begin + i] / count
    P.start[f + 1], P.mu[f], P.span[f] = begin + count, 0.0, 0.0
    low = begin
    for i in range(begin, begin + count):
        k = P.row[i]
        if gap[k] < gap[P.row[low]]:
            low = i
        P.x[i], P.y[i] = P.x[i] - x, P.y[i] - y
        P.free[i], P.gap[i] = p.q[3 * k + 2], gap[k]
        P.mu[f] = max(P.mu[f], p.mu[k])
        P.span[f] = max(P.span[f], P.x[i] * P.x[i] + P.y[i] * P.y[i])
    P.span[f] = P.span[f] ** 0.5
    P.body[f, 0], P.body[f, 1] = c.a, c.b
    # in the plane of held corners, also if others are above it
    height = mul(E, sub(load3(p.contact[P.row[low]].arm_a), load3(c.arm_a)))[2]
    middle = mul_t(E, (x, y, height))
    store3(P.arm[f, 0], add(load3(c.arm_a), middle))
    store3(P.arm[f, 1], add(load3(c.arm_b), middle))


@kernel
def _chain(P, begin, n):
    """Store the indices of the corners in P.order; returns their number."""
    if n < 2:
        P.order[0] = begin
        return n
    count = 0
    for side in range(2):
        base = count
        for j in range(n):
            i = begin + j if side == 0 else begin + n - 1 - j
            while count - base > 1 and not _left_turn(P, P.order[count - 2], P.order[count - 1], i):
                count -= 1
            P.order[count] = i
            count += 1
        # the last of a side is the first of the other
        count -= 1
    return max(count, 1)


@kernel(inline=True)
def _left_turn(P, a, b, c):
    """Whether the path a, b, c turns left, by more than rounding."""
    ux, uy, vx, vy = P.x[b] - P.x[a], P.y[b] - P.y[a], P.x[c] - P.x[a], P.y[c] - P.y[a]
    return ux * vy - uy * vx > 1e-9 * (abs(ux) + abs(uy)) * (abs(vx) + abs(vy))


@kernel
def _fit(p, P, f):
    """Fit b of a polygon: the twist whose velocities at its corners are nearest to q."""
    n, i = P.start[f + 1] - P.start[f], 6 * f
    v, xx, xy, yy, turn = (0.0, 0.0, 0.0), 0.0, 0.0, 0.0, 0.0
    nx, ny = 0.0, 0.0
    for c in range(P.start[f], P.start[f + 1]):
        k, x, y = 3 * P.row[c], P.x[c], P.y[c]
        q = (p.q[k], p.q[k + 1], p.q[k + 2])
        v = add(v, scale(1.0 / n, q))
        xx, xy, yy = xx + x * x, xy + x * y, yy + y * y
        turn += x * q[1] - y * q[0]
        nx, ny = nx + x * q[2], ny + y * q[2]
    # regularised, as for corners on a line, or one corner, the rest does not matter
    little = 1e-12 * (xx + yy) + 1e-30
    xx, yy = xx + little, yy + little
    D = 1.0 / (xx * yy - xy * xy)
    slope_x, slope_y = D * (yy * nx - xy * ny), D * (xx * ny - xy * nx)
    P.b[i], P.b[i + 1], P.b[i + 2] = slope_y, -slope_x, turn / (xx + yy)
    P.b[i + 3], P.b[i + 4], P.b[i + 5] = v[0], v[1], v[2]


@kernel
def _respond(p, P):
    """Compute A of (1), column by column."""
    for f in range(P.count[0]):
        E = load9(p.contact[P.first[f]].frame)
        for c in range(6):
            for i in range(6 * (p.start.shape[0] - 1)):
                P.force[i] = 0.0
            g = (E[3 * (c % 3)], E[3 * (c % 3) + 1], E[3 * (c % 3) + 2])
            push_wrench(P, f, g if c < 3 else (0.0, 0.0, 0.0), g if c >= 3 else (0.0, 0.0, 0.0))
            _apply(p, P)
            for h in range(P.count[0]):
                turn, move = _relative(p, P, h)
                for r in range(3):
                    P.A[6 * h + r, 6 * f + c] = turn[r]
                    P.A[6 * h + 3 + r, 6 * f + c] = move[r]


@kernel(inline=True)
def push_wrench(P, f, torque, force):
    """Add a wrench about the middle of a polygon, world's axes, to P.force."""
    for side in range(2):
        i, sign = P.body[f, side], 1.0 if side == 0 else -1.0
        if i >= 0:
            push(P.force, 6 * i, load3(P.arm[f, side]), force, sign)
            P.force[6 * i] += sign * torque[0]
            P.force[6 * i + 1] += sign * torque[1]
            P.force[6 * i + 2] += sign * torque[2]


@kernel(inline=True)
def _apply(p, P):
    """Compute P.twist from P.force."""
    if trees.linked(p):
        trees.apply(p, P.force, P.twist)
    else:
        apply_omega(p.start, p.column, p.omega, P.force, P.twist)


@kernel(inline=True)
def _relative(p, P, f):
    """Return angular and linear velocity of a polygon under P.twist, in its frame."""
    E, turn, move = load9(p.contact[P.first[f]].frame), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for side in range(2):
        i, sign = P.body[f, side], 1.0 if side == 0 else -1.0
        if i >= 0:
            V = P.twist
            turn = add(turn, scale(sign, (V[6 * i], V[6 * i + 1], V[6 * i + 2])))
            move = add(move, scale(sign, at(V, 6 * i, load3(P.arm[f, side]))))
    return mul(E, turn), mul(E, move)


@kernel
def add_other_impulses(p, impulse, P):
    """Add the impulses of all other rows to b, and to the velocities of the corners."""
    for i in range(6 * (p.start.shape[0] - 1)):
        P.force[i] = 0.0
    for k in range(p.kind.shape[0]):
        if P.owner[k] < 0:
            c = p.contact[k]
            f = mul_t(load9(c.frame), (impulse[3 * k], impulse[3 * k + 1], impulse[3 * k + 2]))
            for side in range(2):
                i, sign = (c.a, 1.0) if side == 0 else (c.b, -1.0)
                if i >= 0 and c.angular != 0:
                    for r in range(3):
                        P.force[6 * i + r] += sign * f[r]
                elif i >= 0:
                    push(P.force, 6 * i, load3(c.arm_a if side == 0 else c.arm_b), f, sign)
    _apply(p, P)
    for f in range(P.count[0]):
        turn, move = _relative(p, P, f)
        for r in range(3):
            P.b[6 * f + r] += turn[r]
            P.b[6 * f + 3 + r] += move[r]
        for i in range(P.start[f], P.start[f + 1]):
            P.free[i] += move[2] + turn[0] * P.y[i] - turn[1] * P.x[i]
