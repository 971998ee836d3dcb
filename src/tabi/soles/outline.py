"""A polygon with holes as triangles of about one size, whose sides follow the outline exactly.

Sides are cut into pieces, points are laid on a grid between them, and Delaunay's triangulation of
all is taken. A piece that is no edge of it is halved, and so on, until every one is an edge: then
each triangle lies inside or outside as a whole, and those outside are dropped. A rectangle is
a regular grid instead.

Reference: Ruppert (1995), A Delaunay refinement algorithm for quality 2-dimensional mesh generation
(without his bound on angles).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import Delaunay

from tabi._errors import ModelError
from tabi.spatial.polygon import polygon_area

Array = NDArray[Any]
Indices = NDArray[np.int64]
# minimum distance of grid points from the sides, in element sizes; bisections of the sides
MIN_CLEARANCE, BISECTIONS = 0.55, 24


@dataclass(frozen=True, eq=False)
class Outline:
    """A polygon, counter-clockwise [m], shape (n, 2), and its holes, clockwise."""

    polygon: Array
    holes: tuple[Array, ...] = ()

    @property
    def rings(self) -> tuple[Array, ...]:
        """The polygon and its holes."""
        return (self.polygon, *self.holes)

    @property
    def area(self) -> float:
        """Area without the holes [m²]."""
        return sum(polygon_area(ring) for ring in self.rings)

    @property
    def sides(self) -> Array:
        """Ends of all sides [m], shape (s, 2, 2)."""
        return np.concatenate([np.stack([r, np.roll(r, -1, axis=0)], axis=1) for r in self.rings])

    def holds(self, points: Array) -> NDArray[np.bool_]:
        """Whether points [m], shape (n, 2), lie inside, by the number of sides to their right."""
        (x, y), inside = points.T, np.zeros(len(points), bool)
        for (ax, ay), (bx, by) in self.sides:
            if ay != by:
                crosses = (ay > y) != (by > y)
                inside ^= crosses & (x < ax + (y - ay) * (bx - ax) / (by - ay))
        return inside

    def distance(self, points: Array) -> Array:
        """Distance of points, shape (n, 2), from the nearest side [m]."""
        return distance(points, self.sides)


def distance(points: Array, segments: Array) -> Array:
    """Distance of points, shape (n, 2), from the nearest of segments, shape (s, 2, 2) [m]."""
    nearest = np.full(len(points), np.inf)
    for a, b in segments:
        along = np.clip((points - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
        nearest = np.minimum(nearest, np.linalg.norm(points - a - along[:, None] * (b - a), axis=1))
    return nearest


def checked(polygon: ArrayLike, holes: Sequence[ArrayLike] = ()) -> Outline:
    """An outline of rings in any order of rotation.

    Raises:
        ModelError: for too few or equal corners, crossing sides, no area, holes outside.
    """
    outer = _ring("outline", polygon, 1.0)
    inner = tuple(_ring(f"hole {i}", hole, -1.0) for i, hole in enumerate(holes))
    whole = Outline(outer)
    for i, hole in enumerate(inner):
        earlier = Outline(outer, inner[:i])
        if not whole.holds(hole).all() or not earlier.holds(hole).all():
            raise ModelError(
                f"hole {i} of a sole is not inside its outline, or inside another hole; "
                "expected holes apart from each other and from the sole's edge"
            )
        for a in np.stack([hole, np.roll(hole, -1, axis=0)], axis=1):
            if any(_cross(a, b) for b in earlier.sides):
                raise ModelError(
                    f"hole {i} of a sole crosses the outline or another hole; "
                    "expected holes apart from each other and from the sole's edge"
                )
    return Outline(outer, inner)


def _ring(name: str, points: ArrayLike, turn: float) -> Array:
    try:
        ring = np.asarray(points, float)
    except (TypeError, ValueError):
        ring = np.zeros(0)
    if ring.ndim != 2 or ring.shape[1:] != (2,) or len(ring) < 3 or not np.isfinite(ring).all():
        raise ModelError(
            f"{name} of a sole has shape {ring.shape}; expected at least three finite points "
            "(x, y) in metres"
        )
    if len(ring) > 3 and np.array_equal(ring[0], ring[-1]):
        ring = ring[:-1]
    sides = np.stack([ring, np.roll(ring, -1, axis=0)], axis=1)
    n, extent = len(ring), float(np.ptp(ring, axis=0).max())
    if np.linalg.norm(sides[:, 1] - sides[:, 0], axis=1).min() <= 1e-9 * extent:
        raise ModelError(f"{name} of a sole has two equal corners in a row; give each corner once")
    for i in range(n):
        for j in range(i + 2, n - (i == 0)):
            if _cross(sides[i], sides[j]):
                raise ModelError(
                    f"{name} of a sole crosses itself, between corners {i} and {(i + 1) % n} and "
                    f"between {j} and {(j + 1) % n}; expected corners in their order round the sole"
                )
    area = polygon_area(ring)
    if abs(area) < 1e-9 * extent**2:
        raise ModelError(f"{name} of a sole has the area {area:g} m²; expected more than zero")
    return ring if area * turn > 0 else ring[::-1]


def _cross(a: Array, b: Array) -> bool:
    """Whether two segments have a point in common."""

    def turn(p: Array, q: Array, r: Array) -> float:
        return float((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]))

    def between(p: Array, q: Array, r: Array) -> bool:
        return bool(np.all(np.minimum(p, q) <= r) and np.all(r <= np.maximum(p, q)))

    threes = [(a[0], a[1], b[0]), (a[0], a[1], b[1]), (b[0], b[1], a[0]), (b[0], b[1], a[1])]
    turns = [turn(p, q, r) for p, q, r in threes]
    if turns[0] * turns[1] < 0 and turns[2] * turns[3] < 0:
        return True
    return any(t == 0 and between(p, q, r) for t, (p, q, r) in zip(turns, threes, strict=True))


# ---- triangles ----------------------------------------------------------------------------------


def triangulated(
    outline: Outline, size: float, cuts: Sequence[float] = (), insets: Sequence[float] = ()
) -> tuple[Array, Indices]:
    """Points [m], shape (n, 2), and counter-clockwise triangles, shape (t, 3).

    Args:
        size: of an element's side [m].
        cuts: lines x = … [m] that no triangle crosses.
        insets: distances from the sides [m] at which rows of points are laid.
    """
    polygon = outline.polygon
    if not outline.holes and len(polygon) == 4:
        u, v = polygon[1] - polygon[0], polygon[3] - polygon[0]
        closes = np.allclose(polygon[2] - polygon[1], v, atol=1e-9 * np.abs(u).max())
        straight = not cuts or min(abs(u[0]), abs(u[1])) == 0.0
        if closes and straight and abs(u @ v) < 1e-9 * np.linalg.norm(u) * np.linalg.norm(v):
            return _grid(polygon, size, cuts, insets)
    return _conforming(outline, size, cuts, insets)


def _grid(
    polygon: Array, size: float, cuts: Sequence[float], insets: Sequence[float]
) -> tuple[Array, Indices]:
    """A rectangle as a regular grid, cells halved along one diagonal and the other in turn."""
    rows = []
    for end in (polygon[1], polygon[3]):
        side = end - polygon[0]
        length = float(np.linalg.norm(side))
        marks = {0.0, length, *insets, *(length - d for d in insets)}
        if side[0] != 0.0 and side[1] == 0.0:
            marks |= {(x - polygon[0, 0]) / (side[0] / length) for x in cuts}
        ordered = sorted(m for m in marks if -1e-12 < m < length * (1 + 1e-12))
        ordered = [m for i, m in enumerate(ordered) if i == 0 or m - ordered[i - 1] > 1e-9 * length]
        ordered[-1] = length
        pieces = [
            np.linspace(a, b, max(1, round((b - a) / size)), endpoint=False)
            for a, b in pairwise(ordered)
        ]
        rows.append(np.concatenate([*pieces, [length]]) / length)
    s, t = np.meshgrid(*rows, indexing="ij")
    points = (
        polygon[0]
        + s.reshape(-1, 1) * (polygon[1] - polygon[0])
        + t.reshape(-1, 1) * (polygon[3] - polygon[0])
    )
    number = np.arange(s.size).reshape(s.shape)
    a, b = number[:-1, :-1].ravel(), number[1:, :-1].ravel()
    d, c = number[:-1, 1:].ravel(), number[1:, 1:].ravel()
    i, j = np.indices(s[:-1, :-1].shape).reshape(2, -1)
    even = ((i + j) % 2 == 0)[:, None]
    first = np.where(even, np.stack([a, b, c], 1), np.stack([a, b, d], 1))
    second = np.where(even, np.stack([a, c, d], 1), np.stack([b, c, d], 1))
    return points, np.concatenate([first, second])


def _conforming(
    outline: Outline, size: float, cuts: Sequence[float], insets: Sequence[float]
) -> tuple[Array, Indices]:
    """Delaunay's triangulation with all sides among its edges."""
    sides = _sides_and_cuts(outline, cuts)
    points, pieces = _pieces(sides, size)
    # the first points are on sides, and stay
    fixed = len(points)
    rows, grid = _rows(outline, size, insets), _inner_grid(outline, size)
    rows = rows[distance(rows, sides) > 0.3 * min([size, *insets])]
    grid = grid[distance(grid, sides) > MIN_CLEARANCE * size]
    points = np.concatenate([points, rows, grid])
    for _ in range(BISECTIONS):
        triangles = Delaunay(points).simplices.astype(np.int64)
        edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        there = {tuple(edge) for edge in edges.tolist()}
        missing = np.array([tuple(sorted(piece)) not in there for piece in pieces.tolist()])
        if not missing.any():
            return _inside(outline, points, triangles)
        lost = pieces[missing]
        middle = points[lost].mean(axis=1)
        # free points near a piece that is no edge are in its way
        radius = 0.5 * np.linalg.norm(points[lost[:, 0]] - points[lost[:, 1]], axis=1)
        free = points[fixed:]
        far = np.linalg.norm(free[:, None] - middle, axis=2) > radius * (1 + 1e-9)
        points = np.concatenate([points[:fixed], middle, free[far.all(axis=1)]])
        new = fixed + np.arange(len(lost))
        halves = np.stack([lost[:, 0], new, new, lost[:, 1]], axis=1).reshape(-1, 2)
        pieces, fixed = np.concatenate([pieces[~missing], halves]), fixed + len(lost)
    raise ModelError(
        "the outline of a sole has sides too near to each other to be filled with triangles; "
        "expected no sharp notches"
    )


