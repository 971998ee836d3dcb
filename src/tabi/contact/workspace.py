"""Memory of the solvers: allocated once for a number of contacts, written by every call."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabi.contact import budget
from tabi.jit import kernel

Floats = NDArray[np.float64]
DEPTH = 10
# contacts that do not open, of ``point_newton`` at most; joints count for a third
MAX_DENSE_CONTACTS = 48


class SolverWorkspace(NamedTuple):
    """Arrays the kernels write.

    Attributes:
        u, trial, trial_u, best, delta, right: velocities, points and directions, shape (3n,).
        best_impulse: best impulses of a list of attempts, shape (3n,).
        friction: coefficients it puts aside, shape (n,).
        matrix: of Newton's system, shape (3n, 3n), or empty for Gauss–Seidel alone.
        active: first row of each contact in that system, −1 where it opens, shape (n,).
        slope, known: B and A + (ε/ρ) B of each contact, shape (n, 9).
        alpha: sliding rates of the local problems, shape (n,).
        F, G, gram: of Anderson's acceleration.
        budget: what was done and may be, see ``budget``.
    """

    u: Floats
    trial: Floats
    trial_u: Floats
    best: Floats
    delta: Floats
    right: Floats
    best_impulse: Floats
    friction: Floats
    matrix: Floats
    active: NDArray[np.int64]
    slope: Floats
    known: Floats
    alpha: Floats
    F: Floats
    G: Floats
    gram: Floats
    budget: NDArray[np.int64]


def memory(count: int, newton: bool = True) -> Floats:
    """Memory that ``carve`` needs for ``count`` contacts; without Newton it is linear in them."""
    n = 3 * count
    return np.zeros(
        (7 + 2 * (DEPTH + 3)) * n + 20 * count + DEPTH * (DEPTH + 1) + (n * n if newton else 0)
    )


def allocate(count: int, newton: bool = True) -> SolverWorkspace:
    """A workspace for ``count`` contacts."""
    return carve(memory(count, newton), integers(count))


def integers(count: int) -> NDArray[np.int64]:
    """The whole numbers that ``carve`` needs."""
    return np.concatenate([np.zeros(count, np.int64), budget.unlimited()])


@kernel(views=True)
def carve(memory, integers):
    """Two pieces of memory as a workspace: handing over two arrays to a kernel is cheaper
    than seventeen.
    """
    count = integers.shape[0] - budget.SIZE
    n, m = 3 * count, DEPTH + 3
    at, gram = 7 * n + 20 * count, 7 * n + 20 * count + 2 * m * n
    rest = memory[gram + DEPTH * (DEPTH + 1) :]
    size = n if rest.shape[0] > 0 else 0
    return SolverWorkspace(
        memory[:n],
        memory[n : 2 * n],
        memory[2 * n : 3 * n],
        memory[3 * n : 4 * n],
        memory[4 * n : 5 * n],
        memory[5 * n : 6 * n],
        memory[6 * n : 7 * n],
        memory[7 * n : 7 * n + count],
        rest.reshape((size, size)),
        integers[:count],
        memory[7 * n + count : 7 * n + 10 * count].reshape((count, 9)),
        memory[7 * n + 10 * count : 7 * n + 19 * count].reshape((count, 9)),
        memory[7 * n + 19 * count : at],
        memory[at : at + m * n].reshape((m, n)),
        memory[at + m * n : gram].reshape((m, n)),
        memory[gram : gram + DEPTH * (DEPTH + 1)].reshape((DEPTH, DEPTH + 1)),
        integers[count:],
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
