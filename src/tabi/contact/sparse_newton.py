"""Newton's system of a large bare problem, by the factorisations of SciPy.

A problem that comes as a matrix alone has no bodies to work with, and a dense elimination in a
kernel costs the cube of its contacts. Here the same Newton runs as plain Python around compiled
kernels, with SuperLU where W is sparse and LAPACK where it is full. It allocates, so it is for the
door, never for the step.
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg

from tabi.contact.blocks import velocities_with
from tabi.contact.newton import newton_on, price, row_map
from tabi.jit import kernel

# share of blocks above which a full factorisation is the faster one
MAX_FILL_RATIO = 0.25


def direction(p, form, factor, eps, u, l, work) -> bool:
    """Δλ of equation (1) of ``newton`` in work.delta;
    contacts that open get Δλ = −λ and leave the system.
    """
    count = len(p.mu)
    known, slope, right = work.known, work.slope, work.right
    linearise(p, form, factor, eps, u, l, known, slope, right)
    closed = slope[:, [0, 4, 8]].any(axis=1)
    delta = np.where(np.repeat(closed, 3), 0.0, -np.repeat(factor * p.weight, 3) * right)
    row = np.repeat(np.arange(count), np.diff(p.start))
    blocks = np.einsum("eij,ejk->eik", slope.reshape(-1, 3, 3)[row], p.value.reshape(-1, 3, 3))
    diagonal = p.start[:-1]
    blocks[diagonal] += known.reshape(-1, 3, 3)
    b = -right
    crosses = ~closed[p.column] & closed[row]
    np.subtract.at(
        b.reshape(-1, 3),
        row[crosses],
        np.einsum("eij,ej->ei", blocks[crosses], delta.reshape(-1, 3)[p.column[crosses]]),
    )
    place = np.cumsum(closed) - 1
    is_open = closed[p.column] & closed[row]
    size = int(closed.sum())
    rows = np.flatnonzero(np.repeat(closed, 3))
    if size:
        where = (place[row[is_open]], place[p.column[is_open]])
        try:
            delta[rows] = _solve(blocks[is_open], where, size, b[rows])
        except (RuntimeError, ValueError, scipy.linalg.LinAlgError):
            return False
    work.delta[:] = delta
    return bool(np.isfinite(delta).all())


def _solve(blocks, where, size, b):
    """The system of 3×3 blocks at (row, column), which are all different."""
    if len(blocks) > MAX_FILL_RATIO * size * size:
        H = np.zeros((size, 3, size, 3))
        H[where[0], :, where[1], :] = blocks
        with warnings.catch_warnings():
            warnings.simplefilter("error", scipy.linalg.LinAlgWarning)
            return scipy.linalg.lu_solve(
                scipy.linalg.lu_factor(
                    H.reshape(3 * size, 3 * size), overwrite_a=True, check_finite=False
                ),
                b,
                check_finite=False,
            )
    i, j = np.indices((3, 3))
    rows, columns = 3 * where[0][:, None, None] + i, 3 * where[1][:, None, None] + j
    H = scipy.sparse.csc_matrix(
        (blocks.ravel(), (rows.ravel(), columns.ravel())), shape=(3 * size, 3 * size)
    )
    return scipy.sparse.linalg.splu(H).solve(b)


@kernel
def linearise(p, form, factor, eps, u, l, known, slope, right):
    """F, A + (ε/ρ) B and B of all contacts."""
    for k in range(p.mu.shape[0]):
        i, rho = 3 * k, factor * p.weight[k]
        F, A, B = row_map(p, k, form, rho, u, l)
        right[i], right[i + 1], right[i + 2] = F[0], F[1], F[2]
        for c in range(9):
            slope[k, c] = B[c]
            known[k, c] = A[c] + eps / rho * B[c]


solve = newton_on(velocities_with, direction, price, compiled=False)
