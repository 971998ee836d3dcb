"""A surface on a height field: its nodes on triangles of the field, points of the field and its
ridges against triangles and edges of the surface.

    gap = m·(q − foot),   n·d = n·g = 0                                                      (1)
of a point q of the field over a triangle with the outward normal m; of a ridge along g across an
edge along d. A point of the field counts where the field is bent down along all lines through it
and its neighbours lie behind it as seen from the surface; a ridge where the triangles beside it
fall off, and flat and hollow edges not at all. A node above a ridge or a peak, over none of the
triangles beside it, is as far away as these are. All is solid below the field.
"""

import math

from tabi.collision.surfaces.mesh import (
    MAX_DEPTH_M,
    MIN_DISTANCE_M,
    RIM,
    TIP,
    around_edge,
    around_triangle,
    at_node,
    bounds,
    corners,
    crossing,
    ends,
    foot_on_edge,
    foot_on_triangle,
    is_behind,
    label,
    leans_over,
    note,
    on_edge,
    on_triangle,
)
from tabi.collision.surfaces.nodes import AT_NODE
from tabi.collision.terrain import corner
from tabi.jit import kernel
from tabi.spatial.vector import add, dot, load3, load9, mul, mul_t, scale, sub

ON_TRIANGLE, ON_EDGE, ACROSS, ON_RIDGE, ON_PEAK = 2, 3, 4, 5, 6
# how many lines through a point of the field may be straight
PEAK, RIDGE = 0, 2
MIN_BEND_RAD = 1e-5  # a line that is bent by less is straight


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
    grid = _grid(t)
    for i in range(row.node, row.node_end):
        p = mul_t(F, sub(load3(place[i]), o))
        count = _above(row, i, p, t, (F, o, grid), near, c, out, count)
    for k in range(row.triangle, row.triangle_end):
        a, b, d = corners(f, place, k)
        box = around_triangle(mul_t(F, sub(a, o)), mul_t(F, sub(b, o)), mul_t(F, sub(d, o)))
        count = _peaks(f, place, row, k, t, (F, o, box, grid), near, c, out, count)
    for e in range(row.edge, row.edge_end):
        a, b = ends(f, place, e)
        p, q = mul_t(F, sub(a, o)), mul_t(F, sub(b, o))
        count = _ridges(f, place, row, e, t, (F, o, p, q, grid), near, c, out, count)
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
def _above(row, node, x, t, at, near, c, out, count):
    """Node x, in the field's frame, above ridges and peaks."""
    F, o, grid = at
    band, side = near
    first, start, last, end = _cells(t, grid, (x, x), band)
    w = add(o, mul(F, x))
    for j in range(max(start, 0), min(end + 2, t.rows)):
        for i in range(max(first, 0), min(last + 2, t.columns)):
            p = _point(t, c, grid, i, j)
            number = j * t.columns + i
            for k in range(3):
                if c.ridge[t.vertex + number, k] == 0:
                    continue
                g = sub(_point(t, c, grid, i + (0 if k == 1 else 1), j + (0 if k == 0 else 1)), p)
                s = dot(sub(x, p), g) / dot(g, g)
                if not (s > RIM and s < 1.0 - RIM):
                    continue
                v = sub(sub(x, p), scale(s, g))
                gap = math.sqrt(dot(v, v))
                if not (gap > MIN_DISTANCE_M and gap < band and v[2] > 0.0):
                    continue
                n = scale(1.0 / gap, v)
                if not _tips(t, c, grid, (n, p, g, RIM), i, j, k):
                    name = label(ON_RIDGE, node - row.node, 3 * number + k)
                    count = note(out, count, side, at_node(node), name, w, mul(F, n), gap)
            v = sub(x, p)
            gap = math.sqrt(dot(v, v))
            if gap > MIN_DISTANCE_M and gap < band and v[2] > 0.0:
                n = scale(1.0 / gap, v)
                if _foremost(t, c, grid, i, j, n, RIM, PEAK):
                    name = label(ON_PEAK, node - row.node, number)
                    count = note(out, count, side, at_node(node), name, w, mul(F, n), gap)
    return count


@kernel(inline=True)
def _grid(t):
    """The first grid point of a field and the sides of its cells [m]."""
    dx, dy = 2.0 * t.half[0] / (t.columns - 1), 2.0 * t.half[1] / (t.rows - 1)
    return -t.half[0], -t.half[1], dx, dy


@kernel(inline=True)
def _point(t, c, grid, i, j):
    """A point of the grid [m]."""
    z = c.height[t.vertex + j * t.columns + i]
    return (grid[0] + i * grid[2], grid[1] + j * grid[3], z)


@kernel
def _cells(t, grid, box, reach):
    """The cells of the first and of the last point of a box along the field's axes, with ``reach``
    around it; −1 beside the first ones.
    """
    (low, high), (x, y, dx, dy) = box, grid
    u, v = (low[0] - reach - x) / dx, (low[1] - reach - y) / dy
    p, q = (high[0] + reach - x) / dx, (high[1] + reach - y) / dy
    # so bounded before they become whole numbers
    columns, rows = t.columns - 1.0, t.rows - 1.0
    u, v = min(max(u, -1.0), columns), min(max(v, -1.0), rows)
    p, q = min(max(p, -1.0), columns), min(max(q, -1.0), rows)
    # on a GPU floor is a real number
    first, start = int(math.floor(u)), int(math.floor(v))  # noqa: RUF046
    return first, start, int(math.floor(p)), int(math.floor(q))  # noqa: RUF046


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
    first, start, last, end = _cells(t, _grid(t), (sub(p, reach), add(p, reach)), 0.0)
    for j in range(max(start, 0), end + 1):
        for i in range(max(first, 0), last + 1):
            at_point = t.vertex + j * t.columns + i
            if c.ridge[at_point, 0] + c.ridge[at_point, 1] + c.ridge[at_point, 2] > 0:
                return True
    return False


