"""Convex hulls of points, and hulls with fewer vertices that lie inside of them.

Meshes from CAD have hulls of a thousand vertices and more, most of them on roundings that no
contact can distinguish from a few flat faces. A simplified hull C of a hull H is the hull of some
of H's own vertices, so C ⊂ H; they are chosen as in quickhull, always those farthest outside of
what is chosen already, until

    max over vertices v of H of  dist(v, C)  ≤  tolerance                             (1)

The left side is how far the surface moved inwards at most: the distance to a convex set is a convex
function, so over H it is largest at a vertex. The nearest point of C to a point outside is on a
triangle that the point sees, so only those are measured.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError
from tabi.model.shape import Convex

Array = NDArray[np.float64]
Rows = NDArray[np.int64]
# a hull of so few vertices is left as it is
MIN_VERTEX_COUNT = 16
# vertices of one round lie at least this part of the farthest one's distance outside
MIN_DISTANCE_RATIO = 0.5
_CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float).T


# ---- the hull of points -------------------------------------------------------------------------


class Hull(NamedTuple):
    """Outward triangles (m, 3), as rows of points, and their planes (m, 4): n·x + d ≤ 0 inside."""

    triangles: NDArray[np.int32]
    planes: Array


def hull_of(points: Array, options: tuple[str | None, ...] = (None, "QJ")) -> Hull | None:
    """The hull of points that are not flat; None where it cannot be found.

    Args:
        options: of Qhull, one after the other; QJ joggles the points, for shapes so thin in part
            that rounding defeats the exact hull.
    """
    # here, because it takes a third of a second to import
    from scipy.spatial import ConvexHull, QhullError

    for option in options:
        try:
            return _outward(points, ConvexHull(points, qhull_options=option))
        except QhullError:
            continue
    return None


def _outward(points: Array, result: Any) -> Hull:
    corners = points[result.simplices]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.einsum("ij,ij->i", normals, result.equations[:, :3]) < 0
    triangles = np.where(inward[:, None], result.simplices[:, ::-1], result.simplices)
    return Hull(triangles.astype(np.int32), result.equations)


def solid(points: Array, file: Path | None) -> Convex:
    """The convex hull of points that are not flat."""
    hull = hull_of(points)
    if hull is None:
        raise ModelError(
            f"no convex hull of {len(points)} points can be found; "
            f"expected coordinates of moderate size",
            file,
        )
    used, triangles = _compact(hull.triangles)
    return Convex(points[used], triangles, file)


def _compact(triangles: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The rows that triangles use, and the triangles as rows of those."""
    used, index = np.unique(triangles, return_inverse=True)
    return used, index.reshape(-1, 3).astype(np.int32)


# ---- with fewer vertices ------------------------------------------------------------------------


def simplified(
    convex: Convex, tolerance: float, most: int | None = None, keep: ArrayLike = ()
) -> tuple[Convex, float]:
    """A hull of some of the vertices, by (1), and how far its surface moved inwards at most [m].

    Args:
        convex: the hull; one of up to 16 vertices is returned as it is.
        tolerance: how far a vertex that is left out may lie outside [m].
        most: number of vertices at which it ends in any case; None for no such number.
        keep: rows of vertices that stay, be they more than ``most``.
    """
    points, required = np.asarray(convex.vertices, float), np.unique(np.asarray(keep, np.int64))
    few = MIN_VERTEX_COUNT if most is None else min(MIN_VERTEX_COUNT, most)
    if len(points) <= few or (most is None and not tolerance > 0):
        return convex, 0.0
    selection = _select(points, tolerance, len(points) if most is None else most, required)
    if selection is None:
        return convex, 0.0
    selected, hull = selection
    used, triangles = _compact(hull.triangles)
    used = selected[used]
    if len(used) == len(points) or not (np.isin(required, used).all() and _closed(triangles)):
        return convex, 0.0
    left = np.setdiff1d(np.arange(len(points)), used)
    lost = _distances(points[left], _above(points[left], hull), points[selected], hull)
    return Convex(points[used], triangles, convex.file), float(lost.max())


def without(convex: Convex, rows: ArrayLike) -> Convex:
    """The hull of the other vertices; the hull as it is where there are none to leave out, or where
    rounding defeats the new one.
    """
    every = np.arange(len(convex.vertices))
    rest = np.setdiff1d(every, np.asarray(rows, np.int64))
    hull = hull_of(convex.vertices[rest], (None,)) if len(rest) < len(every) else None
    if hull is None:
        return convex
    used, triangles = _compact(hull.triangles)
    if len(used) < len(rest) or not _closed(triangles):
        return convex
    return Convex(convex.vertices[rest], triangles, convex.file)


