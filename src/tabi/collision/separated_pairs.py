"""Pairs of shapes that are known to be separated: a distance computed once, less the motion since.

    distance ≥ distance₀ − ‖p − p₀‖ − r ‖R − R₀‖                                              (1)
p, R: pose of shape a in the frame of b, r: its reach; 0: at the time of the stored distance. While
(1) exceeds the band of a pair, its shapes are not compared. Each pair has a row in a table, which
another pair may take over. (1) holds for any motion, also for a state that was set from outside.
"""

from math import sqrt

from tabi.jit import kernel
from tabi.spatial.vector import dot, load3, load9, matmul, mul_t, store3, store9, sub


@kernel(inline=True)
def _row(cw, i, k):
    return cw.apart[(i * 31 + k) % cw.apart.shape[0]]


@kernel(inline=True)
def _place(cw, i, k):
    """R, p of shape i in the frame of shape k."""
    x, y = cw.pose[i], cw.pose[k]
    Q = load9(y.rotation)
    inverse = (Q[0], Q[3], Q[6], Q[1], Q[4], Q[7], Q[2], Q[5], Q[8])
    p = mul_t(Q, sub(load3(x.position), load3(y.position)))
    return matmul(inverse, load9(x.rotation)), p


@kernel
def is_separated(c, cw, i, k, band):
    """Whether shapes i and k are farther apart than the band by equation (1)."""
    row = _row(cw, i, k)
    if row.a != i or row.b != k or row.distance <= band:
        return False
    R, p = _place(cw, i, k)
    d = sub(p, load3(row.position))
    rotation_change = 0.0
    for e in range(9):
        rotation_change += (R[e] - row.rotation[e]) ** 2
    return row.distance - sqrt(dot(d, d)) - c.shape[i].reach * sqrt(rotation_change) > band


@kernel
def store_distance(c, cw, i, k, distance):
    """Store a lower bound of the distance between shapes i and k [m]."""
    row = _row(cw, i, k)
    R, p = _place(cw, i, k)
    row.a, row.b, row.distance = i, k, distance
    store9(row.rotation, R)
    store3(row.position, p)
