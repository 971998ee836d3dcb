"""Depth of two convex shapes that touch or overlap: a polytope grows inside their difference.

    depth = least offset o of the planes m·x = o that bound D = A − B,   n = −m              (1)
The polytope's face of least offset is pushed out to the support point of D in its direction, until
it is a face of D itself. Nothing asks for the origin to be inside: for shapes a hair apart the
offset is negative, and the direction comes from the face, never from the difference of two nearly
equal points.
Reference: van den Bergen, Collision Detection in Interactive 3D Environments (2003), §4.3.8.
"""

import math

from tabi.collision.simplex import triangle
from tabi.collision.support import support
from tabi.jit import kernel
from tabi.spatial.vector import add, cross, dot, load3, scale, store3, sub

# faces of the first tetrahedron, seen from outside when point 3 is behind the first
START = ((0, 1, 2), (1, 0, 3), (2, 1, 3), (0, 2, 3))
# a face this part of the shapes' size below the support point is a face of the difference
EXACT = 1e-9


@kernel
def depth(s, x, t, y, vertex, guess, work):
    """The way out of an overlap, or across a tiny gap.

    Args:
        guess: a direction from t to s.
        work: (hull, hull_face, hull_plane, hull_edge) of the workspace.

    Returns:
        Whether it was found; n, from t to s; the separation along it [m], negative in overlap;
        the nearest points of s and t.
    """
    hull, face, plane, edge = work
    size = s.reach + t.reach
    zero = (0.0, 0.0, 0.0)
    if not _start(s, x, t, y, vertex, guess, work):
        return False, guess, 0.0, zero, zero
    points, faces, best = int(4.0), int(4.0), int(0.0)
    while True:
        best = 0
        for k in range(1, faces):
            if plane[k, 3] < plane[best, 3]:
                best = k
        m = load3(plane[best])
        if points == hull.shape[0] or not plane[best, 3] < math.inf:
            break
        _add_support(s, x, t, y, vertex, m, hull[points])
        if dot(m, load3(hull[points])) - plane[best, 3] <= EXACT * size:
            break
        kept_count, edges = _open(hull, face, plane, edge, faces, load3(hull[points]), 1e-13 * size)
        if edges < 3 or kept_count + edges > face.shape[0]:
            break
        faces = kept_count
        for k in range(edges):
            _set_face(hull, face, plane, faces, edge[k, 0], edge[k, 1], points)
            faces += 1
        points += 1
    a, b = _witness(hull, face, plane, faces, plane[best, 3] + EXACT * size)
    return plane[best, 3] < math.inf, scale(-1.0, load3(plane[best])), -plane[best, 3], a, b


@kernel
def _witness(hull, face, plane, faces, limit):
    """Points of both shapes under the foot of the origin,
    on that face of the least offset which holds it.
    """
    nearest, a, b = math.inf, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(faces):
        if not plane[k, 3] <= limit:
            continue
        foot = scale(plane[k, 3], load3(plane[k]))
        p, q, r = hull[face[k, 0]], hull[face[k, 1]], hull[face[k, 2]]
        P, Q, S = sub(load3(p), foot), sub(load3(q), foot), sub(load3(r), foot)
        share = triangle(P, Q, S)
        off = add(scale(share[0], P), add(scale(share[1], Q), scale(share[2], S)))
        if dot(off, off) < nearest:
            nearest = dot(off, off)
            a = add(
                scale(share[0], load3(p[3:])),
                add(scale(share[1], load3(q[3:])), scale(share[2], load3(r[3:]))),
            )
            b = add(
                scale(share[0], load3(p[6:])),
                add(scale(share[1], load3(q[6:])), scale(share[2], load3(r[6:]))),
            )
    return a, b


@kernel
def _add_support(s, x, t, y, vertex, d, row):
    """The point of the difference farthest along d, with its points of both shapes."""
    a, b = support(s, x, vertex, d), support(t, y, vertex, scale(-1.0, d))
    store3(row, sub(a, b))
    store3(row[3:], a)
    store3(row[6:], b)


