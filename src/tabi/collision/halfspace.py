"""A half-space and a bounded shape: the corners below the band.

    gap(x) = n·(x − o)                                                                       (1)
    gap(x) − gap(x₀) ≤ θ ‖x − x₀‖ across n                                                   (2)
n, o: the plane's normal and a point of it. Boxes show the four corners of the side that looks down
most, an ellipsoid its lowest point, other round shapes the points of ``polygon``, polytopes the
corners in the band. Where these are many only those count that may become the lowest one by a turn
of at most θ, by (2); x₀: the one that is lowest now. So a flat face shows all its corners, a finely
faceted ball the few on which it may roll within the step.
"""

import math

from tabi.collision.arrays import BOX, CAPSULE, CYLINDER, POLYTOPE
from tabi.collision.convex import put
from tabi.collision.overlap import CORNER_A
from tabi.collision.polygon import (
    EDGE,
    FACE,
    FARTHEST_POINT,
    OTHER_CAP,
    axes,
    farthest,
    has_farthest,
    rim_point,
)
from tabi.collision.reduction import outermost
from tabi.collision.smooth_shapes import is_smooth, support_on
from tabi.jit import kernel
from tabi.spatial.vector import add, cross, dot, load3, load9, mul, mul_t, scale, sub

# turn that motors and impacts may add within the step [rad]
TILT = 2e-3
# tilt after which any corner may be the lowest; how often a turn is halved where there are more
# such corners than memory
UPSIDE_DOWN, HALVINGS = 1e9, 20


@kernel
def points_below(s, x, plane, side, near, c, cw, points, count):
    """Points of shape s at pose x.

    Args:
        plane: (n, o) of equation (1).
        side: 1 where s is shape a of the pair, −1 where it is b.
        near: the band [m], and how s will have turned over the plane when the step ends [rad].

    Returns:
        The new number of points.
    """
    R, p, n, band = load9(x.rotation), load3(x.position), plane[0], near[0]
    d = mul_t(R, n)
    at = (R, p, n, d, dot(n, sub(p, plane[1])), side)
    if s.kind == BOX:
        return _box(s, at, band, points, count)
    if s.kind == POLYTOPE:
        return _polytope(s, at, near, c.vertex, cw.crossing, points, count)
    if s.kind == CYLINDER and abs(d[2]) >= FACE:
        upper = d[2] < 0.0
        base = CORNER_A | int(OTHER_CAP if upper else 0)
        for k in range(8):
            count = _corner(s, at, rim_point(s, k, upper), base + k, band, points, count)
        if has_farthest(d):
            count = _corner(
                s,
                at,
                farthest(s, scale(-1.0, d), upper),
                base + FARTHEST_POINT,
                band,
                points,
                count,
            )
        return count
    if s.kind == CYLINDER or s.kind == CAPSULE:
        down = scale(-1.0, d)
        # an end that is tilted away belongs to no flat contact
        if d[2] >= -EDGE:
            count = _corner(
                s, at, farthest(s, down, False), CORNER_A | FARTHEST_POINT, band, points, count
            )
        if d[2] <= EDGE:
            count = _corner(
                s,
                at,
                farthest(s, down, True),
                CORNER_A | (FARTHEST_POINT + OTHER_CAP),
                band,
                points,
                count,
            )
        return count
    lowest = (0.0, 0.0, 0.0)
    if is_smooth(s):
        lowest = support_on(s, scale(-1.0, d))
    return _corner(s, at, lowest, CORNER_A | s.vertex * 0, band, points, count)


@kernel
def _corner(s, at, corner, name, band, points, count):
    """One point of the core, in the shape's frame, if it is in the band;
    at: (R, p, n, Rᵀn, height of p, side).
    """
    gap = at[4] + dot(at[3], corner) - s.radius
    if not gap < band:
        return count
    n = at[2]
    q = add(add(at[1], mul(at[0], corner)), scale(-s.radius - 0.5 * gap, n))
    return put(points, count, name, q, scale(at[5], n), gap)


@kernel
def _box(s, at, band, points, count):
    """The four corners of the side that looks down most."""
    h, d = s.half, at[3]
    x, y, z = abs(d[0]), abs(d[1]), abs(d[2])
    axis = 2 if z >= x and z >= y else 1 if y >= x else 0
    lower = -1.0 if d[axis] >= 0.0 else 1.0
    for k in range(4):
        si, sj = -1.0 if k < 2 else 1.0, -1.0 if k % 2 == 0 else 1.0
        sx = lower if axis == 0 else si
        sy = lower if axis == 1 else si if axis == 0 else sj
        sz = lower if axis == 2 else sj
        name = (4 if sx > 0.0 else 0) + (2 if sy > 0.0 else 0) + (1 if sz > 0.0 else 0)
        count = _corner(
            s, at, (sx * h[0], sy * h[1], sz * h[2]), CORNER_A | name, band, points, count
        )
    return count


@kernel(apart="int64", rare=True)
def _polytope(s, at, near, vertex, out, points, count):
    """Every corner in the band; of more than sixteen, unless it is a sole, those of equation (2);
    of still more the outermost, the lowest, and the one that will be lowest.
    """
    d, height = at[3], at[4]
    band, turn = near
    low, lowest = math.inf, s.vertex
    for k in range(s.vertex, s.vertex_end):
        z = d[0] * vertex[k, 0] + d[1] * vertex[k, 1] + d[2] * vertex[k, 2]
        if z < low:
            low, lowest = z, k
    if not height + low < band:
        return count
    frame, tilt = (d, *axes(d)), math.sqrt(dot(turn, turn)) + TILT
    total = _low_corners(s, height, frame, lowest, UPSIDE_DOWN, band, vertex, out)
    if total > s.most:
        total = _low_corners(s, height, frame, lowest, tilt, band, vertex, out)
    for _ in range(HALVINGS):
        if total <= out.shape[0]:
            break
        tilt *= 0.5
        total = _low_corners(s, height, frame, lowest, tilt, band, vertex, out)
    total = min(total, out.shape[0])
    if total > s.most:
        # upwards as the body will see it: the plane turns the other way round
        up = mul_t(at[0], sub(at[2], cross(turn, at[2])))
        outermost(out, total, dot(up, frame[1]), dot(up, frame[2]))
    for k in range(total):
        name = out[k].name
        if out[k].is_kept:
            corner = load3(vertex[s.vertex + (name & 0x3FFF)])
            count = _corner(s, at, corner, name, band, points, count)
    return count


@kernel
def _low_corners(s, height, frame, lowest, tilt, band, vertex, out):
    """Write the corners of equation (2) while there is room; returns how many there are."""
    d, t1, t2 = frame
    bottom, total = load3(vertex[lowest]), 0
    low = dot(d, bottom)
    for k in range(s.vertex, s.vertex_end):
        x = load3(vertex[k])
        z = dot(d, x)
        if not height + z < band:
            continue
        r = sub(x, bottom)
        # squared, with z − low for the part of r along the normal
        if (1.0 + tilt * tilt) * (z - low) * (z - low) > tilt * tilt * dot(r, r):
            continue
        if total < out.shape[0]:
            row = out[total]
            row.u, row.v = dot(t1, x), dot(t2, x)
            row.a, row.b = height + z, 0.0
            row.name, row.is_kept = CORNER_A | (k - s.vertex), 1
        total += 1
    return total
