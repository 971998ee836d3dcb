"""Composite rigid bodies: each body with all that hangs on it, as if the joints were frozen.

    m ← m_i + Σ m_j,   h ← m_i c_i + Σ h_j,   J ← J_i + m_i (c_i·c_i 1 − c_i c_iᵀ) + Σ J_j       (1)
over the children j: mass, first moment and tensor about the tree's origin, in the world's axes, so
that children add without transport. A joint that moves with the column S = (s, s_o) and carries
the body gives it the momentum, angular about the tree's origin

    F = (J s + h × s_o,  m s_o + s × h)                                                        (2)

Reference: Featherstone (2008), ch. 6.
"""

from tabi.jit import kernel
from tabi.spatial.vector import add, angular, cross, linear, load3, load6, pair, scale, sym_mul


@kernel
def gather(m, w, first, end):
    """(1) of whole trees, bodies ``first`` to ``end``: m, h and J in the first ten numbers of
    ``inertia``; needs ``kinematics.positions``.
    """
    for i in range(first, end):
        out, mass, c, J = (
            w.body[i].inertia,
            m.body[i].mass,
            load3(w.body[i].centre),
            w.body[i].tensor,
        )
        x, y, z = mass * c[0], mass * c[1], mass * c[2]
        xx, yy, zz = x * c[0], y * c[1], z * c[2]
        out[0], out[1], out[2], out[3] = mass, x, y, z
        out[4], out[5], out[6] = J[0] + yy + zz, J[1] - x * c[1], J[2] - x * c[2]
        out[7], out[8], out[9] = J[3] + xx + zz, J[4] - y * c[2], J[5] + xx + yy
    for i in range(end - 1, first - 1, -1):
        parent = m.body[i].parent
        if parent != 0:
            for k in range(10):
                w.body[parent].inertia[k] += w.body[i].inertia[k]


@kernel(inline=True)
def momentum(w, body, k):
    """F of (2) of a body with all that hangs on it, moved by the degree of freedom k alone."""
    row, S = w.body[body].inertia, load6(w.dof[k].motion)
    h = load3(row[1:4])
    moment = add(sym_mul(load6(row[4:10]), angular(S)), cross(h, linear(S)))
    return pair(moment, add(scale(row[0], linear(S)), cross(angular(S), h)))


@kernel
def masses(m, w, first, end):
    """m and h of (1) alone, as ``gather`` does; returns the mass of all."""
    total = 0.0
    for i in range(first, end):
        out, mass, c = w.body[i].inertia, m.body[i].mass, load3(w.body[i].centre)
        out[0], out[1], out[2], out[3] = mass, mass * c[0], mass * c[1], mass * c[2]
        total += mass
    for i in range(end - 1, first - 1, -1):
        parent = m.body[i].parent
        if parent != 0:
            for k in range(4):
                w.body[parent].inertia[k] += w.body[i].inertia[k]
    return total
