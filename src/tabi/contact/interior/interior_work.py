"""Workspace of ``interior_point``: arrays that its kernels write, allocated once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.jit.structure import Structure

# largest number of rows that are solved by rows
FEW_ROWS = 160


class InteriorWork(Structure):
    """Workspace of the method for n contacts, with three rows each.

    Attributes:
        does: kind of each contact: CONE, POSITIVE, … of ``interior_system``.
        l, z, other: λ; z (z_0 of a cone last) or z⁺; z⁻ or z_0 of a ball; shape (3n,).
        dl, dz, dother: their step. pl, pz, pother: their step in the predictor.
        du: step of the velocities u. F: right side of the system.
        row: row of each unknown among all 3n. first: first unknown of each contact.
        mobility: W of the unknowns. matrix: the system, then its factors, in ``order``. right: its
            right side. scale: factor of each of its rows.
        back, stiff, pull: A⁻¹, K and A⁻¹ g of ``interior_motions``, shapes (n, 9), (n, 9), (n, 3).
        left: residual of its equations, shape (3n,).
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
    """Allocate the workspace for problems of up to so many contacts."""
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