def _select(points: Array, tolerance: float, room: int, required: Rows) -> tuple[Rows, Hull] | None:
    """Rows of the vertices that are enough, or as many as there is room for, and their hull."""
    start = _start(points, room)
    selected = np.union1d(start, required)
    outside = np.setdiff1d(np.arange(len(points)), selected)
    while True:
        hull = hull_of(points[selected], (None,))
        if hull is None:
            return None
        above = _above(points[outside], hull)
        # the height over a plane is at most the distance, and quickly had; but with little room
        # those have to come first that are farthest away
        far, settled = above.max(axis=1, initial=0.0), 0.0
        if room < len(points) or not (far > tolerance).any():
            far, settled = _distances(points[outside], above, points[selected], hull), tolerance
        new = _farthest(far, above, tolerance)[: max(room - len(selected), 0)]
        if len(new) == 0:
            spare = (
                np.setdiff1d(start, required)
                if len(required) and room == len(points)
                else required[:0]
            )
            return _spared(points, tolerance, selected, hull, spare)
        selected = np.union1d(selected, outside[new])
        # what lies near enough now is near enough for ever, for the hull only grows
        outside = np.delete(outside, np.union1d(new, np.flatnonzero(far <= settled)))


def _spared(
    points: Array, tolerance: float, selected: Rows, hull: Hull, spare: Rows
) -> tuple[Rows, Hull]:
    """Return the selection without those of the spare rows that are redundant."""
    for row in spare:
        rest = selected[selected != row]
        left = np.setdiff1d(np.arange(len(points)), rest)
        smaller = hull_of(points[rest], (None,))
        if smaller is None:
            continue
        far = _distances(points[left], _above(points[left], smaller), points[rest], smaller)
        if not far.max() > tolerance:
            selected, hull = rest, smaller
    return selected, hull


def _start(points: Array, room: int) -> Rows:
    """Vertices that reach farthest, measured along the points' own axes in parts of their extents:
    four that are not flat, or as many as a box has corners where there is room for twice that.
    """
    unit = points - points.mean(axis=0)
    unit = unit @ np.linalg.eigh(unit.T @ unit)[1]
    unit /= np.maximum(np.ptp(unit, axis=0), 1e-300)
    corners = np.unique(np.argmax(unit @ _CORNERS, axis=0))
    spread = np.linalg.svd(unit[corners] - unit[corners].mean(axis=0), compute_uv=False)
    if 3 < len(corners) <= 0.5 * room and spread[2] > 0.1:
        return corners
    a = int(np.argmax(unit[:, 2]))
    b = int(np.argmax(((unit - unit[a]) ** 2).sum(axis=1)))
    across = np.cross(unit - unit[a], unit[b] - unit[a])
    c = int(np.argmax((across**2).sum(axis=1)))
    d = int(np.argmax(np.abs((unit - unit[a]) @ across[c])))
    return np.unique([a, b, c, d])


def _above(points: Array, hull: Hull) -> Array:
    """Heights of points over the planes of a hull [m], shape (points, triangles)."""
    # term by term, for a product of matrices this thin keeps all cores busy with waiting
    x, y, z, d = hull.planes.T
    heights = points[:, 0, None] * x + d
    for column, n in ((1, y), (2, z)):
        heights += points[:, column, None] * n
    return heights


def _distances(points: Array, above: Array, corners: Array, hull: Hull) -> Array:
    """Distances of points to the hull [m]; 0 inside."""
    point, triangle = np.nonzero(above > 0)
    a, b, c = (corners[hull.triangles[triangle, k]].T for k in range(3))
    far, each = np.zeros(len(points)), _to_triangles(points[point].T, a, b, c)
    if len(point):
        first = np.flatnonzero(np.diff(point, prepend=-1))
        far[point[first]] = np.minimum.reduceat(each, first)
    return far


def _to_triangles(p: Array, a: Array, b: Array, c: Array) -> Array:
    """Distances of points to triangles, column by column [m]; arrays of shape (3, n)."""
    normal = _cross(b - a, c - a)
    square = (normal * normal).sum(axis=0)
    inside = square > 0
    nearest = np.full(p.shape[1], np.inf)
    for u, v in ((a, b), (b, c), (c, a)):
        edge, offset = v - u, p - u
        inside &= (_cross(edge, offset) * normal).sum(axis=0) >= 0
        length = np.maximum((edge * edge).sum(axis=0), 1e-300)
        rest = offset - np.clip((offset * edge).sum(axis=0) / length, 0.0, 1.0) * edge
        nearest = np.minimum(nearest, (rest * rest).sum(axis=0))
    height = ((p - a) * normal).sum(axis=0) ** 2 / np.maximum(square, 1e-300)
    return np.sqrt(np.where(inside, height, nearest))


def _cross(u: Array, v: Array) -> Array:
    return np.stack(
        [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
    )


def _farthest(far: Array, above: Array, tolerance: float) -> Rows:
    """Points to add, the farthest first; no two of them see the same triangle, so that one does not
    make the other needless.
    """
    rows = np.flatnonzero(far > max(tolerance, MIN_DISTANCE_RATIO * far.max(initial=0.0)))
    rows = rows[np.argsort(-far[rows], kind="stable")]
    sees, selected = above[rows] > 0, []
    while len(rows):
        selected.append(rows[0])
        apart = ~sees[:, sees[0]].any(axis=1)
        rows, sees = rows[apart], sees[apart]
    return np.array(selected, np.int64)


def _closed(triangles: NDArray[np.int32]) -> bool:
    """Whether every edge is in two triangles, once in each direction."""
    ends = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2).astype(np.int64)
    count = int(triangles.max()) + 1
    ahead, back = (np.sort(ends[:, k] * count + ends[:, 1 - k]) for k in (0, 1))
    return bool((np.diff(ahead) > 0).all() and (ahead == back).all())
