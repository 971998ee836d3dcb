"""Triangles of a convex polytope → its true faces: flat polygons with outward normals.

Mesh files cut faces into triangles, and rounding bends them a little. Triangles join a face while
they look the same way and their corners lie in its plane; the outline of the union is the face.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError

Array = NDArray[np.float64]
# corners this part of the polytope's size off a plane are in it:
# what single precision leaves of flatness
FLAT = 1e-6
ALIGNED = np.cos(2e-3)  # neighbours that look the same way


@dataclass(frozen=True, eq=False)
class Face:
    """A flat side: corners counter-clockwise seen from outside, as rows of the vertices;
    n·x = offset in its plane.
    """

    loop: list[int]
    normal: Array
    offset: float
    area: float


def faces_of(vertices: Array, triangles: NDArray, owner: str) -> list[Face]:
    """Faces of a convex polytope; refuses one that is not convex or not closed."""
    triangles = np.asarray(triangles, np.int64)
    size = float(np.ptp(vertices, axis=0).max())
    corners = vertices[triangles]
    doubled = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = 0.5 * np.linalg.norm(doubled, axis=1)
    other = _neighbours(triangles, owner)
    unit = doubled / np.maximum(2 * area, 1e-300)[:, None]
    # neighbours that may belong to one face; most edges of a fine mesh part two
    flat = np.einsum("ikj,ij->ik", unit[other], unit) >= 2 * ALIGNED**2 - 1
    flat |= (area < 1e-12 * size**2)[:, None] | (area < 1e-12 * size**2)[other]
    # a triangle without such a neighbour is a face
    alone = ~flat.any(axis=1)
    faces = _triangular(vertices, triangles[alone], doubled[alone], area[alone])
    group = np.where(alone, 0, -1)
    for seed in np.argsort(-area, kind="stable"):
        if group[seed] >= 0 or area[seed] < 1e-12 * size**2:
            continue
        members = _grown(int(seed), group, corners, doubled, other, flat, FLAT * size)
        faces.append(_face(vertices, triangles[members], doubled[members]))
    _check_convex(vertices, faces, size, owner)
    return sorted(faces, key=lambda face: face.loop)


def _neighbours(triangles: NDArray, owner: str) -> NDArray:
    """The triangle across each edge: column k is across the one from corner k to the next."""
    ahead, count = triangles[:, [1, 2, 0]], int(triangles.max()) + 1
    edges, back = (triangles * count + ahead).ravel(), (ahead * count + triangles).ravel()
    order = np.argsort(edges)
    opposite = order[np.minimum(np.searchsorted(edges, back, sorter=order), len(order) - 1)]
    if not ((np.diff(edges[order]) > 0).all() and (edges[opposite] == back).all()):
        raise ModelError(
            f"the convex polytope of {owner} is not closed; "
            "expected every edge in two triangles, once in each direction"
        )
    return (opposite // 3).reshape(-1, 3)


def _triangular(vertices: Array, triangles: NDArray, doubled: Array, area: Array) -> list[Face]:
    """Triangles as faces, their lowest corner first."""
    turn = (np.argmin(triangles, axis=1)[:, None] + np.arange(3)) % 3
    loops = np.take_along_axis(triangles, turn, axis=1)
    normals = doubled / (2 * area)[:, None]
    offsets = np.einsum("ikj,ij->ik", vertices[loops], normals).mean(axis=1)
    return [
        Face(loop, normal, offset, face_area)
        for loop, normal, offset, face_area in zip(
            loops.tolist(), normals, offsets.tolist(), area.tolist(), strict=True
        )
    ]


def _grown(
    seed: int,
    group: NDArray,
    corners: Array,
    doubled: Array,
    other: NDArray,
    flat: NDArray,
    thick: float,
) -> list[int]:
    """Triangles in the plane of a seed, reached over shared edges; they are marked in ``group``."""
    normal = doubled[seed] / np.linalg.norm(doubled[seed])
    members, waiting = [], [seed]
    group[seed] = seed
    while waiting:
        t = waiting.pop()
        members.append(t)
        for k in np.flatnonzero(flat[t]):
            o = int(other[t, k])
            if group[o] >= 0 or np.abs((corners[o] - corners[seed, 0]) @ normal).max() > thick:
                continue
            if doubled[o] @ normal >= ALIGNED * np.linalg.norm(doubled[o]):
                group[o] = seed
                waiting.append(o)
    return members


def _face(vertices: Array, triangles: NDArray, doubled: Array) -> Face:
    edges = {(int(t[k - 1]), int(t[k])) for t in triangles for k in range(3)}
    following = {a: b for a, b in edges if (b, a) not in edges}
    total = doubled.sum(axis=0)
    normal = total / np.linalg.norm(total)
    start = min(following)
    loop = [start]
    while following[loop[-1]] != start and len(loop) < len(following):
        loop.append(following[loop[-1]])
    loop = _without_straight_corners(vertices, loop)
    loop = loop[loop.index(min(loop)) :] + loop[: loop.index(min(loop))]
    return Face(
        loop, normal, float((vertices[loop] @ normal).mean()), 0.5 * float(np.linalg.norm(total))
    )


def _without_straight_corners(vertices: Array, loop: list[int]) -> list[int]:
    """Corners where the outline really turns."""
    corners = list(loop)
    for v in loop:
        if len(corners) <= 3:
            break
        k = corners.index(v)
        before = vertices[v] - vertices[corners[k - 1]]
        after = vertices[corners[(k + 1) % len(corners)]] - vertices[v]
        # sin² of the turn
        square = (before @ before) * (after @ after)
        if square - (before @ after) ** 2 <= 1e-12 * square:
            corners.remove(v)
    return corners


def _check_convex(vertices: Array, faces: list[Face], size: float, owner: str) -> None:
    # in pieces, for a large mesh has too many pairs of faces and vertices to hold at once
    for start in range(0, len(faces), 256):
        part = faces[start : start + 256]
        out = float(
            (
                (vertices @ np.array([f.normal for f in part]).T).max(axis=0)
                - [f.offset for f in part]
            ).max()
        )
        if out > 1e-4 * size:
            raise ModelError(
                f"the convex polytope of {owner} is not convex: "
                f"a vertex lies {out:g} m outside a face; expected a convex hull, or several pieces"
            )
