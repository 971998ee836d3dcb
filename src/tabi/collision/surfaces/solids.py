"""A point of a surface and a solid, in the solid's own frame: how far it is outside, which way out.

    gap = min ‖p − x‖ over the solid outside of it,   −min_f d_f / max(LEVEL, −m·n_f) inside   (1)
d_f, n_f: depth below a side and its normal; m: the surface's own normal at the point. So a sole
leaves through the side that it stands on also where another one is nearer.

A point less than ``LIP`` below the edge of a side that its surface stands on, beside the solid,
does not meet the solid there: it may slide over the edge, and that side will lift it.

Smooth shapes: ``smooth_shapes``.
"""

import math

from tabi.collision.arrays import BOX, CAPSULE, CYLINDER
from tabi.collision.smooth_shapes import is_smooth, nearest_on
from tabi.collision.surfaces.mesh import LIP, MIN_DISTANCE_M, MIN_FACING_COSINE
from tabi.jit import kernel
from tabi.spatial.vector import add, cross, dot, load3, scale, sub

# least part of a depth that counts for sides on which a surface does not stand
LEVEL = 0.05
# a side that looks against a surface by less than this cosine is beside it
MIN_OPPOSING_COSINE = 0.2


@kernel
def nearest(t, p, m, c):
    """(n, gap) of a point p of a surface with the normal m; infinite where they do not meet."""
    if t.kind <= CAPSULE:
        return round_core(t, p, m)
    if t.kind == BOX:
        return _box(t, p, m)
    if t.kind == CYLINDER:
        n, gap, _ = cylinder(t, p, m)
        return n, gap
    if is_smooth(t):
        return nearest_on(t, p)
    return _polytope(t, p, m, c)


@kernel(inline=True)
def _exit_cost(depth, lean):
    """Cost of leaving by a side, least for the selected one, see (1); lean: m·n_f."""
    return 1e-6 * depth if -lean > MIN_FACING_COSINE and depth < LIP else depth / max(LEVEL, -lean)


@kernel
def core_point(t, p):
    """The point of the core of a sphere or capsule nearest to p."""
    h = t.half[2]
    return (0.0, 0.0, min(max(p[2], -h), h))


@kernel
def round_core(t, p, m):
    """(n, gap) of a sphere or a capsule."""
    v = sub(p, core_point(t, p))
    length = math.sqrt(dot(v, v))
    n = scale(1.0 / length, v) if length > MIN_DISTANCE_M else scale(-1.0, m)
    return n, length - t.radius


@kernel(inline=True)
def _axis(k, side):
    return (side if k == 0 else 0.0, side if k == 1 else 0.0, side if k == 2 else 0.0)


@kernel
def _box(t, p, m):
    h = t.half
    q = (
        min(max(p[0], -h[0]), h[0]),
        min(max(p[1], -h[1]), h[1]),
        min(max(p[2], -h[2]), h[2]),
    )
    v = sub(p, q)
    length = math.sqrt(dot(v, v))
    if length > 0.0:
        n = scale(1.0 / length, v)
        if -dot(n, m) < MIN_OPPOSING_COSINE:
            for k in range(3):
                depth = h[k] - abs(p[k])
                facing = -(m[k] if p[k] >= 0.0 else -m[k])
                if depth >= 0.0 and depth < LIP and facing > MIN_FACING_COSINE:
                    return n, math.inf
        return n, length
    best, n, gap = math.inf, (0.0, 0.0, 1.0), 0.0
    for k in range(3):
        side = 1.0 if p[k] >= 0.0 else -1.0
        for _ in range(2):
            depth = h[k] - side * p[k]
            cost = _exit_cost(depth, side * m[k])
            if cost < best:
                best, n, gap = cost, _axis(k, side), -depth
            side = -side
    return n, gap


@kernel
def cylinder(t, p, m):
    """(n, gap, whether p is inside) of a cylinder; the nearest way where m is zero."""
    r = math.sqrt(p[0] * p[0] + p[1] * p[1])
    out = (p[0] / r, p[1] / r, 0.0) if r > 0.0 else (1.0, 0.0, 0.0)
    up = (0.0, 0.0, 1.0 if p[2] >= 0.0 else -1.0)
    x, z = r - t.half[0], abs(p[2]) - t.half[2]
    if x <= 0.0 and z <= 0.0:
        if _exit_cost(-z, dot(up, m)) <= _exit_cost(-x, dot(out, m)):
            return up, z, True
        return out, x, True
    if x > 0.0 and z > 0.0:
        length = math.sqrt(x * x + z * z)
        return add(scale(x / length, out), scale(z / length, up)), length, False
    if z > 0.0:
        return up, z, False
    lip = z > -LIP and -dot(up, m) > MIN_FACING_COSINE and -dot(out, m) < MIN_OPPOSING_COSINE
    return out, math.inf if lip else x, False


@kernel
def _polytope(t, p, m, c):
    face = c.face
    best, n, gap, top, highest = math.inf, (0.0, 0.0, 1.0), 0.0, -math.inf, t.face
    for k in range(t.face, t.face_end):
        normal = load3(face[k].normal)
        height = dot(normal, p) - face[k].offset
        if height > top:
            top, highest = height, k
        if height <= 0.0:
            cost = _exit_cost(-height, dot(normal, m))
            if cost < best:
                best, n, gap = cost, normal, height
    if not top > 0.0:
        return n, gap
    # outside: best of the faces that it is above
    square, q = math.inf, p
    for k in range(t.face, t.face_end):
        height = dot(load3(face[k].normal), p) - face[k].offset
        if height > 0.0 and height * height < square:
            distance, x = _on_face(t, face[k], p, height, c)
            if distance < square:
                square, q, highest = distance, x, k
    v = sub(p, q)
    length = math.sqrt(square)
    flat = load3(face[highest].normal)
    n = scale(1.0 / length, v) if length > MIN_DISTANCE_M else flat
    if dot(flat, n) > 1.0 - 1e-12:
        n = flat
    if -dot(n, m) < MIN_OPPOSING_COSINE:
        for k in range(t.face, t.face_end):
            normal = load3(face[k].normal)
            height = dot(normal, p) - face[k].offset
            if height <= 0.0 and height > -LIP and -dot(normal, m) > MIN_FACING_COSINE:
                return n, math.inf
    return n, length


@kernel
def _on_face(t, row, p, height, c):
    """(square of the distance, the nearest point) of a face that p is above by ``height``."""
    n = load3(row.normal)
    square, q = math.inf, sub(p, scale(height, n))
    inside = True
    for k in range(row.loop, row.loop_end):
        last = k + 1 == row.loop_end
        a = load3(c.vertex[t.vertex + c.loop[k]])
        b = load3(c.vertex[t.vertex + c.loop[row.loop if last else k + 1]])
        d, w = sub(b, a), sub(p, a)
        if dot(cross(d, n), w) <= 0.0:
            continue
        inside = False
        dd = dot(d, d)
        s = min(max(dot(w, d) / dd, 0.0), 1.0) if dd > 0.0 else 0.0
        x = add(a, scale(s, d))
        v = sub(p, x)
        if dot(v, v) < square:
            square, q = dot(v, v), x
    return (height * height, q) if inside else (square, q)
