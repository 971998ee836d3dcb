"""The mass matrix by composite rigid bodies.

    I_i ← I_i + Σ_children I_j,   M_kj = S_jᵀ I_i S_k                                          (1)
for k of body i, j of i or of a body that carries it. All columns of a tree share one origin and the
world's axes, so I S needs no transport on its way to the root.

Reference: Featherstone (2008), ch. 6.
"""

from tabi._jit import kernel
from tabi.dynamics import articulated, kinematics
from tabi.spatial.vector import dot6, load6


@kernel
def mass_matrix(m, q, w, M):
    """M(q), symmetric, shape (v, v), armature on its diagonal."""
    kinematics.positions(m, q, w)
    composite(m, w, M)


@kernel
def composite(m, w, M):
    """The same, with ``kinematics.positions`` at hand."""
    M[:, :] = 0.0
    articulated.rigid_bodies(m, w)
    for i in range(m.body.shape[0] - 1, 0, -1):
        body = m.body[i]
        I = articulated.load(w.body[i].inertia)
        for k in range(body.v_start, body.v_end):
            F = articulated.mul(I, load6(w.dof[k].motion))
            M[k, k] = m.dof[k].armature
            for j in range(body.v_start, k + 1):
                M[k, j] += dot6(load6(w.dof[j].motion), F)
                M[j, k] = M[k, j]
            carrier = body.parent
            while carrier != 0:
                for j in range(m.body[carrier].v_start, m.body[carrier].v_end):
                    M[k, j] = M[j, k] = dot6(load6(w.dof[j].motion), F)
                carrier = m.body[carrier].parent
        if body.parent != 0:
            out = w.body[body.parent].inertia
            articulated.store(out, articulated.sum(articulated.load(out), I))
