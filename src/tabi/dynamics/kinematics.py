"""Forward kinematics: pose and velocity of every body, and the motions its joint allows.

    R_i = R_p P_i R(q_i),   p_i = p_p + R_p o_i + d(q_i)                                      (1)
    V_i = V_p + S_i v_i,    V = (ω, velocity of the body's point at the tree's origin)         (2)
    c_i = Ṡ_i v_i = V_p × (S_i v_i) + (0, ḋ × ω_rel)                                           (3)
P, o: joint frame in the parent; d: displacement of the joint, ḋ its rate in the parent; S:
motion columns, (a, p × a) for a rotation about the axis a through p, (0, a) for a translation
along a. All in the world's axes, about the tree's origin. The last term of (3) is there for
joints that both shift and turn: it makes the accelerations of a floating base the plain
derivatives of its velocities.

Reference: Featherstone, Rigid Body Dynamics Algorithms (2008), ch. 4 and 5.
"""

from tabi.jit import kernel
from tabi.model.arrays import FLOATING, PLANAR, PRISMATIC, REVOLUTE, WELDED
from tabi.spatial import quaternion
from tabi.spatial.trigonometry import sincos
from tabi.spatial.vector import (
    add,
    add6,
    angular,
    axpy6,
    cross,
    linear,
    load3,
    load6,
    load9,
    matmul,
    mul,
    pair,
    scale,
    store3,
    store6,
    store9,
    sym_rotate,
)


@kernel
def place_world(w):
    """Row 0, the world, which never moves; its columns that kernels read of a parent."""
    row, zero6 = w.body[0], (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    store9(row.rotation, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
    store3(row.position, (0.0, 0.0, 0.0))
    store3(row.origin, (0.0, 0.0, 0.0))
    store6(row.velocity, zero6)
    store6(row.product, zero6)
    store6(row.delta, zero6)
    row.acted_on = 0


@kernel
def positions(m, q, w):
    """Equation (1), the motion columns S, and each body's mass in the world's axes."""
    zero = (0.0, 0.0, 0.0)
    for i in range(1, m.body.shape[0]):
        body, out = m.body[i], w.body[i]
        kind, iq, k = body.kind, body.q_start, body.v_start
        R_P, P = load9(w.body[body.parent].rotation), load9(body.rotation)
        # axes of the joint frame; z is the joint's axis
        x = mul(R_P, (P[0], P[3], P[6]))
        y = mul(R_P, (P[1], P[4], P[7]))
        z = mul(R_P, (P[2], P[5], P[8]))
        p = add(load3(w.body[body.parent].position), mul(R_P, load3(body.offset)))
        # shift by q; a root's own origin is the origin of its tree
        if kind == PRISMATIC:
            p = add(p, scale(q[iq], z))
        elif kind in (PLANAR, FLOATING):
            p = add(p, add(scale(q[iq], x), scale(q[iq + 1], y)))
            if kind == FLOATING:
                p = add(p, scale(q[iq + 2], z))
        if body.parent == 0:
            store3(out.origin, p)
            p = zero
        store3(out.position, p)
        # motion columns, then turn by q
        if kind == REVOLUTE:
            store6(w.dof[k].motion, pair(z, cross(p, z)))
            x, y = _rotated_axes(x, y, q[iq])
        elif kind == PRISMATIC:
            store6(w.dof[k].motion, pair(zero, z))
        elif kind == PLANAR:
            store6(w.dof[k].motion, pair(zero, x))
            store6(w.dof[k + 1].motion, pair(zero, y))
            store6(w.dof[k + 2].motion, pair(z, cross(p, z)))
            x, y = _rotated_axes(x, y, q[iq + 2])
        elif kind != WELDED:
            if kind == FLOATING:
                store6(w.dof[k].motion, pair(zero, x))
                store6(w.dof[k + 1].motion, pair(zero, y))
                store6(w.dof[k + 2].motion, pair(zero, z))
                iq, k = iq + 3, k + 3
            store6(w.dof[k].motion, pair(x, cross(p, x)))
            store6(w.dof[k + 1].motion, pair(y, cross(p, y)))
            store6(w.dof[k + 2].motion, pair(z, cross(p, z)))
            Q = quaternion.matrix(q[iq], q[iq + 1], q[iq + 2], q[iq + 3])
            R = matmul((x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]), Q)
            x, y, z = (R[0], R[3], R[6]), (R[1], R[4], R[7]), (R[2], R[5], R[8])
        store9(out.rotation, (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]))
    # a loop of its own: no body waits for its parent here
    for i in range(1, m.body.shape[0]):
        body, out = m.body[i], w.body[i]
        R = load9(out.rotation)
        store3(out.centre, add(load3(out.position), mul(R, load3(body.centre))))
        store6(out.tensor, sym_rotate(R, load6(body.inertia)))


@kernel
def _rotated_axes(x, y, angle):
    """Axes x, y after a turn about x × y."""
    s, c = sincos(angle)
    return add(scale(c, x), scale(s, y)), add(scale(c, y), scale(-s, x))


@kernel
def velocities(m, v, w):
    """Equations (2) and (3)."""
    for i in range(1, m.body.shape[0]):
        body = m.body[i]
        V_P = load6(w.body[body.parent].velocity)
        V = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for j in range(body.v_start, body.v_end):
            V = axpy6(v[j], load6(w.dof[j].motion), V)
        store6(w.body[i].product, velocity_product(body, w, v, V_P, V))
        store6(w.body[i].velocity, add6(V_P, V))


@kernel(inline=True)
def velocity_product(body, w, v, V_P, V):
    """Equation (3), from the parent's twist and the joint's own, S v."""
    product = add(cross(angular(V_P), linear(V)), cross(linear(V_P), angular(V)))
    if body.kind == FLOATING or body.kind == PLANAR:
        rate = _shift_rate(w, v, body.v_start, 3 if body.kind == FLOATING else 2)
        product = add(product, cross(rate, angular(V)))
    return pair(cross(angular(V_P), angular(V)), product)


@kernel
def twists(m, v, w):
    """Compute the velocities of all bodies by equation (2) alone."""
    for i in range(1, m.body.shape[0]):
        body = m.body[i]
        V = load6(w.body[body.parent].velocity)
        for j in range(body.v_start, body.v_end):
            V = axpy6(v[j], load6(w.dof[j].motion), V)
        store6(w.body[i].velocity, V)


@kernel
def _shift_rate(w, v, k, count):
    """ḋ, from the columns of the translations, which come first."""
    rate = (0.0, 0.0, 0.0)
    for j in range(k, k + count):
        rate = add(rate, scale(v[j], linear(load6(w.dof[j].motion))))
    return rate
