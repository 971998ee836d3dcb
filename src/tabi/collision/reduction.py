"""The points that matter: the corners of what is left of a patch, at most sixteen,
in the order of their names.

Between two faces the gap is linear in the plane, so a point on the line between two others adds
nothing unless it is deeper. Of more than sixteen corners the deepest stays, the one that is deepest
after a turn, and the outermost in fourteen directions. Where the ground is no plane these are the
corners that become the lowest one by a tilt in one of the fourteen directions.
"""

import math

from tabi.collision.arrays import MAX_POINTS
from tabi.jit import kernel

COS = tuple(math.cos(2.0 * math.pi * k / 14.0) for k in range(14))
SIN = tuple(math.sin(2.0 * math.pi * k / 14.0) for k in range(14))


@kernel
def corners_only(out, count, straight):
    """Mark the points of a patch that are corners of it;
    straight: how far [m] the outline may turn beside a point that is none.
    """
    if count <= 4:
        return
    for i in range(count):
        if _between(out, count, i, straight):
            out[i].is_kept = 0


@kernel
def _between(out, count, i, straight):
    """Whether point i lies between two other kept points."""
    p = out[i]
    for j in range(count):
        q = out[j]
        if j == i or q.is_kept == 0:
            continue
        du, dv = q.u - p.u, q.v - p.v
        length = math.sqrt(du * du + dv * dv)
        for k in range(j + 1, count):
            r = out[k]
            if k == i or r.is_kept == 0:
                continue
            eu, ev = r.u - p.u, r.v - p.v
            reach = math.sqrt(eu * eu + ev * ev)
            if du * eu + dv * ev < 0.0 and abs(du * ev - dv * eu) <= straight * min(length, reach):
                # a deeper one between two others is a bump
                least = ((q.a - q.b) * reach + (r.a - r.b) * length) / (length + reach)
                if p.a - p.b >= least - straight:
                    return True
    return False


@kernel
def outermost(out, count, slope_u, slope_v):
    """Mark at most sixteen of the kept points: the deepest, the one that is so after a turn, and
    the outermost ones; slopes: of the turned plane, along u and v.
    """
    lowest_by_tilts(out, count, slope_u, slope_v, 0.0)


@kernel
def lowest_by_tilts(out, count, slope_u, slope_v, steep):
    """Select as ``outermost`` does, but the points that are the lowest after a tilt of 1/``steep``
    [rad] in each direction.
    """
    kept_count, deepest, next_deepest = 0, -1, -1
    for k in range(count):
        if out[k].is_kept:
            kept_count += 1
            if deepest < 0 or out[k].a - out[k].b < out[deepest].a - out[deepest].b:
                deepest = k
            if next_deepest < 0 or _tilted_gap(out[k], slope_u, slope_v) < _tilted_gap(
                out[next_deepest], slope_u, slope_v
            ):
                next_deepest = k
    if kept_count <= MAX_POINTS:
        return
    out[deepest].is_kept = out[next_deepest].is_kept = 2
    for d in range(14):
        best, at = -math.inf, deepest
        for k in range(count):
            reach = COS[d] * out[k].u + SIN[d] * out[k].v - steep * (out[k].a - out[k].b)
            if out[k].is_kept and reach > best:
                best, at = reach, k
        out[at].is_kept = 2
    for k in range(count):
        out[k].is_kept = 1 if out[k].is_kept == 2 else 0


@kernel(inline=True)
def _tilted_gap(row, slope_u, slope_v):
    """Gap of a point over a plane that is slightly tilted [m]."""
    return row.a - row.b + slope_u * row.u + slope_v * row.v


@kernel
def next_name(out, count, after):
    """The kept point with the smallest name above ``after``; −1 where there is none."""
    at = -1
    for k in range(count):
        if out[k].is_kept and out[k].name > after and (at < 0 or out[k].name < out[at].name):
            at = k
    return at
