"""Quantities read from a step that was done, without making objects of its contacts.

    X_WF = X_WB X_BF,   v_F = v_O + ω × p_OF                                                    (1)
    f = Σ ±λ/h,   τ = Σ ±((p − p_F) × λ/h + λ_τ/h)                                              (2)
(1): a frame F of a body B whose tree has its origin at O, and how it moves; (2): what all contacts
exert on a body about the origin of F, λ_τ: impulses of torsional and rolling friction.
"""

from math import nan

from tabi.jit import kernel
from tabi.simulation.tables import CONTACTS, MOMENTS
from tabi.spatial.vector import (
    add,
    cross,
    dot,
    load3,
    load6,
    load9,
    mul,
    mul_t,
    store3,
    store6,
    sub,
)

# contacts share a plane whose normals differ by less, and that are so near to it [m]
PARALLEL, LEVEL = 1e-6, 1e-3


@kernel
def joint_state(m, d, rows, out):
    """Position, velocity and motor effort of degrees of freedom, as rows of ``out``, shape (3, ·);
    the position is 0 where a joint has no single one. No numbers where there is no such degree.
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
    """The origin of a frame of a body, from the origin of its tree."""
    row = w.body[body]
    return add(load3(row.position), mul(load9(row.rotation), load3(placement[9:12])))


@kernel
def senses(m, w, d, rows, body, placement, joints, R, p, moves):
    """``joint_state`` and the ``frame`` of a body in one call, into arrays of their own: views of
    one array would cost more than the call.

    Args:
        moves: velocity of the origin, and angular, shape (2, 3).
    """
    joint_state(m, d, rows, joints)
    _frame(m, w, body, placement, R, p, moves)


@kernel
def frame(m, w, body, placement, out):
    """Equation (1).

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
    """Equation (2); force first."""
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
def support(d, own, out):
    """Sum over the bodies where ``own`` is 1, not 0, of the pressing contacts' impulses and of
    their moments about the first of these contacts; the place of that one, and its normal.

    Returns:
        how many press, less than 0 where they do not share a plane.
    """
    force, torque, count, flat = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0, True
    place, normal = (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    for e in range(d.memory.count[0]):
        row = d.memory.contact[e]
        sign = own[row.a] - own[row.b]
        l = load3(row.impulse)
        if row.kind <= MOMENTS and sign != 0.0 and dot(l, l) > 0.0:
            l = (sign * l[0], sign * l[1], sign * l[2])
            if row.kind == CONTACTS:
                n = (sign * row.normal[0], sign * row.normal[1], sign * row.normal[2])
                if count == 0:
                    place, normal = load3(row.position), n
                r = sub(load3(row.position), place)
                flat = flat and dot(n, normal) > 1.0 - PARALLEL and abs(dot(normal, r)) < LEVEL
                force, torque = add(force, l), add(torque, cross(r, l))
                count += 1
            else:
                torque = add(torque, l)
    store6(out, (force[0], force[1], force[2], torque[0], torque[1], torque[2]))
    store6(out[6:], (place[0], place[1], place[2], normal[0], normal[1], normal[2]))
    return count if flat else -count
