"""Joints that follow others (``mimic``): v_f = r v_l, held exactly by the force between them.

With g_c the row of coupling c (1 at its follower, −r at its leader), the accelerations of the free tree, a,
become those of the coupled one by

    a ← a − M⁻¹ Gᵀ μ,   (G M⁻¹ Gᵀ) μ = G a                                                     (1)
M⁻¹ is applied with the factors of ``aba``: one pass over the tree per coupling. A prescribed joint keeps its
motion; a coupling between two of them is left to whoever prescribes it.
"""

from math import sqrt

from tabi._jit import kernel
from tabi.spatial.vector import accumulate6, axpy6, dot6, load6, store6


@kernel
def close(m, w, a):
    """Equation (1), after ``aba.spread``."""
    K, count = w.coupling, m.mimic.shape[0]
    # G M⁻¹ Gᵀ column by column; the right-hand side is the last column
    for c in range(count):
        _respond(m, w, m.mimic[c], 1.0)
        for b in range(count):
            row = m.mimic[b]
            K[b, c] = w.dof[row.follower].response - row.ratio * w.dof[row.leader].response
        K[c, count] = a[m.mimic[c].follower] - m.mimic[c].ratio * a[m.mimic[c].leader]
    _solve(K, count)
    for c in range(count):
        _respond(m, w, m.mimic[c], -K[c, count])
        for j in range(a.shape[0]):
            a[j] += w.dof[j].response
    # the small system leaves rounding; the followers get exactly their share
    for c in range(count):
        row = m.mimic[c]
        if m.dof[row.follower].prescribed == 0:
            a[row.follower] = row.ratio * a[row.leader]


@kernel
def _respond(m, w, row, force):
    """w.dof.response = M⁻¹ g_cᵀ · force, by the passes (2) and (3) of ``aba``."""
    for i in range(m.body.shape[0]):
        store6(w.body[i].force, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
        store6(w.body[i].delta, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    for i in range(m.body.shape[0] - 1, 0, -1):
        body = m.body[i]
        F = load6(w.body[i].force)
        for j in range(body.v_end - 1, body.v_start - 1, -1):
            dof = w.dof[j]
            tau = (force if j == row.follower else 0.0) - (row.ratio * force if j == row.leader else 0.0)
            dof.residual = tau - dot6(load6(dof.motion), F)
            if m.dof[j].prescribed == 0:
                F = axpy6(dof.residual * dof.pivot, load6(dof.gain), F)
        if body.parent != 0:
            accumulate6(w.body[body.parent].force, F)
    for i in range(1, m.body.shape[0]):
        body = m.body[i]
        y = load6(w.body[body.parent].delta)
        for j in range(body.v_start, body.v_end):
            dof = w.dof[j]
            dof.response = 0.0
            if m.dof[j].prescribed == 0:
                dof.response = (dof.residual - dot6(load6(dof.gain), y)) * dof.pivot
                y = axpy6(dof.response, load6(dof.motion), y)
        store6(w.body[i].delta, y)


@kernel
def _solve(K, n):
    """Cholesky in place; the solution replaces column n. A row without effect (both joints prescribed) is left out."""
    for j in range(n):
        for k in range(j):
            for i in range(j, n):
                K[i, j] -= K[i, k] * K[j, k]
        pivot = 1.0 / sqrt(K[j, j]) if K[j, j] > 0.0 else 0.0
        for i in range(j, n):
            K[i, j] *= pivot
    for i in range(n):
        for k in range(i):
            K[i, n] -= K[i, k] * K[k, n]
        K[i, n] = K[i, n] / K[i, i] if K[i, i] > 0.0 else 0.0
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            K[i, n] -= K[k, i] * K[k, n]
        K[i, n] = K[i, n] / K[i, i] if K[i, i] > 0.0 else 0.0
