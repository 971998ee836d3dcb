"""Ω, the inverse inertia of contacting bodies: the twists V = Ω F that wrenches F on them cause;
and the motion of the joints.

The eliminations of ``aba`` are a factorisation, M̂⁻¹ = L⁻ᵀ D⁻¹ L⁻¹, and L⁻¹ is its pass from the
leaves to the roots. Six unit wrenches on body i, X = 1, leave on their way up, at each degree of
freedom k that carries the body, the row

    R_i[k] = S_kᵀ X,   X ← X − U_k R_i[k]/D_k                                                  (1)
and Ω_ij = J_i M̂⁻¹ J_jᵀ is what the two bodies' rows have in common. No pass downwards is needed:

    Ω_ij = Σ_k R_i[k]ᵀ R_j[k] / D_k   over the degrees of freedom k that carry both            (2)
Wrenches leave u = Σ R_iᵀ F_i in the joints, from which one pass to the leaves, (3) of ``aba``,
makes M̂⁻¹ Σ J_iᵀ F_i.

A body that only bonds touch has its rows alone, from which ``contact.bond_rows`` eliminates bonds;
``add_blocks`` makes its blocks for reports.

Joints that follow others take their part out of u and Ω (``followers``). A free object, one
floating body, needs none of this: its Ω is the inverse of its own inertia. Trees that touch with
many links have no blocks Ω_ij but the factors of ``tree_inertia``.
"""

from tabi.dynamics import articulated, followers
from tabi.dynamics.inverse_inertia import tree_inertia
from tabi.jit import kernel
from tabi.spatial import symmetric
from tabi.spatial.vector import (
    axpy6,
    cross,
    load3,
    load6,
    store6,
)

# a row's column of 1/D, after the six numbers of R
PIVOT = 6
# what a listed body has: blocks of Ω; blocks, and rows R also if it is free; rows R alone
BLOCKS, BLOCKS_AND_ROWS, ROWS = 0, 1, 2


@kernel
def omega(m, w, c, bodies, count, start, column, out):
    """Blocks of Ω by rows of the contacting bodies; needs ``aba.factor``.

    Args:
        bodies: rows of m.body, each once, in any order; those of one family get ascending columns.
            Where c.above is not BLOCKS, parents before children.
        count: how many.
        start, column, out: blocks of row i are out[start[i]:start[i + 1]], shape (·, 6, 6),
            angular first; P, N and Ω_ii where c.above is not BLOCKS.

    Returns:
        The number of blocks; where it is more than ``column`` or ``out`` has, no block is written.
    """
    needed = layout(c, bodies, count, start, column)
    if needed > out.shape[0] or needed > column.shape[0]:
        return needed
    _chains(m, w, c, bodies, count)
    if m.mimic.shape[0] > 0:
        followers.prepare(m, w, c, bodies, count)
    for i in range(count):
        # with itself, then with those before it in its family, and their mirror images
        a, here = bodies[i], start[i] + c.rank[i]
        if c.above[i] != tree_inertia.BLOCKS:
            _factors(m, w, c, a, start, i, out)
            continue
        if c.has[i] == ROWS:
            continue
        if c.contacting[a].plain != 0:
            _rigid(out, here, m.body[a].mass, load3(w.body[a].centre), load6(w.body[a].tensor))
        else:
            _square(c, a, out, here)
            followers.take(c, a, a, out, here)
        j = c.previous[i]
        while j >= 0:
            if c.has[j] != ROWS:
                _pair(m, c, bodies, i, j, start, out)
            j = c.previous[j]
    return needed


@kernel
def add_blocks(m, c, bodies, count, start, out):
    """The blocks that ``omega`` left out, of bodies that have rows alone."""
    for i in range(count):
        if c.has[i] == ROWS:
            _square(c, bodies[i], out, start[i] + c.rank[i])
            followers.take(c, bodies[i], bodies[i], out, start[i] + c.rank[i])
        j = c.previous[i]
        while j >= 0:
            if c.has[i] == ROWS or c.has[j] == ROWS:
                _pair(m, c, bodies, i, j, start, out)
            j = c.previous[j]