@kernel
def _start(s, x, t, y, vertex, guess, work):
    """A first tetrahedron of support points; False where the difference is flat."""
    hull, face, plane, _ = work
    flat = 1e-9 * (s.reach + t.reach)
    _add_support(s, x, t, y, vertex, scale(-1.0, guess), hull[0])
    _add_support(s, x, t, y, vertex, guess, hull[1])
    d = sub(load3(hull[1]), load3(hull[0]))
    # across the first line, then across the first triangle; the other side where one is flat
    across = cross(
        d,
        (1.0, 0.0, 0.0)
        if abs(d[0]) <= abs(d[1]) and abs(d[0]) <= abs(d[2])
        else (0.0, 1.0, 0.0)
        if abs(d[1]) <= abs(d[2])
        else (0.0, 0.0, 1.0),
    )
    n = across
    for k in range(2, 4):
        if not _push_out(s, x, t, y, vertex, n, hull, k, flat):
            return False
        if k == 2:
            n = cross(d, sub(load3(hull[2]), load3(hull[0])))
    inwards = dot(n, sub(load3(hull[3]), load3(hull[0]))) > 0.0
    for k in range(4):
        a, b, c = START[k]
        if inwards:
            a, b = b, a
        _set_face(hull, face, plane, k, a, b, c)
    return True


@kernel
def _push_out(s, x, t, y, vertex, d, hull, k, flat):
    """Point k of the hull along d or against it, whichever leaves the points before
    it farther behind.
    """
    length = math.sqrt(dot(d, d))
    if not length > 0.0:
        return False
    d = scale(1.0 / length, d)
    base = dot(d, load3(hull[0]))
    _add_support(s, x, t, y, vertex, scale(-1.0, d), hull[k])
    back = base - dot(d, load3(hull[k]))
    _add_support(s, x, t, y, vertex, d, hull[k])
    ahead = dot(d, load3(hull[k])) - base
    if back > ahead:
        _add_support(s, x, t, y, vertex, scale(-1.0, d), hull[k])
    return max(back, ahead) > flat


@kernel
def _set_face(hull, face, plane, k, a, b, c):
    face[k, 0], face[k, 1], face[k, 2] = a, b, c
    p = load3(hull[a])
    n = cross(sub(load3(hull[b]), p), sub(load3(hull[c]), p))
    length = math.sqrt(dot(n, n))
    if length > 0.0:
        n = scale(1.0 / length, n)
        store3(plane[k], n)
        plane[k, 3] = dot(n, p)
    else:
        # without area it bounds nothing
        store3(plane[k], n)
        plane[k, 3] = math.inf


@kernel
def _open(hull, face, plane, edge, faces, w, above):
    """Remove the faces that see w; returns how many are left and how many edges of
    the hole they leave.
    """
    edges, kept_count = int(0.0), int(0.0)
    for k in range(faces):
        if dot(load3(plane[k]), w) - plane[k, 3] > above:
            for e in range(3):
                edges = _toggle(edge, edges, face[k, e], face[k, (e + 1) % 3])
        else:
            if kept_count < k:
                for e in range(3):
                    face[kept_count, e] = face[k, e]
                for e in range(4):
                    plane[kept_count, e] = plane[k, e]
            kept_count += 1
    return kept_count, edges


@kernel
def _toggle(edge, edges, a, b):
    """Add an edge, or take it away where its reverse is there: then it is inside the hole."""
    for k in range(edges):
        if edge[k, 0] == b and edge[k, 1] == a:
            edge[k, 0], edge[k, 1] = edge[edges - 1, 0], edge[edges - 1, 1]
            return edges - 1
    if edges < edge.shape[0]:
        edge[edges, 0], edge[edges, 1] = a, b
        return edges + 1
    return edges
