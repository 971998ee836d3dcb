"""Height of the ground at a place: the top of all fixed shapes there.

A vertical line meets a half-space at its plane, a box between two of its faces, a height field in
one of its triangles. Round things, hulls and meshes are no ground.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np
from numpy.typing import NDArray

from tabi.model.shape import Box, HalfSpace, HeightField, Shape
from tabi.model.world import World

Array = NDArray[np.float64]
# of a line and a face that count as parallel
PARALLEL = 1e-12


def ground_height(world: World) -> Callable[[float, float], float]:
    """Height of the ground [m] at x, y; that of the world's floor where nothing is."""
    tops = [shape for shape in world.fixed.shapes if shape.collides]

    def height(x: float, y: float) -> float:
        top = max((_top(shape, x, y) for shape in tops), default=-inf)
        return top if top > -inf else world.ground_height

    return height


def _top(shape: Shape, x: float, y: float) -> float:
    """Return the height of a shape at x, y; −∞ beside it."""
    X, geometry = shape.placement, shape.geometry
    # the line p + s d, in the shape's own axes
    p, d = X.R.T @ (np.array([x, y, 0.0]) - X.p), X.R.T @ np.array([0.0, 0.0, 1.0])
    if isinstance(geometry, HalfSpace):
        return float(-p[2] / d[2]) if d[2] > PARALLEL else -inf
    if isinstance(geometry, Box):
        return _box(0.5 * np.asarray(geometry.size), p, d)
    if isinstance(geometry, HeightField) and d[2] > 1.0 - 1e-9:
        at = _field(geometry, p[0], p[1])
        return at - p[2]
    return -inf


def _box(half: Array, p: Array, d: Array) -> float:
    """Return where a line leaves a box of half edges."""
    low, high = -inf, inf
    for k in range(3):
        if abs(d[k]) < PARALLEL:
            if abs(p[k]) > half[k]:
                return -inf
            continue
        ends = sorted(((-half[k] - p[k]) / d[k], (half[k] - p[k]) / d[k]))
        low, high = max(low, ends[0]), min(high, ends[1])
    return float(high) if low <= high else -inf


def _field(field: HeightField, x: float, y: float) -> float:
    """Height of a field; its cells are two triangles that share the diagonal upwards."""
    ny, nx = field.heights.shape
    u = (x / field.size[0] + 0.5) * (nx - 1)
    v = (y / field.size[1] + 0.5) * (ny - 1)
    if not (0.0 <= u <= nx - 1 and 0.0 <= v <= ny - 1):
        return -inf
    i, j = min(int(u), nx - 2), min(int(v), ny - 2)
    a, b, z = u - i, v - j, field.heights
    if a >= b:
        along, across = z[j, i + 1] - z[j, i], z[j + 1, i + 1] - z[j, i + 1]
    else:
        along, across = z[j + 1, i + 1] - z[j + 1, i], z[j + 1, i] - z[j, i]
    return float(z[j, i] + a * along + b * across)
