"""LU of a matrix of 6×6 blocks, most of them empty, without allocation.

Rows and columns are bodies. Eliminating the body i, with D its diagonal block and j, k its
later neighbours,

    U_ik = D⁻¹ H_ik,   H_jk ← H_jk − H_ji U_ik                                                 (1)
fills the places (j, k). The body with the fewest neighbours goes first (minimum degree), so a wall
of bricks costs little more than its height times its length. Pivots are sought inside the diagonal
blocks alone; those are regular wherever bodies have an inverse inertia and contacts dissipate, and
a direction that is not good is refused by the search of the solver that asked for it.

Where bodies hang in trees (``tree_lu``) children go before their parent, which is their neighbour.

Reference: George and Liu (1981), Computer solution of large sparse positive definite systems.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.jit import kernel
from tabi.jit.structure import Structure

NO_BLOCK = -1


class Elimination(Structure):
    """Which blocks there are, and in which order bodies are eliminated.

    Attributes:
        slot: index of each block in a table of blocks, NO_BLOCK where there is none, shape (n, n).
        order: bodies as they are eliminated, shape (n,).
        degree: neighbours left, shape (n,); −1 once eliminated.
        waiting: children left, shape (n,).
        laters, later: neighbours of the s-th eliminated body that come after it:
            later[s, :laters[s]].
        value: the blocks, shape (capacity, 6, 6).
        swap: exchanged rows of each diagonal block, shape (n, 6).
        scratch: two blocks, of ``tree_lu``.
    """

    slot: NDArray[np.int32]
    order: NDArray[np.int32]
    degree: NDArray[np.int32]
    waiting: NDArray[np.int32]
    laters: NDArray[np.int32]
    later: NDArray[np.int32]
    value: NDArray[np.float64]
    swap: NDArray[np.int32]
    scratch: NDArray[np.float64]


def allocate(bodies: int, blocks: int) -> Elimination:
    """Memory for a number of bodies and of blocks; bodies² blocks are always enough."""
    square = (bodies, bodies)
    return Elimination(
        slot=np.full(square, NO_BLOCK, np.int32),
        order=np.zeros(bodies, np.int32),
        degree=np.zeros(bodies, np.int32),
        waiting=np.zeros(bodies, np.int32),
        laters=np.zeros(bodies, np.int32),
        later=np.zeros(square, np.int32),
        value=np.zeros((blocks, 6, 6)),
        swap=np.zeros((bodies, 6), np.int32),
        scratch=np.zeros((2, 6, 6)),
    )


@kernel
def arrange(s, n, parent):
    """Order of elimination and slots of all blocks, from slots that are other than NO_BLOCK where
    the matrix has a block.

    Args:
        parent: of each body, before its children; negative without one.

    Returns:
        the number of blocks; more than len(s.value) have to be given memory first.
    """
    slot, degree, waiting = s.slot, s.degree, s.waiting
    count = 0
    for i in range(n):
        waiting[i] = 0
        if parent[i] >= 0:
            waiting[parent[i]] += 1
            # the body that it is eliminated with is its neighbour
            slot[i, parent[i]] = 0
    for i in range(n):
        degree[i] = 0
        for j in range(n):
            if slot[i, j] != NO_BLOCK or slot[j, i] != NO_BLOCK or i == j:
                slot[i, j] = count
                count += 1
                if slot[j, i] == NO_BLOCK:
                    slot[j, i] = 0
                if i != j:
                    degree[i] += 1
    for step in range(n):
        pivot = -1
        for i in range(n):
            if degree[i] >= 0 and waiting[i] == 0 and (pivot < 0 or degree[i] < degree[pivot]):
                pivot = i
        s.order[step] = pivot
        if parent[pivot] >= 0:
            waiting[parent[pivot]] -= 1
        m = 0
        for j in range(n):
            if j != pivot and degree[j] >= 0 and slot[pivot, j] != NO_BLOCK:
                s.later[step, m] = j
                m += 1
        s.laters[step] = m
        degree[pivot] = -1
        for x in range(m):
            i = s.later[step, x]
            degree[i] -= 1
            for y in range(m):
                j = s.later[step, y]
                if slot[i, j] == NO_BLOCK:
                    slot[i, j] = count
                    count += 1
                    degree[i] += 1
    return count


@kernel
def solve(s, n, b):
    """b ← H⁻¹ b; the blocks are overwritten.
    False where a diagonal block is singular or not finite.
    """
    if not factor_all(s, n):
        return False
    substitute_all(s, n, b)
    return True


@kernel
def factor_all(s, n):
    """H ← its factors; False where a diagonal block is singular or not finite."""
    H, slot = s.value, s.slot
    for step in range(n):
        i, m = s.order[step], s.laters[step]
        D, swap = H[slot[i, i]], s.swap[i]
        if not factor(D, swap):
            return False
        for x in range(m):
            substitute(D, swap, H[slot[i, s.later[step, x]]])
        for x in range(m):
            j = s.later[step, x]
            L = H[slot[j, i]]
            for y in range(m):
                k = s.later[step, y]
                subtract(H[slot[j, k]], L, H[slot[i, k]])
    return True


@kernel
def substitute_all(s, n, b):
    """b ← H⁻¹ b with the factors of H."""
    H, slot = s.value, s.slot
    for step in range(n):
        i = s.order[step]
        substitute_vector(H[slot[i, i]], s.swap[i], b, 6 * i)
        for x in range(s.laters[step]):
            j = s.later[step, x]
            subtract_vector(b, 6 * j, H[slot[j, i]], 6 * i)
    for back in range(n):
        step = n - 1 - back
        i = s.order[step]
        for x in range(s.laters[step]):
            k = s.later[step, x]
            subtract_vector(b, 6 * i, H[slot[i, k]], 6 * k)


@kernel
def factor(D, swap):
    """D ← L U with rows exchanged, 1/U_cc on the diagonal."""
    for c in range(6):
        pivot, size = c, abs(D[c, c])
        for r in range(c + 1, 6):
            if abs(D[r, c]) > size:
                pivot, size = r, abs(D[r, c])
        if not (size > 0.0 and size < 1e300):
            return False
        swap[c] = pivot
        if pivot != c:
            for q in range(6):
                D[c, q], D[pivot, q] = D[pivot, q], D[c, q]
        inverse = 1.0 / D[c, c]
        D[c, c] = inverse
        for r in range(c + 1, 6):
            f = D[r, c] * inverse
            D[r, c] = f
            for q in range(c + 1, 6):
                D[r, q] -= f * D[c, q]
    return True


@kernel
def substitute(D, swap, X):
    """X ← D⁻¹ X for six columns."""
    for c in range(6):
        p = swap[c]
        if p != c:
            for q in range(6):
                X[c, q], X[p, q] = X[p, q], X[c, q]
    for c in range(6):
        for r in range(c + 1, 6):
            f = D[r, c]
            for q in range(6):
                X[r, q] -= f * X[c, q]
    for back in range(6):
        c = 5 - back
        f = D[c, c]
        for q in range(6):
            X[c, q] *= f
        for r in range(c):
            f = D[r, c]
            for q in range(6):
                X[r, q] -= f * X[c, q]


@kernel
def substitute_vector(D, swap, b, i):
    """Substitute six numbers of b from i on, as ``substitute`` does."""
    for c in range(6):
        p = swap[c]
        if p != c:
            b[i + c], b[i + p] = b[i + p], b[i + c]
    for c in range(6):
        for r in range(c + 1, 6):
            b[i + r] -= D[r, c] * b[i + c]
    for back in range(6):
        c = 5 - back
        b[i + c] *= D[c, c]
        for r in range(c):
            b[i + r] -= D[r, c] * b[i + c]


@kernel
def subtract(C, A, B):
    """C ← C − A B."""
    for r in range(6):
        a0, a1, a2, a3, a4, a5 = A[r, 0], A[r, 1], A[r, 2], A[r, 3], A[r, 4], A[r, 5]
        for q in range(6):
            C[r, q] -= (
                a0 * B[0, q]
                + a1 * B[1, q]
                + a2 * B[2, q]
                + a3 * B[3, q]
                + a4 * B[4, q]
                + a5 * B[5, q]
            )


@kernel
def subtract_vector(b, i, A, j):
    """b_i ← b_i − A b_j."""
    for r in range(6):
        s = (
            A[r, 0] * b[j]
            + A[r, 1] * b[j + 1]
            + A[r, 2] * b[j + 2]
            + A[r, 3] * b[j + 3]
            + A[r, 4] * b[j + 4]
            + A[r, 5] * b[j + 5]
        )
        b[i + r] -= s
