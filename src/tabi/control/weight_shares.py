"""How a robot that stands bears its weight: the least forces at the corners of its soles.

With corners p_i of all soles that touch, the robot's mass m and its centre of mass c, forces f_i
along the vertical n that hold it at rest have

    Σ f_i = m g,   Σ f_i p_i = m g c     (across the vertical)                                  (1)
of which those with the least Σ f_i² are a linear pressure over the soles, f_i = λ₀ + λ·p_i. Corners
that would have to pull are left out, one after the other. A centre of mass beyond the soles cannot
be borne; its weight is then at the point of their convex hull that is nearest to it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# spans of the soles beyond which a centre is far away
FAR = 1e4


def corner_loads(corners: Array, centre: Array) -> Array:
    """Shares of the weight, together 1, none negative.

    Args:
        corners: across the vertical [m], shape (n, 2), n ≥ 1. centre: of mass [m], shape (2,).
    """
    middle, span = corners.mean(axis=0), float(np.ptp(corners, axis=0).max())
    away = float(np.linalg.norm(centre - middle))
    if away > FAR * span:
        # digits would be lost, and what is nearest to it is nearest to this too
        centre = middle + (FAR * span / away) * (centre - middle)
    loads = _least(corners, centre)
    if away > span or loads.min() < 0.0:
        loads = _least_pressing(corners, _nearest(corners, centre))
    return loads / loads.sum()


def _least(corners: Array, centre: Array) -> Array:
    """The least forces that have (1), some of them negative."""
    # rows of sums, and of moments about the centre of mass
    A = np.column_stack([np.ones(len(corners)), corners - centre])
    # a hair on the diagonal, for corners on a line or in one point
    S = A.T @ A + 1e-13 * len(corners) * np.eye(3)
    f = A @ np.linalg.solve(S, np.array([1.0, 0.0, 0.0]))
    return np.where(np.abs(f) < 1e-12, 0.0, f)


def _least_pressing(corners: Array, centre: Array) -> Array:
    """The same without the corners that would have to pull; centre: within the convex hull."""
    used, loads = np.arange(len(corners)), np.zeros(len(corners))
    while True:
        f = _least(corners[used], centre)
        if len(used) == 1 or f.min() >= 0.0:
            loads[used] = np.maximum(f, 0.0)
            return loads
        used = np.delete(used, int(f.argmin()))


def _nearest(corners: Array, centre: Array) -> Array:
    """The point of the convex hull that is nearest to a centre: itself where it is inside."""
    # the nearest of all points between two corners
    side = corners[None, :] - corners[:, None]
    length = np.maximum((side**2).sum(axis=2), 1e-30)
    part = np.clip(((centre - corners[:, None]) * side).sum(axis=2) / length, 0.0, 1.0)
    points = corners[:, None] + part[:, :, None] * side
    distance = ((points - centre) ** 2).sum(axis=2)
    nearest = points[np.unravel_index(int(distance.argmin()), distance.shape)]
    away = centre - nearest
    # it is that of the hull where no corner lies farther out
    beyond = ((corners - nearest) @ away).max()
    outside = beyond <= 1e-12 * (away @ away + length.max())
    return nearest if outside else centre
