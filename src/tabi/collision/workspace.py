"""Memory of the collision kernels: allocated once per world, written by every call;
and the table of points they fill.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.collision import broad
from tabi.collision.arrays import MOST_CORNERS, POSE, SHAPE, Collision
from tabi.jit.structure import Structure
from tabi.model.arrays import INDEX, REAL, table

HULL_POINTS, HULL_FACES = 72, 256
MOST_SLOTS = 16  # points of one corner on a height field, one for each triangle

POINT = np.dtype(
    [
        # moving body a, body b (0 is the world), and their shapes
        ("a", INDEX),
        ("b", INDEX),
        ("shape_a", INDEX),
        ("shape_b", INDEX),
        # which corners or edges of the pair met here:
        # the same from step to step, one of a kind within the pair
        ("feature", INDEX),
        # in the world: midway between the surfaces [m]; unit normal from b to a;
        # distance of the surfaces along it [m], negative in overlap
        ("position", REAL, 3),
        ("normal", REAL, 3),
        ("gap", REAL),
    ],
    align=True,
)
CORNER = np.dtype(
    [
        # of a polygon seen along the common normal:
        # place in the plane across it, height along it, length of the edge that leaves it [m]
        ("u", REAL),
        ("v", REAL),
        ("height", REAL),
        ("edge", REAL),
        ("name", INDEX),
    ],
    align=True,
)
CROSSING = np.dtype(
    [
        # a point where two polygons meet: place across the normal, heights of both surfaces [m],
        # identity
        ("u", REAL),
        ("v", REAL),
        ("a", REAL),
        ("b", REAL),
        ("name", INDEX),
        ("is_kept", INDEX),
    ],
    align=True,
)
APART = np.dtype(
    [
        # two shapes, how far they were apart at least [m], and where a was in the frame of b then
        ("a", INDEX),
        ("b", INDEX),
        ("distance", REAL),
        ("rotation", REAL, 9),
        ("position", REAL, 3),
    ],
    align=True,
)


class CollisionWorkspace(Structure):
    """Arrays the kernels write.

    Attributes:
        pose: of each shape, by ``broad.begin`` where fixed, by ``broad.place`` where moving; and a
            last row for an edge of a height field, by ``ridge``.
        order, axis: bounded shapes along the axis of the sweep, by ``broad.begin``, then by each
            ``broad.candidates`` from the last one; what is found does not depend on them.
        pair, sorted_pair: candidates (shape a, shape b). start: where those of a shape a begin. By
            ``broad.candidates``.
        apart: rows of APART, by ``apart``. distance: of the last pair found without points, at
            least [m], by ``convex``.
        simplex, weight: by ``gjk``, points of the difference of two shapes with the points of both,
            shape (4, 9), and their shares.
        hull, hull_face, hull_plane, hull_edge: by ``polytope``, what grows inside the difference of
            two overlapping shapes.
        polygon, crossing: by ``polygon``, one of each shape of a pair, and where they meet.
        probe: by ``ridge``, an edge of a height field as a shape of its own.
        corner_point: by ``terrain``, points of one corner of a polytope on a height field.
    """

    pose: NDArray[np.void]
    order: NDArray[np.int64]
    axis: NDArray[np.int64]
    pair: NDArray[np.int64]
    sorted_pair: NDArray[np.int64]
    start: NDArray[np.int64]
    apart: NDArray[np.void]
    distance: NDArray[np.float64]
    simplex: NDArray[np.float64]
    weight: NDArray[np.float64]
    hull: NDArray[np.float64]
    hull_face: NDArray[np.int64]
    hull_plane: NDArray[np.float64]
    hull_edge: NDArray[np.int64]
    polygon: NDArray[np.void]
    crossing: NDArray[np.void]
    probe: NDArray[np.void]
    corner_point: NDArray[np.void]


def allocate(collision: Collision, points: int) -> CollisionWorkspace:
    """Memory for a number of points; ``detect`` says when more are needed."""
    c, count = collision, len(collision.shape)
    pairs = max(64, 2 * points)
    work = CollisionWorkspace(
        pose=table(count + 1, POSE),
        order=np.zeros(len(c.bounded), np.int64),
        axis=np.zeros(1, np.int64),
        pair=np.zeros((pairs, 2), np.int64),
        sorted_pair=np.zeros((pairs, 2), np.int64),
        start=np.zeros(count + 1, np.int64),
        apart=table(max(64, 8 * count), APART),
        distance=np.zeros(1),
        simplex=np.zeros((4, 9)),
        weight=np.zeros(4),
        hull=np.zeros((HULL_POINTS, 9)),
        hull_face=np.zeros((HULL_FACES, 3), np.int64),
        hull_plane=np.zeros((HULL_FACES, 4)),
        hull_edge=np.zeros((HULL_FACES, 2), np.int64),
        polygon=table(2 * MOST_CORNERS, CORNER).reshape(2, MOST_CORNERS),
        crossing=table(4 * MOST_CORNERS, CROSSING),
        probe=table(1, SHAPE),
        corner_point=table(MOST_SLOTS, POINT),
    )
    broad.begin(c, work)
    return work


def point_table(count: int) -> NDArray[np.void]:
    """A table for a number of points."""
    return table(count, POINT)
