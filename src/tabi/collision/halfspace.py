"""A half-space and a bounded shape: the corners below the band.

    gap(x) = n·(x − o)                                                                       (1)
n, o: the plane's normal and a point of it. Boxes show the four corners of the side that looks down
most, polytopes every corner in the band, round shapes the points of ``polygon``.
"""

from tabi._jit import kernel
from tabi.collision.arrays import BOX, CAPSULE, CYLINDER, POLYTOPE
from tabi.collision.convex import put
from tabi.collision.overlap import CORNER_A
from tabi.collision.polygon import (
    EDGE,
    FACE,
    FARTHEST,
    OTHER_CAP,
    axes,
    farthest,
    has_farthest,
    rim_point,
)
from tabi.collision.reduction import next_name, outermost
from tabi.spatial.vector import add, dot, load3, load9, mul, mul_t, scale, sub


@kernel
def points_below(s, x, plane, side, band, c, cw, points, count):
    """Points of shape s at pose x.

    Args:
        plane: (n, o) of equation (1).
        side: 1 where s is shape a of the pair, −1 where it is b.

    Returns:
        The new number of points.
    """
    R, p, n = load9(x.rotation), load3(x.position), plane[0]
    d = mul_t(R, n)
    at = (R, p, n, d, dot(n, sub(p, plane[1])), side)
    if s.kind == BOX:
        return _box(s, at, band, points, count)
    if s.kind == POLYTOPE:
        return _polytope(s, at, band, c.vertex, cw.crossing, points, count)
    if s.kind == CYLINDER and abs(d[2]) >= FACE:
        upper = d[2] < 0.0
        base = CORNER_A | int(OTHER_CAP if upper else 0)
        for k in range(8):
            count = _corner(s, at, rim_point(s, k, upper), base + k, band, points, count)
        if has_farthest(d):
            count = _corner(
                s, at, farthest(s, scale(-1.0, d), upper), base + FARTHEST, band, points, count
            )
        return count
    if s.kind == CYLINDER or s.kind == CAPSULE:
        down = scale(-1.0, d)
        # an end that is tilted away belongs to no flat contact
        if d[2] >= -EDGE:
            count = _corner(
                s, at, farthest(s, down, False), CORNER_A | FARTHEST, band, points, count
            )
        if d[2] <= EDGE:
            count = _corner(
                s,
                at,
                farthest(s, down, True),
                CORNER_A | (FARTHEST + OTHER_CAP),
                band,
                points,
                count,
            )
        return count
    return _corner(s, at, (0.0, 0.0, 0.0), CORNER_A | s.vertex * 0, band, points, count)


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


@kernel
def _polytope(s, at, band, vertex, out, points, count):
    """Every corner in the band; of more than sixteen the outermost, and the deepest."""
    d, height, found = at[3], at[4], 0
    for k in range(s.vertex, s.vertex_end):
        if height + d[0] * vertex[k, 0] + d[1] * vertex[k, 1] + d[2] * vertex[k, 2] < band:
            found += 1
    if found <= 16 or found > out.shape[0]:
        for k in range(s.vertex, s.vertex_end):
            count = _corner(s, at, load3(vertex[k]), CORNER_A | (k - s.vertex), band, points, count)
        return count
    t1, t2 = axes(d)
    found = 0
    for k in range(s.vertex, s.vertex_end):
        x = load3(vertex[k])
        gap = height + dot(d, x)
        if gap < band:
            row = out[found]
            row.u, row.v = dot(t1, x), dot(t2, x)
            row.a, row.b = gap, 0.0
            row.name, row.kept = CORNER_A | (k - s.vertex), 1
            found += 1
    outermost(out, found)
    name = 0
    while True:
        k = next_name(out, found, name)
        if k < 0:
            return count
        name = out[k].name
        count = _corner(s, at, load3(vertex[s.vertex + (name & 0x3FFF)]), name, band, points, count)
