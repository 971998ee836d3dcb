"""Joints that follow others (``mimic``): v_f = r v_l, held exactly by the force between them.

With g_c the row of coupling c (1 at its follower, −r at its leader), the accelerations of the free
tree, a, become those of the coupled one by

    a ← a − M⁻¹ Gᵀ μ,   (G M⁻¹ Gᵀ) μ = G a                                                     (1)
With the factors of ``aba``, M⁻¹ = L⁻ᵀ D⁻¹ L⁻¹, each coupling costs a way up two branches, and all
together cost one pass over the tree:

    G M⁻¹ Gᵀ = Hᵀ D⁻¹ H,   H = L⁻¹ Gᵀ                                                          (2)
A prescribed joint keeps its motion; a coupling between two of them is not enforced.
"""

from tabi.dynamics import aba
from tabi.jit import kernel
from tabi.spatial.cholesky import solve
from tabi.spatial.vector import axpy6, dot6, load6


@kernel(apart="none", rare=True)
def close(m, w, a, tau):
    """Equation (1); the forces of prescribed joints in τ take their share."""
    K, count = w.coupling, m.mimic.shape[0]
    # the small system by (2); the right-hand side is the last column
    for c in range(count):
        row = m.mimic[c]
        for k in range(a.shape[0]):
            w.left[c, k] = 0.0
        leave(m, w, w.left[c], row.follower, 1.0)
        leave(m, w, w.left[c], row.leader, -row.ratio)
        for b in range(c + 1):
            K[c, b] = product(w, w.left[b], w.left[c])
        K[c, count] = a[row.follower] - row.ratio * a[row.leader]
    solve(K, count)
    _respond(m, w)
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
def _respond(m, w):
    """w.response = −M⁻¹ Gᵀ μ, with μ in the last column of w.coupling; w.unit holds what that asks
    of prescribed joints, the couplings' own forces taken off.
    """
    count = m.mimic.shape[0]
    for j in range(w.unit.shape[0]):
        w.unit[j] = 0.0
    for c in range(count):
        row, force = m.mimic[c], -w.coupling[c, count]
        w.unit[row.follower] += force
        w.unit[row.leader] -= row.ratio * force
    aba.respond(m, w.unit, w, w.response)
    for c in range(count):
        row, force = m.mimic[c], -w.coupling[c, count]
        if w.dof[row.follower].fixed != 0:
            w.unit[row.follower] -= force
        if w.dof[row.leader].fixed != 0:
            w.unit[row.leader] += row.ratio * force


@kernel
def leave(m, w, out, j, force):
    """Add to out, a row of H, what a force at the degree of freedom j leaves in it and in those
    that carry it.
    """
    b = 1
    while m.body[b].v_end <= j:
        b += 1
    x = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    end = j
    if w.dof[j].fixed == 0:
        out[j] += force
        x = axpy6(-force * w.dof[j].pivot, load6(w.dof[j].gain), x)
    else:
        b = 0
    while b != 0:
        for k in range(end - 1, m.body[b].v_start - 1, -1):
            y = dot6(load6(w.dof[k].motion), x)
            out[k] += y
            x = axpy6(-y * yields(w, k), load6(w.dof[k].gain), x)
        b = m.body[b].parent
        end = m.body[b].v_end


@kernel(inline=True)
def yields(w, k):
    """1/D, and 0 where a joint is fixed: what reaches it is borne there."""
    return w.dof[k].pivot if w.dof[k].fixed == 0 else 0.0


@kernel
def product(w, row, other_row):
    """Hᵀ D⁻¹ H of two rows of H."""
    # in two sums, or each term would wait for the one before it
    s, t, count = 0.0, 0.0, row.shape[0]
    for k in range(0, count - 1, 2):
        s += row[k] * yields(w, k) * other_row[k]
        t += row[k + 1] * yields(w, k + 1) * other_row[k + 1]
    if count % 2 != 0:
        s += row[count - 1] * yields(w, count - 1) * other_row[count - 1]
    return s + t
