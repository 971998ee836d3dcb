"""Two surfaces that deform: nodes of each on triangles and edges of the other, edges across edges.

    gap = m·(x − foot),   n = ±m   of a node x over a triangle with the outward normal m      (1)
    gap = n·(x − y),   n·d = n·g = 0   of edges x + s d of a and y + t g of b                 (2)
Surfaces meet where they look at each other.
"""

from tabi.collision.surfaces.mesh import (
    MAX_DEPTH_M,
    around_edge,
    at_node,
    bounds,
    crossing,
    edge_normal,
    ends,
    foot_on_edge,
    foot_on_triangle,
    label,
    leans_over,
    meets,
    node_normal,
    note_both,
    on_edge,
    on_triangle,
)
from tabi.jit import kernel
from tabi.spatial.vector import add, dot, load3, scale, sub

# a node of a, of b, on a triangle or an edge of the other; edges
A_ON_TRIANGLE, A_ON_EDGE, B_ON_TRIANGLE, B_ON_EDGE, ACROSS = 1, 2, 3, 4, 5


@kernel
def between(f, place, u, v, band, out, count):
    """Points of surfaces u and v, a and b of a pair; returns the new number of points."""
    a, b, reach = f.row[u], f.row[v], max(band, MAX_DEPTH_M)
    box, other = bounds(f, place, a, 0.0), bounds(f, place, b, 0.0)
    if not meets(box, other, reach):
        return count
    count = _nodes(f, place, a, b, (band, 1.0), out, count)
    count = _nodes(f, place, b, a, (band, -1.0), out, count)
    for e in range(a.edge, a.edge_end):
        p, q = ends(f, place, e)
        mine = around_edge(p, q)
        if not meets(mine, other, reach):
            continue
        d = sub(q, p)
        for k in range(b.edge, b.edge_end):
            x, y = ends(f, place, k)
            if not meets(mine, around_edge(x, y), reach):
                continue
            g = sub(y, x)
            met, s, t, n = crossing(p, d, x, g)
            if not met:
                continue
            up, down = edge_normal(f, place, k), edge_normal(f, place, e)
            n = scale(1.0 if dot(n, sub(up, down)) > 0.0 else -1.0, n)
            w = add(p, scale(s, d))
            gap = dot(n, sub(w, add(x, scale(t, g))))
            if (
                gap < band
                and gap > -MAX_DEPTH_M
                and dot(n, up) > 0.0
                and dot(n, down) < 0.0
                and not leans_over(f, place, e, n)
                and not leans_over(f, place, k, scale(-1.0, n))
            ):
                name = label(ACROSS, e - a.edge, k - b.edge)
                on, onto = on_edge(f, e, s), on_edge(f, k, t)
                count = note_both(out, count, on, onto, name, w, n, gap)
    return count


@kernel
def _nodes(f, place, a, b, near, out, count):
    """Nodes of the first surface on triangles and edges of the second; near: the band [m], and 1
    where the first is a of the pair.
    """
    band, side = near
    reach = max(band, MAX_DEPTH_M)
    box = bounds(f, place, b, reach)
    for i in range(a.node, a.node_end):
        x = load3(place[i])
        if not meets((x, x), box, 0.0):
            continue
        normal = node_normal(f, place, i)
        for t in range(b.triangle, b.triangle_end):
            met, w, m, gap = foot_on_triangle(f, place, t, x, reach)
            if met and gap < band and gap > -MAX_DEPTH_M and dot(normal, m) < 0.0:
                what = A_ON_TRIANGLE if side > 0.0 else B_ON_TRIANGLE
                name = label(what, i - a.node, t - b.triangle)
                on, onto = at_node(i), on_triangle(f, t, w)
                count = _note(out, count, side, on, onto, name, x, m, gap)
        for e in range(b.edge, b.edge_end):
            met, s, _, n, gap = foot_on_edge(f, place, e, x, reach)
            if met and gap < band and gap > -MAX_DEPTH_M and dot(normal, n) > 0.0:
                what = A_ON_EDGE if side > 0.0 else B_ON_EDGE
                name = label(what, i - a.node, e - b.edge)
                on, onto = at_node(i), on_edge(f, e, s)
                count = _note(out, count, side, on, onto, name, x, scale(-1.0, n), gap)
    return count


@kernel
def _note(out, count, side, on, onto, name, x, n, gap):
    """A point at node x of the first surface; n: from the second to the first."""
    if side > 0.0:
        return note_both(out, count, on, onto, name, x, n, gap)
    return note_both(out, count, onto, on, name, sub(x, scale(gap, n)), scale(-1.0, n), gap)
