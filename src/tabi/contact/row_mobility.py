"""W of a problem, made column by column where a solver first needs one, and kept until the next
problem.

Contacts have three rows, joints one. Newton's steps, of which a hard problem takes dozens, only
weigh and factor what is here (``point_newton``, ``interior_system``).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.jit import kernel
from tabi.jit.structure import Structure

# largest number of rows of a problem that is solved in the space of contacts
MAX_ROWS = 192


class RowMobility(Structure):
    """Memory of the matrix W.

    Attributes:
        W: square. first: of each three rows of the problem, their first row in W, and at the end
            the number of rows; made: whether their columns are there, shape (n,).
    """

    W: NDArray[np.float64]
    first: NDArray[np.int64]
    made: NDArray[np.int64]


def allocate(contacts: int) -> RowMobility:
    """Memory for problems of so many contacts."""
    size = min(3 * contacts, MAX_ROWS)
    return RowMobility(
        W=np.zeros((size, size)),
        first=np.zeros(contacts + 1, np.int64),
        made=np.zeros(contacts, np.int64),
    )


@kernel(inline=True)
def along_one_axis(c):
    """Whether only the last of three rows is any, as of joints."""
    for i in range(6):  # noqa: SIM110 - kernels have no generators
        if c.frame[i] != 0.0:
            return False
    return True


@kernel(inline=True)
def begin(p, m):
    """No column of a new problem is there yet."""
    row, count = 0, p.mu.shape[0]
    for k in range(count):
        m.first[k], m.made[k] = row, 0
        row += 1 if along_one_axis(p.contact[k]) else 3
    m.first[count] = row


@kernel(inline=True)
def fits(p, m):
    """Whether there is room for all rows."""
    return m.first[p.mu.shape[0]] <= m.W.shape[0]
