"""A surface of triangles whose nodes move: its normals, feet of points on it, and the points that
are noted on it.

    foot of q on a triangle: Σ w_k x_k,  w > 0,   away = m·(q − foot)                        (1)
    foot of q on an edge: x_0 + s e,  0 < s < 1,   (q − foot)·u ≤ 0 for both sides            (2)
m: the outward normal; u: across the edge into a triangle beside it. By (2) no triangle beside the
edge has a foot that is nearer; what lies over an edge, or over a node, has its foot there and not
on the triangles around it. Below the surface ``away`` is negative.

    −n·u ≤ LEAN                                                                              (3)
n: from what touches an edge to the surface. Where it leans over a triangle by more, the edge is
only passed by.
"""

import math

from tabi.jit import kernel
from tabi.spatial.vector import add, cross, dot, load3, scale, store3, sub

# share of a triangle or an edge that belongs to its boundary
RIM = 1e-9
# a point deeper below a surface has entered elsewhere [m]
MAX_DEPTH_M = 1e-2
# how far a normal may lean over what is beside an edge: of a surface, of a solid
LEAN, TIP = 0.35, 0.05
# a normal that points out of the surface by more belongs to something behind it
MAX_BEHIND_COSINE = 0.5
# a side on which a surface stands looks against it by this cosine at least
MIN_FACING_COSINE = 0.5
# how deep below an edge something may slide over it [m]
LIP = 1e-4
# a fold of less than this angle [rad] counts as flat
FOLD = 1e-6
# closer than this [m] two points have no direction between them
MIN_DISTANCE_M = 1e-10
# sine of the angle below which two edges are parallel
PARALLEL = 1e-7


@kernel
def label(what, on, other):
    """Identity of a point: what met, the number of the part of the surface, of the other thing."""
    return what << 58 | on << 32 | other


@kernel
def note(out, count, side, on, name, x, n, gap):
    """Write a point on one surface where there is room; returns the number of points with it.

    Args:
        out: tables of points and of their nodes.
        side: 1 where the surface is a of the pair, −1 where it is b.
        on: three nodes and their shares. x: the place that they make [m].
        n: unit, from the other shape to the surface.
    """
    points, where = out
    if count < points.shape[0]:
        _store(points[count], name, sub(x, scale(0.5 * gap, n)), scale(side, n), gap)
        row = where[count]
        if side > 0.0:
            _store_nodes(row.node_a, row.weight_a, on)
            _clear(row.node_b, row.weight_b)
        else:
            _store_nodes(row.node_b, row.weight_b, on)
            _clear(row.node_a, row.weight_a)
    return count + 1


@kernel
def note_both(out, count, on, onto, name, x, n, gap):
    """Write a point between two surfaces; x: the place on a, n: from b to a."""
    points, where = out
    if count < points.shape[0]:
        _store(points[count], name, sub(x, scale(0.5 * gap, n)), n, gap)
        row = where[count]
        _store_nodes(row.node_a, row.weight_a, on)
        _store_nodes(row.node_b, row.weight_b, onto)
    return count + 1


@kernel(inline=True)
def _store(row, name, position, n, gap):
    row.feature, row.gap = name, gap
    store3(row.position, position)
    store3(row.normal, n)


@kernel(inline=True)
def _store_nodes(node, weight, on):
    store3(node, on[0])
    store3(weight, on[1])


@kernel(inline=True)
def _clear(node, weight):
    store3(node, (-1, -1, -1))
    store3(weight, (0.0, 0.0, 0.0))


@kernel(inline=True)
def at_node(i):
    """Nodes and shares of a node itself."""
    return (i, -1, -1), (1.0, 0.0, 0.0)


@kernel(inline=True)
def on_edge(f, e, s):
    """Nodes and shares of a place on an edge."""
    return (f.edge[e, 0], f.edge[e, 1], -1), (1.0 - s, s, 0.0)


@kernel(inline=True)
def on_triangle(f, t, w):
    """Nodes and shares of a place on a triangle."""
    return (f.triangle[t, 0], f.triangle[t, 1], f.triangle[t, 2]), w


