"""Which edges of a height field stick out.

Edges that are flat or hollow never touch a convex shape before the triangles beside them do:
only ridges are kept, so nothing that slides over a plane is caught on the seams of its triangles.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.model.shape import HeightField

MIN_FOLD_RAD = 1e-5  # less of a fold is flat


def ridges(field: HeightField) -> NDArray[np.int64]:
    """For each grid point, whether the edges that leave it along x,
    along y and along the diagonal stick out, shape (ny·nx, 3).

    On the field's border an edge has a triangle on one side only; it sticks out.
    """
    ny, nx = field.heights.shape
    lower, upper = _normals(field)
    out = np.zeros((ny, nx, 3), np.int64)
    out[[0, -1], :-1, 0] = 1
    out[:-1, [0, -1], 1] = 1
    # a fold sticks out where the two normals lean away from each other across it:
    # (n₂ − n₁)·t > 0, t from 1 to 2
    out[1:-1, :-1, 0] = (lower[1:] - upper[:-1])[..., 1] > MIN_FOLD_RAD
    out[:-1, 1:-1, 1] = (upper[:, 1:] - lower[:, :-1])[..., 0] > MIN_FOLD_RAD
    across = np.array([-field.size[1] / (ny - 1), field.size[0] / (nx - 1)])
    out[:-1, :-1, 2] = (upper - lower)[..., :2] @ (across / np.linalg.norm(across)) > MIN_FOLD_RAD
    return out.reshape(-1, 3)


def _normals(field: HeightField) -> tuple[NDArray, NDArray]:
    """Unit normals of the lower right and the upper left triangle of each cell,
    shape (ny−1, nx−1, 3).
    """
    ny, nx = field.heights.shape
    h = field.heights
    dx, dy = field.size[0] / (nx - 1), field.size[1] / (ny - 1)
    slopes = [
        ((h[:-1, 1:] - h[:-1, :-1]) / dx, (h[1:, 1:] - h[:-1, 1:]) / dy),
        ((h[1:, 1:] - h[1:, :-1]) / dx, (h[1:, :-1] - h[:-1, :-1]) / dy),
    ]
    pair = []
    for sx, sy in slopes:
        normal = np.stack([-sx, -sy, np.ones_like(sx)], axis=-1)
        pair.append(normal / np.linalg.norm(normal, axis=-1, keepdims=True))
    return pair[0], pair[1]
