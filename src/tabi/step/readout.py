"""Quantities of a finished step, read without making objects of its contacts.

    X_WF = X_WB X_BF,   v_F = v_O + ω × p_OF                                                    (1)
    f = Σ ±λ/h,   τ = Σ ±((p − p_F) × λ/h + λ_τ/h)                                              (2)
(1): pose and velocity of a frame F of a body B whose tree has its origin at O; (2): wrench of all
contacts on a body about the origin of F, λ_τ: impulses of torsional and rolling friction.
"""

from math import nan

from tabi.dynamics import loads
from tabi.jit import kernel
from tabi.spatial.vector import (
    add,
    cross,
    load3,
    load6,
    load9,
    mul,
    mul_t,
    scale,
    store3,
    store6,
    sub,
)
from tabi.step.tables import CONTACTS, MOMENTS


@kernel
def joint_state(m, d, rows, out):
    """Write position, velocity and motor effort of degrees of freedom to rows of ``out``, shape
    (3, ·); the position is 0 where a joint has no single one, all are NaN for invalid rows.
    """
    for i in range(rows.shape[0]):
        k = rows[i]
        if not 0 <= k < d.v.shape[0]:
            out[0, i], out[1, i], out[2, i] = nan, nan, nan
            continue
        place = m.dof[k].q
        out[0, i] = d.q[place] if place >= 0 else 0.0
        out[1, i], out[2, i] = d.v[k], d.outcome.effort[k].motor


@kernel(inline=True)
def _arm(w, body, placement):
    """Return the origin of a frame of a body, from the origin of its tree [m]."""
    row = w.body[body]
    return add(load3(row.position), mul(load9(row.rotation), load3(placement[9:12])))


@kernel
def measurement_state(m, w, d, rows, body, placement, joints, R, p, moves):
    """Write ``joint_state`` and the ``frame`` of a body in one call, to separate arrays: views of
    one array would cost more than the call.

    Args:
        moves: velocity of the origin, and angular, shape (2, 3).
    """
    joint_state(m, d, rows, joints)
    _frame(m, w, body, placement, R, p, moves)


@kernel
def frame(m, w, body, placement, out):
    """Write pose and velocity of a frame by (1).

    Args:
        placement: X_BF, rotation row by row, then position [m].
        out: rotation row by row, position [m], velocity of the origin [m/s], angular [rad/s].
    """
    _frame(m, w, body, placement, out[:9].reshape((3, 3)), out[9:12], out[12:].reshape((2, 3)))


@kernel(inline=True)
def _frame(m, w, body, placement, R, p, moves):
    E, V, arm = load9(w.body[body].rotation), load6(w.body[body].velocity), _arm(w, body, placement)
    turn, move = (V[0], V[1], V[2]), (V[3], V[4], V[5])
    for i in range(3):
        axis = mul_t(load9(placement[:9]), (E[3 * i], E[3 * i + 1], E[3 * i + 2]))
        store3(R[i], axis)
    store3(p, add(arm, load3(w.body[m.body[body].root].origin)))
    store3(moves[0], add(move, cross(turn, arm)))
    store3(moves[1], turn)


@kernel
def wrench(m, w, d, body, placement, h, out):
    """Write the wrench of all contacts on a body by (2), force first [N, N·m]."""
    origin = add(_arm(w, body, placement), load3(w.body[m.body[body].root].origin))
    force, torque = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for e in range(d.memory.count[0]):
        row = d.memory.contact[e]
        if row.kind <= MOMENTS and (row.a == body or row.b == body):
            share = 1.0 / h if row.a == body else -1.0 / h
            l = load3(row.impulse)
            l = (share * l[0], share * l[1], share * l[2])
            if row.kind == CONTACTS:
                force = add(force, l)
                torque = add(torque, cross(sub(load3(row.position), origin), l))
            else:
                torque = add(torque, l)
    store6(out, (force[0], force[1], force[2], torque[0], torque[1], torque[2]))


@kernel
def zero_moment_point(d, on_robot, out):
    """Write the zero moment point of the contacts on the bodies where ``on_robot`` is 1, not 0, in
    the world [m]; NaN without a load. See ``dynamics.loads``.
    """
    total, origin, first = loads.NOTHING, (0.0, 0.0, 0.0), True
    for e in range(d.memory.count[0]):
        row = d.memory.contact[e]
        side = on_robot[row.a] - on_robot[row.b]
        if row.kind > MOMENTS or side == 0.0:
            continue
        l = scale(side, load3(row.impulse))
        if row.kind == CONTACTS:
            if first:
                origin, first = load3(row.position), False
            r, n = sub(load3(row.position), origin), scale(side, load3(row.normal))
            total = loads.with_contact(total, r, n, l)
        else:
            total = loads.with_moment(total, l)
    store3(out, add(origin, loads.zero_moment_point(total)))
