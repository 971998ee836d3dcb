"""Surfaces that deform, the ground faces of soft soles and pads of hands: their tables, and their
points with every other shape.

A surface is made of triangles that look outwards; its nodes move in the frame of the body that
carries it. What may touch: every node, and whatever of the other shape may come between the nodes.

    x = Σ_k w_k x_k,   w ≥ 0,   Σ w = 1                                                      (1)
is the surface's point of a contact, over three nodes at most.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError
from tabi.collision.arrays import BOX, CAPSULE, FIELD, PLANE, POLYTOPE, SURFACE
from tabi.collision.surfaces.curved import of_curved
from tabi.collision.surfaces.features import of_round, of_solid
from tabi.collision.surfaces.fields import on_field
from tabi.collision.surfaces.mesh import MAX_DEPTH_M, bounds, meets
from tabi.collision.surfaces.nodes import nodes_below, nodes_on
from tabi.collision.surfaces.pairs import between
from tabi.jit import kernel
from tabi.jit.structure import Structure
from tabi.model.arrays import INDEX, REAL, table
from tabi.spatial.vector import load3

SURFACE_ROW = np.dtype(
    [
        # its collision shape, the body that carries it, and the rows of its nodes, triangles, edges
        ("shape", INDEX),
        ("body", INDEX),
        ("node", INDEX),
        ("node_end", INDEX),
        ("triangle", INDEX),
        ("triangle_end", INDEX),
        ("edge", INDEX),
        ("edge_end", INDEX),
    ],
    align=True,
)
NODES = np.dtype(
    [
        # equation (1) of a contact point: nodes and their shares in shape a and in shape b;
        # −1 and 0 where the shape is no surface or fewer nodes are needed
        ("node_a", INDEX, 3),
        ("weight_a", REAL, 3),
        ("node_b", INDEX, 3),
        ("weight_b", REAL, 3),
    ],
    align=True,
)


class Surfaces(Structure):
    """Tables that kernels read; nodes, triangles and edges are numbered over all surfaces.

    Attributes:
        row: table of SURFACE_ROW.
        rest: nodes without deformation in the frames of their bodies [m], shape (n, 3).
        triangle: nodes, counter-clockwise seen from outside, shape (t, 3).
        edge: nodes of each edge, once, shape (e, 2).
        of_shape: for each collision shape the row of its surface, or −1.
        next: the triangle across the side that is opposite to each corner, or −1, shape (t, 3).
        beside: triangles beside an edge, shape (e, 2); opposite: their nodes that are not on it.
            The second ones are −1 where the surface ends.
        border: 1 for nodes where the surface ends.
        ring, around: triangles around node i are around[ring[i]:ring[i + 1]].
    """

    row: NDArray[np.void]
    rest: NDArray[np.float64]
    triangle: NDArray[np.int64]
    edge: NDArray[np.int64]
    of_shape: NDArray[np.int64]
    next: NDArray[np.int64]
    beside: NDArray[np.int64]
    opposite: NDArray[np.int64]
    border: NDArray[np.int64]
    ring: NDArray[np.int64]
    around: NDArray[np.int64]


def surfaces(parts: Sequence[tuple[int, int, ArrayLike, ArrayLike]], shape_count: int) -> Surfaces:
    """Tables of some surfaces: for each its collision shape, its body, its nodes in the body's
    frame [m] and its triangles, by numbers of these nodes.
    """
    rows, of_shape = table(len(parts), SURFACE_ROW), np.full(shape_count, -1, np.int64)
    rest, triangles, edges = [np.zeros((0, 3))], [_whole(3)], [_whole(2)]
    beside, opposite, across = [_whole(2)], [_whole(2)], [_whole(3)]
    nodes = sides = lines = 0
    for u, (shape, body, points, corners) in enumerate(parts):
        x, t = _checked(shape, points, corners)
        edge, by, over, beyond = _edges(shape, t)
        row = rows[u]
        row["shape"], row["body"] = shape, body
        row["node"], row["triangle"], row["edge"] = nodes, sides, lines
        rest.append(x)
        triangles.append(t + nodes)
        edges.append(edge + nodes)
        beside.append(np.where(by < 0, -1, by + sides))
        opposite.append(np.where(over < 0, -1, over + nodes))
        across.append(np.where(beyond < 0, -1, beyond + sides))
        nodes, sides, lines = nodes + len(x), sides + len(t), lines + len(edge)
        row["node_end"], row["triangle_end"], row["edge_end"] = nodes, sides, lines
        of_shape[shape] = u
    triangle, edge, by = (np.concatenate(x) for x in (triangles, edges, beside))
    border = np.zeros(nodes, np.int64)
    border[edge[by[:, 1] < 0]] = 1
    return Surfaces(
        row=rows,
        rest=np.concatenate(rest),
        triangle=triangle,
        edge=edge,
        of_shape=of_shape,
        next=np.concatenate(across),
        beside=by,
        opposite=np.concatenate(opposite),
        border=border,
        ring=np.concatenate([[0], np.cumsum(np.bincount(triangle.ravel(), minlength=nodes))]),
        around=np.argsort(triangle.ravel(), kind="stable") // 3,
    )


def none(shape_count: int) -> Surfaces:
    """Tables of a world without surfaces that deform."""
    return surfaces([], shape_count)


def _whole(columns: int) -> NDArray[np.int64]:
    return np.zeros((0, columns), np.int64)


def _checked(
    shape: int, nodes: ArrayLike, triangles: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Nodes and triangles as arrays, if they make a surface."""
    x, t = np.array(nodes, float), np.array(triangles, np.int64)
    if x.ndim != 2 or x.shape[1] != 3 or not np.isfinite(x).all():
        raise ModelError(
            f"the surface of shape {shape} has nodes of shape {x.shape}; "
            "expected finite points (x, y, z) in metres"
        )
    if t.ndim != 2 or t.shape[1:] != (3,) or not len(t) or t.min() < 0 or t.max() >= len(x):
        raise ModelError(
            f"the surface of shape {shape} has triangles of shape {t.shape} over {len(x)} nodes; "
            "expected one or more, each three numbers of nodes"
        )
    area = np.linalg.norm(np.cross(x[t[:, 1]] - x[t[:, 0]], x[t[:, 2]] - x[t[:, 0]]), axis=1)
    if not area.min() > 0:
        raise ModelError(
            f"triangle {int(area.argmin())} of the surface of shape {shape} has no area; "
            "expected three nodes that are not in line: leave it out"
        )
    return x, t


