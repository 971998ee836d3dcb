"""Nodes of a surface against a half-space and against solids.

Every node in the band has a point of its own: what holds the others does not hold it. A normal that
looks out of the surface belongs to something behind it; that of a ball, or a capsule, whose middle
is below the surface with this node nearest to it points back through the node:

    gap = −‖x − o‖ − r,   n = (o − x) / ‖o − x‖                                              (1)
x: the node; o, r: the middle of the ball and its radius.
"""

from tabi.collision.arrays import CAPSULE
from tabi.collision.surfaces.mesh import (
    MAX_BEHIND_COSINE,
    MAX_DEPTH_M,
    at_node,
    label,
    node_normal,
    note,
)
from tabi.collision.surfaces.solids import core_point, nearest
from tabi.jit import kernel
from tabi.spatial.vector import add, dot, load3, load9, mul, mul_t, scale, sub

AT_NODE = 1
# cosine by which a normal may point out of the surface, except at its border: walls lean a little
MAX_OUTWARD_COSINE = 0.2


@kernel
def nodes_below(f, place, row, y, near, out, count):
    """Nodes over a half-space at pose y; returns the new number of points.

    Args:
        near: the band [m], and 1 where the surface is a of the pair, −1 where it is b.
        out: tables of points and of their nodes.
    """
    band, side = near
    R, o = y.rotation, load3(y.position)
    n = (R[2], R[5], R[8])
    for i in range(row.node, row.node_end):
        x = load3(place[i])
        gap = dot(n, sub(x, o))
        if gap < band:
            name = label(AT_NODE, i - row.node, 0)
            count = note(out, count, side, at_node(i), name, x, n, gap)
    return count


@kernel
def nodes_on(f, place, row, t, y, near, c, out, count):
    """Nodes over the solid t at pose y; see ``nodes_below``."""
    band, side = near
    R, o = load9(y.rotation), load3(y.position)
    h, r = t.half, t.radius + band
    for i in range(row.node, row.node_end):
        x = load3(place[i])
        p = mul_t(R, sub(x, o))
        if not (abs(p[0]) < h[0] + r and abs(p[1]) < h[1] + r and abs(p[2]) < h[2] + r):
            continue
        m = mul_t(R, node_normal(f, place, i))
        n, gap = nearest(t, p, m, c)
        if dot(n, m) > (MAX_BEHIND_COSINE if f.border[i] == 1 else MAX_OUTWARD_COSINE):
            if t.kind > CAPSULE or f.border[i] == 1:
                continue
            q = core_point(t, p)
            away = gap + t.radius
            if away > MAX_DEPTH_M or not _nearest_node(f, place, i, add(o, mul(R, q))):
                continue
            n, gap = scale(-1.0, n), -away - t.radius
        if gap < band:
            name = label(AT_NODE, i - row.node, 0)
            count = note(out, count, side, at_node(i), name, x, mul(R, n), gap)
    return count


@kernel
def _nearest_node(f, place, i, q):
    """Whether no triangle around a node has a point nearer to q."""
    x = load3(place[i])
    v = sub(q, x)
    for k in range(f.ring[i], f.ring[i + 1]):
        for e in range(3):
            if dot(v, sub(load3(place[f.triangle[f.around[k], e]]), x)) > 0.0:
                return False
    return True
