"""What inverse kinematics found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tabi.control.inverse_kinematics import search

if TYPE_CHECKING:
    from tabi.control.inverse_kinematics.solver import InverseKinematics

Array = NDArray[np.float64]


class Solution:
    """A configuration, and how near it is to what was asked for."""

    def __init__(self, ik, q, outcome, out, sizes):
        self.q = q
        self.outcome = outcome
        self.reached = outcome == search.MET
        self.converged = outcome in (search.MET, search.STANDS)
        self.iterations, self.starts = int(out[1]), int(out[2])
        self.sizes = sizes
