"""Ω of contacting bodies as Chang and Khatib compute it: down the branches that carry them, then
between pairs.

With S, U, D of ``aba``, a twist goes from a parent to its child as V ← (1 − S Uᵀ/D) V for each
degree of freedom; so

    Ω_ii ← (1 − S Uᵀ/D) Ω_ii (1 − U Sᵀ/D) + S Sᵀ/D                                        (1)
    Ω_ij ← (1 − S Uᵀ/D) Ω_ij                                                              (2)
(1) starts with Ω_pp of the parent, 0 for the world; (2) with Ω_cj, c the last body that carries
both, and Ω_cj comes the same way from Ω_cc.
Bodies off these branches are not visited. ``body_inertia`` has the same matrix for less.

Reference: Chang and Khatib, Operational space dynamics: efficient algorithms for modeling and
control of branching mechanisms, ICRA 2000.
"""

from tabi.dynamics import articulated
from tabi.dynamics.inverse_inertia.body_inertia import carrier, transpose, unfold
from tabi.jit import kernel
from tabi.spatial.vector import axpy6, dot6, load6, store6

ZERO_INERTIA = (0.0,) * 21


@kernel
def branches(m, bodies, count, mark):
    """mark: 1 for the contacting bodies and all that carry them, 0 for the others."""
    for i in range(mark.shape[0]):
        mark[i] = 0
    for i in range(count):
        b = bodies[i]
        while b != 0 and mark[b] == 0:
            mark[b] = 1
            b = m.body[b].parent


@kernel
def omega(m, w, bodies, count, mark, path, body_omega, start, column, out):
    """Blocks of Ω, angular first; needs ``aba.factor``.

    Args:
        mark, path, body_omega: memory for each body, shapes (bodies,), (bodies,) and (bodies, 21).
        start, column, out: rows of blocks as ``body_inertia.layout`` puts them, columns filled.
    """
    branches(m, bodies, count, mark)
    for b in range(1, mark.shape[0]):
        if mark[b] != 0:
            above = m.body[b].parent
            I = articulated.load(body_omega[above]) if above != 0 else ZERO_INERTIA
            for k in range(m.body[b].v_start, m.body[b].v_end):
                if w.dof[k].fixed == 0:
                    I = _widened(I, load6(w.dof[k].motion), load6(w.dof[k].gain), w.dof[k].pivot)
            articulated.store(body_omega[b], I)
    for i in range(count):
        for e in range(start[i], start[i + 1]):
            a, b = bodies[i], bodies[column[e]]
            if a == b:
                unfold(out, e, articulated.load(body_omega[a]))
            elif m.body[a].root != m.body[b].root:
                unfold(out, e, ZERO_INERTIA)
            elif column[e] < i:
                # in the place of Ω_ji it goes down to b, then in that of Ω_ij to a
                back = start[column[e]]
                while column[back] != i:
                    back += 1
                c = carrier(m, a, b)
                unfold(out, back, articulated.load(body_omega[c]))
                _down(m, w, c, b, path, out, back)
                transpose(out, back, e)
                _down(m, w, c, a, path, out, e)
                transpose(out, e, back)


@kernel(inline=True)
def _widened(I, S, U, d):
    """Equation (1): Ω − d (S zᵀ + z Sᵀ) + (d + d² Uᵀz) S Sᵀ with z = Ω U,
    as a change of rank two.
    """
    z = articulated.mul(I, U)
    # half of the square goes to each side: S (…)ᵀ + (…) Sᵀ
    h = 0.5 * (d + d * d * dot6(U, z))
    t = axpy6(-d, z, (h * S[0], h * S[1], h * S[2], h * S[3], h * S[4], h * S[5]))
    return (
        I[0] + 2.0 * S[0] * t[0], I[1] + S[0] * t[1] + S[1] * t[0],
        I[2] + S[0] * t[2] + S[2] * t[0], I[3] + 2.0 * S[1] * t[1],
        I[4] + S[1] * t[2] + S[2] * t[1], I[5] + 2.0 * S[2] * t[2],
        I[6] + S[0] * t[3] + S[3] * t[0], I[7] + S[0] * t[4] + S[4] * t[0],
        I[8] + S[0] * t[5] + S[5] * t[0], I[9] + S[1] * t[3] + S[3] * t[1],
        I[10] + S[1] * t[4] + S[4] * t[1], I[11] + S[1] * t[5] + S[5] * t[1],
        I[12] + S[2] * t[3] + S[3] * t[2], I[13] + S[2] * t[4] + S[4] * t[2],
        I[14] + S[2] * t[5] + S[5] * t[2], I[15] + 2.0 * S[3] * t[3],
        I[16] + S[3] * t[4] + S[4] * t[3], I[17] + S[3] * t[5] + S[5] * t[3],
        I[18] + 2.0 * S[4] * t[4], I[19] + S[4] * t[5] + S[5] * t[4],
        I[20] + 2.0 * S[5] * t[5],
    )  # fmt: skip


@kernel(inline=True)
def _down(m, w, c, b, path, out, e):
    """Equation (2): from the body c down the branch to b, all columns of block e."""
    n = 0
    while b != c:
        path[n] = b
        n += 1
        b = m.body[b].parent
    for t in range(n - 1, -1, -1):
        for k in range(m.body[path[t]].v_start, m.body[path[t]].v_end):
            if w.dof[k].fixed == 0:
                _carry(out, e, load6(w.dof[k].motion), load6(w.dof[k].gain), w.dof[k].pivot)


@kernel(inline=True)
def _carry(out, e, S, U, d):
    a = load6(out[e, 0])
    b = load6(out[e, 1])
    c = load6(out[e, 2])
    f = load6(out[e, 3])
    g = load6(out[e, 4])
    h = load6(out[e, 5])
    y = axpy6(U[3], f, axpy6(U[4], g, axpy6(U[5], h, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))))
    y = axpy6(U[0], a, axpy6(U[1], b, axpy6(U[2], c, y)))
    store6(out[e, 0], axpy6(-d * S[0], y, a))
    store6(out[e, 1], axpy6(-d * S[1], y, b))
    store6(out[e, 2], axpy6(-d * S[2], y, c))
    store6(out[e, 3], axpy6(-d * S[3], y, f))
    store6(out[e, 4], axpy6(-d * S[4], y, g))
    store6(out[e, 5], axpy6(-d * S[5], y, h))
