"""Memory of ``common_motions``: made where a solver first needs it, kept until the next problem."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.jit import kernel
from tabi.jit.structure import Structure

Floats = NDArray[np.float64]

# bodies, contacts and joints, and motions at most
MOST_BODIES, MOST_CONTACTS, MOST = 48, 160, 64
# rank before anybody asked, and where there are no motions of use
UNKNOWN, NONE = -1, 0


class MotionWork(Structure):
    """Arrays of ``common_motions``.

    Attributes:
        rank: r, UNKNOWN or NONE, shape (1,).
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
    turned: Floats
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
    twists, n = 6 * min(bodies, MOST_BODIES), min(contacts, MOST_CONTACTS)
    return MotionWork(
        rank=np.full(1, UNKNOWN),
        twist=np.zeros((twists, MOST)),
        turned=np.zeros((MOST, twists)),
        reach=np.zeros(bodies, np.int64),
        whole=np.zeros(twists),
        left=np.zeros(twists),
        row=np.zeros((3 * n, MOST)),
        length=np.zeros(n, np.int64),
        made=np.zeros(n, np.int64),
        weighted=np.zeros((3, MOST)),
        matrix=np.zeros((MOST, MOST)),
        order=np.zeros(MOST, np.int64),
        right=np.zeros(MOST),
        motion=np.zeros(MOST),
    )


@kernel(inline=True)
def begin(w):
    """Nothing of a new problem is known yet."""
    w.rank[0] = UNKNOWN
