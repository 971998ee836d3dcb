"""Polygons in a plane."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def polygon_area(polygon: NDArray[np.float64]) -> float:
    """Signed area of a polygon of corners (x, y), positive when counter-clockwise."""
    x, y = polygon.T
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))


def polygon_width(polygon: NDArray[np.float64]) -> float:
    """Least distance of two parallels that hold a convex polygon."""
    edges = np.roll(polygon, -1, axis=0) - polygon
    across = np.column_stack([-edges[:, 1], edges[:, 0]]) / np.linalg.norm(edges, axis=1)[:, None]
    return float(np.ptp(across @ polygon.T, axis=1).min())
