"""Ridges of a height field against a convex shape:
each is a capsule without radius, touched only from outside.

    n·t₁ ≤ 0,   n·t₂ ≤ 0                                                                     (1)
n: from the ridge to the shape; t₁, t₂: across the ridge into the two triangles beside it. A
direction that leans over one of them is turned back to its normal: there an edge or side of the
shape leaves the triangle. One that leans over by more belongs to something that is only passing by,
and corners of the shape meet the triangle by themselves.
"""

import math

from tabi.collision.arrays import CAPSULE
from tabi.collision.convex import closest, patch
from tabi.collision.faces import closest_face
from tabi.collision.grid import cell, grid_point, over_triangle, place_on_grid, triangle
from tabi.collision.overlap import CORNER_B
from tabi.collision.polygon import EDGE, axes
from tabi.jit import kernel
from tabi.spatial.vector import (
    add,
    cross,
    dot,
    load3,
    load9,
    mul,
    mul_t,
    scale,
    store3,
    store9,
    sub,
)

SLACK = 1e-6


@kernel
def points_on_ridges(s, x, f, y, band, c, cw, points, count):
    """Points of the convex shape s at pose x on the ridges of the field f at pose y;
    returns the new number of points.
    """
    F, o = load9(y.rotation), load3(y.position)
    p = mul_t(F, sub(load3(x.position), o))
    half = extents(s, F, load9(x.rotation), band)
    u, v = place_on_grid(f, sub(p, half))
    first, low = cell(f, u, v)
    u, v = place_on_grid(f, add(p, half))
    last, high = cell(f, u, v)
    probe, pose = cw.probe[0], cw.pose[cw.pose.shape[0] - 1]
    for j in range(low, high + 2):
        for i in range(first, last + 2):
            at = f.vertex + j * f.columns + i
            a = grid_point(f, c.height, i, j)
            for k in range(3):
                if c.ridge[at, k] == 0:
                    continue
                b = grid_point(f, c.height, i + (0 if k == 1 else 1), j + (0 if k == 0 else 1))
                if max(a[2], b[2]) < p[2] - half[2]:
                    continue
                _set_probe(probe, pose, F, o, a, b)
                tried, bound, _ = closest_face(s, x, probe, pose, band, c)
                if tried and bound >= band:
                    continue
                near, n, gap, q, r = closest(s, x, probe, pose, band, c, cw)
                if not near:
                    continue
                normal = mul(
                    F,
                    _from_outside(
                        f, c.height, (mul_t(F, n), mul_t(F, sub(q, o))), sub(b, a), i, j, k
                    ),
                )
                share = dot(normal, n)
                if share > 0.0:
                    before = count
                    count = patch(
                        s, x, probe, pose, (n, gap, q, r, near), band, c, cw, points, count
                    )
                    for e in range(before, min(count, points.shape[0])):
                        points[e].feature = CORNER_B | (3 * at + k) << 6 | (e - before)
                        points[e].gap *= share
                        store3(points[e].normal, normal)
    return count


@kernel
def extents(s, F, R, band):
    """Half of the box around a shape along the field's axes, and the band."""
    h, r = s.half, s.radius + band
    x = mul_t(F, (R[0], R[3], R[6]))
    y = mul_t(F, (R[1], R[4], R[7]))
    z = mul_t(F, (R[2], R[5], R[8]))
    return (
        abs(x[0]) * h[0] + abs(y[0]) * h[1] + abs(z[0]) * h[2] + r,
        abs(x[1]) * h[0] + abs(y[1]) * h[1] + abs(z[1]) * h[2] + r,
        abs(x[2]) * h[0] + abs(y[2]) * h[1] + abs(z[2]) * h[2] + r,
    )


@kernel
def _set_probe(probe, pose, F, o, a, b):
    """The edge from a to b, points of the field's frame, as a shape of its own."""
    d = mul(F, sub(b, a))
    length = math.sqrt(dot(d, d))
    z = scale(1.0 / length, d)
    t1, t2 = axes(z)
    probe.kind, probe.radius, probe.reach = CAPSULE, 0.0, 0.5 * length
    store3(probe.half, (0.0, 0.0, 0.5 * length))
    store9(pose.rotation, (t1[0], t2[0], z[0], t1[1], t2[1], z[1], t1[2], t2[2], z[2]))
    store3(pose.position, add(o, mul(F, scale(0.5, add(a, b)))))


@kernel
def _from_outside(f, height, met, along, i, j, k):
    """The normal by (1) for the edge that leaves the grid point (i, j) along x, y or the diagonal;
    zero where the edge is only passed by.

    Args:
        met: normal and point of the shape, in the field's frame.
    """
    n, q = met
    none = (0.0, 0.0, 0.0)
    along = scale(1.0 / math.sqrt(dot(along, along)), along)
    # the triangle on the left of the edge, then the one on its right
    if k == 0:
        left, right = (i, j, False), (i, j - 1, True)
    elif k == 1:
        left, right = (i - 1, j, False), (i, j, True)
    else:
        left, right = (i, j, True), (i, j, False)
    if n[2] <= 0.0:
        return none
    for side in range(2):
        column, row, upper = left if side == 0 else right
        if not (0 <= column < f.columns - 1 and 0 <= row < f.rows - 1):
            continue
        m, o = triangle(f, height, column, row, upper)
        lean = dot(n, cross(m, along) if side == 0 else cross(along, m))
        if lean > SLACK:
            if lean > EDGE or not over_triangle(
                f, column, row, upper, sub(q, scale(dot(m, sub(q, o)), m))
            ):
                return none
            n = m
    return n


@kernel
def merged(points, first, count, same):
    """Drop points of a pair, rows ``first`` to ``count``,
    that lie on one before them or between two others with the same normal.
    """
    if count > points.shape[0]:
        return count
    end = first
    for i in range(first, count):
        if not _redundant(points, first, end, count, i, same):
            if end < i:
                points[end] = points[i]
            end += 1
    return end


@kernel
def _redundant(points, first, kept_end, count, i, same):
    """Whether point i adds nothing to the rows before ``kept_end`` and after i."""
    p, n = load3(points[i].position), load3(points[i].normal)
    for a in range(first, count):
        if (kept_end <= a <= i) or dot(n, load3(points[a].normal)) < 1.0 - 1e-9:
            continue
        d = sub(load3(points[a].position), p)
        length = math.sqrt(dot(d, d))
        if length <= same:
            if a < i:
                return True
            continue
        for b in range(a + 1, count):
            if (kept_end <= b <= i) or dot(n, load3(points[b].normal)) < 1.0 - 1e-9:
                continue
            e = sub(load3(points[b].position), p)
            reach = math.sqrt(dot(e, e))
            x = cross(d, e)
            # a deeper one between two others is a bump
            least = (points[a].gap * reach + points[b].gap * length) / (length + reach) - same
            if (
                dot(d, e) < 0.0
                and math.sqrt(dot(x, x)) <= same * min(length, reach)
                and points[i].gap >= least
            ):
                return True
    return False