def _edges(
    shape: int, triangles: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Edges, each once; triangles beside them, nodes opposite in these; and across each side of a
    triangle its neighbour.
    """
    sides_of: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for t, nodes in enumerate(triangles.tolist()):
        for k in range(3):
            a, b = nodes[(k + 1) % 3], nodes[(k + 2) % 3]
            uses = sides_of.setdefault((min(a, b), max(a, b)), [])
            if any(triangles[s][(e + 1) % 3] == a for s, e in uses) or len(uses) == 2:
                raise ModelError(
                    f"the surface of shape {shape} has the edge between nodes {a} and {b} twice "
                    "the same way round; expected triangles that all look outwards, at most two "
                    "of them at an edge"
                )
            uses.append((t, k))
    edge = np.array(sorted(sides_of), np.int64)
    beside, opposite = np.full((len(edge), 2), -1), np.full((len(edge), 2), -1)
    across = np.full(triangles.shape, -1)
    for e, ends in enumerate(map(tuple, edge.tolist())):
        uses = sides_of[ends]
        for side, (t, k) in enumerate(uses):
            beside[e, side], opposite[e, side] = t, triangles[t, k]
            across[t, k] = uses[1 - side][0] if len(uses) == 2 else -1
    return edge, beside, opposite, across


@kernel
def surface_points(c, cw, f, place, i, k, band, points, where, count):
    """Points of a pair of shapes, a = i and b = k, at least one of which is a surface, after those
    that are there.

    Args:
        c, cw: collision tables and workspace, after ``broad.place``.
        f: tables of the surfaces. place: where their nodes are in the world [m], shape (n, 3).
        band: distance below which points are found [m].
        points, where: rows of ``workspace.POINT`` and of NODES.

    Returns:
        The new number of points, also if there are fewer rows.
    """
    u, v, before, out = f.of_shape[i], f.of_shape[k], count, (points, where)
    if u >= 0 and v >= 0:
        count = between(f, place, u, v, band, out, count)
    elif u >= 0:
        count = _on_shape(c, cw, f, place, u, k, (band, 1.0), out, count)
    elif v >= 0:
        count = _on_shape(c, cw, f, place, v, i, (band, -1.0), out, count)
    for e in range(before, min(count, points.shape[0])):
        row = points[e]
        row.a, row.b, row.shape_a, row.shape_b = c.shape[i].body, c.shape[k].body, i, k
    return count


@kernel
def _on_shape(c, cw, f, place, u, k, near, out, count):
    """Points of surface u on the rigid shape k."""
    row, t, y = f.row[u], c.shape[k], cw.pose[k]
    if t.kind == PLANE:
        return nodes_below(f, place, row, y, near, out, count)
    if t.kind == FIELD:
        return on_field(f, place, row, t, y, near, c, out, count)
    box = bounds(f, place, row, max(near[0], MAX_DEPTH_M))
    if t.kind == SURFACE or not meets(box, (load3(y.low), load3(y.high)), 0.0):
        return count
    count = nodes_on(f, place, row, t, y, near, c, out, count)
    if t.kind <= CAPSULE:
        return of_round(f, place, row, t, y, near, out, count)
    if t.kind == BOX or t.kind == POLYTOPE:
        return of_solid(f, place, row, t, y, near, c, out, count)
    return of_curved(f, place, row, t, y, near, c, out, count)
