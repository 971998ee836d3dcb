"""A surface on a height field: its nodes on triangles of the field, points of the field and its
ridges against triangles and edges of the surface.

    gap = m·(q − foot),   n·d = n·g = 0                                                      (1)
of a point q of the field over a triangle with the outward normal m; of a ridge along g across an
edge along d. A point of the field counts where a ridge ends in it and its neighbours lie behind it
as seen from the surface; a ridge where the triangles beside it fall off, and flat and hollow edges
not at all. All is solid below the field.
"""

import math

from tabi._jit import kernel
from tabi.collision.grid import grid_point, place_on_grid, triangle
from tabi.collision.surface_mesh import (
    BEHIND,
    DEEPEST,
    TIP,
    around_edge,
    around_triangle,
    at_node,
    bounds,
    corners,
    crossing,
    edge_normal,
    ends,
    foot_on_edge,
    foot_on_triangle,
    label,
    leans_over,
    note,
    on_edge,
    on_triangle,
)
from tabi.collision.surface_nodes import AT_NODE
from tabi.collision.terrain import corner
from tabi.spatial.vector import add, cross, dot, load3, load9, mul, mul_t, scale, sub

ON_TRIANGLE, ON_EDGE, ACROSS = 2, 3, 4


@kernel
def on_field(f, place, row, t, y, near, c, out, count):
    """Points of a surface on the height field t at pose y; returns the new number of points.

    Args:
        near: the band [m], and 1 where the surface is a of the pair, −1 where it is b.
        out: tables of points and of their nodes.
    """
    F, o = load9(y.rotation), load3(y.position)
    count = _nodes(f, place, row, t, (F, o), near, c, out, count)
    if not _ridged(f, place, row, t, (F, o), near[0], c):
        return count
    for k in range(row.triangle, row.triangle_end):
        a, b, d = corners(f, place, k)
        box = around_triangle(mul_t(F, sub(a, o)), mul_t(F, sub(b, o)), mul_t(F, sub(d, o)))
        count = _peaks(f, place, row, k, t, (F, o, box), near, c, out, count)
    for e in range(row.edge, row.edge_end):
        a, b = ends(f, place, e)
        p, q = mul_t(F, sub(a, o)), mul_t(F, sub(b, o))
        count = _ridges(f, place, row, e, t, (F, o, p, q), near, c, out, count)
    return count


@kernel
def _nodes(f, place, row, t, at, near, c, out, count):
    """Every node on the triangles under it."""
    (F, o), (band, side), points = at, near, out[0]
    for i in range(row.node, row.node_end):
        x = load3(place[i])
        before, name = count, label(AT_NODE, i - row.node, 0)
        count = corner(t, c.height, mul_t(F, sub(x, o)), 0.0, at, name, band, points, count)
        for e in range(before, min(count, points.shape[0])):
            p = points[e]
            note(out, e, side, at_node(i), p.feature, x, load3(p.normal), p.gap)
    return count


@kernel
def _cells(t, box, reach):
    """The first and last grid points in a box along the field's axes, and ``reach`` around it."""
    low, high = box
    u, v = place_on_grid(t, (low[0] - reach, low[1] - reach, 0.0))
    x, z = place_on_grid(t, (high[0] + reach, high[1] + reach, 0.0))
    # so bounded before they become whole numbers
    most = (t.columns - 1.0, t.rows - 1.0)
    u, v = min(max(u, -1.0), most[0] + 1.0), min(max(v, -1.0), most[1] + 1.0)
    x, z = min(max(x, -1.0), most[0] + 1.0), min(max(z, -1.0), most[1] + 1.0)
    # on a GPU floor is a real number
    first, low_row = int(math.floor(u)), int(math.floor(v))  # noqa: RUF046
    last, high_row = int(math.floor(x)), int(math.floor(z))  # noqa: RUF046
    return first, low_row, min(last, t.columns - 1), min(high_row, t.rows - 1)


@kernel
def _ridged(f, place, row, t, at, band, c):
    """Whether any edge of the field under a surface sticks out."""
    F, o = at
    low, high = bounds(f, place, row, band)
    middle, half = scale(0.5, add(low, high)), scale(0.5, sub(high, low))
    p = mul_t(F, sub(middle, o))
    reach = (
        abs(F[0]) * half[0] + abs(F[3]) * half[1] + abs(F[6]) * half[2],
        abs(F[1]) * half[0] + abs(F[4]) * half[1] + abs(F[7]) * half[2],
        0.0,
    )
    first, start, last, end = _cells(t, (sub(p, reach), add(p, reach)), 0.0)
    for j in range(max(start, 0), end + 1):
        for i in range(max(first, 0), last + 1):
            at_point = t.vertex + j * t.columns + i
            if c.ridge[at_point, 0] + c.ridge[at_point, 1] + c.ridge[at_point, 2] > 0:
                return True
    return False


