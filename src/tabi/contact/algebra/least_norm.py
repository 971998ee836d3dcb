"""Small systems that may be singular: of all z that miss r least, the one with the least norm.

Feet that are rigid to each other, on locked legs or with prescribed joints, ask more than once for
the same velocity. Then S z = r leaves open how they share what they bear, and what r asks for twice
differs by rounding: a plain solution is as large as one over rounding. The pseudo-inverse has
neither fault, is unique, and changes smoothly with S as long as the rank stays. From Gaussian
elimination with complete pivoting, which ends where what is left is below RANK of the largest:

    P S Q = L D U,   L: n × ρ, unit lower;   D: ρ pivots;   U: ρ × n, unit upper               (1)
    S⁺ = Q Uᵀ (U Uᵀ)⁻¹ D⁻¹ (Lᵀ L)⁻¹ Lᵀ P                                                       (2)
No entry of L and U is above 1, so that the two products in (2) are far from singular.

References: Ben-Israel and Greville (2003), Generalized Inverses, ch. 1, sec. 6; Golub and Van Loan
(2013), Matrix Computations, sec. 3.4.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.contact.algebra import linear
from tabi.jit import kernel
from tabi.jit.structure import Structure

# pivots below this part of the largest entry are rounding
RANK = 1e-10


class Factors(Structure):
    """Factors of (1) and (2), for systems up to a size.

    Attributes:
        LDU: the eliminated matrix. row, column: P and Q as orders. rank: ρ, shape (1,).
        left, right: Cholesky's factors of Lᵀ L and U Uᵀ. y: scratch.
    """

    LDU: NDArray[np.float64]
    row: NDArray[np.int64]
    column: NDArray[np.int64]
    rank: NDArray[np.int64]
    left: NDArray[np.float64]
    right: NDArray[np.float64]
    y: NDArray[np.float64]


def allocate(most: int) -> Factors:
    """Memory for systems of up to so many rows."""
    memory: dict[str, Any] = {name: np.zeros((most, most)) for name in ("LDU", "left", "right")}
    memory |= {name: np.zeros(most, np.int64) for name in ("row", "column")}
    return Factors(**memory, rank=np.zeros(1, np.int64), y=np.zeros(most))


@kernel
def factor(A, n, k):
    """(1) of the leading n rows and columns of A, and the products of (2), in k."""
    largest = 0.0
    for i in range(n):
        k.row[i], k.column[i] = i, i
        for j in range(n):
            k.LDU[i, j] = A[i, j]
            largest = max(largest, abs(A[i, j]))
    rank = 0
    while rank < n and _pivot(k, n, rank) > RANK * largest:
        inverse = 1.0 / k.LDU[rank, rank]
        for i in range(rank + 1, n):
            f = k.LDU[i, rank] * inverse
            k.LDU[i, rank] = f
            for j in range(rank + 1, n):
                k.LDU[i, j] -= f * k.LDU[rank, j]
        # row of U
        for j in range(rank + 1, n):
            k.LDU[rank, j] *= inverse
        rank += 1
    k.rank[0] = rank
    for i in range(rank):
        for j in range(i + 1):
            # diagonals of L and U are 1, and D is in their place
            left, right = (1.0, 1.0) if i == j else (k.LDU[i, j], k.LDU[j, i])
            for r in range(i + 1, n):
                left += k.LDU[r, i] * k.LDU[r, j]
                right += k.LDU[i, r] * k.LDU[j, r]
            k.left[i, j], k.right[i, j] = left, right
    linear.cholesky(k.left, rank, 0.0)
    linear.cholesky(k.right, rank, 0.0)


@kernel
def _pivot(k, n, at):
    """Bring the largest entry that is left to the diagonal; its size."""
    size, row, column = 0.0, at, at
    for i in range(at, n):
        for j in range(at, n):
            if abs(k.LDU[i, j]) > size:
                size, row, column = abs(k.LDU[i, j]), i, j
    if row != at:
        k.row[at], k.row[row] = k.row[row], k.row[at]
        for j in range(n):
            k.LDU[at, j], k.LDU[row, j] = k.LDU[row, j], k.LDU[at, j]
    if column != at:
        k.column[at], k.column[column] = k.column[column], k.column[at]
        for i in range(n):
            k.LDU[i, at], k.LDU[i, column] = k.LDU[i, column], k.LDU[i, at]
    return size


@kernel
def solve(k, b, n):
    """b ← S⁺ b, by (2)."""
    rank = k.rank[0]
    for j in range(rank):
        total = b[k.row[j]]
        for i in range(j + 1, n):
            total += k.LDU[i, j] * b[k.row[i]]
        k.y[j] = total
    linear.cholesky_solve(k.left, k.y, rank)
    for j in range(rank):
        k.y[j] /= k.LDU[j, j]
    linear.cholesky_solve(k.right, k.y, rank)
    for j in range(n):
        total = k.y[j] if j < rank else 0.0
        for i in range(min(j, rank)):
            total += k.LDU[i, j] * k.y[i]
        b[k.column[j]] = total