@kernel(inline=True)
def _pair(m, c, bodies, i, j, start, out):
    """Equation (2) of the listed bodies i and j, in both of its places."""
    a, b, there = bodies[i], bodies[j], start[i] + c.rank[j]
    _product(c, a, b, c.body[carrier(m, a, b)].depth, out, there)
    followers.take(c, a, b, out, there)
    transpose(out, there, start[j] + c.rank[i])


@kernel(apart="none", rare=True)
def _factors(m, w, c, b, start, i, out):
    """P, N and Ω_ii of a body."""
    e, above = start[i], c.above[i]
    if c.contacting[b].plain != 0:
        first, centre = e + tree_inertia.YIELDS, load3(w.body[b].centre)
        _rigid(out, first, m.body[b].mass, centre, load6(w.body[b].tensor))
    else:
        tree_inertia.link(m, w, b, out, e)
    tree_inertia.diagonal_block(out, e, start[above] if above >= 0 else above)


@kernel(inline=True)
def layout(c, bodies, count, start, column):
    """Find where the rows of Ω start and which bodies their blocks belong to; return the number of
    blocks. Columns are written only if they fit.
    """
    for i in range(count):
        family = c.contacting[c.body[bodies[i]].family]
        family.tally, family.last = 0, -1
    for i in range(count):
        family = c.contacting[c.body[bodies[i]].family]
        c.previous[i], c.rank[i] = family.last, family.tally
        family.tally += 1
        family.last = i
    start[0] = 0
    for i in range(count):
        tally = c.contacting[c.body[bodies[i]].family].tally
        start[i + 1] = start[i] + (
            tally if c.above[i] == tree_inertia.BLOCKS else tree_inertia.EACH
        )
    if start[count] <= column.shape[0]:
        for i in range(count):
            if c.above[i] != tree_inertia.BLOCKS:
                for e in range(start[i], start[i + 1]):
                    column[e] = i
                continue
            column[start[i] + c.rank[i]] = i
            j = c.previous[i]
            while j >= 0:
                column[start[i] + c.rank[j]] = j
                column[start[j] + c.rank[i]] = i
                j = c.previous[j]
    return start[count]


@kernel(inline=True)
def _chains(m, w, c, bodies, count):
    """Equation (1) for each contacting body."""
    for i in range(count):
        b = bodies[i]
        c.contacting[b].plain = 0
        if c.body[b].lone != 0 and c.has[i] == BLOCKS:
            c.contacting[b].plain = _plain(m, w, m.body[b].v_start)
        if c.contacting[b].plain == 0 and c.above[i] == tree_inertia.BLOCKS:
            _climb(m, w, c, b)


@kernel(inline=True)
def _plain(m, w, k):
    """1 where nothing is added to the six inertias of a free object,
    and none of them is prescribed.
    """
    plain = 1
    for j in range(k, k + 6):
        if w.dof[j].added != 0.0 or w.dof[j].fixed != 0:
            plain = 0
    return plain


