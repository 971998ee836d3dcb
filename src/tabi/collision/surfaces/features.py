"""Contacts of balls, capsules, boxes and polytopes between the nodes of a surface.

    gap = m·(q − foot) − r   of a corner or an end q over a triangle                         (1)
    gap = n·(x − y),   n ∥ d × g   of an edge y + t g under an edge x + s d                  (2)
m: outward normal of the triangle, so −m points from the solid to the surface; n in (2) points out
of the solid, between the faces beside its edge. A corner counts where the solid lies behind it as
seen from the surface, an edge where its faces fall off on both sides: what leans over by more than
a little has something nearer beside it. Edges that are parallel meet where one of them ends.
"""

import math

from tabi.collision.polygon import EDGE
from tabi.collision.surfaces.mesh import (
    MAX_BEHIND_COSINE,
    MAX_DEPTH_M,
    TIP,
    around_edge,
    bounds,
    crossing,
    edge_normal,
    ends,
    foot_on_edge,
    foot_on_triangle,
    is_behind,
    label,
    leans_over,
    meets,
    note,
    on_edge,
    on_triangle,
)
from tabi.jit import kernel
from tabi.spatial.vector import add, cross, dot, load3, load9, mul, scale, sub

ON_TRIANGLE, ON_EDGE, ACROSS = 2, 3, 4


@kernel
def of_round(f, place, row, t, y, near, out, count):
    """A ball or a capsule t at pose y against triangles and edges; returns the new number of
    points.

    Args:
        near: the band [m], and 1 where the surface is a of the pair, −1 where it is b.
        out: tables of points and of their nodes.
    """
    R, o, h = y.rotation, load3(y.position), t.half[2]
    axis = (R[2], R[5], R[8])
    rest = scale(1.0 if h > 0.0 else 0.0, axis)
    for k in range(2 if h > 0.0 else 1):
        lift = h if k == 1 else -h
        ball = (add(o, scale(lift, axis)), t.radius, k, rest)
        count = _end(f, place, row, ball, near, out, count)
        rest = scale(-1.0, rest)
    if h == 0.0:
        return count
    band, side = near
    b, g = sub(o, scale(h, axis)), scale(2.0 * h, axis)
    box, reach = around_edge(b, add(b, g)), t.radius + max(band, MAX_DEPTH_M)
    for e in range(row.edge, row.edge_end):
        a, to = ends(f, place, e)
        if not meets(box, around_edge(a, to), reach):
            continue
        d = sub(to, a)
        met, s, w, n = crossing(a, d, b, g)
        if not met:
            continue
        x, q = add(a, scale(s, d)), add(b, scale(w, g))
        m, v = edge_normal(f, place, e), sub(x, q)
        # where the surface ends, the capsule is on the side on which it is
        flip = dot(n, v) < 0.0 if f.beside[e, 1] < 0 else dot(n, m) > 0.0
        n = scale(-1.0 if flip else 1.0, n)
        gap = dot(n, v) - t.radius
        if (
            gap < band
            and gap + t.radius > -MAX_DEPTH_M
            and dot(n, m) <= MAX_BEHIND_COSINE
            and not leans_over(f, place, e, n)
        ):
            name = label(ACROSS, e - row.edge, 0)
            count = note(out, count, side, on_edge(f, e, s), name, x, n, gap)
    return count


@kernel
def _end(f, place, row, ball, near, out, count):
    """A ball (middle, radius, name, direction to the rest of its core) against triangles and
    edges.
    """
    q, r, which, rest = ball
    band, side = near
    reach = r + max(band, MAX_DEPTH_M)
    for t in range(row.triangle, row.triangle_end):
        met, w, m, away = foot_on_triangle(f, place, t, q, reach)
        if met and away - r < band and away > -MAX_DEPTH_M and dot(m, rest) > -EDGE:
            x = sub(q, scale(away, m))
            name = label(ON_TRIANGLE, t - row.triangle, which)
            count = note(out, count, side, on_triangle(f, t, w), name, x, scale(-1.0, m), away - r)
    for e in range(row.edge, row.edge_end):
        met, s, x, n, away = foot_on_edge(f, place, e, q, reach)
        if met and away - r < band and away > -MAX_DEPTH_M and dot(n, rest) < EDGE:
            name = label(ON_EDGE, e - row.edge, which)
            count = note(out, count, side, on_edge(f, e, s), name, x, n, away - r)
    return count


