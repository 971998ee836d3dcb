"""A height field and a convex shape: corners of the shape against triangles,
ridges of the field against the shape.

    gap(x) = n·(x − o),   foot = x − gap n inside the triangle                               (1)
n, o: a triangle's normal and a corner of it. Below the field all is solid, so the triangle under a
point always counts; a neighbour counts where the foot is on it, and where the ground is hollow
between the two and the point may be over there before the step ends. A cylinder and an ellipsoid
have another lowest point for each triangle, and show each its own. Of a polytope with more than
sixteen corners in the band those count that are the lowest or may become it. A ridge is a capsule
without radius; where the normal leans to one side of it by more than the triangle there does, it is
that triangle's. Flat and hollow edges are no features: what slides over a plane of many triangles
meets one plane.

    (feature) = 1, corner of the shape, which triangle  |  2, ridge, feature of the pair     (2)
"""

from tabi.collision.arrays import BOX, CAPSULE, POLYTOPE, SPHERE
from tabi.collision.convex import put
from tabi.collision.grid import (
    cell,
    near_triangle,
    normal_under,
    over_triangle,
    place_on_grid,
    shares_edge,
    triangle,
)
from tabi.collision.overlap import CORNER_A
from tabi.collision.polygon import (
    EDGE,
    FACE,
    FARTHEST_POINT,
    OTHER_CAP,
    farthest,
    has_farthest,
    rim_point,
)
from tabi.collision.reduction import lowest_by_tilts
from tabi.collision.ridge import extents, merged, points_on_ridges
from tabi.collision.smooth_shapes import is_smooth, support_on
from tabi.jit import kernel
from tabi.spatial.vector import add, cross, dot, load3, load9, mul, mul_t, scale, sub


@kernel
def corner(f, height, p, radius, at, name, band, points, count):
    """A ball of a radius around p, in the field's frame, against the triangles under and beside it;
    at: pose of the field.
    """
    ground = _under(f, height, p)
    if not ground[0]:
        return count
    _, i, j, under, n, clearance = ground
    gap = n[2] * clearance - radius
    met = gap < band and _counts(f, p, ground, n, gap + radius, i, j, under, band)
    if met:
        count = _put(at, p, radius, n, gap, name, points, count)
    u, v = place_on_grid(f, p)
    du, dv = _cells(f, band + radius)
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
                if slot < 16 and _counts(f, p, ground, m, away + radius, column, row, upper, band):
                    # the plane under it has its name, wherever the foot is
                    count = _put(
                        at, p, radius, m, away, name if same else name + slot, points, count
                    )
                    met = met or same
                    slot += 0 if same else 1
    return count


@kernel(inline=True)
def _cells(f, length):
    """A length in cells, along both sides of the grid."""
    return length / f.half[0] * 0.5 * (f.columns - 1), length / f.half[1] * 0.5 * (f.rows - 1)


@kernel
def _under(f, height, p):
    """(whether the field is there, its cell and triangle under p, that one's normal,
    how far p is above it).
    """
    u, v = place_on_grid(f, p)
    i, j = cell(f, u, v)
    under = v - j > u - i
    n, o = triangle(f, height, i, j, under)
    return (
        u >= 0.0 and v >= 0.0 and u <= f.columns - 1 and v <= f.rows - 1,
        i,
        j,
        under,
        n,
        dot(n, sub(p, o)) / n[2],
    )


@kernel
def _counts(f, p, ground, m, away, column, row, upper, band):
    """Whether a point p of a shape, ``away`` from the plane of a triangle with normal m,
    has to do with that triangle.
    """
    _, i, j, under, _, clearance = ground
    foot = sub(p, scale(away, m))
    if column == i and row == j and upper == under:
        return clearance <= 0.0 or over_triangle(f, i, j, under, foot)
    # under the ground, a plane still higher is across a ridge;
    # and so is one that a point above the ground is under
    if away < m[2] * min(clearance - 1e-9, 0.0):
        return False
    if over_triangle(f, column, row, upper, foot):
        return True
    # across a hollow edge the ground under p is above the other plane,
    # and p may be over there before the step ends
    if (
        away > m[2] * clearance
        and shares_edge(i, j, under, column, row, upper)
        and over_triangle(f, i, j, under, foot)
    ):
        beside = _cells(f, band)
        return near_triangle(f, column, row, upper, foot, max(beside[0], beside[1]))
    return False


@kernel(inline=True)
def _put(at, p, radius, n, gap, name, points, count):
    R, o = at
    q = add(o, mul(R, sub(p, scale(radius + 0.5 * gap, n))))
    return put(points, count, name, q, mul(R, n), gap)


@kernel(apart="int64", rare=True)
def points_on(s, x, f, y, near, c, cw, points, count):
    """Points of the convex shape s at pose x on the height field f at pose y;
    returns the new number of points.

    Args:
        near: the band [m], and how s will have turned over the field when the step ends [rad].
    """
    before, band = count, near[0]
    if s.kind == POLYTOPE and s.vertex_end - s.vertex > s.most:
        count = _of_many_corners(s, x, f, y, near, c, cw, points, count)
    else:
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
    if s.kind == SPHERE:
        return corner(f, height, p, s.radius, at, CORNER_A | (s.vertex * 0), band, points, count)
    if s.kind == CAPSULE:
        for e in range(2):
            q = add(p, mul_t(F, mul(R, (0.0, 0.0, s.half[2] if e == 1 else -s.half[2]))))
            count = corner(
                f,
                height,
                q,
                s.radius,
                at,
                CORNER_A | (FARTHEST_POINT + OTHER_CAP * e << 4),
                band,
                points,
                count,
            )
        return count
    return _round(s, x, f, y, band, c, points, count)


