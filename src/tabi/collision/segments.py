"""Spheres and capsules among themselves: nearest points of two segments, in closed form.

    min ‖(p + α d) − (q + β e)‖ over −1 ≤ α, β ≤ 1                                           (1)
with p, q the middles and d, e the half axes; a sphere has none.
Reference: Ericson, Real-Time Collision Detection (2005), §5.1.9.
"""

import math

from tabi.jit import kernel
from tabi.spatial.vector import add, cross, dot, load3, scale, sub


@kernel(inline=True)
def _clamped(x):
    return -1.0 if x < -1.0 else 1.0 if x > 1.0 else x


@kernel
def parameters(w, d, e):
    """α and β of (1), with w = p − q."""
    dd, ee, de = dot(d, d), dot(e, e), dot(d, e)
    dw, ew = dot(d, w), dot(e, w)
    if dd == 0.0 and ee == 0.0:
        return 0.0, 0.0
    if dd == 0.0:
        return 0.0, _clamped(ew / ee)
    if ee == 0.0:
        return _clamped(-dw / dd), 0.0
    denominator = dd * ee - de * de
    # parallel ones: the middle of the stretch they share, below
    alpha = (
        _clamped((de * ew - dw * ee) / denominator)
        if denominator > 1e-12 * dd * ee
        else _clamped(-dw / dd)
    )
    beta = _clamped((de * alpha + ew) / ee)
    alpha = _clamped((de * beta - dw) / dd)
    return alpha, beta


@kernel
def nearest(s, x, t, y):
    """(n from t to s, gap, nearest point of the surface of s, of t)."""
    R, Q = x.rotation, y.rotation
    d = scale(s.half[2], (R[2], R[5], R[8]))
    e = scale(t.half[2], (Q[2], Q[5], Q[8]))
    alpha, beta = parameters(sub(load3(x.position), load3(y.position)), d, e)
    a, b = add(load3(x.position), scale(alpha, d)), add(load3(y.position), scale(beta, e))
    v = sub(a, b)
    length = math.sqrt(dot(v, v))
    if length > 1e-12 * (s.reach + t.reach):
        n = scale(1.0 / length, v)
    else:
        # the cores cross: out across both
        v = cross(d, e)
        length, size = 0.0, math.sqrt(dot(v, v))
        n = scale(1.0 / size, v) if size > 0.0 else _across(d if dot(d, d) > 0.0 else e)
    return n, length - s.radius - t.radius, sub(a, scale(s.radius, n)), add(b, scale(t.radius, n))


@kernel
def _across(d):
    """A unit vector across d; upwards where d is zero."""
    v = sub((0.0, 0.0, 1.0), scale(d[2] / dot(d, d), d)) if dot(d, d) > 0.0 else (0.0, 0.0, 1.0)
    size = math.sqrt(dot(v, v))
    return scale(1.0 / size, v) if size > 1e-6 else (1.0, 0.0, 0.0)
