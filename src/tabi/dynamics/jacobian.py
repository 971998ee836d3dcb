"""Jacobian of a point of a body.

With r the point from the tree's origin, a column S = (s, s_o) of a joint that carries the
body contributes

    angular: s,   linear: s_o + s × r                                                          (1)
to (ω, ẋ) = J v. Their rates at zero joint acceleration are

    (α, ẍ) = (α_b, a_b + α_b × r + ω × ẋ)  = J̇ v,   (α_b, a_b) = Σ c along the branch            (2)
"""

from tabi.jit import kernel
from tabi.spatial.vector import add, add6, angular, cross, linear, load6


@kernel
def columns(m, w, body, r, J):
    """J of (1), shape (6, v), angular rows first; needs ``kinematics.positions``."""
    halves(m, w, body, r, 0, J[3:], J[:3])


@kernel
def halves(m, w, body, r, start, moves, turns):
    """Linear and angular rows of (1), each of shape (3, ·), columns from ``start`` on."""
    moves[:, :] = 0.0
    turns[:, :] = 0.0
    i = body
    while i != 0:
        for k in range(m.body[i].v_start, m.body[i].v_end):
            S, at = load6(w.dof[k].motion), k - start
            speed = add(linear(S), cross(angular(S), r))
            turns[0, at], turns[1, at], turns[2, at] = S[0], S[1], S[2]
            moves[0, at], moves[1, at], moves[2, at] = speed[0], speed[1], speed[2]
        i = m.body[i].parent


@kernel
def bias(m, w, body, r):
    """J̇ v of (2), angular and linear part; needs ``kinematics.velocities``."""
    c = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    i = body
    while i != 0:
        c = add6(c, load6(w.body[i].product))
        i = m.body[i].parent
    return angular(c), point_acceleration(load6(w.body[body].velocity), c, r)


@kernel
def point_velocity(V, r):
    """Velocity of the point r of a body with twist V."""
    return add(linear(V), cross(angular(V), r))


@kernel
def point_acceleration(V, A, r):
    """Acceleration of the point r of a body with twist V and spatial acceleration A."""
    return add(add(linear(A), cross(angular(A), r)), cross(angular(V), point_velocity(V, r)))
