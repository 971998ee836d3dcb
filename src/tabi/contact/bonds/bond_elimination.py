"""Bonds are eliminated before contacts are solved: contacts act on bodies as their bonds let these
move, and how the bonds share what they bear is not left to an iteration.

    u_b = W λ_b + Tᵀ F + q_b = 0,   T = Ω J_bᵀ,   W = J_b T                                    (1)
    λ_b = −W⁺ (q_b + Tᵀ F),   Ω' = Ω − T W⁺ Tᵀ,   V' = −T W⁺ q_b                               (2)
F: wrenches of the contacts, which see the inverse inertia Ω' and the twists V' besides their own.

Loops of robots ask for more than their joints can do: a plane chain closed by a ball asks twice, by
a weld six times, that it stay in its plane. So W is singular, or nearly, and what is asked for need
not fit together. W and T, of the bodies with other rows, come from ``bond_rows``, with the scales s
of the rows, and W⁺ is that of ``pseudo_inverse``:

    W⁺ = s (s W s)⁺ s,   (s W s)⁺ = L G⁻¹ D⁻¹ G⁻¹ Lᵀ                                            (3)
λ_b is the least of all impulses, in λ/s. The part of q_b that no impulse can meet, outside of the
range of L, stays, and is reported as a mismatch. RANK is of W, the square of what is asked for: a
direction in which the joints close a loop 1e-4 times as well as in its best one counts as none.

What has drifted apart is closed by ``bond_closing``.

Reference: Featherstone (2008), ch. 8.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from tabi.contact.algebra.pseudo_inverse import (
    SymmetricFactors,
    complement,
    down,
    down_rows,
    factor,
    subtract_pseudo_inverse,
    up,
)
from tabi.contact.bodies import push_both, relative, wrench
from tabi.contact.bonds import bond_closing
from tabi.contact.rows import BILATERAL_TWO, CONTACT, IDLE
from tabi.contact.weights import find
from tabi.dynamics.inverse_inertia.body_inertia import transpose
from tabi.dynamics.inverse_inertia.tree_inertia import times
from tabi.jit import kernel
from tabi.spatial.vector import axpy6, dot6, load3, load6, load9, mul, mul_t, store6

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# share of the mobility without bonds below which contacts count as immobile
MIN_MOBILITY_RATIO = 1e-10


# ---- before the contacts ------------------------------------------------------------------------


@kernel(apart="none", rare=True)
def eliminate(p, w, g, c, base, inner, mass, h):
    """Equations (2) and (3) for a group, and what closes its bonds.

    Args:
        p: the problem of the group, bonds last. w: BondWork, after ``bond_rows.respond``.
        g: the group. c: its first row among all, base: its first body. inner: bodies with rows
            other than of bonds. mass: of a body, on the mean [kg].
    """
    k0, r0 = w.end[g] - c, w.first[g]
    n = 3 * (p.kind.shape[0] - k0)
    T = w.T[:n, 6 * base : 6 * (base + inner)]
    W, f = w.W[r0 : r0 + n], factors(w, r0, n)
    w.rank[g] = factor(W, n, f.L, f.order)
    complement(f.L, n, w.rank[g], f.K, f.S)
    begin, end = 3 * (c + k0), 3 * (c + k0) + n
    rows = slice(begin, end)
    sizes = w.offset[rows], w.mismatch[rows], w.closing[rows]
    bond_closing.close(w, W, f, w.rank[g], sizes, mass, h)
    for r in range(n):
        w.y[r] = f.scale[r] * p.q[3 * k0 + r]
    _least(w, W, f, w.rank[g], n)
    _add_bond_velocities(p, k0, T, f.scale, w, w.added[3 * c : begin])
    _reduce(p, w, T, f, w.rank[g], n, base, inner)
    _hold(p, k0, w, w.rank[g], base)


@kernel(apart="boolean", rare=True)
def rest(p, w, g, c, base, shift):
    """Take what the bonds of a group ask for besides J v = 0 out of p.q and shift, and give other
    rows what is left of them; False where there is nothing to take.
    """
    k0, r0 = w.end[g] - c, w.first[g]
    n, changed = 3 * (p.kind.shape[0] - k0), False
    f = factors(w, r0, n)
    for r in range(n):
        i = 3 * k0 + r
        changed = changed or shift[i] != 0.0
        p.q[i] -= shift[i]
        shift[i] = 0.0
        w.y[r] = f.scale[r] * p.q[i]
    if changed:
        T = w.T[:n, 6 * base : 6 * (base + w.inner[g])]
        _least(w, w.W[r0 : r0 + n], f, w.rank[g], n)
        _add_bond_velocities(p, k0, T, f.scale, w, w.added[3 * c : 3 * (c + k0)])
    return changed


@kernel(inline=True)
def factors(w, r0, n):
    """Factors of a group whose n rows begin at r0."""
    L, K, S = w.L[r0 : r0 + n], w.K[r0 : r0 + n], w.S[r0 : r0 + n]
    return SymmetricFactors(L, K, S, w.scale[r0 : r0 + n], w.order[r0 : r0 + n])


@kernel
def _least(w, W, f, rank, n):
    """The impulses w.z of least norm that meet the velocities w.y as far as that is possible; w.y
    ends as what is left of them, and the solution is corrected by it once.
    """
    y, z = w.y[:n], w.z[:n]
    for r in range(n):
        z[r] = 0.0
    for turn in range(2):
        subtract_pseudo_inverse(f, rank, n, y, w.x, z)
        if turn == 0:
            for r in range(n):
                w.b[r] = y[r]
        for r in range(n):
            total = w.b[r]
            for j in range(n):
                total += W[r, j] * z[j]
            y[r] = total


@kernel
def _add_bond_velocities(p, k0, T, scale, w, added):
    """Add the velocities of the other rows that the impulses w.z of bonds cause."""
    V = w.twist[: T.shape[1]]
    for i in range(V.shape[0]):
        V[i] = 0.0
    for r in range(T.shape[0]):
        t, x = T[r], scale[r] * w.z[r]
        for i in range(V.shape[0]):
            V[i] += x * t[i]
    for k in range(k0):
        c = p.contact[k]
        u = mul(load9(c.frame), relative(V, c))
        added[3 * k], added[3 * k + 1], added[3 * k + 2] = u[0], u[1], u[2]


@kernel
def _reduce(p, w, T, f, rank, n, base, inner):
    """Blocks of Ω' over the inner bodies, a full square of them."""
    Y = w.Y[:n, 6 * base : 6 * (base + inner)]
    down_rows(f, rank, n, T, 6 * inner, Y)
    for i in range(inner):
        w.start[base + i + 1] = w.start[base + i] + inner
    for i in range(inner):
        for j in range(i + 1):
            e, mirrored = w.start[base + i] + j, w.start[base + j] + i
            w.column[e], w.column[mirrored] = j, i
            _subtract(p.omega, find(p.start, p.column, i, j), Y, rank, i, j, w.omega[e])
            if i != j:
                transpose(w.omega, e, mirrored)