@kernel
def _of_many_corners(s, x, f, y, near, c, cw, points, count):
    """Corners of a polytope against triangles: all that are in the band, if these are not too many;
    else the deepest, the one that is deepest after the turn, and those that become it by a tilt
    that brings the shape through the band.
    """
    F, o = load9(y.rotation), load3(y.position)
    R, p = load9(x.rotation), mul_t(F, sub(load3(x.position), o))
    (band, turn), at, out = near, (F, o), cw.crossing
    z = (F[2], F[5], F[8])
    up, steep = mul_t(F, sub(z, cross(turn, z))), s.reach / max(band, 1e-9 * s.reach)
    row_count, none = int(0.0), int(0.0)
    for k in range(s.vertex_end - s.vertex):
        q = add(p, mul_t(F, mul(R, load3(c.vertex[s.vertex + k]))))
        name = CORNER_A | (k << 4)
        corner_count = corner(f, c.height, q, 0.0, at, name, band, cw.corner_point, none)
        if corner_count == 0:
            continue
        if row_count == out.shape[0]:
            lowest_by_tilts(out, row_count, up[0], up[1], steep)
            row_count = _closed_up(out, row_count)
        row = out[row_count]
        row.u, row.v, row.a, row.b, row.name, row.is_kept = q[0], q[1], band, 0.0, k, 1
        for e in range(min(corner_count, cw.corner_point.shape[0])):
            row.a = min(row.a, cw.corner_point[e].gap)
        row_count += 1
    if row_count > s.most:
        lowest_by_tilts(out, row_count, up[0], up[1], steep)
    for e in range(row_count):
        if out[e].is_kept:
            k = out[e].name
            q = add(p, mul_t(F, mul(R, load3(c.vertex[s.vertex + k]))))
            count = corner(f, c.height, q, 0.0, at, CORNER_A | (k << 4), band, points, count)
    return count


@kernel
def _closed_up(out, count):
    """Move the kept rows to the front; returns how many they are."""
    kept_count = int(0.0)
    for k in range(count):
        if out[k].is_kept:
            if kept_count < k:
                out[kept_count] = out[k]
            kept_count += 1
    return kept_count


@kernel
def _round(s, x, f, y, band, c, points, count):
    """A cylinder or an ellipsoid against the triangles under it:
    to each the side that it shows to it.
    """
    F, o = load9(y.rotation), load3(y.position)
    R, p = load9(x.rotation), mul_t(F, sub(load3(x.position), o))
    half = extents(s, F, R, band)
    u, v = place_on_grid(f, sub(p, half))
    first, low = cell(f, u, v)
    u, v = place_on_grid(f, add(p, half))
    last, high = cell(f, u, v)
    # points on the plane in the middle are named without their triangle:
    # they keep their names over its seams
    level, place = normal_under(f, c.height, p), (F, o, R, p)
    for row in range(low, high + 1):
        for column in range(first, last + 1):
            for side in range(2):
                m, q = triangle(f, c.height, column, row, side == 1)
                middle = dot(m, sub(p, q))
                if middle - s.reach >= band:
                    continue
                triangle_name = (
                    0 if dot(m, level) > 1.0 - 1e-10 else 1 + 2 * (row * f.columns + column) + side
                )
                over = (m, middle, column, row, side == 1)
                name = CORNER_A | triangle_name << 10
                if is_smooth(s):
                    local = support_on(s, scale(-1.0, mul_t(R, mul(F, m))))
                    count = _over(f, c.height, place, over, local, name, band, points, count)
                else:
                    count = _cylinder(s, f, c.height, place, over, name, band, points, count)
    return count


@kernel
def _cylinder(s, f, height, place, over, name, band, points, count):
    """A cylinder over a triangle: the rim of the cap below and its lowest point;
    else the lowest points of both rims, unless one is tilted away.
    """
    d = mul_t(place[2], mul(place[0], over[0]))
    flat = abs(d[2]) >= FACE
    for k in range(9 if flat else 2):
        upper = d[2] < 0.0 if flat else k == 1
        if (k == 8 and not has_farthest(d)) or (
            not flat and (d[2] > EDGE if upper else d[2] < -EDGE)
        ):
            continue
        local = rim_point(s, k, upper) if flat and k < 8 else farthest(s, scale(-1.0, d), upper)
        name_of_point = name | ((k if flat else FARTHEST_POINT) + (OTHER_CAP if upper else 0)) << 4
        count = _over(f, height, place, over, local, name_of_point, band, points, count)
    return count


@kernel
def _over(f, height, place, over, local, name, band, points, count):
    """One point of a shape, in its own frame, over a triangle.

    Args:
        place: rotation and position of the field, rotation of the shape, its position in the field.
        over: normal of the triangle, height of the shape's middle over its plane [m],
            its cell, whether it is the upper one.
    """
    F, o, R, p = place
    m, middle, column, row, upper = over
    gap, q = middle + dot(mul_t(R, mul(F, m)), local), add(p, mul_t(F, mul(R, local)))
    ground = _under(f, height, q)
    if gap < band and ground[0] and _counts(f, q, ground, m, gap, column, row, upper, band):
        return _put((F, o), q, 0.0, m, gap, name, points, count)
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