def _inside(outline: Outline, points: Array, triangles: Indices) -> tuple[Array, Indices]:
    """The triangles inside, counter-clockwise, and the points that they use."""
    corners = points[triangles]
    u, v = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    twice = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    longest = np.maximum((u * u).sum(axis=1), (v * v).sum(axis=1))
    is_inside = outline.holds(corners.mean(axis=1)) & (np.abs(twice) > 1e-9 * longest)
    triangles, twice = triangles[is_inside], twice[is_inside]
    triangles = np.where(twice[:, None] > 0, triangles, triangles[:, ::-1])
    if abs(0.5 * np.abs(twice).sum() - outline.area) > 1e-9 * outline.area:
        raise ModelError(
            "the outline of a sole could not be filled with triangles; "
            "expected no corners that nearly touch another side"
        )
    used, numbers = np.unique(triangles, return_inverse=True)
    return points[used], numbers.reshape(-1, 3).astype(np.int64)


def _sides_and_cuts(outline: Outline, cuts: Sequence[float]) -> Array:
    """The sides, cut where lines x = … meet them, and the pieces of those lines inside."""
    segments = []
    for a, b in outline.sides:
        x = [c for c in cuts if min(a[0], b[0]) + 1e-12 < c < max(a[0], b[0]) - 1e-12]
        at = sorted((c - a[0]) / (b[0] - a[0]) for c in x)
        ends = [a, *(a + s * (b - a) for s in at), b]
        segments += [np.array(pair) for pair in pairwise(ends)]
    for c in cuts:
        crossing = {
            float(y)
            for a, b in segments
            for x, y in (a, b)
            if abs(x - c) <= 1e-9 * max(1e-3, abs(c))
        }
        for low, high in pairwise(sorted(crossing)):
            middle = np.array([[c, 0.5 * (low + high)]])
            if high - low > 1e-9 and outline.holds(middle)[0] and outline.distance(middle)[0] > 0:
                segments.append(np.array([[c, low], [c, high]]))
    return np.array(segments)


