"""Memory of the solvers of contact problems between bodies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.contact import budget, motion_work, row_mobility
from tabi.contact.algebra import block_lu
from tabi.contact.interior import interior_work
from tabi.contact.workspace import DEPTH, MAX_DENSE_CONTACTS
from tabi.jit.structure import Structure

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class BodyWork(Structure):
    """Arrays the kernels write: over contacts, over bodies, and of the systems of bodies.

    Attributes:
        u, trial, trial_u, best, delta, best_impulse: over the rows of contacts, shape (3n,).
        friction: coefficients put aside. alpha: sliding rates. slope: K of ``twist_newton``.
        block: W_kk of each three rows (xx xy xn yy yn nn).
        wrench, twist: over bodies, shape (6b,).
        stiffness: S of ``twist_newton``, blocks in the slots of ``lu``.
        touch: bodies that a body touches, itself first: touch[i, :touches[i]].
        follow: how the step of limited rows follows that of their partner.
        does, known: what rows do, and C of ``twist_newton``.
        active, offset, matrix, right: of ``point_newton``. rows: W. interior: of
            ``interior_point``. motions: of ``common_motions``.
        F, G, gram: of Anderson's acceleration.
        budget: what was done and may be, see ``budget``.
    """

    u: Floats
    trial: Floats
    trial_u: Floats
    best: Floats
    delta: Floats
    best_impulse: Floats
    friction: Floats
    alpha: Floats
    slope: Floats
    block: Floats
    wrench: Floats
    twist: Floats
    stiffness: Floats
    touches: NDArray[np.int32]
    touch: NDArray[np.int32]
    lu: block_lu.Elimination
    follow: Floats
    does: NDArray[np.int32]
    known: Floats
    active: NDArray[np.int32]
    offset: NDArray[np.int32]
    matrix: Floats
    right: Floats
    rows: row_mobility.RowMobility
    interior: interior_work.InteriorWork
    motions: motion_work.MotionWork
    F: Floats
    G: Floats
    gram: Floats
    budget: Integers


def allocate(contacts: int, bodies: int, blocks: int | None = None) -> BodyWork:
    """Memory for a number of contacts, of bodies and, where bodies² would be too many, of blocks
    that elimination fills.
    """
    n, blocks = 3 * contacts, bodies * bodies if blocks is None else blocks
    points = min(n, 3 * MAX_DENSE_CONTACTS)
    rows = {
        name: np.zeros(n) for name in ("u", "trial", "trial_u", "best", "delta", "best_impulse")
    }
    return BodyWork(
        **rows,
        friction=np.zeros(contacts),
        alpha=np.zeros(contacts),
        slope=np.zeros((contacts, 9)),
        block=np.zeros((contacts, 6)),
        wrench=np.zeros(6 * bodies),
        twist=np.zeros(6 * bodies),
        stiffness=np.zeros((blocks, 6, 6)),
        touches=np.zeros(bodies, np.int32),
        touch=np.zeros((bodies, bodies), np.int32),
        lu=block_lu.allocate(bodies, blocks),
        follow=np.zeros((contacts, 3)),
        does=np.zeros(contacts, np.int32),
        known=np.zeros((contacts, 9)),
        active=np.zeros(contacts, np.int32),
        offset=np.zeros(contacts + 1, np.int32),
        matrix=np.zeros((points, points)),
        right=np.zeros(points),
        rows=row_mobility.allocate(contacts),
        interior=interior_work.allocate(contacts),
        motions=motion_work.allocate(contacts, bodies),
        F=np.zeros((DEPTH + 3, n)),
        G=np.zeros((DEPTH + 3, n)),
        gram=np.zeros((DEPTH, DEPTH + 1)),
        budget=budget.unlimited(),
    )
