"""Distance of two convex shapes that are apart: Gilbert, Johnson and Keerthi's algorithm.

    v = argmin ‖x‖ over x ∈ A − B,   w(v) = s_A(−v) − s_B(v),   ‖v‖ ≥ distance ≥ v·w/‖v‖     (1)
A simplex of points w walks towards the origin; the two bounds of (1) meet where it is nearest.
Reference: Gilbert, Johnson, Keerthi, IEEE J. Robotics and Automation 4 (1988).
"""

import math

from tabi.collision.simplex import segment, tetrahedron, triangle
from tabi.collision.smooth_shapes import is_smooth
from tabi.collision.support import support
from tabi.jit import kernel
from tabi.spatial.vector import add, dot, load3, scale, store3, sub

FAR, APART, TOUCHING = 0, 1, 2
MAX_STEPS = 64
# relative difference of the two bounds, on the square of the distance; with an ellipsoid, where all
# steps are small ones, Newton's method goes on from here (``smooth``)
RELATIVE_TOLERANCE, SMOOTH_RELATIVE_TOLERANCE = 1e-13, 1e-8


@kernel
def distance(s, x, t, y, vertex, limit, simplex, weight):
    """Distance of the cores of s and t, at poses x and y.

    Returns:
        FAR where they are farther apart than ``limit``, TOUCHING where they meet or nearly so,
        else APART; the vector v from t to s; the nearest points of s and of t. Where they are FAR
        the first of these is along v, as long as they are apart at least by (1).
    """
    v = sub(load3(x.position), load3(y.position))
    # closer than this, the direction of v is lost in rounding
    touching = 1e-5 * (s.reach + t.reach)
    if dot(v, v) < touching * touching:
        v = (0.0, 0.0, touching)
    exact = SMOOTH_RELATIVE_TOLERANCE if is_smooth(s) or is_smooth(t) else RELATIVE_TOLERANCE
    count, nearest, a, b = 0, math.inf, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for _ in range(MAX_STEPS):
        p, q = support(s, x, vertex, scale(-1.0, v)), support(t, y, vertex, v)
        w = sub(p, q)
        vv, vw = dot(v, v), dot(v, w)
        if vw > 0.0 and vw * vw > limit * limit * vv:
            return FAR, v, scale(vw / vv, v), b
        if count > 0 and (vv - vw <= exact * vv or _holds(simplex, count, w)):
            return APART, v, a, b
        row = simplex[count]
        store3(row, w)
        store3(row[3:], p)
        store3(row[6:], q)
        count = _reduce(simplex, weight, count + 1)
        u, p, q = _blend(simplex, weight, count)
        uu = dot(u, u)
        if count == 4 and vw > 0.0 and vw * vw > touching * touching * vv:
            # (1) has them apart: a simplex without volume holds the origin by rounding only
            return APART, v, a, b
        if count == 4 or uu <= touching * touching:
            return TOUCHING, v, p, q
        if not uu < nearest:
            # rounding has stopped it
            return APART, v, a, b
        nearest, v, a, b = uu, u, p, q
    return APART, v, a, b


@kernel
def _holds(simplex, count, w):
    for k in range(count):  # kernels have no generators
        if simplex[k, 0] == w[0] and simplex[k, 1] == w[1] and simplex[k, 2] == w[2]:
            return True
    return False


@kernel
def _reduce(simplex, weight, count):
    """Keep only the points of the part nearest to the origin, with their shares."""
    a = load3(simplex[0])
    if count == 1:
        weight[0] = 1.0
        return 1
    b = load3(simplex[1])
    shares = (0.0, 0.0, 0.0, 0.0)
    if count == 2:
        l = segment(a, b)
        shares = (l[0], l[1], 0.0, 0.0)
    elif count == 3:
        m = triangle(a, b, load3(simplex[2]))
        shares = (m[0], m[1], m[2], 0.0)
    else:
        shares = tetrahedron(a, b, load3(simplex[2]), load3(simplex[3]))
    weight[0], weight[1], weight[2], weight[3] = shares
    kept_count = 0
    for k in range(count):
        if weight[k] > 0.0:
            if kept_count < k:
                weight[kept_count] = weight[k]
                for e in range(9):
                    simplex[kept_count, e] = simplex[k, e]
            kept_count += 1
    return kept_count


@kernel
def _blend(simplex, weight, count):
    """The point of the simplex and those of both shapes."""
    v, a, b = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(count):
        row = simplex[k]
        v = add(v, scale(weight[k], load3(row)))
        a = add(a, scale(weight[k], load3(row[3:])))
        b = add(b, scale(weight[k], load3(row[6:])))
    return v, a, b
