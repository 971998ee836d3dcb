"""Joints that follow others (``mimic``), seen from the factors of ``aba``:
the directions that they take away.

With M̂⁻¹ = L⁻ᵀ D⁻¹ L⁻¹ the rows G of the couplings (1 at the follower, −ratio at the leader) become
H = L⁻¹ Gᵀ, one pass up two branches for each, made orthonormal by Gram and Schmidt:

    H = L⁻¹ Gᵀ,   Hᵀ D⁻¹ H = 1                                                                 (1)
The constrained inverse M̂⁻¹ − M̂⁻¹ Gᵀ (G M̂⁻¹ Gᵀ)⁻¹ G M̂⁻¹ is then a projection of what reaches the
joints, and of Ω:

    u ← u − H Hᵀ D⁻¹ u,   Ω_ij ← Ω_ij − B_iᵀ B_j,   B_i = Hᵀ D⁻¹ R_i                           (2)
R_i: the rows of ``body_inertia``, whose ``Chains`` the kernels here read and write. Fixed joints
give way to nothing, and what their rows hold is their reaction; a coupling between two of them
takes nothing away.
"""

from math import sqrt

from tabi.dynamics.coupling import leave, product, yields
from tabi.jit import kernel
from tabi.spatial.vector import axpy6, load6, store6


@kernel(apart="none", rare=True)
def prepare(m, w, c, bodies, count):
    """H of (1), and B of (2) for each contacting body; needs their rows R."""
    directions(m, w, c)
    for i in range(count):
        if c.contacting[bodies[i]].plain == 0:
            _share(m, c, bodies[i])


@kernel
def directions(m, w, c):
    """H of (1), a direction to a row of c.follower;
    one that the others already take away becomes zero.
    """
    for e in range(m.mimic.shape[0]):
        for k in range(c.follower.shape[1]):
            c.follower[e, k] = 0.0
        leave(m, w, c.follower[e], m.mimic[e].follower, 1.0)
        leave(m, w, c.follower[e], m.mimic[e].leader, -m.mimic[e].ratio)
        before = product(w, c.follower[e], c.follower[e])
        for f in range(e):
            s = product(w, c.follower[f], c.follower[e])
            for k in range(c.follower.shape[1]):
                c.follower[e, k] -= s * c.follower[f, k]
        after = product(w, c.follower[e], c.follower[e])
        # below 1e-10 of its length it is rounding, not direction
        scale = 1.0 / sqrt(after) if after > 1e-20 * before else 0.0
        for k in range(c.follower.shape[1]):
            c.follower[e, k] *= scale


@kernel
def _share(m, c, body):
    """B of (2) for a body, whose rows R and 1/D are in c.row."""
    t, b = c.body[body].slot + c.body[body].depth, body
    for e in range(m.mimic.shape[0]):
        store6(c.share[body, e], (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    while b != 0:
        for k in range(m.body[b].v_end - 1, m.body[b].v_start - 1, -1):
            t -= 1
            for e in range(m.mimic.shape[0]):
                store6(
                    c.share[body, e],
                    axpy6(c.follower[e, k] * c.row[t, 6], load6(c.row[t]), load6(c.share[body, e])),
                )
        b = m.body[b].parent


@kernel(inline=True)
def take(c, a, b, out, e):
    """Ω of (2) for the bodies a and b, in block e."""
    for f in range(c.share.shape[1]):
        for r in range(6):
            store6(out[e, r], axpy6(-c.share[a, f, r], load6(c.share[b, f]), load6(out[e, r])))


@kernel(apart="none", rare=True)
def remove(w, c):
    """u of (2), in w.dof.residual."""
    for e in range(c.follower.shape[0]):
        s = 0.0
        for k in range(c.follower.shape[1]):
            s += c.follower[e, k] * yields(w, k) * w.dof[k].residual
        for k in range(c.follower.shape[1]):
            w.dof[k].residual -= s * c.follower[e, k]
