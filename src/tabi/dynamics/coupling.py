"""Joints that follow others (``mimic``): v_f = r v_l, held exactly by the force between them.

With g_c the row of coupling c (1 at its follower, −r at its leader), the accelerations of the free
tree, a, become those of the coupled one by

    a ← a − M⁻¹ Gᵀ μ,   (G M⁻¹ Gᵀ) μ = G a                                                     (1)
M⁻¹ is applied with the factors of ``aba``: one pass over the tree per coupling. A prescribed joint
keeps its motion; a coupling between two of them is left to whoever prescribes it.
"""

from tabi._jit import kernel
from tabi.dynamics import aba
from tabi.spatial.cholesky import solve


@kernel
def close(m, w, a, tau):
    """Equation (1); the forces of prescribed joints in τ take their share."""
    K, count = w.coupling, m.mimic.shape[0]
    # G M⁻¹ Gᵀ column by column; the right-hand side is the last column
    for c in range(count):
        _respond(m, w, c, 1.0)
        for b in range(count):
            row = m.mimic[b]
            K[b, c] = w.response[row.follower] - row.ratio * w.response[row.leader]
        K[c, count] = a[m.mimic[c].follower] - m.mimic[c].ratio * a[m.mimic[c].leader]
    solve(K, count)
    for c in range(count):
        _respond(m, w, c, -K[c, count])
        for j in range(a.shape[0]):
            a[j] += w.response[j]
            if w.dof[j].fixed != 0:
                tau[j] += w.unit[j]
    # the small system leaves rounding; the followers get exactly their share
    for c in range(count):
        row = m.mimic[c]
        if w.dof[row.follower].fixed == 0:
            a[row.follower] = row.ratio * a[row.leader]


@kernel
def _respond(m, w, c, force):
    """w.response = M⁻¹ g_cᵀ · force; w.unit holds what that asks of prescribed joints,
    the coupling's own force taken off.
    """
    row = m.mimic[c]
    for j in range(w.unit.shape[0]):
        w.unit[j] = 0.0
    w.unit[row.follower] = force
    w.unit[row.leader] = -row.ratio * force
    aba.respond(m, w.unit, w, w.response)
    if w.dof[row.follower].fixed != 0:
        w.unit[row.follower] -= force
    if w.dof[row.leader].fixed != 0:
        w.unit[row.leader] += row.ratio * force