@kernel(inline=True)
def _subtract(omega, there, Y, rank, i, j, O):
    """O = Ω_ij − Y_iᵀ Y_j; ``there``: where Ω_ij is, −1 where it is zero."""
    x = y = z = u = v = w = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if there >= 0:
        A = omega[there]
        x, y, z = load6(A[0]), load6(A[1]), load6(A[2])
        u, v, w = load6(A[3]), load6(A[4]), load6(A[5])
    for k in range(rank):
        L, R = load6(Y[k, 6 * i : 6 * i + 6]), load6(Y[k, 6 * j : 6 * j + 6])
        x, y, z = axpy6(-L[0], R, x), axpy6(-L[1], R, y), axpy6(-L[2], R, z)
        u, v, w = axpy6(-L[3], R, u), axpy6(-L[4], R, v), axpy6(-L[5], R, w)
    store6(O[0], x)
    store6(O[1], y)
    store6(O[2], z)
    store6(O[3], u)
    store6(O[4], v)
    store6(O[5], w)


@kernel
def _hold(p, k0, w, rank, base):
    """Rows that bonds leave nothing to do become IDLE: what is left of their mobility is rounding.
    Of contacts that is asked of the normal, of other rows of all three.
    """
    for k in range(k0):
        c, free_mobility, left = p.contact[k], 0.0, 0.0
        for q in range(2 if p.kind[k] == CONTACT else 0, 3):
            axis = (c.frame[3 * q], c.frame[3 * q + 1], c.frame[3 * q + 2])
            f = wrench(c.angular, load3(c.arm_a), axis)
            g = wrench(c.angular, load3(c.arm_b), axis)
            alone = dot6(f, times(p.omega[find(p.start, p.column, c.a, c.a)], f))
            both = alone
            if c.b >= 0:
                alone += dot6(g, times(p.omega[find(p.start, p.column, c.b, c.b)], g))
                e = find(p.start, p.column, c.a, c.b)
                both = alone - (2.0 * dot6(f, times(p.omega[e], g)) if e >= 0 else 0.0)
            for j in range(rank):
                total = 0.0
                for i in range(6):
                    total += f[i] * w.Y[j, 6 * (base + c.a) + i]
                    if c.b >= 0:
                        total -= g[i] * w.Y[j, 6 * (base + c.b) + i]
                both -= total * total
            free_mobility, left = free_mobility + alone, left + both
        if not left > MIN_MOBILITY_RATIO * free_mobility:
            p.kind[k] = IDLE


