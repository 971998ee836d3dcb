"""Newton's system of a group of trees by elimination from the leaves to the roots: O(links) where
links touch what stands.

With F and S of ``twist_newton``, and P, N of ``trees``, the twists V = Ω (F − S V) are, body by
body, and with w_i what body i moves against where its parent a takes it,

    V_i = P_i V_a + w_i,   w_i = N_i Z_i,   Z_i = F_i − Σ_k S_ik V_k + Σ_children P_cᵀ Z_c     (1)
A body whose children are gone is first taken along by its parent, a change of variables,

    S_ak ← S_ak + P_iᵀ S_ik,   S_ka ← S_ka + S_ki P_i,   F_a ← F_a + P_iᵀ F_i                  (2)
and what is left of it is a free body of inverse inertia N_i, singular as its joint is narrow:

    Y_k = (1 + N_i S_ii)⁻¹ N_i S_ik,   y = (1 + N_i S_ii)⁻¹ N_i F_i,                           (3)
    S_jk ← S_jk − S_ji Y_k,   F_j ← F_j − S_ji y,   in the end  w_i = y − Σ Y_k V_k
over its later neighbours j, k: those it touches, and its parent. It is the articulated-body
algorithm with contacts for springs; S need not be symmetric. Links that touch what stands have no
neighbour but their parent, and 96 of them cost 3·96 − 2 blocks instead of 96². Contacts and bonds
between two links, or two trees, fill places as in ``block_lu``, whose order this is, children
before parents.

References: Featherstone (2008), ch. 7; George and Liu (1981).
"""

from tabi.contact.algebra.block_lu import (
    factor,
    substitute,
    substitute_vector,
    subtract,
    subtract_vector,
)
from tabi.contact.trees import FOLLOWS, YIELDS, lifted
from tabi.dynamics.inverse_inertia.tree_inertia import times
from tabi.jit import kernel
from tabi.spatial.vector import add6, load6, store6


@kernel(apart="none", rare=True)
def clear(s, S, n):
    """No block has anything in it, those that elimination fills neither."""
    for step in range(n):
        i = s.order[step]
        _zero(S[s.slot[i, i]])
        for x in range(s.laters[step]):
            j = s.later[step, x]
            _zero(S[s.slot[i, j]])
            _zero(S[s.slot[j, i]])


@kernel(apart="boolean", rare=True)
def solve(p, s, S, F, V):
    """V of (1); S and F are overwritten. False where a pivot is singular or not finite.

    Args:
        s: the elimination. S: blocks in its slots. F: wrenches, shape (6n,).
    """
    n, slot = p.start.shape[0] - 1, s.slot
    M, T = s.scratch[0], s.scratch[1]
    for step in range(n):
        i, m = s.order[step], s.laters[step]
        N, D = p.omega[p.start[i] + YIELDS], S[slot[i, i]]
        if p.parent[i] >= 0:
            _take_along(p, s, S, F, step)
        _set_product(M, N, D)
        for c in range(6):
            M[c, c] += 1.0
        if not factor(M, s.swap[i]):
            return False
        store6(V[6 * i : 6 * i + 6], times(N, load6(F[6 * i : 6 * i + 6])))
        substitute_vector(M, s.swap[i], V, 6 * i)
        for x in range(m):
            B = S[slot[i, s.later[step, x]]]
            _set_product(T, N, B)
            substitute(M, s.swap[i], T)
            _copy(B, T)
        for x in range(m):
            j = s.later[step, x]
            L = S[slot[j, i]]
            _subtract_from(F, 6 * j, L, V, 6 * i)
            for y in range(m):
                k = s.later[step, y]
                subtract(S[slot[j, k]], L, S[slot[i, k]])
    for step in range(n - 1, -1, -1):
        i = s.order[step]
        for x in range(s.laters[step]):
            k = s.later[step, x]
            subtract_vector(V, 6 * i, S[slot[i, k]], 6 * k)
        a = p.parent[i]
        if a >= 0:
            P = p.omega[p.start[i] + FOLLOWS]
            v = times(P, load6(V[6 * a : 6 * a + 6]))
            store6(V[6 * i : 6 * i + 6], add6(load6(V[6 * i : 6 * i + 6]), v))
    return True


@kernel
def _take_along(p, s, S, F, step):
    """Equation (2) for the body of a step."""
    i, slot = s.order[step], s.slot
    a, P, D = p.parent[i], p.omega[p.start[i] + FOLLOWS], S[slot[i, i]]
    for x in range(s.laters[step]):
        k = s.later[step, x]
        if k != a:
            _add_transposed(S[slot[a, k]], P, S[slot[i, k]])
            add_product(S[slot[k, a]], S[slot[k, i]], P)
    # S_aa meets both sides: S_ai P + Pᵀ (S_ia + S_ii P)
    add_product(S[slot[a, a]], S[slot[a, i]], P)
    add_product(S[slot[i, a]], D, P)
    _add_transposed(S[slot[a, a]], P, S[slot[i, a]])
    _add_transposed(S[slot[a, i]], P, D)
    z = lifted(p, i, load6(F[6 * i : 6 * i + 6]))
    store6(F[6 * a : 6 * a + 6], add6(load6(F[6 * a : 6 * a + 6]), z))


@kernel
def add_product(C, A, B):
    """C ← C + A B."""
    for r in range(6):
        a0, a1, a2, a3, a4, a5 = A[r, 0], A[r, 1], A[r, 2], A[r, 3], A[r, 4], A[r, 5]
        for q in range(6):
            C[r, q] += (
                a0 * B[0, q]
                + a1 * B[1, q]
                + a2 * B[2, q]
                + a3 * B[3, q]
                + a4 * B[4, q]
                + a5 * B[5, q]
            )


@kernel
def _add_transposed(C, A, B):
    """C ← C + Aᵀ B."""
    for r in range(6):
        a0, a1, a2, a3, a4, a5 = A[0, r], A[1, r], A[2, r], A[3, r], A[4, r], A[5, r]
        for q in range(6):
            C[r, q] += (
                a0 * B[0, q]
                + a1 * B[1, q]
                + a2 * B[2, q]
                + a3 * B[3, q]
                + a4 * B[4, q]
                + a5 * B[5, q]
            )


@kernel
def _set_product(C, A, B):
    """C ← A B."""
    _zero(C)
    add_product(C, A, B)


@kernel
def _zero(C):
    """C ← 0."""
    for r in range(6):
        for q in range(6):
            C[r, q] = 0.0


@kernel
def _copy(C, A):
    """C ← A."""
    for r in range(6):
        for q in range(6):
            C[r, q] = A[r, q]


@kernel
def _subtract_from(F, j, A, V, i):
    """F_j ← F_j − A V_i."""
    x = times(A, load6(V[i : i + 6]))
    f = load6(F[j : j + 6])
    store6(
        F[j : j + 6],
        (f[0] - x[0], f[1] - x[1], f[2] - x[2], f[3] - x[3], f[4] - x[4], f[5] - x[5]),
    )