@kernel
def of_solid(f, place, row, t, y, near, c, out, count):
    """Corners and edges of a box or polytope t at pose y; see ``of_round``."""
    reach = max(near[0], MAX_DEPTH_M)
    R, o = load9(y.rotation), load3(y.position)
    box = bounds(f, place, row, reach)
    for k in range(t.vertex, t.vertex_end):
        q = add(o, mul(R, load3(c.vertex[k])))
        if meets((q, q), box, 0.0):
            count = _corner(f, place, row, (t, k - t.vertex, R, q), near, c, out, count)
    for k in range(t.face, t.face_end):
        face = c.face[k]
        for l in range(face.loop, face.loop_end):
            i = c.loop[l]
            j = c.loop[face.loop if l + 1 == face.loop_end else l + 1]
            # every edge lies between two faces, and goes up in one of them
            if i > j:
                continue
            a = add(o, mul(R, load3(c.vertex[t.vertex + i])))
            b = add(o, mul(R, load3(c.vertex[t.vertex + j])))
            low, high = clipped(a, sub(b, a), box)
            if low >= high:
                continue
            m = mul(R, load3(face.normal))
            other = _across(t, i, j, k, c)
            n = mul(R, load3(c.face[other].normal))
            edge = (a, sub(b, a), low, high, m, n, i << 14 | j)
            count = _edge(f, place, row, edge, near, out, count)
    return count


@kernel
def clipped(a, d, box):
    """The part (from, to) of an edge a + t d inside a box; from ≥ to where there is none."""
    low, high = 0.0, 1.0
    for k in range(3):
        if d[k] == 0.0:
            if not (a[k] >= box[0][k] and a[k] <= box[1][k]):
                return 1.0, 0.0
            continue
        x, y = (box[0][k] - a[k]) / d[k], (box[1][k] - a[k]) / d[k]
        low, high = max(low, min(x, y)), min(high, max(x, y))
    return low, high


@kernel
def _across(t, i, j, k, c):
    """The face across the edge from corner i to j of face k; k itself where there is none."""
    for other in range(t.face, t.face_end):
        face = c.face[other]
        for l in range(face.loop, face.loop_end):
            if c.loop[l] == j:
                if c.loop[face.loop if l + 1 == face.loop_end else l + 1] == i:
                    return other
                break
    return k


@kernel
def _corner(f, place, row, corner, near, c, out, count):
    """A corner (its solid, number, the solid's rotation, place) against triangles and edges."""
    t, k, R, q = corner
    band, side = near
    reach = max(band, MAX_DEPTH_M)
    for e in range(row.triangle, row.triangle_end):
        met, w, m, away = foot_on_triangle(f, place, e, q, reach)
        if met and away < band and away > -MAX_DEPTH_M and _foremost(t, k, R, scale(-1.0, m), c):
            x = sub(q, scale(away, m))
            name = label(ON_TRIANGLE, e - row.triangle, k)
            count = note(out, count, side, on_triangle(f, e, w), name, x, scale(-1.0, m), away)
    for e in range(row.edge, row.edge_end):
        met, s, x, n, away = foot_on_edge(f, place, e, q, reach)
        if met and away < band and away > -MAX_DEPTH_M and _foremost(t, k, R, n, c):
            name = label(ON_EDGE, e - row.edge, k)
            count = note(out, count, side, on_edge(f, e, s), name, x, n, away)
    return count


@kernel
def _foremost(t, k, R, n, c):
    """Whether all edges of corner k lead back as seen along n, or nearly so."""
    q = mul(R, load3(c.vertex[t.vertex + k]))
    for e in range(t.face, t.face_end):
        face = c.face[e]
        for l in range(face.loop, face.loop_end):
            if c.loop[l] != k:
                continue
            j = c.loop[face.loop if l + 1 == face.loop_end else l + 1]
            d = sub(mul(R, load3(c.vertex[t.vertex + j])), q)
            if dot(n, d) > EDGE * math.sqrt(dot(d, d)):
                return False
            break
    return True


@kernel
def _edge(f, place, row, edge, near, out, count):
    """An edge (end, to the other one, part in reach, normals beside it, name) against edges."""
    b, g, low, high, left, right, which = edge
    band, side = near
    box, reach = around_edge(add(b, scale(low, g)), add(b, scale(high, g))), max(band, MAX_DEPTH_M)
    # along both faces, away from the edge
    size = math.sqrt(dot(g, g))
    u, v = scale(1.0 / size, cross(left, g)), scale(1.0 / size, cross(g, right))
    for e in range(row.edge, row.edge_end):
        a, to = ends(f, place, e)
        if not meets(box, around_edge(a, to), reach):
            continue
        d = sub(to, a)
        met, s, w, n = crossing(a, d, b, g)
        if not met:
            continue
        if dot(n, add(left, right)) < 0.0:
            n = scale(-1.0, n)
        x = add(a, scale(s, d))
        gap = dot(n, sub(x, add(b, scale(w, g))))
        if not (gap < band and gap > -MAX_DEPTH_M) or dot(n, u) > TIP or dot(n, v) > TIP:
            continue
        if not (leans_over(f, place, e, n) or is_behind(f, place, e, n, gap)):
            name = label(ACROSS, e - row.edge, which)
            count = note(out, count, side, on_edge(f, e, s), name, x, n, gap)
    return count
