"""The side a shape shows to another: a polygon, an edge or a point, seen along the common normal.

    x = o + u t₁ + v t₂ + h n,   h = g₀ + g_u u + g_v v on a face                              (1)
o: an origin near the contact; t₁, t₂, n: axes with n from shape b to shape a. Corners of faces go
counter-clockwise in (u, v). A face is shown when it looks along the normal within ``FACE``, else an
edge that lies across it, else a corner; whatever is tilted more has risen out of any proximity
band. A cylinder's cap is a disk, with eight points of its rim that are fixed to the body and the
one that reaches farthest; an ellipsoid shows the point that does.
"""

import math

from tabi.collision.arrays import BOX, CAPSULE, CYLINDER, POLYTOPE
from tabi.collision.smooth_shapes import is_smooth, support_on
from tabi.collision.support import face_towards
from tabi.jit import kernel
from tabi.spatial.vector import add, cross, dot, load3, load9, mul, mul_t, scale, sub

FACE = math.cos(math.radians(20.0))
EDGE = math.sin(math.radians(20.0))
MIN_TILT = 1e-4  # from this tilt on, a cap has a point that reaches farthest
COS = tuple(math.cos(0.25 * math.pi * k) for k in range(8))
SIN = tuple(math.sin(0.25 * math.pi * k) for k in range(8))
# parts of names of points: the one that reaches farthest, and those of the other cap
FARTHEST_POINT, OTHER_CAP = 8, 16


@kernel
def axes(n):
    """Two unit vectors t₁, t₂ with t₁ × t₂ = n."""
    if abs(n[2]) > 0.7:
        length = math.sqrt(n[1] * n[1] + n[2] * n[2])
        t = (0.0, n[2] / length, -n[1] / length)
    else:
        length = math.sqrt(n[0] * n[0] + n[1] * n[1])
        t = (-n[1] / length, n[0] / length, 0.0)
    return t, cross(n, t)


@kernel(inline=True)
def _set_corner(row, frame, p, name):
    o, t1, t2, n = frame
    d = sub(p, o)
    row.u, row.v, row.height, row.name = dot(t1, d), dot(t2, d), dot(n, d), name


