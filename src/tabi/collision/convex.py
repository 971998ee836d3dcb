"""Two convex shapes: their signed distance, and the points of the patch where they meet.

    distance = max over unit n of separation(n) = min n·A − max n·B                          (1)
for shapes apart and overlapping alike. What lies flat has the normal of a face, exact to the last
digit; else GJK finds n across a gap, the growing hull in an overlap, and Newton's method the last
digits of it for an ellipsoid. Along n the sides that the
shapes show are intersected.
"""

import math

from tabi.collision import gjk, hull
from tabi.collision.arrays import BOX, CAPSULE, POLYTOPE, SPHERE
from tabi.collision.boxes import closest_boxes
from tabi.collision.faces import closest_face
from tabi.collision.gjk import FAR, TOUCHING
from tabi.collision.overlap import SAME_POINT_RATIO, corners_over, meet
from tabi.collision.polygon import axes, shown
from tabi.collision.reduction import corners_only, next_name, outermost
from tabi.collision.segments import nearest
from tabi.collision.smooth import across, refined
from tabi.collision.smooth_shapes import is_smooth
from tabi.jit import kernel
from tabi.spatial.vector import add, dot, load3, scale, store3, sub

# share of the smaller shape's size up to which the way out is along a face; deeper, edges are
# compared as well
MAX_FACE_DEPTH_RATIO = 3e-4


@kernel
def closest(s, x, t, y, limit, c, cw):
    """(found, n, gap, nearest point of s, of t) of two convex shapes;
    not found where they are farther apart than ``limit``, then the gap is a bound of it.
    """
    zero = (0.0, 0.0, 0.0)
    if s.kind <= CAPSULE and t.kind <= CAPSULE:
        n, gap, a, b = nearest(s, x, t, y)
        return gap < limit, n, gap, a, b
    radii = s.radius + t.radius
    status, v, a, b = gjk.distance(s, x, t, y, c.vertex, limit + radii, cw.simplex, cw.weight)
    if status == FAR:
        return False, zero, math.sqrt(dot(a, a)) - radii, zero, zero
    length = math.sqrt(dot(v, v))
    n, gap = (0.0, 0.0, 1.0), 0.0
    if length > 0.0:
        n = scale(1.0 / length, v)
    if status == TOUCHING:
        is_found, m, away, p, q = hull.depth(
            s, x, t, y, c.vertex, n, (cw.hull, cw.hull_face, cw.hull_plane, cw.hull_edge)
        )
        if is_found:
            n, a, b = m, p, q
        gap = away - radii
    else:
        gap = length - radii
    if is_smooth(s) or is_smooth(t):
        n, gap, a, b = across(s, x, t, y, c.vertex, refined(s, x, t, y, c.vertex, n))
        return gap < limit, n, gap, a, b
    a, b = sub(a, scale(s.radius, n)), add(b, scale(t.radius, n))
    return gap < limit, n, gap, a, b


@kernel(apart="int64", rare=True)
def convex_points(s, x, t, y, band, c, cw, points, count):
    """Points of two convex shapes; returns the new number of points."""
    tried, side, m = False, 0.0, (0.0, 0.0, 1.0)
    if s.kind == BOX and t.kind == BOX:
        near, n, gap, a, b, sure = closest_boxes(s, x, t, y, band)
        if not near:
            cw.distance[0] = gap
            return count
        after = patch(s, x, t, y, (n, gap, a, b, sure), band, c, cw, points, count)
        if after >= 0:
            return after
    elif s.kind > CAPSULE or t.kind > CAPSULE:
        tried, side, m = closest_face(s, x, t, y, band, c)
        if tried and side >= band:
            cw.distance[0] = side
            return count
        # apart, the bound is the distance if it is reached;
        # so little deep, no other way out is shorter by what counts
        if tried and side + s.radius + t.radius > -MAX_FACE_DEPTH_RATIO * min(s.reach, t.reach):
            middle = scale(0.5, add(load3(x.position), load3(y.position)))
            after = patch(
                s, x, t, y, (m, side, middle, middle, not tried), band, c, cw, points, count
            )
            if after >= 0:
                return after
    near, n, gap, a, b = closest(s, x, t, y, band, c, cw)
    if not near:
        cw.distance[0] = gap
        return count
    if tried and side > gap and (is_smooth(s) or is_smooth(t)):
        # deep over a face, which no way around its edges improves
        n, gap, a, b = across(s, x, t, y, c.vertex, m)
    # near and tried are true: literals would make the compiler translate the patch once for each
    return patch(s, x, t, y, (n, gap, a, b, near), band, c, cw, points, count)


@kernel
def patch(s, x, t, y, start, band, c, cw, points, count):
    """Points of two shapes along their common normal.

    Args:
        found: normal, gap, nearest points of s and t, and whether these are certain.
            Uncertain ones are no points; then the patch has to hold the nearest one.

    Returns:
        The new number of points; −1 where the nearest point is missing.
    """
    n, gap, a, b, sure = start
    ball = s.kind == SPHERE or t.kind == SPHERE or is_smooth(s) or is_smooth(t)
    if ball and sure:
        return put(points, count, int(0.0), scale(0.5, add(a, b)), n, gap)
    t1, t2 = axes(n)
    o = scale(0.5, add(a, b))
    frame, tables = (o, t1, t2, n), (c.vertex, c.face, c.loop)
    size = min(s.reach, t.reach)
    info_a = shown(s, x, 1.0, frame, tables, cw.polygon[0])
    info_b = shown(t, y, -1.0, frame, tables, cw.polygon[1])
    out = cw.crossing
    met = meet(cw.polygon[0], info_a, cw.polygon[1], info_b, size, band, out)
    if s.kind == POLYTOPE and info_b[0] > 2:
        met = corners_over(
            s, x, 1.0, frame, c.vertex, (cw.polygon[1], info_b, size), band, out, met
        )
    if t.kind == POLYTOPE and info_a[0] > 2:
        met = corners_over(
            t, y, -1.0, frame, c.vertex, (cw.polygon[0], info_a, size), band, out, met
        )
    corners_only(out, met, SAME_POINT_RATIO * size)
    outermost(out, met, 0.0, 0.0)
    least, name = math.inf, int(0.0)
    for k in range(met):
        if out[k].is_kept:
            least = min(least, out[k].a - out[k].b)
    if not least <= gap + 1e-5 * size:
        if not sure:
            return -1
        # the nearest points are no corner of the patch
        count = put(points, count, int(0.0), o, n, gap)
    while True:
        k = next_name(out, met, name)
        if k < 0:
            break
        row = out[k]
        name = row.name
        # a ball keeps its one point over faces, edges and corners
        label = int(0.0) if ball else name
        p = add(o, add(scale(row.u, t1), add(scale(row.v, t2), scale(0.5 * (row.a + row.b), n))))
        count = put(points, count, label, p, n, row.a - row.b)
    return count


@kernel
def put(points, count, feature, position, normal, gap):
    """Write a point where there is room; returns the number of points with it."""
    if count < points.shape[0]:
        row = points[count]
        row.feature, row.gap = feature, gap
        store3(row.position, position)
        store3(row.normal, normal)
    return count + 1
