"""A contact problem with soft pads, for the judge: that of the bodies, and a compliance between
contacts.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from tabi.contact.bodies import BodyProblem

Floats = NDArray[np.float64]


class SoftProblem(BodyProblem):
    """Contacts between bodies, some of them on pads.

    Attributes:
        spread: E R N from the nodes of all pads to the rows (see ``compliance``), sparse,
            shape (3n, 3·nodes).
        nodes: c C of all nodes [1/kg], sparse.
    """

    spread: scipy.sparse.csr_matrix
    nodes: scipy.sparse.csr_matrix

    @property
    def compliance(self) -> scipy.sparse.csr_matrix:
        """Between contacts, E R N c C Nᵀ Rᵀ Eᵀ [1/kg], shape (3n, 3n)."""
        return scipy.sparse.csr_matrix(self.spread @ self.nodes @ self.spread.T)

    def velocities(self, impulse: Floats) -> Floats:
        """Velocities of the bodies and of their pads, by plain matrices."""
        pad_velocities = self.spread @ (self.nodes @ (self.spread.T @ impulse))
        return super().velocities(impulse) + pad_velocities


def soften(
    p: BodyProblem, spread: scipy.sparse.csr_matrix, nodes: scipy.sparse.csr_matrix
) -> SoftProblem:
    """The problem of some bodies with pads between its contacts; arguments as the attributes."""
    made = SoftProblem(*p)
    made.spread, made.nodes = spread, nodes
    return made
