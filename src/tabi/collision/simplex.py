"""The point of a simplex nearest to the origin, and the part of the simplex it lies in.

    v = Σ λ_i w_i,   λ ≥ 0,   Σ λ_i = 1,   ‖v‖ least                                         (1)
for one to four points w. Reference: Ericson, Real-Time Collision Detection (2005), §5.1.
"""

import math

from tabi.jit import kernel
from tabi.spatial.vector import add, cross, dot, scale, sub


@kernel(exact=True)
def segment(a, b):
    """Shares of a and b."""
    d = sub(b, a)
    length = dot(d, d)
    t = -dot(a, d)
    if t <= 0.0 or length == 0.0:
        return (1.0, 0.0)
    if t >= length:
        return (0.0, 1.0)
    t /= length
    return (1.0 - t, t)


@kernel(exact=True)
def triangle(a, b, c):
    """Shares of a, b and c."""
    ab, ac = sub(b, a), sub(c, a)
    d1, d2 = -dot(ab, a), -dot(ac, a)
    if d1 <= 0.0 and d2 <= 0.0:
        return (1.0, 0.0, 0.0)
    d3, d4 = -dot(ab, b), -dot(ac, b)
    if d3 >= 0.0 and d4 <= d3:
        return (0.0, 1.0, 0.0)
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0 and d1 > d3:
        t = d1 / (d1 - d3)
        return (1.0 - t, t, 0.0)
    d5, d6 = -dot(ab, c), -dot(ac, c)
    if d6 >= 0.0 and d5 <= d6:
        return (0.0, 0.0, 1.0)
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0 and d2 > d6:
        t = d2 / (d2 - d6)
        return (1.0 - t, 0.0, t)
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 >= d3 and d5 >= d6 and (d4 - d3) + (d5 - d6) > 0.0:
        t = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return (0.0, 1.0 - t, t)
    total = va + vb + vc
    if total <= 0.0:
        # a triangle without area
        x, y = segment(a, b)
        return (x, y, 0.0)
    return (va / total, vb / total, vc / total)


@kernel(exact=True)
def _outside(a, b, c, d):
    """Whether the origin is on the other side of the plane of a, b, c than d, or too close to it
    for rounding errors.
    """
    n = cross(sub(b, a), sub(c, a))
    return -dot(n, a) * dot(n, sub(d, a)) <= 0.0


@kernel(exact=True)
def tetrahedron(a, b, c, d):
    """Shares of a, b, c, d; all positive where the origin is inside."""
    best, shares = math.inf, (0.25, 0.25, 0.25, 0.25)
    if _outside(a, b, c, d):
        x, y, z = triangle(a, b, c)
        v = add(scale(x, a), add(scale(y, b), scale(z, c)))
        best, shares = dot(v, v), (x, y, z, 0.0)
    if _outside(a, b, d, c):
        x, y, z = triangle(a, b, d)
        v = add(scale(x, a), add(scale(y, b), scale(z, d)))
        if dot(v, v) < best:
            best, shares = dot(v, v), (x, y, 0.0, z)
    if _outside(a, c, d, b):
        x, y, z = triangle(a, c, d)
        v = add(scale(x, a), add(scale(y, c), scale(z, d)))
        if dot(v, v) < best:
            best, shares = dot(v, v), (x, 0.0, y, z)
    if _outside(b, c, d, a):
        x, y, z = triangle(b, c, d)
        v = add(scale(x, b), add(scale(y, c), scale(z, d)))
        if dot(v, v) < best:
            best, shares = dot(v, v), (0.0, x, y, z)
    return shares
