"""The velocity that leads from one configuration to another: the inverse of ``integration``.

    q₂ = q₁ ⊕ δ,   quaternions: δ = 2 log(Q₂ Q₁*)                                               (1)
δ has as many numbers as v, in the same axes: angles and distances are differences.
"""

from math import atan2, sqrt

from tabi.jit import kernel
from tabi.model.arrays import FLOATING, SPHERICAL


@kernel
def between(m, q1, q2, out):
    """δ of (1), shape (v,)."""
    for i in range(1, m.body.shape[0]):
        body = m.body[i]
        iq, k, kind = body.q_start, body.v_start, body.kind
        turns = kind in (FLOATING, SPHERICAL)
        straight = body.v_end - k - (3 if turns else 0)
        for j in range(straight):
            out[k + j] = q2[iq + j] - q1[iq + j]
        if turns:
            _turn(q1[iq + straight :], q2[iq + straight :], out[k + straight :])


@kernel(inline=True)
def _turn(a, b, out):
    """Rotation vector of b a*, the shorter way round."""
    w = b[0] * a[0] + b[1] * a[1] + b[2] * a[2] + b[3] * a[3]
    x = -b[0] * a[1] + b[1] * a[0] - b[2] * a[3] + b[3] * a[2]
    y = -b[0] * a[2] + b[2] * a[0] - b[3] * a[1] + b[1] * a[3]
    z = -b[0] * a[3] + b[3] * a[0] - b[1] * a[2] + b[2] * a[1]
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    length = sqrt(x * x + y * y + z * z)
    # sin(angle/2) for small angles is half the angle
    scale = 2.0 * atan2(length, w) / length if length > 1e-300 else 2.0
    out[0], out[1], out[2] = scale * x, scale * y, scale * z
