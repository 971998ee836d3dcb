"""Impulses of bonds in joint space, from which ``bond_elimination`` takes its matrices.

A unit impulse of row r of a bond is a wrench f on body a and −f on body b. With the rows R and the
pivots D of ``dynamics.body_inertia`` it leaves in the degree of freedom k

    Y_k,r = R_a[k] · f_a − R_b[k] · f_b                                                         (1)
    W_rs = Σ_k Y_k,r Y_k,s/D_k,   T_r,i = Σ_k Y_k,r R_i[k]/D_k                                  (2)
W: what the impulses of bonds do to each other; T: to the twists of the bodies that have other rows
too. No block Ω_ij of a body that has bonds alone is needed. A coupling of joints (``followers``)
counts as one more degree of freedom, with its share B in place of R and −1 in place of 1/D.

Rows are scaled by s, s² = 3/tr of the mobility that the two bodies have alone, so that metres and
radians compare.
"""

from __future__ import annotations

from math import sqrt

from tabi.contact.rows import BILATERAL_TWO
from tabi.dynamics.inverse_inertia.body_inertia import PIVOT
from tabi.jit import kernel
from tabi.spatial.vector import (
    add,
    axpy6,
    cross,
    dot,
    load3,
    load6,
    load9,
    mul,
    scale,
    store3,
    store6,
)

# levers of rounding: the place of a bond on the axis of its body's joint [m]
LEVER = 1e-6


@kernel(apart="none", rare=True)
def respond(m, chains, bodies, p, w, g, c, base):
    """W of the bonds of a group, scaled, T of (2), s, and ρ = 3/tr W_kk of the certificate.

    Args:
        chains: of ``body_inertia.omega``. bodies: of the group, those with other rows first.
        p: the problem of the group, bonds last. w: BondWork.
        g: the group. c: its first row among all, base: its first body.
    """
    k0, r0, inner = w.end[g] - c, w.first[g], w.inner[g]
    n = 3 * (p.kind.shape[0] - k0)
    s, W = w.scale[r0 : r0 + n], w.W[r0 : r0 + n]
    count = _number(m, p, w, bodies, k0)
    couplings = chains.share.shape[1]
    for i in range(count + couplings):
        for r in range(n):
            w.joint[i, r] = 0.0
    for e in range(couplings):
        w.pivot[count + e] = -1.0
    for k in range(k0, p.kind.shape[0]):
        row, r = p.contact[k], 3 * (k - k0)
        mobility = _leave(m, chains, w, bodies[row.a], row, load3(row.arm_a), r, 1.0, count)
        if row.b >= 0:
            mobility += _leave(m, chains, w, bodies[row.b], row, load3(row.arm_b), r, -1.0, count)
        for q in range(3):
            used = mobility > 0.0 and (q < 2 or p.kind[k] != BILATERAL_TWO)
            s[r + q] = sqrt(3.0 / mobility) if used else 0.0
    _matrix(w, n, count + couplings, W)
    for k in range(k0, p.kind.shape[0]):
        r, trace = 3 * (k - k0), 0.0
        for q in range(3):
            if s[r + q] > 0.0:
                trace += W[r + q, r + q]
        p.weight[k] = 3.0 / trace if trace > 0.0 else 1.0
    for r in range(n):
        for j in range(r + 1):
            W[r, j] *= s[r] * s[j]
            W[j, r] = W[r, j]
    for i in range(inner):
        at = 6 * (base + i)
        _twists(m, chains, w, bodies[i], n, count, w.T[:n, at : at + 6])


@kernel
def _number(m, p, w, bodies, k0):
    """Number the degrees of freedom that carry bonded bodies; returns how many there are."""
    count = 0
    for x in range(k0, p.kind.shape[0]):
        for side in range(2):
            i = p.contact[x].a if side == 0 else p.contact[x].b
            b = bodies[i] if i >= 0 else 0
            while b != 0:
                for k in range(m.body[b].v_start, m.body[b].v_end):
                    if not _is_numbered(w, k, count):
                        w.place[k], w.degree[count] = count, k
                        count += 1
                b = m.body[b].parent
    return count


