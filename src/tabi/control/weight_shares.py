"""How a robot that stands bears its weight: the least forces at the corners of its soles.

With corners p_i of all soles that touch, the robot's mass m and its centre of mass c, forces f_i
along the vertical n that hold it at rest have

    Σ f_i = m g,   Σ f_i p_i = m g c     (across the vertical)                                  (1)
of which those with the least Σ f_i² are a linear pressure over the soles, f_i = λ₀ + λ·p_i. Corners
that would have to pull are left out, one after the other; a centre of mass beyond the soles is then
borne by the edge that is nearest to it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def corner_loads(corners: Array, centre: Array) -> Array:
    """Shares of the weight, together 1, none negative.

    Args:
        corners: across the vertical [m], shape (n, 2), n ≥ 1. centre: of mass [m], shape (2,).
    """
    used, loads = np.arange(len(corners)), np.zeros(len(corners))
    while len(used) > 0:
        # (1): rows of sums, and of moments about the centre of mass
        A = np.column_stack([np.ones(len(used)), corners[used] - centre])
        # a hair on the diagonal, for corners on a line or in one point
        S = A.T @ A + 1e-13 * len(used) * np.eye(3)
        f = A @ np.linalg.solve(S, np.array([1.0, 0.0, 0.0]))
        if len(used) == 1 or f.min() >= -1e-12:
            loads[used] = np.maximum(f, 0.0)
            break
        used = np.delete(used, int(f.argmin()))
    return loads / loads.sum()
