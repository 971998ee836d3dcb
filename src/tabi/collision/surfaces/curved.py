"""Contacts of cylinders and ellipsoids between the nodes of a surface.

    gap = m·(q − foot),   q = argmin m·x over the solid                                      (1)
    gap = min over s of g(a + s d),   n·d = 0                                                (2)
over a triangle with the outward normal m, and along an edge a + s d; g: signed distance from the
solid, which is convex along any line, n: its gradient. A cap that lies flat under a triangle shows
it eight points of its rim that are fixed to it and the one that reaches farthest, as it does to a
height field; else both rims show their farthest points.
"""

import math

from tabi.collision.polygon import (
    EDGE,
    FACE,
    FARTHEST_POINT,
    OTHER_CAP,
    farthest,
    has_farthest,
    rim_point,
)
from tabi.collision.smooth_shapes import is_smooth, nearest_on, support_on
from tabi.collision.surfaces.mesh import (
    MAX_DEPTH_M,
    RIM,
    around_edge,
    around_triangle,
    corners,
    ends,
    foot_on_triangle,
    is_behind,
    label,
    leans_over,
    meets,
    note,
    on_edge,
    on_triangle,
    sticks_out,
    triangle_normal,
)
from tabi.collision.surfaces.solids import cylinder
from tabi.jit import kernel
from tabi.spatial.vector import add, dot, load3, load9, mul, mul_t, scale, sub

ON_TRIANGLE, ON_EDGE = 2, 3
STEPS = 60


@kernel
def of_curved(f, place, row, t, y, near, c, out, count):
    """A cylinder or an ellipsoid t at pose y against triangles and edges; returns the new number of
    points.

    Args:
        near: the band [m], and 1 where the surface is a of the pair, −1 where it is b.
        out: tables of points and of their nodes.
    """
    band, side = near
    R, o = load9(y.rotation), load3(y.position)
    box, reach = (load3(y.low), load3(y.high)), max(band, MAX_DEPTH_M)
    for k in range(row.triangle, row.triangle_end):
        x, v, z = corners(f, place, k)
        if not meets(box, around_triangle(x, v, z), reach):
            continue
        m = triangle_normal(f, place, k)
        if dot(m, sub(o, x)) <= -MAX_DEPTH_M:
            continue
        d = mul_t(R, m)
        if is_smooth(t):
            q = support_on(t, scale(-1.0, d))
            count = _over(f, place, row, k, (R, o, q, 0), near, out, count)
        else:
            count = _caps(f, place, row, k, (R, o, t, d), near, out, count)
    for e in range(row.edge, row.edge_end):
        a, b = ends(f, place, e)
        if not meets(box, around_edge(a, b), band):
            continue
        # triangles beside a hollow edge have points of their own with what has no edges
        if is_smooth(t) and not sticks_out(f, place, e):
            continue
        met, s, n, gap = _along(t, mul_t(R, sub(a, o)), mul_t(R, sub(b, a)), band)
        if not met or gap <= -MAX_DEPTH_M:
            continue
        n = mul(R, n)
        if not (leans_over(f, place, e, n) or is_behind(f, place, e, n, gap)):
            x = add(a, scale(s, sub(b, a)))
            name = label(ON_EDGE, e - row.edge, 0)
            count = note(out, count, side, on_edge(f, e, s), name, x, n, gap)
    return count


@kernel
def _caps(f, place, row, k, solid, near, out, count):
    """A cylinder over triangle k; solid: its rotation, position, row, and the triangle's normal in
    its own frame.
    """
    R, o, t, d = solid
    flat = abs(d[2]) >= FACE
    for e in range(9 if flat else 2):
        upper = d[2] < 0.0 if flat else e == 1
        if (e == 8 and not has_farthest(d)) or (
            not flat and (d[2] > EDGE if upper else d[2] < -EDGE)
        ):
            continue
        q = rim_point(t, e, upper) if flat and e < 8 else farthest(t, scale(-1.0, d), upper)
        which = (e if flat else FARTHEST_POINT) + (OTHER_CAP if upper else 0)
        count = _over(f, place, row, k, (R, o, q, which), near, out, count)
    return count


@kernel
def _over(f, place, row, k, point, near, out, count):
    """A point of a solid (rotation, position, the point in its frame, name) over triangle k."""
    R, o, q, which = point
    band, side = near
    q = add(o, mul(R, q))
    _, w, m, away = foot_on_triangle(f, place, k, q, max(band, MAX_DEPTH_M))
    if away < band and _holds(f, k, w):
        w = (max(w[0], 0.0), max(w[1], 0.0), max(w[2], 0.0))
        w = scale(1.0 / (w[0] + w[1] + w[2]), w)
        x = sub(q, scale(away, m))
        name = label(ON_TRIANGLE, k - row.triangle, which)
        count = note(out, count, side, on_triangle(f, k, w), name, x, scale(-1.0, m), away)
    return count


@kernel
def _holds(f, k, w):
    """Whether a foot is on triangle k; over an edge it is on the first one beside it, over a node
    on none.
    """
    for e in range(3):
        if not (w[e] > -RIM and w[e] < 1.0 - 2.0 * RIM):
            return False
        if w[e] <= RIM and f.next[k, e] >= 0 and f.next[k, e] < k:
            return False
    return True


@kernel(inline=True)
def _distance(t, p):
    if is_smooth(t):
        return nearest_on(t, p)
    n, gap, _ = cylinder(t, p, (0.0, 0.0, 0.0))
    return n, gap


@kernel
def _along(t, a, d, band):
    """(whether it is inside and in the band, s, n, gap) of equation (2), in the solid's frame."""
    none, size = (0.0, 0.0, 0.0), math.sqrt(dot(d, d))
    n, first = _distance(t, a)
    low = dot(n, d)
    n, last = _distance(t, add(a, d))
    high = dot(n, d)
    # its slope along the edge is 1 at most
    if low >= 0.0 or high <= 0.0 or first + last - size >= 2.0 * band:
        return False, 0.0, none, 0.0
    x, y, s, gap = 0.0, 1.0, 0.5, 0.0
    for k in range(STEPS):
        # the chord of the slope, and every third time the middle
        s = 0.5 * (x + y) if k % 3 == 2 else (x * high - y * low) / (high - low)
        n, gap = _distance(t, add(a, scale(s, d)))
        slope = dot(n, d)
        if slope < 0.0:
            x, low = s, slope
        else:
            y, high = s, slope
        if abs(slope) < 1e-8 * size or not y - x > 1e-11:
            break
    # at a kink both normals hold it: out across the edge
    n = sub(n, scale(dot(n, d) / (size * size), d))
    length = math.sqrt(dot(n, n))
    if not length > 0.1 or not gap < band or not (s > RIM and s < 1.0 - RIM):
        return False, s, none, gap
    return True, s, scale(1.0 / length, n), gap
