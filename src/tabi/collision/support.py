"""Support points: where a convex shape reaches farthest in a direction.

    s(d) = argmax d·x over the core of a shape                                               (1)
Round shapes answer for their core only; the radius around it is added to distances afterwards.
"""

import math

from tabi.collision.arrays import BOX, CYLINDER, POLYTOPE
from tabi.collision.smooth_shapes import is_smooth, support_on
from tabi.jit import kernel
from tabi.spatial.vector import add, dot, load3, load9, mul, mul_t, scale, sub


@kernel
def local_support(s, vertex, d):
    """Equation (1) in the shape's own frame."""
    h = s.half
    if s.kind == POLYTOPE:
        best, at = -math.inf, s.vertex
        for k in range(s.vertex, s.vertex_end):
            x = vertex[k, 0] * d[0] + vertex[k, 1] * d[1] + vertex[k, 2] * d[2]
            if x > best:
                best, at = x, k
        return (vertex[at, 0], vertex[at, 1], vertex[at, 2])
    if is_smooth(s):
        return support_on(s, d)
    z = h[2] if d[2] >= 0.0 else -h[2]
    if s.kind == CYLINDER:
        r = math.sqrt(d[0] * d[0] + d[1] * d[1])
        # straight along the axis every point of the cap is as good: its middle
        if r <= 1e-12 * abs(d[2]) or r == 0.0:
            return (0.0, 0.0, z)
        return (h[0] * d[0] / r, h[0] * d[1] / r, z)
    return (h[0] if d[0] >= 0.0 else -h[0], h[1] if d[1] >= 0.0 else -h[1], z)


@kernel
def support(s, x, vertex, d):
    """Equation (1) in the world; s: the shape's row, x: its pose."""
    R = load9(x.rotation)
    return add(load3(x.position), mul(R, local_support(s, vertex, mul_t(R, d))))


@kernel
def separation(s, x, t, y, vertex, n):
    """Distance of the surfaces of s and t along the unit vector n, which points from t to s [m];
    the distance of the shapes is its maximum over n.
    """
    back = scale(-1.0, n)
    return dot(n, sub(support(s, x, vertex, back), support(t, y, vertex, n))) - s.radius - t.radius


@kernel
def face_towards(s, face, d):
    """The face of a box or polytope that looks most in a direction of its own frame;
    of nearly equal ones the largest.
    """
    if s.kind == BOX:
        x, y, z = abs(d[0]), abs(d[1]), abs(d[2])
        if z >= x and z >= y:
            return s.face + (5 if d[2] >= 0.0 else 4)
        if y >= x:
            return s.face + (3 if d[1] >= 0.0 else 2)
        return s.face + (1 if d[0] >= 0.0 else 0)
    best = -math.inf
    for k in range(s.face, s.face_end):
        c = dot(load3(face[k].normal), d)
        if c > best:
            best = c
    at, largest = s.face, 0.0
    for k in range(s.face, s.face_end):
        # within a degree of the best
        if face[k].area > largest and dot(load3(face[k].normal), d) >= best - 1.5e-4:
            at, largest = k, face[k].area
    return at
