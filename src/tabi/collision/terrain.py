"""A height field and a convex shape: corners of the shape against triangles, ridges of the field against the shape.

    gap(x) = n·(x − o),   foot = x − gap n inside the triangle                                                  (1)
n, o: a triangle's normal and a corner of it. Below the field all is solid, so the triangle under a point always counts; a
neighbour counts where the ground is hollow between the two. A ridge is a capsule without radius; its contact counts where
the normal leans to neither side of the ridge by more than the triangles there do. Flat and hollow edges are no features:
what slides over a plane of many triangles meets one plane.

    (feature) = 1, corner of the shape, which triangle  |  2, ridge, feature of the pair                        (2)
"""

from tabi._jit import kernel
from tabi.collision.arrays import BOX, CAPSULE, CYLINDER, POLYTOPE
from tabi.collision.convex import put
from tabi.collision.grid import cell, normal_under, over_triangle, place_on_grid, triangle
from tabi.collision.overlap import CORNER_A
from tabi.collision.polygon import EDGE, FACE, FARTHEST, OTHER_CAP, farthest, has_farthest, rim_point
from tabi.collision.ridge import merged, points_on_ridges
from tabi.spatial.vector import add, dot, load3, load9, mul, mul_t, scale, sub


@kernel
def corner(f, height, p, radius, at, name, band, points, count):
    """A ball of a radius around p, in the field's frame, against the triangles under and beside it; at: pose of the field."""
    u, v = place_on_grid(f, p)
    if u < 0.0 or v < 0.0 or u > f.columns - 1 or v > f.rows - 1:
        return count
    i, j = cell(f, u, v)
    under = v - j > u - i
    n, o = triangle(f, height, i, j, under)
    gap = dot(n, sub(p, o)) - radius
    clearance = (gap + radius) / n[2]
    met = gap < band and (clearance <= 0.0 or over_triangle(f, i, j, under, sub(p, scale(gap + radius, n))))
    if met:
        count = _put(at, p, radius, n, gap, name, points, count)
    reach = band + radius
    du, dv = reach / f.half[0] * 0.5 * (f.columns - 1), reach / f.half[1] * 0.5 * (f.rows - 1)
    first, low = cell(f, u - du, v - dv)
    last, high = cell(f, u + du, v + dv)
    slot = 1
    for row in range(low, high + 1):
        for column in range(first, last + 1):
            for side in range(2):
                upper = side == 1
                m, o = triangle(f, height, column, row, upper)
                away = dot(m, sub(p, o)) - radius
                same = dot(m, n) > 1.0 - 1e-10
                if not away < band or (same and met):
                    continue
                # under the ground, a plane still higher is across a ridge
                if clearance <= 0.0 and (away + radius) / m[2] < clearance - 1e-9:
                    continue
                if slot < 16 and over_triangle(f, column, row, upper, sub(p, scale(away + radius, m))):
                    # the plane under it has its name, wherever the foot is
                    count = _put(at, p, radius, m, away, name if same else name + slot, points, count)
                    met = met or same
                    slot += 0 if same else 1
    return count


@kernel(inline=True)
def _put(at, p, radius, n, gap, name, points, count):
    R, o = at
    q = add(o, mul(R, sub(p, scale(radius + 0.5 * gap, n))))
    return put(points, count, name, q, mul(R, n), gap)


@kernel
def points_on(s, x, f, y, band, c, cw, points, count):
    """Points of the convex shape s at pose x on the height field f at pose y; returns the new number of points."""
    before = count
    count = _corners(s, x, f, y, band, c, points, count)
    count = points_on_ridges(s, x, f, y, band, c, cw, points, count)
    return merged(points, before, count, 1e-5 * s.reach)


@kernel
def _corners(s, x, f, y, band, c, points, count):
    """Corners of the shape against triangles."""
    F, o = load9(y.rotation), load3(y.position)
    R, p = load9(x.rotation), mul_t(F, sub(load3(x.position), o))
    at, height = (F, o), c.height
    if s.kind == BOX or s.kind == POLYTOPE:
        for k in range(s.vertex_end - s.vertex):
            q = add(p, mul_t(F, mul(R, load3(c.vertex[s.vertex + k]))))
            if s.kind == POLYTOPE or _looks_down(R, F, normal_under(f, height, q), k):
                count = corner(f, height, q, 0.0, at, CORNER_A | (k << 4), band, points, count)
        return count
    if s.kind != CYLINDER and s.kind != CAPSULE:
        return corner(f, height, p, s.radius, at, CORNER_A | (s.vertex * 0), band, points, count)
    # the ground under the point of it that is lowest, twice: what is lowest depends on the ground
    n = (0.0, 0.0, 1.0)
    d = mul_t(R, mul(F, n))
    for _ in range(2):
        low = farthest(s, scale(-1.0, d), d[2] < 0.0)
        n = normal_under(f, height, add(p, mul_t(F, mul(R, low))))
        d = mul_t(R, mul(F, n))
    down, upper = scale(-1.0, d), d[2] < 0.0
    if s.kind == CYLINDER and abs(d[2]) >= FACE:
        base = CORNER_A | int(OTHER_CAP << 4 if upper else 0)
        for k in range(9):
            if k < 8 or has_farthest(d):
                local = rim_point(s, k, upper) if k < 8 else farthest(s, down, upper)
                count = corner(f, height, add(p, mul_t(F, mul(R, local))), 0.0, at, base + (k << 4), band, points, count)
        return count
    for e in range(2):
        if abs(d[2]) <= EDGE or (e == 1) == upper:
            q = add(p, mul_t(F, mul(R, farthest(s, down, e == 1))))
            count = corner(f, height, q, s.radius, at, CORNER_A | (FARTHEST + OTHER_CAP * e << 4), band, points, count)
    return count


@kernel
def _looks_down(R, F, n, k):
    """Whether corner k of a box is on the side that looks down most."""
    d = mul_t(R, mul(F, n))
    x, y, z = abs(d[0]), abs(d[1]), abs(d[2])
    if z >= x and z >= y:
        return (k % 2 == 1) == (d[2] < 0.0)
    if y >= x:
        return (k // 2 % 2 == 1) == (d[1] < 0.0)
    return (k >= 4) == (d[0] < 0.0)