# ---- after them ---------------------------------------------------------------------------------


@kernel(apart="float64", rare=True)
def recover(p, w, g, c, base, l, u, F, keep, shift):
    """Impulses λ_b of (2) and velocities of the bonds, from impulses of the other rows.

    Args:
        p: the problem of the group, as for ``eliminate``; l, u: impulses and velocities of its
            rows. F: scratch over the twists of its bodies.
        keep: whether what cannot be met is noted, and taken out of p.q and shift.

    Returns:
        the largest velocity that is left of what can be met [m/s or rad/s].
    """
    k0, r0, inner = w.end[g] - c, w.first[g], w.inner[g]
    n = 3 * (p.kind.shape[0] - k0)
    T, W, f = w.T[:n, 6 * base : 6 * (base + inner)], w.W[r0 : r0 + n], factors(w, r0, n)
    for i in range(6 * inner):
        F[i] = 0.0
    for k in range(k0):
        row = p.contact[k]
        push_both(F, row, 0, mul_t(load9(row.frame), load3(l[3 * k : 3 * k + 3])), 1.0)
    for r in range(n):
        total, t = p.q[3 * k0 + r], T[r]
        for i in range(6 * inner):
            total += t[i] * F[i]
        w.y[r], u[3 * k0 + r] = f.scale[r] * total, total
    rank = w.rank[g]
    _least(w, W, f, rank, n)
    # what is left, as far as it can be met, and what cannot
    for r in range(n):
        l[3 * k0 + r] = f.scale[r] * w.z[r]
        w.z[r] = 0.0
    down(f, rank, n, w.y, w.x)
    up(f, rank, n, w.x, w.z, 1.0)
    worst = 0.0
    for k in range(k0, p.kind.shape[0]):
        square = 0.0
        for q in range(3):
            i, r = 3 * k + q, 3 * (k - k0) + q
            met, off = 0.0, u[i]
            if f.scale[r] > 0.0:
                met, off = w.z[r] / f.scale[r], (w.y[r] - w.z[r]) / f.scale[r]
            elif q == 2 and p.kind[k] == BILATERAL_TWO:
                off = 0.0
            square += met * met
            u[i] = met
            if keep:
                w.unmet[3 * c + i] = off
                p.q[i] -= off
                shift[i] -= off
        # a NaN has to win
        if not sqrt(square) <= worst:
            worst = sqrt(square)
    return worst
