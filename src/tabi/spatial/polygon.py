"""Polygons in a plane."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def polygon_area(polygon: NDArray[np.float64]) -> float:
    """Signed area of a polygon of corners (x, y), positive when counter-clockwise."""
    x, y = polygon.T
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))