@kernel
def _peaks(f, place, row, k, t, at, near, c, out, count):
    """Points of the field over triangle k; at: pose of the field, box around the triangle in it."""
    F, o, box = at
    band, side = near
    first, start, last, end = _cells(t, box, band)
    for j in range(start + 1, end + 1):
        for i in range(first + 1, last + 1):
            p = grid_point(t, c.height, i, j)
            if p[2] < box[0][2] - band:
                continue
            q = add(o, mul(F, p))
            met, w, m, away = foot_on_triangle(f, place, k, q, max(band, DEEPEST))
            if (
                met
                and away < band
                and away > -DEEPEST
                and _foremost(t, c, i, j, mul_t(F, scale(-1.0, m)))
            ):
                x = sub(q, scale(away, m))
                name = label(ON_TRIANGLE, k - row.triangle, j * t.columns + i)
                n = scale(-1.0, m)
                count = note(out, count, side, on_triangle(f, k, w), name, x, n, away)
    return count


@kernel
def _foremost(t, c, i, j, n):
    """Whether a ridge ends in a grid point and all of its neighbours lie back as seen along n, or
    nearly so.
    """
    p, ridged = grid_point(t, c.height, i, j), False
    for k in range(3):
        right, up = 0 if k == 1 else 1, 0 if k == 0 else 1
        for back in range(2):
            x, y = (i - right, j - up) if back == 1 else (i + right, j + up)
            if not (0 <= x < t.columns and 0 <= y < t.rows):
                continue
            d = sub(grid_point(t, c.height, x, y), p)
            if dot(n, d) > TIP * math.sqrt(dot(d, d)):
                return False
            u, v = (x, y) if back == 1 else (i, j)
            if c.ridge[t.vertex + v * t.columns + u, k] == 1:
                ridged = True
    return ridged


@kernel
def _ridges(f, place, row, e, t, at, near, c, out, count):
    """Ridges of the field, and its points, against edge e; at: pose of the field, both ends of the
    edge in it.
    """
    F, o, a, b = at
    band, side = near
    box = around_edge(a, b)
    first, start, last, end = _cells(t, box, band)
    d = sub(b, a)
    for j in range(max(start, 0), end + 1):
        for i in range(max(first, 0), last + 1):
            p = grid_point(t, c.height, i, j)
            for k in range(3):
                number = t.vertex + j * t.columns + i
                if c.ridge[number, k] == 0:
                    continue
                g = sub(grid_point(t, c.height, i + (k != 1), j + (k != 0)), p)
                if max(p[2], p[2] + g[2]) < box[0][2] - band:
                    continue
                met, s, w, n = crossing(a, d, p, g)
                if not met:
                    continue
                n = scale(1.0 if n[2] > 0.0 else -1.0, n)
                x = add(a, scale(s, d))
                gap = dot(n, sub(x, add(p, scale(w, g))))
                if not (gap < band and gap > -DEEPEST) or _tips(t, c, n, g, i, j, k):
                    continue
                n = mul(F, n)
                limit = BEHIND if f.beside[e, 1] < 0 else 0.0
                if dot(n, edge_normal(f, place, e)) > limit or leans_over(f, place, e, n):
                    continue
                name = label(ACROSS, e - row.edge, 3 * (j * t.columns + i) + k)
                x = add(o, mul(F, x))
                count = note(out, count, side, on_edge(f, e, s), name, x, n, gap)
            if p[2] < box[0][2] - band:
                continue
            met, s, x, n, gap = foot_on_edge(f, place, e, add(o, mul(F, p)), max(band, DEEPEST))
            if met and gap < band and gap > -DEEPEST and _foremost(t, c, i, j, mul_t(F, n)):
                name = label(ON_EDGE, e - row.edge, j * t.columns + i)
                count = note(out, count, side, on_edge(f, e, s), name, x, n, gap)
    return count


@kernel
def _tips(t, c, n, g, i, j, k):
    """Whether n leans over a triangle beside the edge along g that leaves the grid point (i, j)
    along x, y or the diagonal.
    """
    along = scale(1.0 / math.sqrt(dot(g, g)), g)
    # the triangle on the left of the edge, then the one on its right
    if k == 0:
        left, right = (i, j, False), (i, j - 1, True)
    elif k == 1:
        left, right = (i - 1, j, False), (i, j, True)
    else:
        left, right = (i, j, True), (i, j, False)
    for side in range(2):
        column, row, upper = left if side == 0 else right
        if not (0 <= column < t.columns - 1 and 0 <= row < t.rows - 1):
            continue
        m, _ = triangle(t, c.height, column, row, upper)
        if dot(n, cross(m, along) if side == 0 else cross(along, m)) > TIP:
            return True
    return False