@kernel(inline=True)
def corners(f, place, t):
    """The three corners of a triangle."""
    return (
        load3(place[f.triangle[t, 0]]),
        load3(place[f.triangle[t, 1]]),
        load3(place[f.triangle[t, 2]]),
    )


@kernel(inline=True)
def ends(f, place, e):
    """Both ends of an edge."""
    return load3(place[f.edge[e, 0]]), load3(place[f.edge[e, 1]])


@kernel(inline=True)
def unit(v):
    """v / ‖v‖, and zero of zero."""
    length = math.sqrt(dot(v, v))
    return scale(1.0 / length, v) if length > 0.0 else (0.0, 0.0, 0.0)


@kernel
def triangle_normal(f, place, t):
    """Outward unit normal of a triangle."""
    a, b, c = corners(f, place, t)
    return unit(cross(sub(b, a), sub(c, a)))


@kernel
def node_normal(f, place, i):
    """Outward unit normal at a node: of the triangles around it, by their areas."""
    total = (0.0, 0.0, 0.0)
    for k in range(f.ring[i], f.ring[i + 1]):
        a, b, c = corners(f, place, f.around[k])
        total = add(total, cross(sub(b, a), sub(c, a)))
    return unit(total)


@kernel
def edge_normal(f, place, e):
    """Outward unit normal at an edge."""
    m = triangle_normal(f, place, f.beside[e, 0])
    return m if f.beside[e, 1] < 0 else unit(add(m, triangle_normal(f, place, f.beside[e, 1])))


@kernel
def into(f, place, e, side):
    """u of equation (2), as long as its triangle is high; zero where there is none."""
    k = f.opposite[e, side]
    if k < 0:
        return (0.0, 0.0, 0.0)
    a, b = ends(f, place, e)
    d, u = sub(b, a), sub(load3(place[k]), a)
    dd = dot(d, d)
    return sub(u, scale(dot(u, d) / dd, d)) if dd > 0.0 else u


@kernel
def leans_over(f, place, e, n):
    """Whether a normal across an edge breaks (3)."""
    a, b = ends(f, place, e)
    d = sub(b, a)
    dd = dot(d, d)
    for side in range(2):
        k = f.opposite[e, side]
        if k < 0:
            continue
        w = sub(load3(place[k]), a)
        # n has no part along the edge, so n·w = n·u
        lean, along = dot(n, w), dot(w, d)
        if lean < 0.0 and lean * lean > LEAN * LEAN * (dot(w, w) - along * along / dd):
            return True
    return False


@kernel
def is_behind(f, place, e, n, gap):
    """Whether a normal at an edge looks out of the surface; where it ends, by more than
    ``MAX_BEHIND_COSINE``, or aside though deeper than ``LIP``: that has come from below.
    """
    a, b, c = corners(f, place, f.beside[e, 0])
    m = cross(sub(b, a), sub(c, a))
    if f.beside[e, 1] < 0:
        lean = dot(n, m) / math.sqrt(dot(m, m))
        return lean > MAX_BEHIND_COSINE or (lean > -MIN_FACING_COSINE and gap < -LIP)
    a, b, c = corners(f, place, f.beside[e, 1])
    return dot(n, add(m, cross(sub(b, a), sub(c, a)))) > 0.0


@kernel
def sticks_out(f, place, e):
    """Whether the surface is bent outwards at an edge, or ends there."""
    if f.beside[e, 1] < 0:
        return True
    a = load3(place[f.edge[e, 0]])
    d = sub(load3(place[f.opposite[e, 1]]), a)
    m = triangle_normal(f, place, f.beside[e, 0])
    return dot(m, d) < -FOLD * math.sqrt(dot(d, d))


@kernel
def bounds(f, place, row, reach):
    """Two corners of the box along the world's axes around a surface, and ``reach`` around it."""
    low, high = (math.inf, math.inf, math.inf), (-math.inf, -math.inf, -math.inf)
    for i in range(row.node, row.node_end):
        x = load3(place[i])
        low = (min(low[0], x[0]), min(low[1], x[1]), min(low[2], x[2]))
        high = (max(high[0], x[0]), max(high[1], x[1]), max(high[2], x[2]))
    r = (reach, reach, reach)
    return sub(low, r), add(high, r)


