"""Distribution of a standing robot's weight: the least forces at the corners of its soles.

With corners p_i of all soles in contact, the robot's mass m and its centre of mass c, forces f_i
along the vertical n that hold it at rest have

    Σ f_i = m g,   Σ f_i p_i = m g c     (across the vertical)                                  (1)
the minimum of Σ f_i² is a linear pressure over the soles, f_i = λ₀ + λ·p_i. Corners with negative
forces are removed, one after the other. A centre of mass beyond the soles cannot be supported; its
weight is then applied at the nearest point of their convex hull.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# distance of the centre in spans of the soles, beyond which it is clipped
MAX_SPANS = 1e4


def corner_loads(corners: Array, centre: Array) -> Array:
    """Return shares of the weight on the corners, sum 1, none negative.

    Args:
        corners: across the vertical [m], shape (n, 2), n ≥ 1. centre: of mass [m], shape (2,).
    """
    middle, span = corners.mean(axis=0), float(np.ptp(corners, axis=0).max())
    away = float(np.linalg.norm(centre - middle))
    if away > MAX_SPANS * span:
        # avoids a loss of digits; the nearest point is the same
        centre = middle + (MAX_SPANS * span / away) * (centre - middle)
    loads = _least(corners, centre)
    if away > span or loads.min() < 0.0:
        loads = _least_pressing(corners, _nearest(corners, centre))
    return loads / loads.sum()


def _least(corners: Array, centre: Array) -> Array:
    """Return the least forces that satisfy (1), some of them negative."""
    # rows of sums, and of moments about the centre of mass
    A = np.column_stack([np.ones(len(corners)), corners - centre])
    # regularisation, for corners on a line or in one point
    S = A.T @ A + 1e-13 * len(corners) * np.eye(3)
    f = A @ np.linalg.solve(S, np.array([1.0, 0.0, 0.0]))
    return np.where(np.abs(f) < 1e-12, 0.0, f)


def _least_pressing(corners: Array, centre: Array) -> Array:
    """Return the least forces without the corners with negative ones; centre: within the convex
    hull.
    """
    used, loads = np.arange(len(corners)), np.zeros(len(corners))
    while True:
        f = _least(corners[used], centre)
        if len(used) == 1 or f.min() >= 0.0:
            loads[used] = np.maximum(f, 0.0)
            return loads
        used = np.delete(used, int(f.argmin()))


def _nearest(corners: Array, centre: Array) -> Array:
    """Return the point of the convex hull nearest to a centre: the centre itself if it is
    inside.
    """
    # the nearest of all points between two corners
    side = corners[None, :] - corners[:, None]
    length = np.maximum((side**2).sum(axis=2), 1e-30)
    part = np.clip(((centre - corners[:, None]) * side).sum(axis=2) / length, 0.0, 1.0)
    points = corners[:, None] + part[:, :, None] * side
    distance = ((points - centre) ** 2).sum(axis=2)
    nearest = points[np.unravel_index(int(distance.argmin()), distance.shape)]
    away = centre - nearest
    # it is on the hull if no corner lies farther out
    beyond = ((corners - nearest) @ away).max()
    outside = beyond <= 1e-12 * (away @ away + length.max())
    return nearest if outside else centre
