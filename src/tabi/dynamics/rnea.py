"""Inverse dynamics: the joint forces that produce given accelerations (recursive Newton–Euler).

    A_i = A_p + c_i + S_i a_i,   A_world = (0, −g)                                            (1)
    f_i = I_i A_i + V_i ×* I_i V_i                                                            (2)
    F_i = f_i + Σ_children F_j,   τ_i = S_iᵀ F_i + d_i a_i                                    (3)
d: armature, rotor inertia × gear². Gravity enters as an upward acceleration of the world. (2) is
written for the centre of mass c: a force m a_c, and the moment c × m a_c + J α + ω × J ω about the
tree's origin.

Reference: Featherstone (2008), ch. 5.
"""

from tabi.dynamics import kinematics
from tabi.jit import kernel
from tabi.spatial.vector import (
    accumulate6,
    add,
    add6,
    angular,
    axpy6,
    cross,
    dot6,
    linear,
    load3,
    load6,
    pair,
    scale,
    store6,
    sym_mul,
)


@kernel
def forces(m, a, w):
    """Equations (1) and (2): what each body needs, by itself, to move with the joint
    accelerations a.
    """
    store6(w.body[0].acceleration, (0.0, 0.0, 0.0, -m.gravity[0], -m.gravity[1], -m.gravity[2]))
    for i in range(1, m.body.shape[0]):
        body, out = m.body[i], w.body[i]
        A = add6(load6(w.body[body.parent].acceleration), load6(out.product))
        for j in range(body.v_start, body.v_end):
            A = axpy6(a[j], load6(w.dof[j].motion), A)
        store6(out.acceleration, A)
        # force and moment on the body, from its centre of mass
        c, J, V = load3(out.centre), load6(out.tensor), load6(out.velocity)
        store6(out.force, newton_euler(body.mass, c, J, V, A))


@kernel(inline=True)
def newton_euler(mass, c, J, V, A):
    """Equation (2) of a body with the twist V and the acceleration A."""
    alpha, omega = angular(A), angular(V)
    v_c = add(linear(V), cross(omega, c))
    a_c = add(add(linear(A), cross(alpha, c)), cross(omega, v_c))
    f = scale(mass, a_c)
    moment = add(add(cross(c, f), sym_mul(J, alpha)), cross(omega, sym_mul(J, omega)))
    return pair(moment, f)


@kernel
def gather(m, a, w, tau):
    """Equation (3), from the leaves to the roots."""
    for i in range(m.body.shape[0] - 1, 0, -1):
        body = m.body[i]
        F = load6(w.body[i].force)
        for j in range(body.v_start, body.v_end):
            tau[j] = dot6(load6(w.dof[j].motion), F) + m.dof[j].armature * a[j]
        if body.parent != 0:
            accumulate6(w.body[body.parent].force, F)


@kernel
def inverse_dynamics(m, q, v, a, w, tau):
    """τ [N·m or N] that gives the accelerations a in the state q, v;
    damping and springs are not in it.
    """
    kinematics.positions(m, q, w)
    kinematics.velocities(m, v, w)
    forces(m, a, w)
    gather(m, a, w, tau)
