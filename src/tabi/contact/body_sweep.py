"""Gauss–Seidel in the space of bodies: a contact's impulse moves the twists of its bodies' trees,
and the next one sees them.

The local problem needs W_kk, the response of the contact to itself: with F the wrenches of its
three directions on its two bodies

    W_kk = F_aᵀ Ω_aa F_a + F_bᵀ Ω_bb F_b − F_aᵀ Ω_ab F_b − F_bᵀ Ω_ba F_a                       (1)
A sweep costs as much as there are contacts, times the contacting bodies of a tree.
"""

from tabi.contact import trees
from tabi.contact.bodies import relative, twists, wrench
from tabi.contact.rows import bound_by, local
from tabi.contact.weights import find
from tabi.jit import kernel
from tabi.spatial.vector import dot6, load3, load6, load9, mul, mul_t, sub


@kernel
def local_blocks(p, work):
    """W_kk of each contact, for sweeps."""
    for k in range(p.mu.shape[0]):
        for c in range(6):
            work.block[k, c] = 0.0
        _local_block(p, p.contact[k], work.block[k])


@kernel
def _local_block(p, c, out):
    """W_kk of one contact, symmetric, as ``cone.local`` takes it: what unit impulses on both bodies
    do to both.
    """
    E, r, omega = load9(c.frame), load3(c.arm_a), p.omega
    t = c.angular
    x = wrench(t, r, (E[0], E[1], E[2]))
    y = wrench(t, r, (E[3], E[4], E[5]))
    n = wrench(t, r, (E[6], E[7], E[8]))
    _add_form(omega[_diagonal_block(p, c.a)], x, y, n, x, y, n, 1.0, out)
    if c.b >= 0:
        s = load3(c.arm_b)
        X = wrench(t, s, (E[0], E[1], E[2]))
        Y = wrench(t, s, (E[3], E[4], E[5]))
        N = wrench(t, s, (E[6], E[7], E[8]))
        _add_form(omega[_diagonal_block(p, c.b)], X, Y, N, X, Y, N, 1.0, out)
        there, back = -1, -1
        if trees.linked(p):
            both = trees.meet(p, c.a, c.b)
            if both >= 0:
                there = back = _diagonal_block(p, both)
                x, y = trees.carried(p, c.a, both, x), trees.carried(p, c.a, both, y)
                X, Y = trees.carried(p, c.b, both, X), trees.carried(p, c.b, both, Y)
                n, N = trees.carried(p, c.a, both, n), trees.carried(p, c.b, both, N)
        else:
            there, back = find(p.start, p.column, c.a, c.b), find(p.start, p.column, c.b, c.a)
        if there >= 0:
            _add_form(omega[there], x, y, n, X, Y, N, -1.0, out)
            _add_form(omega[back], X, Y, N, x, y, n, -1.0, out)


@kernel(inline=True)
def _diagonal_block(p, i):
    """Index of the block Ω_ii."""
    if trees.linked(p):
        return p.start[i] + trees.SELF
    return find(p.start, p.column, i, i)


@kernel(inline=True)
def _add_form(O, x, y, n, X, Y, N, sign, out):
    """Upper triangle of (x y n)ᵀ O (X Y N), added."""
    v = _times(O, X)
    out[0] += sign * dot6(x, v)
    v = _times(O, Y)
    out[1] += sign * dot6(x, v)
    out[3] += sign * dot6(y, v)
    v = _times(O, N)
    out[2] += sign * dot6(x, v)
    out[4] += sign * dot6(y, v)
    out[5] += sign * dot6(n, v)


@kernel(inline=True)
def _times(O, f):
    """Multiply a block with a wrench: O f."""
    return (
        dot6(load6(O[0]), f),
        dot6(load6(O[1]), f),
        dot6(load6(O[2]), f),
        dot6(load6(O[3]), f),
        dot6(load6(O[4]), f),
        dot6(load6(O[5]), f),
    )


@kernel(inline=True)
def price(p):
    """Work of a sweep with its residual: (1) of ``budget``."""
    n, bodies = p.mu.shape[0], p.start.shape[0] - 1
    blocks = p.start[bodies] - p.start[0]
    return 3 * n + blocks // 2 + n * blocks // (4 * max(bodies, 1)) + 5


@kernel
def sweep(p, impulse, work):
    """Gauss–Seidel once over all contacts: the twists follow every impulse, so a contact costs its
    trees and no more.

    Needs ``local_blocks``.
    """
    V = work.twist
    twists(p, impulse, work.wrench, V)
    for k in range(p.mu.shape[0]):
        i, c = 3 * k, p.contact[k]
        E, W = load9(c.frame), load6(work.block[k])
        u, l = mul(E, relative(V, c)), (impulse[i], impulse[i + 1], impulse[i + 2])
        x = p.q[i] + u[0] - (W[0] * l[0] + W[1] * l[1] + W[2] * l[2])
        y = p.q[i + 1] + u[1] - (W[1] * l[0] + W[3] * l[1] + W[4] * l[2])
        n = p.q[i + 2] + u[2] - (W[2] * l[0] + W[4] * l[1] + W[5] * l[2])
        if c.partner >= 0:
            p.bound[k] = bound_by(c.partner, impulse)
        new, work.alpha[k] = local(p.kind[k], W, p.mu[k], p.bound[k], (x, y, n), work.alpha[k])
        change = sub(new, l)
        if change[0] != 0.0 or change[1] != 0.0 or change[2] != 0.0:
            f = mul_t(E, change)
            kick(p, work.wrench, V, c.a, wrench(c.angular, load3(c.arm_a), f), 1.0)
            if c.b >= 0:
                kick(p, work.wrench, V, c.b, wrench(c.angular, load3(c.arm_b), f), -1.0)
        impulse[i], impulse[i + 1], impulse[i + 2] = new[0], new[1], new[2]


@kernel
def kick(p, Z, V, i, f, sign):
    """Add ± a wrench on body i to the twists of its tree; Ω is symmetric, so its row is its
    column. Z is memory.
    """
    F = (sign * f[0], sign * f[1], sign * f[2], sign * f[3], sign * f[4], sign * f[5])
    if trees.linked(p):
        trees.kick(p, Z, V, i, F)
        return
    for e in range(p.start[i], p.start[i + 1]):
        O, j = p.omega[e], 6 * p.column[e]
        for c in range(6):
            V[j + c] += (
                F[0] * O[0, c]
                + F[1] * O[1, c]
                + F[2] * O[2, c]
                + F[3] * O[3, c]
                + F[4] * O[4, c]
                + F[5] * O[5, c]
            )