@kernel(inline=True)
def _is_numbered(w, k, count):
    """Whether degree of freedom k is one of the ``count`` that are numbered; what stands in
    w.place from before does not matter.
    """
    i = w.place[k]
    return 0 <= i < count and w.degree[i] == k


@kernel
def _leave(m, chains, w, b, row, x, r, sign, count):
    """Add (1) of body b to the columns of three rows that begin at r.

    Args:
        row: of the problem, x: the point from the origin of the body's twist. count: degrees of
            freedom, behind which couplings are.

    Returns:
        how easily the body turns, or moves at x, in all directions together; a lever shorter than
        LEVER counts as that.
    """
    E, mobility, body = load9(row.frame), 0.0, b
    t = chains.body[b].slot + chains.body[b].depth
    while b != 0:
        for k in range(m.body[b].v_end - 1, m.body[b].v_start - 1, -1):
            t -= 1
            d = chains.row[t, PIVOT]
            w.pivot[w.place[k]] = d
            mobility += d * _put(w, w.place[k], load6(chains.row[t]), E, row.angular, x, r, sign)
        b = m.body[b].parent
    for e in range(chains.share.shape[1]):
        mobility -= _put(w, count + e, load6(chains.share[body, e]), E, row.angular, x, r, sign)
    return mobility


@kernel(inline=True)
def _put(w, i, R, E, angular, x, r, sign):
    """Add (1) of one degree of freedom, at i; returns the square of its velocity."""
    turn = (R[0], R[1], R[2])
    moves, square = turn, dot(turn, turn)
    if angular == 0:
        moves = add((R[3], R[4], R[5]), cross(turn, x))
        square = dot(moves, moves) + LEVER * LEVER * square
    y = mul(E, moves)
    for q in range(3):
        w.joint[i, r + q] += sign * y[q]
    return square


@kernel
def _matrix(w, n, count, W):
    """W of (2), the blocks of three rows on and below the diagonal."""
    for r in range(0, n, 3):
        for j in range(0, r + 3, 3):
            a = b = c = (0.0, 0.0, 0.0)
            for i in range(count):
                y, x = load3(w.joint[i, r : r + 3]), load3(w.joint[i, j : j + 3])
                # most degrees of freedom carry some of the bonds only
                if y[0] != 0.0 or y[1] != 0.0 or y[2] != 0.0:
                    x = scale(w.pivot[i], x)
                    a, b, c = add(a, scale(y[0], x)), add(b, scale(y[1], x)), add(c, scale(y[2], x))
            store3(W[r, j : j + 3], a)
            store3(W[r + 1, j : j + 3], b)
            store3(W[r + 2, j : j + 3], c)


@kernel
def _twists(m, chains, w, body, n, count, T):
    """T of (2) of a body, three rows at a time."""
    for r in range(0, n, 3):
        x = y = z = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        b, t = body, chains.body[body].slot + chains.body[body].depth
        while b != 0:
            for k in range(m.body[b].v_end - 1, m.body[b].v_start - 1, -1):
                t -= 1
                if _is_numbered(w, k, count):
                    i = w.place[k]
                    Y, R = scale(w.pivot[i], load3(w.joint[i, r : r + 3])), load6(chains.row[t])
                    x, y, z = axpy6(Y[0], R, x), axpy6(Y[1], R, y), axpy6(Y[2], R, z)
            b = m.body[b].parent
        for e in range(chains.share.shape[1]):
            Y, R = load3(w.joint[count + e, r : r + 3]), load6(chains.share[body, e])
            x, y, z = axpy6(-Y[0], R, x), axpy6(-Y[1], R, y), axpy6(-Y[2], R, z)
        store6(T[r], x)
        store6(T[r + 1], y)
        store6(T[r + 2], z)