def _pieces(sides: Array, size: float) -> tuple[Array, Indices]:
    """Sides cut into pieces of about one size: their points, and the pieces by number."""
    number: dict[tuple[float, float], int] = {}
    points: list[Array] = []
    pieces = []
    for a, b in sides:
        count = max(1, round(float(np.linalg.norm(b - a)) / size))
        row = []
        for s in range(count + 1):
            p = b if s == count else a + s / count * (b - a)
            key = (round(float(p[0]), 11), round(float(p[1]), 11))
            if key not in number:
                number[key] = len(points)
                points.append(p)
            row.append(number[key])
        pieces += list(pairwise(row))
    return np.array(points), np.array(pieces, np.int64)


def _inner_grid(outline: Outline, size: float) -> Array:
    """Points of a grid of equilateral triangles inside."""
    low, high = outline.polygon.min(axis=0), outline.polygon.max(axis=0)
    middle, height = 0.5 * (low + high), size * np.sqrt(0.75)
    columns = int(np.ceil((high - low)[0] / 2 / size)) + 1
    lines = int(np.ceil((high - low)[1] / 2 / height)) + 1
    i, j = np.mgrid[-columns : columns + 1, -lines : lines + 1].reshape(2, -1)
    points = middle + np.stack([(i + 0.5 * (j % 2)) * size, j * height], axis=1)
    return points[outline.holds(points)]


def _rows(outline: Outline, size: float, insets: Sequence[float]) -> Array:
    """Points at given distances from the sides, inside."""
    rows = [np.zeros((0, 2))]
    for a, b in outline.sides:
        along = (b - a) / np.linalg.norm(b - a)
        inwards = np.array([-along[1], along[0]])
        count = max(2, round(float(np.linalg.norm(b - a)) / size))
        base = a + (np.arange(count + 1) / count)[:, None] * (b - a)
        rows += [base + d * inwards for d in insets]
    points = np.concatenate(rows)
    if not len(points):
        return points
    # next to corners a row of one side comes too near to another
    near = outline.distance(points)
    wanted = np.min(np.abs(near[:, None] - np.array(insets)), axis=1) < 1e-6 * size
    points = points[wanted & outline.holds(points)]
    _, first = np.unique(np.round(points / (0.25 * size)), axis=0, return_index=True)
    return points[np.sort(first)]
