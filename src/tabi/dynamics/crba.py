"""The mass matrix by composite rigid bodies.

    M_kj = S_jᵀ F_k                                                                            (1)
for k of body i, j of i or of a body that carries it, F_k the momentum of ``composite``. All columns
of a tree share one origin and the world's axes, so F needs no transport on its way to the root.

Reference: Featherstone (2008), ch. 6.
"""

from tabi.dynamics import composite, kinematics
from tabi.jit import kernel
from tabi.spatial.vector import dot6, load6


@kernel
def mass_matrix(m, q, w, M):
    """M(q), symmetric, shape (v, v), armature on its diagonal."""
    kinematics.positions(m, q, w)
    of_bodies(m, w, 1, m.body.shape[0], M)


@kernel
def of_bodies(m, w, first, end, M):
    """The block of whole trees, bodies ``first`` to ``end``, with ``kinematics.positions`` at
    hand.
    """
    M[:, :] = 0.0
    composite.gather(m, w, first, end)
    if first >= end:
        return
    start = m.body[first].v_start
    for i in range(end - 1, first - 1, -1):
        body = m.body[i]
        for k in range(body.v_start, body.v_end):
            F, row = composite.momentum(w, i, k), k - start
            M[row, row] = m.dof[k].armature
            for j in range(body.v_start, k + 1):
                M[row, j - start] += dot6(load6(w.dof[j].motion), F)
                M[j - start, row] = M[row, j - start]
            carrier = body.parent
            while carrier != 0:
                for j in range(m.body[carrier].v_start, m.body[carrier].v_end):
                    x = dot6(load6(w.dof[j].motion), F)
                    M[row, j - start] = x
                    M[j - start, row] = x
                carrier = m.body[carrier].parent
