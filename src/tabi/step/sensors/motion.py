"""Motion of sensed bodies within a step, and forces between them.

With a = (v⁺ − v)/h of the solved step, everything at the configuration it began with,

    A_i = A_p + c_i + S_i a_i,   A_world = (0, −g)                                              (1)
    F_i = I_i A_i + V_i ×* I_i V_i − E_i + Σ_children F_j                                       (2)
A: spatial acceleration less gravity; F_i: wrench of the parent on body i across its joint; E_i:
contacts, bonds and pushes on it. An impact within a step is there with its impulse over h.

A tree in flight keeps its momentum exactly (``free``): the correction of its velocity is known
after (2), and shifts all accelerations of the tree by those of a rigid body,

    ΔA = S_base Δv/h,   ΔF_i = I_i^composite ΔA                                                 (3)

References: Featherstone (2008), ch. 5; Chardonnet (2012), sec. 5.1.
"""

from tabi.dynamics.kinematics import velocity_product
from tabi.dynamics.rnea import newton_euler
from tabi.jit import kernel
from tabi.model.arrays import FLOATING
from tabi.spatial.vector import (
    accumulate6,
    add,
    add6,
    angular,
    axpy6,
    cross,
    dot,
    linear,
    load3,
    load6,
    load9,
    mul,
    pair,
    scale,
    store3,
    store6,
    store9,
    sub,
    sym_mul,
)
from tabi.step.tables import BONDS, MOMENTS


@kernel(apart="none", rare=True)
def move(t, d, s, h, v, v_end):
    """Compute (1) and (2) from velocities before and after the step; the workspace holds the
    kinematics of its beginning.
    """
    m, w, sensed = t.model, s.dynamics, t.sensors.body
    up = (0.0, 0.0, 0.0, -m.gravity[0], -m.gravity[1], -m.gravity[2])
    for j in range(sensed.shape[0]):
        row, out, b = sensed[j], s.motion[j], sensed[j].body
        body, above = m.body[b], row.parent
        V_P = load6(s.motion[above].velocity) if above >= 0 else (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        A = load6(s.motion[above].acceleration) if above >= 0 else up
        V = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for k in range(body.v_start, body.v_end):
            S = load6(w.dof[k].motion)
            V, A = axpy6(v[k], S, V), axpy6((v_end[k] - v[k]) / h, S, A)
        A = add6(A, velocity_product(body, w, v, V_P, V))
        V = add6(V_P, V)
        store9(out.rotation, load9(w.body[b].rotation))
        store3(out.position, load3(w.body[b].position))
        store6(out.velocity, V)
        store6(out.acceleration, A)
        if row.weighed != 0:
            _store_inertia_force(m, w, b, out, V, A)
    _subtract_external(t, d, s, h)
    for j in range(sensed.shape[0] - 1, -1, -1):
        above = sensed[j].parent
        if sensed[j].weighed != 0 and above >= 0 and sensed[above].weighed != 0:
            _add_child(s.motion[above], s.motion[j])


@kernel
def _store_inertia_force(m, w, b, out, V, A):
    """Store I A + V ×* I V of a body, and its inertia about the tree's origin."""
    mass, c, J = m.body[b].mass, load3(w.body[b].centre), load6(w.body[b].tensor)
    store6(out.force, newton_euler(mass, c, J, V, A))
    out.mass = mass
    store3(out.moment, scale(mass, c))
    x, y, z = c
    out.tensor[0], out.tensor[1] = J[0] + mass * (y * y + z * z), J[1] - mass * x * y
    out.tensor[2], out.tensor[3] = J[2] - mass * x * z, J[3] + mass * (x * x + z * z)
    out.tensor[4], out.tensor[5] = J[4] - mass * y * z, J[5] + mass * (x * x + y * y)


@kernel(inline=True)
def _add_child(out, row):
    """Add force and inertia of a child to the body that carries it."""
    accumulate6(out.force, load6(row.force))
    accumulate6(out.tensor, load6(row.tensor))
    out.mass += row.mass
    store3(out.moment, add(load3(out.moment), load3(row.moment)))


@kernel
def _subtract_external(t, d, s, h):
    """Subtract E of (2): impulses of the step over h, and pushes."""
    m, w, place = t.model, s.dynamics, t.sensors.place
    for e in range(d.memory.count[0]):
        row = d.memory.contact[e]
        if row.kind > BONDS:
            continue
        f = scale(-1.0 / h, load3(row.impulse))
        if dot(f, f) == 0.0:
            continue
        couple = row.kind == MOMENTS or (row.kind == BONDS and row.feature != 0)
        for side in range(2):
            b = row.a if side == 0 else row.b
            j = place[b]
            if j >= 0:
                side_force = f if side == 0 else scale(-1.0, f)
                r = sub(load3(row.position), load3(w.body[m.body[b].root].origin))
                zero = (0.0, 0.0, 0.0)
                F = pair(side_force, zero) if couple else pair(cross(r, side_force), side_force)
                accumulate6(s.motion[j].force, F)
    if d.command.pushed[0] > 0:
        for j in range(t.sensors.body.shape[0]):
            F = load6(d.command.wrench[t.sensors.body[j].body])
            if t.sensors.body[j].weighed != 0:
                store6(s.motion[j].force, axpy6(-1.0, F, load6(s.motion[j].force)))


@kernel
def momentum_correction(t, d, s, b, h):
    """Return ΔA of (3) for the tree of body b."""
    base = t.model.body[t.model.body[b].root]
    zero = (0.0, 0.0, 0.0)
    if base.kind != FLOATING:
        return pair(zero, zero)
    k, R = base.v_start, load9(base.rotation)
    push = (d.v[k] - s.v_next[k], d.v[k + 1] - s.v_next[k + 1], d.v[k + 2] - s.v_next[k + 2])
    k += 3
    turn = (d.v[k] - s.v_next[k], d.v[k + 1] - s.v_next[k + 1], d.v[k + 2] - s.v_next[k + 2])
    return pair(scale(1.0 / h, mul(R, turn)), scale(1.0 / h, mul(R, push)))


@kernel
def joint_wrench(t, d, s, row, h):
    """Return F of (2) with the correction (3)."""
    motion, A = s.motion[row.sensed], momentum_correction(t, d, s, row.body, h)
    c, J, F = load3(motion.moment), load6(motion.tensor), load6(motion.force)
    f = add(scale(motion.mass, linear(A)), cross(angular(A), c))
    n = add(sym_mul(J, angular(A)), cross(c, linear(A)))
    return add6(F, pair(n, f))
