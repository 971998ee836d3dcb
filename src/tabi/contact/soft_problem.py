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
        compliance: E R N c C Nᵀ Rᵀ Eᵀ over all rows (see ``compliance``), sparse, shape (3n, 3n)
            [1/kg].
    """

    compliance: scipy.sparse.csr_matrix

    def velocities(self, impulse: Floats) -> Floats:
        """Of the bodies, and of their pads, by plain matrices."""
        return super().velocities(impulse) + self.compliance @ impulse


def soften(p: BodyProblem, compliance: scipy.sparse.csr_matrix) -> SoftProblem:
    """The problem of some bodies with a compliance between its contacts."""
    made = SoftProblem(*p)
    made.compliance = compliance
    return made
