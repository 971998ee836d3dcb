"""Flat patches of several shapes: points strictly inside carry nothing that the corners could not.

A link of many hulls lies on a plane with all their corners. Between two rigid bodies the gap is
linear over a flat patch, so that a point inside its outline is never the deepest; and while the
patch sticks, the forces of the corners make every wrench that it could add. A patch that spins or
slides rubs at its outline then. Only hulls of mesh files lose points: of boxes, cylinders, soles
and polytopes that were made for it the corners were chosen.
"""

import math

from tabi.collision.polygon import axes
from tabi.jit import kernel
from tabi.spatial.vector import dot, load3

# gaps of a flat patch are linear, and its outline straight, up to this part of its size
FLAT, STRAIGHT = 1e-6, 1e-5


@kernel
def inner_points_dropped(c, cw, points, count):
    """Drop inner points of the patches that two bodies share in several shapes;
    returns the new number.
    """
    if count > points.shape[0]:
        return count
    start, kept_count = 0, 0
    while start < count:
        end, mixed = _run(c, points, start, count)
        flat = mixed and 4 < end - start <= cw.crossing.shape[0]
        if flat:
            flat = _mark_outline(points, start, end, cw.crossing)
        for k in range(start, end):
            keeps_all = c.shape[points[k].shape_a].keeps != 0
            if not flat or cw.crossing[k - start].is_kept or keeps_all:
                if kept_count < k:
                    points[kept_count] = points[k]
                kept_count += 1
        start = end
    return kept_count


@kernel
def _run(c, points, start, count):
    """End of the rows from ``start`` on with the same bodies, surfaces and normal,
    and whether they belong to more than two shapes.
    """
    p, mixed = points[start], False
    n = load3(p.normal)
    end = start + 1
    while end < count:
        q = points[end]
        same = (
            q.a == p.a
            and q.b == p.b
            and c.shape[q.shape_a].surface == c.shape[p.shape_a].surface
            and c.shape[q.shape_b].surface == c.shape[p.shape_b].surface
        )
        if not same or dot(n, load3(q.normal)) < 1.0 - 1e-12:
            break
        mixed = mixed or q.shape_a != p.shape_a or q.shape_b != p.shape_b
        end += 1
    return end, mixed


@kernel
def _mark_outline(points, start, end, out):
    """Mark the corners of a patch; False where it is not flat."""
    t1, t2 = axes(load3(points[start].normal))
    count = end - start
    for k in range(count):
        x, row = load3(points[start + k].position), out[k]
        row.u, row.v, row.a, row.is_kept = dot(t1, x), dot(t2, x), points[start + k].gap, 0
    far, size = _farthest(out, count, 0)
    if not size > 0.0 or not _flat(out, count, far, size):
        return False
    return _walk_round(out, count, far, STRAIGHT * size)


@kernel
def _walk_round(out, count, first, straight):
    """Mark the corners on a way around the outline, always to the outermost point, from one that is
    a corner for sure; False where rounding leads astray.
    """
    at = first
    for _ in range(count):
        out[at].is_kept = 1
        following = 0 if at != 0 else 1
        for k in range(count):
            if k != at and _outside(out[at], out[following], out[k], straight):
                following = k
        du, dv = out[following].u - out[first].u, out[following].v - out[first].v
        if du * du + dv * dv <= straight * straight:
            return True
        at = following
    return False


@kernel
def _farthest(out, count, origin):
    """The point farthest from another one, and its distance."""
    far, best = origin, 0.0
    for k in range(count):
        du, dv = out[k].u - out[origin].u, out[k].v - out[origin].v
        if du * du + dv * dv > best:
            far, best = k, du * du + dv * dv
    return far, math.sqrt(best)


@kernel
def _flat(out, count, far, size):
    """Whether the gaps are linear in (u, v)."""
    p, q = out[0], out[far]
    du, dv, dg = q.u - p.u, q.v - p.v, q.a - p.a
    # the point farthest from the line of the first two
    third, width = -1, STRAIGHT * size
    for k in range(count):
        across = abs(du * (out[k].v - p.v) - dv * (out[k].u - p.u)) / size
        if across > width:
            third, width = k, across
    slope_u, slope_v = dg * du / (size * size), dg * dv / (size * size)
    if third >= 0:
        r = out[third]
        eu, ev, eg = r.u - p.u, r.v - p.v, r.a - p.a
        area = du * ev - dv * eu
        slope_u, slope_v = (dg * ev - eg * dv) / area, (eg * du - dg * eu) / area
    for k in range(count):
        gap = p.a + slope_u * (out[k].u - p.u) + slope_v * (out[k].v - p.v)
        if abs(out[k].a - gap) > FLAT * size:
            return False
    return True


@kernel(inline=True)
def _outside(p, q, r, straight):
    """Whether r lies outside of the line from p to q, seen counter-clockwise; or on it, farther."""
    du, dv, eu, ev = q.u - p.u, q.v - p.v, r.u - p.u, r.v - p.v
    along, reach = math.sqrt(du * du + dv * dv), math.sqrt(eu * eu + ev * ev)
    if reach <= straight:
        return False
    if along <= straight:
        return True
    out = du * ev - dv * eu
    # sine of the turn times the shorter way: how far the nearer of both is off the other's line
    if abs(out) <= straight * max(along, reach) and du * eu + dv * ev > 0.0:
        return reach > along
    return out < 0.0
