"""Memory of ``bond_elimination``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.jit import kernel
from tabi.jit.structure import Structure

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class BondWork(Structure):
    """Memory of the elimination, of all groups at once.

    Attributes:
        end, inner: of each group the first row of its bonds, and how many of its bodies have other
            rows; these come first.
        first: of each group the place of its bonds among all.
        offset: how far bonds are open [m or rad], over rows. mismatch: what of it cannot be closed.
        unmet: velocity of bonds that no impulse stops [m/s or rad/s], over rows.
        closes: 1 where some are open. closing: impulses of (4), over rows.
        added: velocities of other rows that bonds add, over rows [m/s].
        joint, pivot: Y and 1/D of ``bond_rows``, over degrees of freedom and the rows of a group.
        place: of each degree of freedom its row of Y; degree: the other way round.
        T: over the rows of the bonds of a group and the twists of all bodies; groups with more are
            left to their law.
        W, L, K, S: of (3), the rows of a group from ``first`` on; W is scaled. scale: s. order: P.
        rank: ρ of each group.
        Y: T of the bodies by the factors of W⁺, so that T W⁺ Tᵀ = Yᵀ Y.
        b, x, y, z: scratch over rows. twist: over bodies.
        start, column, omega: blocks of Ω' over the inner bodies of groups.
    """

    end: Integers
    inner: Integers
    first: Integers
    offset: Floats
    mismatch: Floats
    unmet: Floats
    closes: Integers
    closing: Floats
    added: Floats
    joint: Floats
    pivot: Floats
    place: Integers
    degree: Integers
    T: Floats
    W: Floats
    L: Floats
    K: Floats
    S: Floats
    scale: Floats
    order: Integers
    rank: Integers
    Y: Floats
    b: Floats
    x: Floats
    y: Floats
    z: Floats
    twist: Floats
    start: Integers
    column: Integers
    omega: Floats


ROW_ARRAYS = ("offset", "mismatch", "unmet", "closing", "added")


def allocate(
    points: int, bodies: int, blocks: int, bonds: int, most: int, degrees: int = 0
) -> BondWork:
    """Memory for so many points, bodies, blocks of Ω' and bonds, of which a group may have ``most``
    rows, and for so many degrees of freedom and couplings.
    """
    rows = 6 * bonds
    n = min(rows, most)
    over_rows = 3 * points if bonds else 0
    vectors = {name: np.zeros(over_rows) for name in ROW_ARRAYS}
    return BondWork(
        **vectors,
        closes=np.zeros(1, np.int64),
        end=np.zeros(bodies + 1, np.int64),
        inner=np.zeros(bodies + 1, np.int64),
        first=np.zeros(bodies + 1, np.int64),
        joint=np.zeros((degrees if bonds else 0, n)),
        pivot=np.zeros(degrees if bonds else 0),
        place=np.zeros(degrees if bonds else 0, np.int64),
        degree=np.zeros(degrees if bonds else 0, np.int64),
        T=np.zeros((n, 6 * bodies)),
        **{name: np.zeros((rows, n)) for name in ("W", "L", "K", "S")},
        scale=np.zeros(rows),
        order=np.zeros(rows, np.int64),
        rank=np.zeros(bodies + 1, np.int64),
        Y=np.zeros((n, 6 * bodies)),
        **{name: np.zeros(rows) for name in ("b", "x", "y", "z")},
        twist=np.zeros(6 * bodies),
        start=np.zeros(bodies + 1, np.int64),
        column=np.zeros(blocks if bonds else 0, np.int64),
        omega=np.zeros((blocks if bonds else 0, 6, 6)),
    )


@kernel(inline=True)
def added(w, i):
    """Velocity that bonds add to a scalar row [m/s]."""
    return w.added[i] if w.added.shape[0] > 0 else 0.0


@kernel(inline=True)
def clear(w, points):
    """Bonds do nothing yet, where there are any."""
    for i in range(3 * points if w.scale.shape[0] > 0 else 0):
        w.added[i], w.unmet[i], w.mismatch[i], w.offset[i] = 0.0, 0.0, 0.0, 0.0
        w.closing[i] = 0.0
