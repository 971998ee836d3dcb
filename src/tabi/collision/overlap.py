"""Intersection of two polygons, seen along the common normal: the corners of it.

These are corners of a inside b, corners of b inside a, and crossings of their edges; each is named
by the corners and edges it is made of, whichever side it is looked at from. The tolerance makes
corners of equal shapes that lie on each other one point with one name, however rounding moves them.

    (feature) = 1, corner of a  |  2, corner of b  |  3, edge of a, edge of b                (1)
An edge is named by its two corners, so that it keeps its name in both faces that share it.
"""

import math

from tabi.jit import kernel
from tabi.spatial.vector import add, dot, load3, load9, mul, sub

INSIDE_TOLERANCE = 1e-6  # part of the shapes' size by which a corner may be outside
SAME_POINT_RATIO = 1e-5  # part of the shapes' size within which two points are one
PARALLEL = math.sin(math.radians(3.0))
CORNER_A, CORNER_B, CROSSING = 1 << 60, 2 << 60, 3 << 60


@kernel(inline=True)
def _edge_name(i, j):
    return (i << 14) | j if i < j else (j << 14) | i


@kernel
def _inside(rows, info, u, v, tolerance):
    """Whether (u, v) lies in a polygon or disk."""
    if info[4] > 0.0:
        h = info[1] + info[2] * u + info[3] * v
        du, dv, dh = u - info[5], v - info[6], h - info[7]
        return math.sqrt(du * du + dv * dv + dh * dh) <= info[4] + tolerance
    count = info[0]
    for k in range(count):
        p, q = rows[k], rows[k + 1 if k + 1 < count else 0]
        if (q.u - p.u) * (v - p.v) - (q.v - p.v) * (u - p.u) < -tolerance * p.edge:
            return False
    return True


@kernel
def _add(out, count, u, v, a, b, name, same):
    """One more point, unless there is one in its place."""
    for k in range(count):
        du, dv = out[k].u - u, out[k].v - v
        if du * du + dv * dv <= same * same:
            return count
    if count == out.shape[0]:
        return count
    row = out[count]
    row.u, row.v, row.a, row.b, row.name, row.is_kept = u, v, a, b, name, 1
    return count + 1


@kernel
def meet(rows_a, a, rows_b, b, size, band, out):
    """Corners of the intersection closer than the band; a, b: what ``polygon.shown`` says.
    Returns their number.
    """
    inside, same = INSIDE_TOLERANCE * size, SAME_POINT_RATIO * size
    count, inside_count = int(0.0), 0
    if b[0] > 2:
        for k in range(a[0]):
            p = rows_a[k]
            if _inside(rows_b, b, p.u, p.v, inside):
                inside_count += 1
                below = b[1] + b[2] * p.u + b[3] * p.v
                if p.height - below < band:
                    count = _add(out, count, p.u, p.v, p.height, below, CORNER_A | p.name, same)
        # all of a lies over b
        if inside_count == a[0]:
            return count
    if a[0] > 2:
        inside_count = 0
        for k in range(b[0]):
            p = rows_b[k]
            if _inside(rows_a, a, p.u, p.v, inside):
                inside_count += 1
                above = a[1] + a[2] * p.u + a[3] * p.v
                if above - p.height < band:
                    count = _add(out, count, p.u, p.v, above, p.height, CORNER_B | p.name, same)
        if inside_count == b[0]:
            return count
    if a[0] > 2 or b[0] > 2:
        # two disks: the edges of one rim cross the other's circle
        if b[4] > 0.0:
            count = _cross_disk(rows_a, a, b, 1.0, band, same, out, count)
        elif a[4] > 0.0:
            count = _cross_disk(rows_b, b, a, -1.0, band, same, out, count)
        else:
            count = _cross_edges(rows_a, a, rows_b, b, band, same, out, count)
    elif a[0] == 2 and b[0] == 2:
        count = _along(rows_a, rows_b, band, same, out)
    return count


@kernel
def corners_over(s, x, side, frame, vertex, face, band, out, count):
    """Corners of a polytope over the other shape's face, in the band,
    that are no corners of the face it shows: a turn may bring them down.

    Args:
        side: 1 where s is a, −1 where it is b. frame: (o, t₁, t₂, n) of ``polygon``.
        face: rows and description of the other's polygon, size of the shapes.
    """
    rows, info, size = face
    o, t1, t2, n = frame
    R, p = load9(x.rotation), load3(x.position)
    for k in range(s.vertex_end - s.vertex):
        d = sub(add(p, mul(R, load3(vertex[s.vertex + k]))), o)
        u, v, height = dot(t1, d), dot(t2, d), dot(n, d)
        other = info[1] + info[2] * u + info[3] * v
        if side * (height - other) < band and _inside(rows, info, u, v, INSIDE_TOLERANCE * size):
            a, b = (height, other) if side > 0.0 else (other, height)
            name = (CORNER_A if side > 0.0 else CORNER_B) | k
            count = _add(out, count, u, v, a, b, name, SAME_POINT_RATIO * size)
    return count


