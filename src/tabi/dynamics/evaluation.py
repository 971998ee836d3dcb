"""Quantities of a configuration q that moves with v, each in one call.

Kinematics is remembered: where q and v are those of the last call it is not computed again. All
matrices have the columns of some whole trees, bodies ``first`` to ``end``, and linear rows first.
"""

from math import inf

import numpy as np
from numpy.typing import NDArray

from tabi.dynamics import centroidal, composite, crba, jacobian, kinematics, rnea
from tabi.dynamics.workspace import Workspace, allocate
from tabi.jit import kernel
from tabi.jit.structure import Structure
from tabi.model.arrays import FLOATING, INDEX, SPHERICAL
from tabi.model.compiled import Model
from tabi.spatial.vector import add, load3, load6, load9, mul, mul_t, scale, store3

# how far the square of a quaternion's length may be from 1: twice what its length may be
UNIT = 2e-6


class Remembered(Structure):
    """Inputs and results of the last call.

    Attributes:
        q, v: of the kinematics in ``work``. known: 1 where there is some, shape (1,).
        rest: joint accelerations of nothing.
    """

    q: NDArray[np.float64]
    v: NDArray[np.float64]
    known: NDArray[np.int64]
    rest: NDArray[np.float64]
    work: Workspace


def remembered(model: Model) -> Remembered:
    """Allocate an empty memory for a model."""
    v = np.zeros(model.v_count)
    return Remembered(
        np.zeros(model.q_count), v, np.zeros(1, INDEX), np.zeros_like(v), allocate(model)
    )


@kernel
def accept(m, q, v, q_out, v_out):
    """Copy a configuration and its velocity, if all are numbers and quaternions have length one.

    Returns:
        whether they were.
    """
    for i in range(q.shape[0]):
        if not abs(q[i]) < inf:
            return False
    for i in range(v.shape[0]):
        if not abs(v[i]) < inf:
            return False
    for i in range(1, m.body.shape[0]):
        kind, at = m.body[i].kind, m.body[i].q_start
        if kind in (FLOATING, SPHERICAL):
            at += 3 if kind == FLOATING else 0
            square = q[at] ** 2 + q[at + 1] ** 2 + q[at + 2] ** 2 + q[at + 3] ** 2
            if abs(square - 1.0) > UNIT:
                return False
    for i in range(q.shape[0]):
        q_out[i] = q[i]
    for i in range(v.shape[0]):
        v_out[i] = v[i]
    return True


@kernel
def renew(m, q, v, c):
    """Kinematics of q and v in c.work."""
    has_moved, has_new_velocity = c.known[0] == 0, False
    for i in range(q.shape[0]):
        if q[i] != c.q[i]:
            c.q[i], has_moved = q[i], True
    for i in range(v.shape[0]):
        if v[i] != c.v[i]:
            c.v[i], has_new_velocity = v[i], True
    if has_moved:
        kinematics.positions(m, c.q, c.work)
    if has_moved or has_new_velocity:
        kinematics.velocities(m, c.v, c.work)
    c.known[0] = 1


@kernel(inline=True)
def _arm(w, body, point):
    """A point of a body, from the origin of its tree."""
    return add(load3(w.body[body].position), mul(load9(w.body[body].rotation), load3(point)))


@kernel
def frame(m, q, v, c, body, placement, out):
    """A frame of a body: its rotation row by row, origin [m], velocity of that [m/s], angular
    [rad/s].

    Args:
        placement: of the frame in the body, rotation row by row, then position [m].
    """
    renew(m, q, v, c)
    w = c.work
    E, V, r = (
        load9(w.body[body].rotation),
        load6(w.body[body].velocity),
        _arm(w, body, placement[9:]),
    )
    for i in range(3):
        store3(out[3 * i :], mul_t(load9(placement), (E[3 * i], E[3 * i + 1], E[3 * i + 2])))
    store3(out[9:], add(r, load3(w.body[m.body[body].root].origin)))
    store3(out[12:], jacobian.point_velocity(V, r))
    store3(out[15:], (V[0], V[1], V[2]))


@kernel
def point_jacobian(m, q, v, c, body, point, start, J):
    """Jacobian of a point of a body [m], shape (6, ·), columns from ``start`` on."""
    renew(m, q, v, c)
    jacobian.halves(m, c.work, body, _arm(c.work, body, point), start, J[:3], J[3:])


@kernel
def point_bias(m, q, v, c, body, point, out):
    """J̇ v of a point of a body: linear, then angular acceleration, shape (6,)."""
    renew(m, q, v, c)
    turn, move = jacobian.bias(m, c.work, body, _arm(c.work, body, point))
    store3(out, move)
    store3(out[3:], turn)


@kernel
def mass_matrix(m, q, v, c, first, end, M):
    """Shape (n, n), armature on its diagonal."""
    renew(m, q, v, c)
    crba.of_bodies(m, c.work, first, end, M)


@kernel
def momentum(m, q, v, c, first, end, out):
    """Centre of mass [m], its velocity [m/s], momentum [N·s], spin about the centre [N·m·s].

    Returns:
        the mass [kg].
    """
    renew(m, q, v, c)
    mass, centre, P, L = centroidal.total(m, c.work, first, end)
    store3(out[0], centre)
    store3(out[1], scale(1.0 / mass if mass > 0.0 else 0.0, P))
    store3(out[2], P)
    store3(out[3], L)
    return mass


@kernel
def momentum_matrix(m, q, v, c, first, end, A):
    """A of momentum and spin = A v, shape (6, n).

    Returns:
        the mass [kg].
    """
    renew(m, q, v, c)
    composite.gather(m, c.work, first, end)
    mass, centre, _, _ = centroidal.total(m, c.work, first, end)
    centroidal.matrix(m, c.work, first, end, centre, A)
    return mass


@kernel
def centre_jacobian(m, q, v, c, first, end, J):
    """Jacobian of the centre of mass, shape (3, n): momenta over the mass.

    Returns:
        the mass [kg].
    """
    renew(m, q, v, c)
    mass = composite.masses(m, c.work, first, end)
    centroidal.centre_matrix(m, c.work, first, end, 1.0 / mass if mass > 0.0 else 0.0, J)
    return mass


@kernel
def momentum_bias(m, q, v, c, first, end, out):
    """Ȧ v: rate of momentum and spin at zero joint acceleration, shape (6,).

    Returns:
        the mass [kg].
    """
    renew(m, q, v, c)
    rnea.forces(m, c.rest, c.work)
    mass, centre, _, _ = centroidal.total(m, c.work, first, end)
    force, moment = centroidal.rate(m, c.work, first, end, centre)
    # gravity acts in the centre of mass
    store3(out, add(force, scale(mass, load3(m.gravity))))
    store3(out[3:], moment)
    return mass


@kernel
def joint_forces(m, q, v, c, a, tau):
    """τ that gives the accelerations a, of the whole world."""
    renew(m, q, v, c)
    rnea.forces(m, a, c.work)
    rnea.gather(m, a, c.work, tau)


@kernel
def gravity_forces(m, q, v, c, tau):
    """τ that holds the whole world at rest against gravity: minus the power that gravity has in
    the momentum of each joint.
    """
    renew(m, q, v, c)
    w, g = c.work, load3(m.gravity)
    composite.gather(m, w, 1, m.body.shape[0])
    for i in range(1, m.body.shape[0]):
        for k in range(m.body[i].v_start, m.body[i].v_end):
            F = composite.momentum(w, i, k)
            tau[k] = -(F[3] * g[0] + F[4] * g[1] + F[5] * g[2])
