"""Dense symmetric systems by rows, and the degrees of freedom that leave them.

    M = L Lᵀ,   Y = L⁻¹ B,   Bᵀ M⁻¹ B = Yᵀ Y                                         (1)
A joint that follows another, v_f = ρ v_l, leaves by substitution; one whose motion is given leaves
with its row and column:

    M ← Tᵀ M T,   B ← Tᵀ B,   T = 1 + (ρ at f, l), column f zero                     (2)
Rows that are zero are passed over in (1), and so are those that rounding alone keeps from zero.
"""

from math import sqrt

from tabi.jit import kernel


@kernel
def constrain(m, M, B, done, is_fixed):
    """Equation (2) for all couplings, followers before their leaders; done, is_fixed:
    memory for each coupling and each row.
    """
    for j in range(M.shape[0]):
        is_fixed[j] = m.dof[j].prescribed
    count = m.mimic.shape[0]
    for c in range(count):
        done[c] = 0
    for _ in range(count):
        for c in range(count):
            if done[c] == 0 and not _leads(m, m.mimic[c].follower, done):
                done[c] = 1
                _substitute(
                    M, B, m.mimic[c].follower, m.mimic[c].leader, m.mimic[c].ratio, is_fixed
                )
    for j in range(M.shape[0]):
        if is_fixed[j] != 0:
            _leave(M, B, j)


@kernel
def _leads(m, j, done):
    """Whether a joint that is not eliminated yet follows j."""
    count = 0
    for c in range(m.mimic.shape[0]):
        if done[c] == 0 and m.mimic[c].leader == j:
            count += 1
    return count > 0


@kernel
def _substitute(M, B, f, l, ratio, is_fixed):
    if is_fixed[f] != 0:
        # a follower that cannot move holds its leader
        if ratio != 0.0:
            is_fixed[l] = 1
        return
    for j in range(M.shape[0]):
        M[l, j] += ratio * M[f, j]
    for j in range(M.shape[0]):
        M[j, l] += ratio * M[j, f]
    for j in range(B.shape[1]):
        B[l, j] += ratio * B[f, j]
    _leave(M, B, f)


@kernel
def _leave(M, B, j):
    for i in range(M.shape[0]):
        M[i, j] = 0.0
        M[j, i] = 0.0
    for i in range(B.shape[1]):
        B[j, i] = 0.0


@kernel
def factor(M):
    """L of (1) in the lower half of M, which is read and overwritten;
    1/L on its diagonal, 0 in rows that are passed over.
    """
    for i in range(M.shape[0]):
        whole = M[i, i]
        for j in range(i):
            s = M[i, j]
            for k in range(j):
                s -= M[i, k] * M[j, k]
            M[i, j] = s * M[j, j]
        s = whole
        for k in range(i):
            s -= M[i, k] * M[i, k]
        M[i, i] = 1.0 / sqrt(s) if s > 1e-15 * whole else 0.0


@kernel
def forward(L, B):
    """Y of (1) in B."""
    for i in range(B.shape[0]):
        for k in range(i):
            f = L[i, k]
            if f != 0.0:
                for j in range(B.shape[1]):
                    B[i, j] -= f * B[k, j]
        for j in range(B.shape[1]):
            B[i, j] *= L[i, i]


@kernel
def square(Y, sign, out):
    """out += ± Yᵀ Y, symmetric."""
    for k in range(Y.shape[0]):
        for i in range(out.shape[0]):
            f = sign * Y[k, i]
            if f != 0.0:
                for j in range(i + 1):
                    out[i, j] += f * Y[k, j]
    mirror(out)


@kernel
def mirror(A):
    """The upper half of A becomes the lower one's mirror image."""
    for i in range(A.shape[0]):
        for j in range(i):
            A[j, i] = A[i, j]