@kernel
def _edges(info):
    """Number of edges of a polygon; a segment has one."""
    return info[0] if info[0] > 2 else info[0] - 1


@kernel
def _cross_edges(rows_a, a, rows_b, b, band, same, out, count):
    """Crossings of two outlines."""
    for i in range(_edges(a)):
        p, q = rows_a[i], rows_a[i + 1 if i + 1 < a[0] else 0]
        du, dv = q.u - p.u, q.v - p.v
        for k in range(_edges(b)):
            r, s = rows_b[k], rows_b[k + 1 if k + 1 < b[0] else 0]
            eu, ev = s.u - r.u, s.v - r.v
            turn = du * ev - dv * eu
            # nearly parallel edges meet in corners
            if abs(turn) <= 1e-6 * p.edge * r.edge:
                continue
            wu, wv = r.u - p.u, r.v - p.v
            t, f = (wu * ev - wv * eu) / turn, (wu * dv - wv * du) / turn
            if 0.0 <= t <= 1.0 and 0.0 <= f <= 1.0:
                above = p.height + t * (q.height - p.height)
                below = r.height + f * (s.height - r.height)
                if above - below < band:
                    name = (
                        CROSSING | (_edge_name(p.name, q.name) << 28) | _edge_name(r.name, s.name)
                    )
                    count = _add(out, count, p.u + t * du, p.v + t * dv, above, below, name, same)
    return count


@kernel
def _cross_disk(rows, info, disk, side, band, same, out, count):
    """Crossings of an outline with a circle; side: 1 where the disk is b."""
    r = disk[4]
    for i in range(_edges(info)):
        p, q = rows[i], rows[i + 1 if i + 1 < info[0] else 0]
        du, dv = q.u - p.u, q.v - p.v
        # in the disk's own plane, so that the circle is round
        h0, dh = disk[1] + disk[2] * p.u + disk[3] * p.v, disk[2] * du + disk[3] * dv
        wu, wv, wh = p.u - disk[5], p.v - disk[6], h0 - disk[7]
        A = du * du + dv * dv + dh * dh
        B = wu * du + wv * dv + wh * dh
        C = wu * wu + wv * wv + wh * wh - r * r
        if A == 0.0 or B * B - A * C <= 0.0:
            continue
        root = math.sqrt(B * B - A * C)
        for e in range(2):
            t = (-B - root if e == 0 else -B + root) / A
            if 0.0 <= t <= 1.0:
                height, other = p.height + t * (q.height - p.height), h0 + t * dh
                a, b = (height, other) if side > 0.0 else (other, height)
                if a - b < band:
                    name = CROSSING | (_edge_name(p.name, q.name) << 28) | e
                    count = _add(out, count, p.u + t * du, p.v + t * dv, a, b, name, same)
    return count


@kernel
def _along(rows_a, rows_b, band, same, out):
    """Ends of the stretch that two nearly parallel edges share; none where they cross."""
    p, q, r, s = rows_a[0], rows_a[1], rows_b[0], rows_b[1]
    du, dv, eu, ev = q.u - p.u, q.v - p.v, s.u - r.u, s.v - r.v
    count = int(0.0)
    if abs(du * ev - dv * eu) > PARALLEL * p.edge * r.edge or p.edge == 0.0 or r.edge == 0.0:
        return 0
    for k in range(2):
        x = rows_a[k]
        t = ((x.u - r.u) * eu + (x.v - r.v) * ev) / (r.edge * r.edge)
        below = r.height + t * (s.height - r.height)
        if 0.0 <= t <= 1.0 and x.height - below < band:
            count = _add(out, count, x.u, x.v, x.height, below, CORNER_A | x.name, same)
    for k in range(2):
        x = rows_b[k]
        t = ((x.u - p.u) * du + (x.v - p.v) * dv) / (p.edge * p.edge)
        above = p.height + t * (q.height - p.height)
        if 0.0 <= t <= 1.0 and above - x.height < band:
            count = _add(out, count, x.u, x.v, above, x.height, CORNER_B | x.name, same)
    return count
