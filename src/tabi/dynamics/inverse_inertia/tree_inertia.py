"""Ω of a whole tree by its joints, for trees that touch with many links: O(links), never a block
for every two of them.

With a the parent of body i, and the factors U, 1/D of ``aba``, a body follows its parent and yields
to the impulse Z_i that it carries, its own and that of all that hangs on it:

    V_i = P_i V_a + N_i Z_i,   Z_i = F_i + Σ_children P_cᵀ Z_c                                 (1)
The columns S_k of its joint give both, from the last to the first, with P = 1 and N = 0 at first:

    R = P S_k,   P ← P − R U_kᵀ/D_k,   N ← N + R Rᵀ/D_k                                       (2)
A fixed joint yields nothing, 1/D = 0. What a body does by itself follows from its parent's:

    Ω_ii = P_i Ω_aa P_iᵀ + N_i                                                                (3)
(1) is the Ω of ``body_inertia`` without its blocks, and the whole chain of carrying bodies has to
be listed, parents before children. Joints that follow others tie branches together: such families
keep the blocks.

References: Featherstone (2008), ch. 7; Wensing, Featherstone and Orin (2012), on propagators.
"""

from tabi.jit import kernel
from tabi.spatial.vector import axpy6, dot6, load6, store6

# in the list of parents: without one, and where Ω has blocks
ROOT, BLOCKS = -1, -2
# blocks of a body: P, N, and Ω of itself
FOLLOWS, YIELDS, SELF, EACH = 0, 1, 2, 3


@kernel
def link(m, w, b, out, e):
    """P and N of (2) for body b, in blocks e and e + 1; needs ``aba.factor``."""
    P, N = out[e + FOLLOWS], out[e + YIELDS]
    for r in range(6):
        for c in range(6):
            P[r, c], N[r, c] = 0.0, 0.0
        P[r, r] = 1.0
    for k in range(m.body[b].v_end - 1, m.body[b].v_start - 1, -1):
        dof = w.dof[k]
        if w.dof[k].fixed == 0:
            S, U = load6(dof.motion), load6(dof.gain)
            R = times(P, S)
            for r in range(6):
                x = dof.pivot * R[r]
                store6(N[r], axpy6(x, R, load6(N[r])))
                store6(P[r], axpy6(-x, U, load6(P[r])))


@kernel
def diagonal_block(out, e, above):
    """Equation (3) in block e + 2, exactly symmetric.

    Args:
        above: where the blocks of the parent start, negative without one.
    """
    P, N, O = out[e + FOLLOWS], out[e + YIELDS], out[e + SELF]
    for r in range(6):
        x = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        if above >= 0:
            # Ω of the parent is symmetric: its rows are its columns
            x = times(out[above + SELF], load6(P[r]))
        for c in range(r + 1):
            y = N[r, c]
            if above >= 0:
                y += dot6(x, load6(P[c]))
            O[r, c], O[c, r] = y, y


@kernel
def leave(m, w, b, F):
    """Add to w.dof.residual what the wrench F on body b and its subtree leaves in its joint.

    Returns:
        the wrench on its parent.
    """
    for k in range(m.body[b].v_end - 1, m.body[b].v_start - 1, -1):
        u = dot6(load6(w.dof[k].motion), F)
        w.dof[k].residual += u
        if w.dof[k].fixed == 0:
            F = axpy6(-u * w.dof[k].pivot, load6(w.dof[k].gain), F)
    return F


@kernel(inline=True)
def times(A, x):
    """Multiply six rows with a vector: A x."""
    return (
        dot6(load6(A[0]), x),
        dot6(load6(A[1]), x),
        dot6(load6(A[2]), x),
        dot6(load6(A[3]), x),
        dot6(load6(A[4]), x),
        dot6(load6(A[5]), x),
    )