@kernel
def _peaks(f, place, row, k, t, at, near, c, out, count):
    """Points of the field over triangle k; at: pose of the field, box around the triangle in it,
    grid.
    """
    F, o, box, grid = at
    band, side = near
    first, start, last, end = _cells(t, grid, box, band)
    for j in range(start + 1, end + 1):
        for i in range(first + 1, last + 1):
            p = _point(t, c, grid, i, j)
            if not _over((p, p), box, band):
                continue
            q = add(o, mul(F, p))
            met, w, m, away = foot_on_triangle(f, place, k, q, max(band, MAX_DEPTH_M))
            if (
                met
                and away < band
                and away > -MAX_DEPTH_M
                and _foremost(t, c, grid, i, j, mul_t(F, scale(-1.0, m)), TIP, PEAK)
            ):
                x = sub(q, scale(away, m))
                name = label(ON_TRIANGLE, k - row.triangle, j * t.columns + i)
                n = scale(-1.0, m)
                count = note(out, count, side, on_triangle(f, k, w), name, x, n, away)
    return count


@kernel
def _foremost(t, c, grid, i, j, n, slack, most):
    """Whether the neighbours of a grid point lie back as seen along n, or nearly so, and the field
    is straight along ``most`` of the three lines through it at most.
    """
    p, straight = _point(t, c, grid, i, j), 0
    for k in range(3):
        right, up = 0 if k == 1 else 1, 0 if k == 0 else 1
        bend, size, both = 0.0, 0.0, 0
        for back in range(2):
            x, y = (i - right, j - up) if back == 1 else (i + right, j + up)
            if not (0 <= x < t.columns and 0 <= y < t.rows):
                continue
            d = sub(_point(t, c, grid, x, y), p)
            fall, length = dot(n, d), math.sqrt(dot(d, d))
            if fall > slack * length:
                return False
            bend, size, both = bend + fall, size + length, both + 1
        if both == 2 and bend > -MIN_BEND_RAD * size:
            straight += 1
    return straight <= most


@kernel
def _ridges(f, place, row, e, t, at, near, c, out, count):
    """Ridges of the field, and its points, against edge e; at: pose of the field, both ends of the
    edge in it, grid.
    """
    F, o, a, b, grid = at
    band, side = near
    box = around_edge(a, b)
    first, start, last, end = _cells(t, grid, box, band)
    d = sub(b, a)
    for j in range(max(start, 0), end + 1):
        for i in range(max(first, 0), last + 1):
            p = _point(t, c, grid, i, j)
            for k in range(3):
                number = t.vertex + j * t.columns + i
                if c.ridge[number, k] == 0:
                    continue
                to = _point(t, c, grid, i + (0 if k == 1 else 1), j + (0 if k == 0 else 1))
                if not _over(around_edge(p, to), box, band):
                    continue
                g = sub(to, p)
                met, s, w, n = crossing(a, d, p, g)
                if not met:
                    continue
                n = scale(1.0 if n[2] > 0.0 else -1.0, n)
                x = add(a, scale(s, d))
                gap = dot(n, sub(x, add(p, scale(w, g))))
                if not (gap < band and gap > -MAX_DEPTH_M) or _tips(
                    t, c, grid, (n, p, g, TIP), i, j, k
                ):
                    continue
                n = mul(F, n)
                if leans_over(f, place, e, n) or is_behind(f, place, e, n, gap):
                    continue
                name = label(ACROSS, e - row.edge, 3 * (j * t.columns + i) + k)
                x = add(o, mul(F, x))
                count = note(out, count, side, on_edge(f, e, s), name, x, n, gap)
            if not _over((p, p), box, band):
                continue
            met, s, x, n, gap = foot_on_edge(f, place, e, add(o, mul(F, p)), max(band, MAX_DEPTH_M))
            if (
                met
                and gap < band
                and gap > -MAX_DEPTH_M
                and _foremost(t, c, grid, i, j, mul_t(F, n), TIP, RIDGE)
            ):
                name = label(ON_EDGE, e - row.edge, j * t.columns + i)
                count = note(out, count, side, on_edge(f, e, s), name, x, n, gap)
    return count


@kernel(inline=True)
def _over(ground, box, band):
    """Whether something of the field is under, over or in a box, or in the band around it."""
    (a, b), (low, high) = ground, box
    return (
        b[2] > low[2] - band
        and a[0] < high[0] + band
        and b[0] > low[0] - band
        and a[1] < high[1] + band
        and b[1] > low[1] - band
    )


@kernel
def _tips(t, c, grid, edge, i, j, k):
    """Whether a normal leans over a triangle beside the edge that leaves the grid point (i, j)
    along x, y or the diagonal; edge: the normal, which is across it, its first end, its course, and
    by how much it may lean.
    """
    n, p, g, slack = edge
    # the third corners of the triangles on its left and on its right
    if k == 0:
        left, right = (i + 1, j + 1), (i, j - 1)
    elif k == 1:
        left, right = (i - 1, j), (i + 1, j + 1)
    else:
        left, right = (i, j + 1), (i + 1, j)
    for side in range(2):
        x, y = left if side == 0 else right
        if not (0 <= x < t.columns and 0 <= y < t.rows):
            continue
        w = sub(_point(t, c, grid, x, y), p)
        lean, along = dot(n, w), dot(w, g)
        if lean > 0.0 and lean * lean > slack * slack * (dot(w, w) - along * along / dot(g, g)):
            return True
    return False
