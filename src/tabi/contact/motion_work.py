"""Memory of ``common_motions``: made where a solver first needs it, kept until the next problem."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.jit import kernel
from tabi.jit.structure import Structure

Floats = NDArray[np.float64]

# bodies, contacts and joints, and motions at most
MAX_BODIES, MAX_CONTACTS, MAX_MOTIONS = 48, 160, 64
# rank before it is computed, and where there are no motions of use
NOT_COMPUTED, NO_MOTIONS = -1, 0


class MotionWork(Structure):
    """Arrays of ``common_motions``.

    Attributes:
        rank: r, NOT_COMPUTED or NO_MOTIONS, shape (1,).
        twist: T, a body to each six rows. turned: T transposed, as it is found. reach: of each
            body, how many motions move it, the first ones. whole, left: how far twists move by an
            impulse along them, and what is left of that.
        row: G. length: of each three rows, how many motions move them. made: whether they are
            there, both of shape (n,).
        weighted: three rows of K G. matrix: 1 + Gᵀ K G, then its factors, in ``order``;
            right, motion: its right side, and y.
    """

    rank: NDArray[np.int64]
    twist: Floats
    twist_columns: Floats
    reach: NDArray[np.int64]
    whole: Floats
    left: Floats
    row: Floats
    length: NDArray[np.int64]
    made: NDArray[np.int64]
    weighted: Floats
    matrix: Floats
    order: NDArray[np.int64]
    right: Floats
    motion: Floats


def allocate(contacts: int, bodies: int) -> MotionWork:
    """Memory for problems of so many contacts and bodies."""
    twists, n = 6 * min(bodies, MAX_BODIES), min(contacts, MAX_CONTACTS)
    return MotionWork(
        rank=np.full(1, NOT_COMPUTED),
        twist=np.zeros((twists, MAX_MOTIONS)),
        twist_columns=np.zeros((MAX_MOTIONS, twists)),
        reach=np.zeros(bodies, np.int64),
        whole=np.zeros(twists),
        left=np.zeros(twists),
        row=np.zeros((3 * n, MAX_MOTIONS)),
        length=np.zeros(n, np.int64),
        made=np.zeros(n, np.int64),
        weighted=np.zeros((3, MAX_MOTIONS)),
        matrix=np.zeros((MAX_MOTIONS, MAX_MOTIONS)),
        order=np.zeros(MAX_MOTIONS, np.int64),
        right=np.zeros(MAX_MOTIONS),
        motion=np.zeros(MAX_MOTIONS),
    )


@kernel(inline=True)
def begin(w):
    """Nothing of a new problem is known yet."""
    w.rank[0] = NOT_COMPUTED
