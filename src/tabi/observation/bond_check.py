"""Whether bonds were excused from velocities that they could have stopped: the check of
``contact.bond_elimination``, with matrices that no kernel of a step has computed.

Of the velocities δ that a step left to its bonds, as no impulse could stop them, the part

    s⁻¹ U Uᵀ s δ,   s W s = U Σ Uᵀ  with Σ well above the rank's tolerance                      (1)
is one that impulses could. It has to be nothing.
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
# so many times above the rank's tolerance eigenvalues belong to what bonds can do: the pivots that
# it is asked of are not eigenvalues
SURE = 1e3


def could_be_met(p: BodyProblem, left: Array) -> Array:
    """Of each three rows of a problem, how much of the velocities ``left`` [m/s or rad/s], shape
    (3n,), could have been stopped.
    """
    out = np.zeros(len(p.kind))
    bonds = np.flatnonzero(np.isin(p.kind, (BILATERAL, BILATERAL_TWO)))
    if not left.any():
        return out
    scale = np.repeat([_scale(p, int(k)) for k in bonds], 3)
    # the third row of a hinge's turning is none
    scale[np.repeat(p.kind[bonds] == BILATERAL_TWO, 3) & (np.arange(len(scale)) % 3 == 2)] = 0.0
    rows = (3 * bonds[:, None] + np.arange(3)).ravel()[scale > 0]
    scale = scale[scale > 0]
    W = sparse(p)[rows][:, rows].toarray() * scale[:, None] * scale
    values, vectors = np.linalg.eigh(0.5 * (W + W.T))
    U = vectors[:, values > SURE * RANK * values.max(initial=0.0)]
    stopped = np.zeros(3 * len(p.kind))
    stopped[rows] = U @ (U.T @ (scale * left[rows])) / scale
    return np.linalg.norm(stopped.reshape(-1, 3), axis=1)


def _scale(p: BodyProblem, k: int) -> float:
    """s of the three rows k, from the mobility that their bodies have alone."""
    row, own = p.contact[k], 0.0
    for body, arm in ((row["a"], row["arm_a"]), (row["b"], row["arm_b"])):
        if body >= 0:
            there = slice(p.start[body], p.start[body + 1])
            omega = p.omega[there][p.column[there] == body][0]
            own += (LEVER**2 if row["angular"] == 0 else 1.0) * float(np.trace(omega[:3, :3]))
            if row["angular"] == 0:
                J = np.hstack([-cross_matrix(arm), np.eye(3)])
                own += float(np.trace(J @ omega @ J.T))
    return (3.0 / own) ** 0.5 if own > 0 else 0.0
