"""The contact problem as kernels read it: 3×3 blocks of W by rows, and products with it.

u = W λ + q                                                                                    (1)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from tabi.contact.rows import CONTACT
from tabi.jit import kernel

Floats = NDArray[np.float64]


class Blocks(NamedTuple):
    """Row k has blocks start[k] to start[k + 1], at columns column[·];
    the block on the diagonal comes first.

    Attributes:
        value: nine numbers a block, row by row.
        q: velocities without impulse, shape (3n,).
        kind, mu, bound: of each three rows, as in ``rows``, shape (n,).
        weight: ρ = 3/tr W_kk of each contact, shape (n,).
    """

    start: NDArray[np.int64]
    column: NDArray[np.int64]
    value: Floats
    q: Floats
    kind: NDArray[np.int64]
    mu: Floats
    bound: Floats
    weight: Floats

    def velocities(self, impulse: Floats) -> Floats:
        """Equation (1) by SciPy, apart from the kernels: what the judge believes."""
        n = len(self.q)
        return (
            scipy.sparse.bsr_matrix(
                (self.value.reshape(-1, 3, 3), self.column, self.start), shape=(n, n)
            )
            @ impulse
            + self.q
        )


def from_sparse(W: scipy.sparse.spmatrix, q: Floats, mu: Floats) -> Blocks:
    """Blocks of a matrix whose rows are ordered contact by contact, tangents first."""
    count = len(mu)
    bsr = scipy.sparse.csr_matrix(W).tobsr(blocksize=(3, 3))
    bsr.sum_duplicates()
    start = bsr.indptr.astype(np.int64)
    column = bsr.indices.astype(np.int64)
    value = bsr.data.reshape(-1, 9).astype(float)
    rows = np.repeat(np.arange(count), np.diff(start))
    order = np.lexsort((column, column != rows, rows))
    column, value = column[order], np.ascontiguousarray(value[order])
    weight = 3.0 / value[start[:-1]][:, [0, 4, 8]].sum(axis=1)
    kind, bound = np.full(count, CONTACT), np.zeros(count)
    q, mu = np.ascontiguousarray(q), np.ascontiguousarray(mu)
    return Blocks(start, column, value, q, kind, mu, bound, weight)


@kernel
def velocities(p, impulse, u):
    """Velocities of all rows by equation (1)."""
    for k in range(p.mu.shape[0]):
        row = row_velocity(p, k, impulse)
        u[3 * k], u[3 * k + 1], u[3 * k + 2] = row[0], row[1], row[2]


@kernel(inline=True)
def velocities_with(p, impulse, u, work):
    """Compute ``velocities``; blocks need no memory of their own."""
    velocities(p, impulse, u)


@kernel
def row_velocity(p, k, impulse):
    """u of contact k."""
    x, y, n = p.q[3 * k], p.q[3 * k + 1], p.q[3 * k + 2]
    for c in range(p.start[k], p.start[k + 1]):
        j = 3 * p.column[c]
        a, b, d = impulse[j], impulse[j + 1], impulse[j + 2]
        B = p.value[c]
        x += B[0] * a + B[1] * b + B[2] * d
        y += B[3] * a + B[4] * b + B[5] * d
        n += B[6] * a + B[7] * b + B[8] * d
    return x, y, n
