"""Memory of ``interior_point``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.jit.structure import Structure

# rows that are solved without twists at most
FEW_ROWS = 160


class InteriorWork(Structure):
    """Memory of the method.

    Attributes:
        does: what each three rows are (``interior_system``).
        l, z, other: λ, z (head of a cone last) or z⁺, and z⁻ or z_0 of a ball, shape (3n,).
            Those with d: their step; with p: that of the predictor. du: of velocities. F: right
            side of the step.
        row: of each unknown, its row among all 3n. first: of each three rows, their first unknown.
        mobility: W. matrix: of the system, then its factors, in ``order``; right: its right side;
            scale: of its rows.
        back, stiff, pull: A⁻¹, K and A⁻¹ g of ``interior_motions``, shapes (n, 9) and (n, 3). left:
            of its equations.
    """

    does: NDArray[np.int64]
    l: NDArray[np.float64]
    z: NDArray[np.float64]
    other: NDArray[np.float64]
    dl: NDArray[np.float64]
    du: NDArray[np.float64]
    dz: NDArray[np.float64]
    dother: NDArray[np.float64]
    pl: NDArray[np.float64]
    pz: NDArray[np.float64]
    pother: NDArray[np.float64]
    F: NDArray[np.float64]
    row: NDArray[np.int64]
    first: NDArray[np.int64]
    order: NDArray[np.int64]
    mobility: NDArray[np.float64]
    matrix: NDArray[np.float64]
    right: NDArray[np.float64]
    scale: NDArray[np.float64]
    back: NDArray[np.float64]
    stiff: NDArray[np.float64]
    pull: NDArray[np.float64]
    left: NDArray[np.float64]


def allocate(contacts: int) -> InteriorWork:
    """Memory for problems of so many contacts."""
    n, rows = min(3 * contacts, FEW_ROWS), 3 * contacts
    over_rows = ("l", "z", "other", "dl", "du", "dz", "dother", "pl", "pz", "pother", "F", "left")
    return InteriorWork(
        **{name: np.zeros(rows) for name in over_rows},
        does=np.zeros(contacts, np.int64),
        row=np.zeros(n, np.int64),
        first=np.zeros(contacts, np.int64),
        order=np.zeros(n, np.int64),
        mobility=np.zeros((n, n)),
        matrix=np.zeros((n, n)),
        right=np.zeros(n),
        scale=np.zeros(n),
        back=np.zeros((contacts, 9)),
        stiff=np.zeros((contacts, 9)),
        pull=np.zeros((contacts, 3)),
    )
