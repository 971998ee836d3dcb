"""A coarser outline: the corners of a convex outline that are enough to stay near all of it.

Of the corners in order those are taken for which every other one v lies within ε of the segment
between its neighbours a and b that stay,

    min over t in [0, 1] of ‖v − (1 − t) a − t b‖  ≤  ε                                          (1)

They are found by splitting (Ramer 1972; Douglas and Peucker 1973): from the corners that reach
farthest along the outline's axis, always the one farthest from its segment is added; those that the
later ones made needless go again, the least far first. The axis is that of a circular moment,

    c_m = ∫ (x + i y)^m dA about the centroid,    axis = arg(c_m)/m                              (2)

with m = 2, which is along the outline, both ways; where c_2 vanishes, as that of a square does, m
is 3 or 4. Corners that are equally far come and go together, so that an outline that is turned or
mirrored keeps the same corners, turned or mirrored; only one as round as a circle, which has no
axis, takes x for one.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tabi.spatial.polygon import polygon_width

Array = NDArray[np.float64]
Rows = NDArray[np.int64]
# lengths that differ by less than this share of the outline's size count as equal
TIE_RATIO = 1e-6
# moments below this share of those of an elongated outline count as zero
MIN_MOMENT_RATIO = 1e-2


def outlines(points: Array, rows: Rows) -> list[Rows]:
    """Convex outlines of some points seen along z, each counter-clockwise: first the one of all, of
    several points in one place through the lowest, then that of those that are left. Fewer than
    four, and those in a line, are none.
    """
    # here, because it takes a third of a second to import
    from scipy.spatial import ConvexHull, QhullError

    outlines: list[Rows] = []
    rows = rows[np.argsort(points[rows, 2], kind="stable")]
    while len(rows) > 3:
        tie = TIE_RATIO * float(np.ptp(points[rows, :2], axis=0).max())
        lowest: list[int] = []
        for row in rows.tolist():
            away = np.abs(points[lowest, :2] - points[row, :2]).max(axis=1)
            if not (away <= tie).any():
                lowest.append(row)
        try:
            loop = np.array(lowest)[ConvexHull(points[lowest, :2]).vertices]
        except (QhullError, ValueError):
            break
        if len(loop) < 4 or not polygon_width(points[loop, :2]) > tie:
            break
        outlines.append(loop)
        rows = rows[~np.isin(rows, loop)]
    return outlines


def coarser(outline: Array, tolerance: float) -> tuple[Rows, float]:
    """Rows of the corners that are enough by (1), and how far the others lie outside at most [m].

    Args:
        outline: corners in order round a polygon that is convex seen along z, shape (n, 3).
        tolerance: ε [m].
    """
    tie = TIE_RATIO * float(np.ptp(outline[:, :2], axis=0).max())
    rows = _without_redundant(outline, _split(outline, tolerance, tie), tolerance, tie)
    return rows, _largest_loss(outline, rows)


def _split(outline: Array, tolerance: float, tie: float) -> Rows:
    n, first = len(outline), _farthest_out(outline[:, :2], tie).tolist()
    corners, arcs = set(first), [*pairwise([*first, first[0] + n])]
    while arcs:
        a, b = arcs.pop()
        between, far = _between(outline, a, b)
        if not far.max(initial=0.0) > tolerance:
            continue
        # of corners that are equally far the two at the ends, whichever way round
        equal = between[far >= far.max() - tie]
        c, d = int(equal[0]), int(equal[-1])
        corners |= {c % n, d % n}
        arcs += [(a, c), (c, d), (d, b)] if c < d else [(a, c), (c, b)]
    return np.array(sorted(corners), np.int64)


def _without_redundant(outline: Array, rows: Rows, tolerance: float, tie: float) -> Rows:
    """Drop selected corners that the remaining ones make redundant: first the one whose removal
    costs the least distance; of several equal ones all or none.
    """
    needed = np.zeros(len(outline), bool)
    while len(rows) > 3:
        around = zip(np.roll(rows, 1), np.roll(rows, -1), strict=True)
        cost = np.array([_between(outline, a, b)[1].max() for a, b in around])
        cost[needed[rows]] = np.inf
        if not cost.min() <= tolerance:
            break
        cheapest = cost <= cost.min() + tie
        left = rows[~cheapest]
        if len(left) > 2 and _largest_loss(outline, left) <= tolerance:
            rows = left
        else:
            needed[rows[cheapest]] = True
    return rows


def _largest_loss(outline: Array, rows: Rows) -> float:
    """Return the largest distance of dropped corners outside the polygon of ``rows`` [m]."""
    ends = zip(rows, np.roll(rows, -1), strict=True)
    return max(float(_between(outline, a, b)[1].max(initial=0.0)) for a, b in ends)


def _between(outline: Array, a: int, b: int) -> tuple[Rows, Array]:
    """The rows after a and before b, and how far they are from the segment between these [m]."""
    n = len(outline)
    rows = np.arange(a + 1, b if b > a else b + n)
    return rows, _from_segment(outline[rows % n], outline[a % n], outline[b % n])


def _farthest_out(outline: Array, tie: float) -> Rows:
    """Rows of the corners that reach farthest along the m directions of the axis (2), and of those
    that reach equally far the two that are farthest apart.
    """
    angle, count = _axis(outline)
    corners = set[int]()
    for turn in angle + 2 * np.pi / count * np.arange(count):
        along = np.array([np.cos(turn), np.sin(turn)])
        reach, across = outline @ along, outline @ [-along[1], along[0]]
        equal = np.flatnonzero(reach >= reach.max() - tie)
        corners |= {int(equal[across[equal].argmin()]), int(equal[across[equal].argmax()])}
    return np.array(sorted(corners), np.int64)


def _axis(outline: Array) -> tuple[float, int]:
    """Angle of the axis (2) [rad], and m; of a round outline that of x."""
    z = outline[:, 0] + 1j * outline[:, 1]
    z = z - z.mean()
    # twice the areas of the triangles to the origin, which then moves to the centroid
    double = (np.conj(z) * np.roll(z, -1)).imag
    z = z - (double * (z + np.roll(z, -1))).sum() / (3 * double.sum())
    a, b = z, np.roll(z, -1)
    double = (np.conj(a) * b).imag
    area = 0.5 * float(double.sum())
    for m in (2, 3, 4):
        terms = sum(a**j * b ** (m - j) for j in range(m + 1))
        moment = (double * terms).sum() / ((m + 1) * (m + 2))
        if abs(moment) > MIN_MOMENT_RATIO * area * (area / np.pi) ** (m / 2):
            return float(np.angle(moment)) / m, m
    return 0.0, 2


def _from_segment(points: Array, a: Array, b: Array) -> Array:
    """Distances of points to the segment from a to b [m]."""
    edge = b - a
    share = np.clip((points - a) @ edge / max(float(edge @ edge), 1e-300), 0.0, 1.0)
    return np.linalg.norm(points - a - share[:, None] * edge, axis=1)
