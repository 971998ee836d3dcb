"""Check of ``contact.bond_elimination``: whether bonds could have stopped velocities that were
left, by matrices that no kernel of a step has computed.

Of the velocities δ that a step left to its bonds, as no impulse could stop them, the part

    s⁻¹ U Uᵀ s δ,   s W s = U Σ Uᵀ  with Σ well above the rank's tolerance                      (1)
is one that impulses could stop. It has to be zero.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.contact.algebra.pseudo_inverse import RANK
from tabi.contact.bodies import BodyProblem
from tabi.contact.bonds.bond_rows import LEVER
from tabi.contact.matrix_form import sparse
from tabi.contact.rows import BILATERAL, BILATERAL_TWO
from tabi.spatial.transform import cross_matrix

Array = NDArray[np.float64]
# ratio to the rank's tolerance from which on eigenvalues count, as the pivots of the elimination
# are not eigenvalues
RANK_MARGIN = 1e3


def avoidable_residual(p: BodyProblem, left: Array) -> Array:
    """Return the part of the velocities ``left`` [m/s or rad/s], shape (3n,), that bonds could have
    stopped, its norm for each three rows of a problem.
    """
    out = np.zeros(len(p.kind))
    bonds = np.flatnonzero(np.isin(p.kind, (BILATERAL, BILATERAL_TWO)))
    if not left.any():
        return out
    scale = np.repeat([_scale(p, int(k)) for k in bonds], 3)
    # the third row of a hinge's rotation is empty
    scale[np.repeat(p.kind[bonds] == BILATERAL_TWO, 3) & (np.arange(len(scale)) % 3 == 2)] = 0.0
    rows = (3 * bonds[:, None] + np.arange(3)).ravel()[scale > 0]
    scale = scale[scale > 0]
    W = sparse(p)[rows][:, rows].toarray() * scale[:, None] * scale
    values, vectors = np.linalg.eigh(0.5 * (W + W.T))
    U = vectors[:, values > RANK_MARGIN * RANK * values.max(initial=0.0)]
    stopped = np.zeros(3 * len(p.kind))
    stopped[rows] = U @ (U.T @ (scale * left[rows])) / scale
    return np.linalg.norm(stopped.reshape(-1, 3), axis=1)


def _scale(p: BodyProblem, k: int) -> float:
    """Return s of the three rows k, from the mobility of their bodies alone."""
    row, mobility = p.contact[k], 0.0
    for body, arm in ((row["a"], row["arm_a"]), (row["b"], row["arm_b"])):
        if body >= 0:
            blocks = slice(p.start[body], p.start[body + 1])
            omega = p.omega[blocks][p.column[blocks] == body][0]
            mobility += (LEVER**2 if row["angular"] == 0 else 1.0) * float(np.trace(omega[:3, :3]))
            if row["angular"] == 0:
                J = np.hstack([-cross_matrix(arm), np.eye(3)])
                mobility += float(np.trace(J @ omega @ J.T))
    return (3.0 / mobility) ** 0.5 if mobility > 0 else 0.0