@kernel(inline=True)
def _climb(m, w, c, b):
    """Equation (1) from body b to its root. X is kept by rows, in registers."""
    t = c.body[b].slot + c.body[b].depth
    a = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    e = (0.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    f = (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    g = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    h = (0.0, 0.0, 0.0, 0.0, 1.0, 0.0)
    l = (0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    while b != 0:
        for k in range(m.body[b].v_end - 1, m.body[b].v_start - 1, -1):
            t -= 1
            # a joint that is fixed gives way to nothing
            S = load6(w.dof[k].motion)
            U = load6(w.dof[k].gain)
            d = w.dof[k].pivot if w.dof[k].fixed == 0 else 0.0
            y = axpy6(
                S[0],
                a,
                axpy6(
                    S[1],
                    e,
                    axpy6(
                        S[2],
                        f,
                        axpy6(
                            S[3], g, axpy6(S[4], h, axpy6(S[5], l, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)))
                        ),
                    ),
                ),
            )
            store6(c.row[t], y)
            c.row[t, PIVOT] = d
            a, e, f = axpy6(-d * U[0], y, a), axpy6(-d * U[1], y, e), axpy6(-d * U[2], y, f)
            g, h, l = axpy6(-d * U[3], y, g), axpy6(-d * U[4], y, h), axpy6(-d * U[5], y, l)
        b = m.body[b].parent


@kernel(inline=True)
def carrier(m, a, b):
    """The last body that carries both, or 0; parents come before their children."""
    while a != b:
        if a > b:
            a = m.body[a].parent
        else:
            b = m.body[b].parent
    return a


@kernel(inline=True)
def _square(c, a, out, e):
    """Equation (2) of one body with itself, exactly symmetric."""
    I = (
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
    )
    for t in range(c.body[a].slot, c.body[a].slot + c.body[a].depth):
        I = articulated.without(I, load6(c.row[t]), -c.row[t, PIVOT])
    unfold(out, e, I)


@kernel(inline=True)
def unfold(out, e, I):
    """Block e, symmetric, from its 21 numbers."""
    store6(out[e, 0], (I[0], I[1], I[2], I[6], I[7], I[8]))
    store6(out[e, 1], (I[1], I[3], I[4], I[9], I[10], I[11]))
    store6(out[e, 2], (I[2], I[4], I[5], I[12], I[13], I[14]))
    store6(out[e, 3], (I[6], I[9], I[12], I[15], I[16], I[17]))
    store6(out[e, 4], (I[7], I[10], I[13], I[16], I[18], I[19]))
    store6(out[e, 5], (I[8], I[11], I[14], I[17], I[19], I[20]))


@kernel(inline=True)
def _product(c, i, j, n, out, at):
    """Equation (2) of two bodies with n degrees of freedom in common."""
    zero = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    x, y, z, u, v, w = zero, zero, zero, zero, zero, zero
    p, q = c.body[i].slot, c.body[j].slot
    for t in range(n):
        L, R, d = load6(c.row[p + t]), load6(c.row[q + t]), c.row[p + t, PIVOT]
        x, y, z = axpy6(d * L[0], R, x), axpy6(d * L[1], R, y), axpy6(d * L[2], R, z)
        u, v, w = axpy6(d * L[3], R, u), axpy6(d * L[4], R, v), axpy6(d * L[5], R, w)
    store6(out[at, 0], x)
    store6(out[at, 1], y)
    store6(out[at, 2], z)
    store6(out[at, 3], u)
    store6(out[at, 4], v)
    store6(out[at, 5], w)


@kernel(inline=True)
def transpose(out, e, f):
    """Block f ← block eᵀ."""
    for r in range(6):
        store6(
            out[f, r],
            (out[e, 0, r], out[e, 1, r], out[e, 2, r], out[e, 3, r], out[e, 4, r], out[e, 5, r]),
        )


@kernel(inline=True)
def _rigid(out, at, mass, c, J):
    """Ω of a free object from its centre of mass and the tensor about it:
    K = J⁻¹, then −K c×, and 1/m − c× K c×.
    """
    x = symmetric.solve(J, (1.0, 0.0, 0.0))
    y = symmetric.solve(J, (0.0, 1.0, 0.0))
    z = symmetric.solve(J, (0.0, 0.0, 1.0))
    # row r of −K c× is c × row r of K
    a, e, f = cross(c, x), cross(c, (x[1], y[1], y[2])), cross(c, (x[2], y[2], z[2]))
    # c× (−K c×) column by column, and 1/m
    l = cross(c, (a[0], e[0], f[0]))
    n = cross(c, (a[1], e[1], f[1]))
    o = cross(c, (a[2], e[2], f[2]))
    d = 1.0 / mass
    I = (
        x[0], x[1], x[2], y[1], y[2], z[2],
        a[0], a[1], a[2], e[0], e[1], e[2], f[0], f[1], f[2],
        l[0] + d, l[1], l[2], n[1] + d, n[2], o[2] + d,
    )  # fmt: skip
    unfold(out, at, I)
