"""The last digits of the normal between a smooth shape and another one, by Newton's method.

    f(n) = n·w(n),   w(n) = s_A(−n) − s_B(n),   ∇f = w                                       (1)
    (C + f 1) δ = w − f n   across n                                                         (2)
f is the separation of two cores along n, and its largest value is their distance; C: curvature of
both shapes' support. A step that
does not separate the shapes more is not taken, so that any start is improved. Where it jumps from
one corner of the other shape to the next, n lies across the edge between them, and is sought there.

The growing hull it starts from has two ellipsoids' depth to 1e-9 of their size while that is below
a fifth of it, to 3e-5 up to half; deeper, the way out that it finds may be 1 % longer than another.
"""

import math

from tabi.collision.arrays import CYLINDER
from tabi.collision.polygon import axes
from tabi.collision.smooth_shapes import curvature_on, is_smooth
from tabi.collision.support import support
from tabi.jit import kernel
from tabi.spatial.vector import add, cross, dot, load9, mul_t, scale, sub

STEPS, HALVINGS = 20, 6
# part of the shapes' size that w may be off n at the end
EXACT = 1e-13
MAX_STEP_RAD = 0.5


@kernel
def refined(s, x, t, y, vertex, n):
    """The direction n from t to s, one of which is smooth, improved."""
    n, f, jump = _climb(s, x, t, y, vertex, n, (0.0, 0.0, 0.0))
    if dot(jump, jump) > 0.0:
        edge = scale(1.0 / math.sqrt(dot(jump, jump)), jump)
        across = sub(n, scale(dot(n, edge), edge))
        length = math.sqrt(dot(across, across))
        if length > 0.5:
            m, g, _ = _climb(s, x, t, y, vertex, scale(1.0 / length, across), edge)
            if g > f:
                n = m
    return n


@kernel
def across(s, x, t, y, vertex, n):
    """(n, gap along it, nearest point of s, of t), one of which is smooth:
    it has one point that reaches farthest, and the other's is straight across.
    """
    p, q = support(s, x, vertex, scale(-1.0, n)), support(t, y, vertex, n)
    gap = dot(n, sub(p, q)) - s.radius - t.radius
    if is_smooth(s):
        return n, gap, p, sub(p, scale(gap, n))
    q = add(q, scale(t.radius, n))
    return n, gap, add(q, scale(gap, n)), q


@kernel
def _climb(s, x, t, y, vertex, n, edge):
    """Newton's method of equation (2) from n on; across an edge, unless that is zero.

    Returns:
        n, f, and the jump of the support points of a step that led nowhere, zero where there was
        none.
    """
    exact, bound = EXACT * (s.reach + t.reach), dot(edge, edge) > 0.0
    p, q = support(s, x, vertex, scale(-1.0, n)), support(t, y, vertex, n)
    f, none = dot(n, sub(p, q)), (0.0, 0.0, 0.0)
    for _ in range(STEPS):
        t1, t2 = axes(n)
        if bound:
            t1 = cross(n, edge)
            t2 = none
        w = sub(p, q)
        g = (dot(t1, w), dot(t2, w))
        if g[0] * g[0] + g[1] * g[1] <= exact * exact:
            return n, f, none
        step = _step(_curvature(s, x, n, t1, t2), _curvature(t, y, n, t1, t2), f, g)
        better, jump = False, none
        for k in range(HALVINGS):
            share = 1.0 / (1 << k)
            m = add(n, add(scale(share * step[0], t1), scale(share * step[1], t2)))
            m = scale(1.0 / math.sqrt(dot(m, m)), m)
            u, v = support(s, x, vertex, scale(-1.0, m)), support(t, y, vertex, m)
            if dot(m, sub(u, v)) > f:
                better = True
                n, p, q = m, u, v
                break
            jump = _jump(s, x, sub(u, p)) if not is_smooth(s) else _jump(t, y, sub(v, q))
        if not better:
            return n, f, jump
        f = dot(n, sub(p, q))
    return n, f, none


@kernel
def _step(a, b, f, g):
    """Solve (2) for two curvatures (xx, xy, yy); without f where it bends the wrong way."""
    xx, xy, yy = a[0] + b[0], a[1] + b[1], a[2] + b[2]
    only = yy == 0.0  # along one axis
    u, v = xx + f, yy + f
    if not (u > 0.0 and (only or u * v - xy * xy > 0.0)):
        u, v = xx, yy
    if only:
        step = (g[0] / u, 0.0)
    else:
        det = u * v - xy * xy
        step = ((v * g[0] - xy * g[1]) / det, (u * g[1] - xy * g[0]) / det)
    length = math.sqrt(step[0] * step[0] + step[1] * step[1])
    share = MAX_STEP_RAD / length if length > MAX_STEP_RAD else 1.0
    return (share * step[0], share * step[1])


@kernel
def _curvature(s, x, n, t1, t2):
    """C of equation (2) between two axes across n: (xx, xy, yy) [m]."""
    R = load9(x.rotation)
    d, a, b = mul_t(R, n), mul_t(R, t1), mul_t(R, t2)
    if is_smooth(s):
        return curvature_on(s, d, a, b)
    if s.kind == CYLINDER:
        # its rim
        r = math.sqrt(d[0] * d[0] + d[1] * d[1])
        if r > 1e-6:
            i, j = (d[0] * a[1] - d[1] * a[0]) / r, (d[0] * b[1] - d[1] * b[0]) / r
            c = s.half[0] / r
            return (c * i * i, c * i * j, c * j * j)
    return (0.0, 0.0, 0.0)


@kernel
def _jump(s, x, e):
    """Part of a step e of a support point that is a jump along an edge or a side [m]."""
    none = (0.0, 0.0, 0.0)
    if s.kind == CYLINDER:
        R = x.rotation
        z = (R[2], R[5], R[8])
        return z if abs(dot(z, e)) > s.half[2] else none
    return none if is_smooth(s) else e
