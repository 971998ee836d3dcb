"""Memory of the solvers: allocated once for a number of contacts, written by every call."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabi._jit import kernel

Floats = NDArray[np.float64]
DEPTH = 10


class Workspace(NamedTuple):
    """Arrays the kernels write.

    Attributes:
        u, trial, trial_u, best, delta, right: velocities, points and directions, shape (3n,).
        warm, found: impulses a ladder starts from and has found best, shape (3n,).
        matrix: of Newton's system, shape (3n, 3n), or empty for Gauss–Seidel alone.
        active: first row of each contact in that system, −1 where it opens, shape (n,).
        slope, known: B and A + (ε/ρ) B of each contact, shape (n, 9).
        alpha: sliding rates of the local problems, shape (n,).
        F, G, gram: of Anderson's acceleration.
    """

    u: Floats
    trial: Floats
    trial_u: Floats
    best: Floats
    delta: Floats
    right: Floats
    warm: Floats
    found: Floats
    matrix: Floats
    active: NDArray[np.int64]
    slope: Floats
    known: Floats
    alpha: Floats
    F: Floats
    G: Floats
    gram: Floats


def allocate(count: int, newton: bool = True) -> Workspace:
    """A workspace for ``count`` contacts; without Newton its memory is linear in them."""
    n = 3 * count
    vectors = {name: np.zeros(n) for name in ("u", "trial", "trial_u", "best", "delta", "right", "warm", "found")}
    return Workspace(
        **vectors,
        matrix=np.zeros((n, n) if newton else (0, 0)),
        active=np.zeros(count, np.int64),
        slope=np.zeros((count, 9)),
        known=np.zeros((count, 9)),
        alpha=np.zeros(count),
        F=np.zeros((DEPTH + 3, n)),
        G=np.zeros((DEPTH + 3, n)),
        gram=np.zeros((DEPTH, DEPTH + 1)),
    )


@kernel(inline=True)
def copy(out, values, n):
    """The first n numbers; memory may be longer than the problem at hand."""
    for i in range(n):
        out[i] = values[i]


@kernel(inline=True)
def fill(out, value, n):
    """The first n numbers, all the same."""
    for i in range(n):
        out[i] = value