@kernel
def shown(s, x, side, frame, tables, out):
    """Write the corners that shape s shows; side: 1 above the contact (it is a), −1 below
    (it is b).

    Args:
        frame: (o, t₁, t₂, n).
        tables: (vertex, face, loop) of the collision tables.
        out: rows of corners.

    Returns:
        (count, g₀, g_u, g_v, r, c_u, c_v, c_h): number of corners, the plane of a face by (1), and
        for a disk its radius and its centre.
    """
    d = mul_t(load9(x.rotation), scale(-side, frame[3]))
    none = (0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if s.kind == BOX or s.kind == POLYTOPE:
        result = _solid(s, x, side, d, frame, tables, out)
    elif s.kind == CYLINDER and abs(d[2]) >= FACE:
        result = _cap(s, x, d, frame, out)
    elif s.kind == CYLINDER or s.kind == CAPSULE:
        result = _line(s, x, d, frame, out)
    else:
        p = load3(x.position)
        if is_smooth(s):
            p = add(p, mul(load9(x.rotation), support_on(s, d)))
        _set_corner(out[0], frame, p, 0)
        result = (1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if result[0] == 0:
        return none
    for k in range(result[0]):
        # the surface of a round shape is its radius nearer
        out[k].height -= side * s.radius
        following = out[k + 1] if k + 1 < result[0] else out[0]
        du, dv = following.u - out[k].u, following.v - out[k].v
        out[k].edge = math.sqrt(du * du + dv * dv)
    return result


@kernel
def _plane(frame, normal, p):
    """g of equation (1) for the plane through p; its normal is in the world."""
    o, t1, t2, n = frame
    along = dot(normal, n)
    return (dot(normal, sub(p, o)) / along, -dot(normal, t1) / along, -dot(normal, t2) / along)


@kernel
def _solid(s, x, side, d, frame, tables, out):
    """Polygon of a box or polytope."""
    vertex, face, loop = tables
    R, p = load9(x.rotation), load3(x.position)
    f = face[face_towards(s, face, d)]
    if dot(load3(f.normal), d) < FACE:
        return _sharp(s, x, d, frame, tables, out)
    count = f.loop_end - f.loop
    for k in range(count):
        v = loop[f.loop + k]
        # seen from b to a, the lower side of a goes round the other way
        row = out[count - 1 - k if side > 0.0 else k]
        _set_corner(row, frame, add(p, mul(R, load3(vertex[s.vertex + v]))), v)
    normal = mul(R, load3(f.normal))
    g = _plane(frame, normal, add(p, scale(f.offset, normal)))
    return (count, g[0], g[1], g[2], 0.0, 0.0, 0.0, 0.0)


@kernel
def _sharp(s, x, d, frame, tables, out):
    """The edge of a polytope that reaches farthest and lies across the normal; else the corner."""
    vertex, face, loop = tables
    R, p = load9(x.rotation), load3(x.position)
    best, highest, i, j, top = -math.inf, -math.inf, 0, 0, 0
    for k in range(s.face, s.face_end):
        before = loop[face[k].loop_end - 1]
        for e in range(face[k].loop, face[k].loop_end):
            after = loop[e]
            high = dot(d, load3(vertex[s.vertex + after]))
            low = dot(d, load3(vertex[s.vertex + before]))
            if high > highest:
                highest, top = high, after
            # each edge once: it goes up in one of its two faces
            if before < after and min(high, low) > best:
                best, i, j = min(high, low), before, after
            before = after
    a, b = load3(vertex[s.vertex + i]), load3(vertex[s.vertex + j])
    along = sub(b, a)
    rise = abs(dot(d, along))
    if highest - best <= rise * (1.0 + 1e-9) + 1e-12 and rise <= EDGE * math.sqrt(
        dot(along, along)
    ):
        _set_corner(out[0], frame, add(p, mul(R, a)), i)
        _set_corner(out[1], frame, add(p, mul(R, b)), j)
        return (2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    _set_corner(out[0], frame, add(p, mul(R, load3(vertex[s.vertex + top]))), top)
    return (1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@kernel
def farthest(s, d, upper):
    """The point of a cylinder's upper or lower rim, or of a capsule's end,
    that reaches farthest along d, in its own frame.
    """
    z = s.half[2] if upper else -s.half[2]
    r = math.sqrt(d[0] * d[0] + d[1] * d[1])
    if s.half[0] == 0.0 or r == 0.0:
        return (0.0, 0.0, z)
    return (s.half[0] * d[0] / r, s.half[0] * d[1] / r, z)


@kernel
def _line(s, x, d, frame, out):
    """The line along the side of a cylinder or capsule that lies across the normal;
    else the end that reaches farthest.
    """
    R, p = load9(x.rotation), load3(x.position)
    if abs(d[2]) > EDGE:
        name = FARTHEST_POINT + (OTHER_CAP if d[2] > 0.0 else 0)
        _set_corner(out[0], frame, add(p, mul(R, farthest(s, d, d[2] > 0.0))), name)
        return (1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    _set_corner(out[0], frame, add(p, mul(R, farthest(s, d, False))), FARTHEST_POINT)
    _set_corner(out[1], frame, add(p, mul(R, farthest(s, d, True))), FARTHEST_POINT + OTHER_CAP)
    return (2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@kernel
def has_farthest(d):
    """Whether a cap tilted like d has a point that reaches farthest and is none of the eight."""
    r = math.sqrt(d[0] * d[0] + d[1] * d[1])
    # ½ sin 4φ vanishes at the eighths of a circle only
    c, s = d[0] * d[0] - d[1] * d[1], 2.0 * d[0] * d[1]
    return r > MIN_TILT and abs(c * s) > 1e-5 * r * r * r * r


@kernel
def rim_point(s, k, upper):
    """Point k of eight on a cylinder's rim, in its own frame."""
    return (s.half[0] * COS[k], s.half[0] * SIN[k], s.half[2] if upper else -s.half[2])


@kernel
def _cap(s, x, d, frame, out):
    """The cap of a cylinder: eight points of the rim, with the farthest among them in its place."""
    R, p = load9(x.rotation), load3(x.position)
    upper = d[2] > 0.0
    base = OTHER_CAP if upper else 0
    tilted = has_farthest(d)
    # the farthest point comes after the last fixed one at a smaller angle
    angle = math.atan2(d[1], d[0])
    # on a GPU floor is a real number
    after = int(math.floor(angle / (0.25 * math.pi) + 8.0)) % 8  # noqa: RUF046
    count = 9 if tilted else 8
    at = 0
    for k in range(8):
        _set_corner(out[at], frame, add(p, mul(R, rim_point(s, k, upper))), base + k)
        at += 1
        if tilted and k == after:
            _set_corner(
                out[at], frame, add(p, mul(R, farthest(s, d, upper))), base + FARTHEST_POINT
            )
            at += 1
    centre = add(p, mul(R, (0.0, 0.0, s.half[2] if upper else -s.half[2])))
    g = _plane(frame, mul(R, (0.0, 0.0, 1.0)), centre)
    o, t1, t2, n = frame
    c = sub(centre, o)
    return (count, g[0], g[1], g[2], s.half[0], dot(t1, c), dot(t2, c), dot(n, c))