@kernel(inline=True)
def around_triangle(a, b, c):
    """Two corners of the box around a triangle."""
    low = (min(a[0], b[0], c[0]), min(a[1], b[1], c[1]), min(a[2], b[2], c[2]))
    high = (max(a[0], b[0], c[0]), max(a[1], b[1], c[1]), max(a[2], b[2], c[2]))
    return low, high


@kernel(inline=True)
def around_edge(a, b):
    """Two corners of the box around an edge."""
    low = (min(a[0], b[0]), min(a[1], b[1]), min(a[2], b[2]))
    return low, (max(a[0], b[0]), max(a[1], b[1]), max(a[2], b[2]))


@kernel(inline=True)
def meets(box, other, reach):
    """Whether two boxes are no farther apart than ``reach`` along each axis; NaN meets nothing."""
    (a, b), (c, d) = box, other
    return (
        a[0] - reach <= d[0]
        and c[0] - reach <= b[0]
        and a[1] - reach <= d[1]
        and c[1] - reach <= b[1]
        and a[2] - reach <= d[2]
        and c[2] - reach <= b[2]
    )


@kernel
def foot_on_triangle(f, place, t, q, reach):
    """(whether there is one by equation (1), shares, m, away) of a point no farther than ``reach``
    from the box around a triangle; beyond, it is infinitely far away.
    """
    none = (0.0, 0.0, 0.0)
    a, b, c = corners(f, place, t)
    if not meets((q, q), around_triangle(a, b, c), reach):
        return False, none, none, math.inf
    u, v, w = sub(b, a), sub(c, a), sub(q, a)
    n = cross(u, v)
    nn = dot(n, n)
    if not nn > 0.0:
        return False, none, none, math.inf
    y, z = dot(cross(w, v), n) / nn, dot(cross(u, w), n) / nn
    x = 1.0 - y - z
    m = scale(1.0 / math.sqrt(nn), n)
    return x > RIM and y > RIM and z > RIM, (x, y, z), m, dot(m, w)


@kernel
def foot_on_edge(f, place, e, q, reach):
    """(whether there is one by equation (2), s, the foot, n, away) of a point no farther than
    ``reach`` from the box around an edge; foot = q + away n.
    """
    none = (0.0, 0.0, 0.0)
    a, b = ends(f, place, e)
    if not meets((q, q), around_edge(a, b), reach):
        return False, 0.0, none, none, 0.0
    d, w = sub(b, a), sub(q, a)
    s = dot(w, d) / dot(d, d)
    if not (s > RIM and s < 1.0 - RIM):
        return False, s, none, none, 0.0
    border = f.beside[e, 1] < 0
    for side in range(2):
        u = into(f, place, e, side)
        if dot(w, u) > RIM * dot(u, u):
            return False, s, none, none, 0.0
        # straight below the last edge is still below the surface
        if side == 0 and dot(w, u) >= -RIM * dot(u, u):
            border = False
    x = add(a, scale(s, d))
    m = edge_normal(f, place, e)
    n, away = towards(q, x, m, border)
    return dot(n, m) <= MAX_BEHIND_COSINE, s, x, n, away


@kernel
def towards(q, x, m, border):
    """Direction and distance from a point q to its foot x, which has the normal m: negative where q
    is below, unless the surface ends there.
    """
    v = sub(x, q)
    length = math.sqrt(dot(v, v))
    if not length > MIN_DISTANCE_M:
        return scale(-1.0, m), dot(m, sub(q, x))
    if dot(v, m) > 0.0 and not border:
        return scale(-1.0 / length, v), -length
    return scale(1.0 / length, v), length


@kernel
def crossing(a, d, b, g):
    """(whether they do inside both, s, t, unit vector across both) of the edges a + s d, b + t g,
    seen along that vector.
    """
    x, none = cross(d, g), (0.0, 0.0, 0.0)
    xx = dot(x, x)
    if not xx > PARALLEL * PARALLEL * dot(d, d) * dot(g, g):
        return False, 0.0, 0.0, none
    w = sub(b, a)
    s, t = dot(cross(w, g), x) / xx, dot(cross(w, d), x) / xx
    inside = s > RIM and s < 1.0 - RIM and t > RIM and t < 1.0 - RIM
    return inside, s, t, scale(1.0 / math.sqrt(xx), x)
