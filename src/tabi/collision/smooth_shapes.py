"""Shapes that are curved everywhere, so that one point of them touches: ellipsoids.

A kind of such shapes has a branch in each function here; all else of the collision detection, GJK,
Newton's method for the normal (``smooth``), planes, grids and soft surfaces, asks these. With half
axes h, D = diag(h):

    support: s(d) = D²d / ‖Dd‖                                                                  (1)
    curvature of it: C = (D² − s sᵀ/r²)/r,   r = ‖Dd‖                                           (2)
    nearest to p: Σ (h p/(t + h²))² = 1,   x = h² p/(t + h²)                                    (3)
by Newton's method on the inverse root of the sum, which is nearly straight and concave, from the
left.

Reference: Eberly, distance from a point to an ellipse, an ellipsoid, or a hyperellipsoid (2013), of
(3).
"""

import math

from tabi.collision.arrays import ELLIPSOID
from tabi.collision.surfaces.mesh import unit
from tabi.jit import kernel
from tabi.spatial.vector import dot, scale, sub

# of Newton's method for (3)
STEPS = 60


@kernel(inline=True)
def is_smooth(s):
    """Whether a shape is curved everywhere."""
    return s.kind == ELLIPSOID


@kernel
def support_on(s, d):
    """Equation (1): where it reaches farthest along d, in its own frame."""
    h = s.half
    a, b, c = h[0] * d[0], h[1] * d[1], h[2] * d[2]
    r = math.sqrt(a * a + b * b + c * c)
    if r == 0.0:
        return (0.0, 0.0, h[2] if d[2] >= 0.0 else -h[2])
    return (h[0] * a / r, h[1] * b / r, h[2] * c / r)


@kernel
def curvature_on(s, d, a, b):
    """Equation (2) along d, between two axes across it: (aa, ab, bb) [m]."""
    h = s.half
    hd = (h[0] * d[0], h[1] * d[1], h[2] * d[2])
    ha = (h[0] * a[0], h[1] * a[1], h[2] * a[2])
    hb = (h[0] * b[0], h[1] * b[1], h[2] * b[2])
    r = math.sqrt(dot(hd, hd))
    u = scale(1.0 / r, hd)
    i, j = dot(u, ha), dot(u, hb)
    return (
        (dot(ha, ha) - i * i) / r,
        (dot(ha, hb) - i * j) / r,
        (dot(hb, hb) - j * j) / r,
    )


@kernel
def nearest_on(t, p):
    """Equation (3): (n, gap) of a point p, in the shape's frame."""
    h = t.half
    least = min(h[0], h[1], h[2])
    # in units of the shortest half axis; on a plane of symmetry a hair beside it
    a = (h[0] / least, h[1] / least, h[2] / least)
    y = (
        max(abs(p[0]) / least, 1e-14),
        max(abs(p[1]) / least, 1e-14),
        max(abs(p[2]) / least, 1e-14),
    )
    s = (a[0] * y[0], a[1] * y[1], a[2] * y[2])
    square = (a[0] * a[0], a[1] * a[1], a[2] * a[2])
    # z = t + the least square; there the sum is at least 1
    lift = (square[0] - 1.0, square[1] - 1.0, square[2] - 1.0)
    z = 0.0
    for k in range(3):
        z = max(z, s[k] - lift[k])
    for _ in range(STEPS):
        total, slope = 0.0, 0.0
        for k in range(3):
            w = 1.0 / (z + lift[k])
            x = s[k] * w * s[k] * w
            total += x
            slope += x * w
        step = total * (math.sqrt(total) - 1.0) / slope
        z += step
        # it converges quadratically: what is left is the square of this
        if not abs(step) > 1e-9 * z:
            break
    q = (
        math.copysign(s[0] * a[0] / (z + lift[0]), p[0]),
        math.copysign(s[1] * a[1] / (z + lift[1]), p[1]),
        math.copysign(s[2] * a[2] / (z + lift[2]), p[2]),
    )
    n = unit((q[0] / square[0], q[1] / square[1], q[2] / square[2]))
    return n, dot(n, sub(p, scale(least, q)))
