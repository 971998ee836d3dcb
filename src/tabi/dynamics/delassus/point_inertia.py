"""The Delassus operator Λ = J M̂⁻¹ Jᵀ of contact points, shape (3m, 3m): five ways to the same
matrix.

J gives the velocity of each contact's point on body a, less that on body b, in the world's axes.
The ways:

    direct     M̂ by CRBA, M̂ = L Lᵀ, Λ = (L⁻¹ Jᵀ)ᵀ L⁻¹ Jᵀ
    points     a unit force on each contact along each axis, up and down all bodies, 3m times [1]
    branches   Ω of the contacting bodies by ``branch_inertia``, projected [2]
    wrenches   Ω by ``wrench_inertia``, projected [3]
    chains     Ω by ``body_inertia``, projected; a step takes its Ω and needs no Λ
With r a point from its tree's origin, ẋ = v + ω × r = J_r V, and the projection is

    Λ_kl = Σ ± J_r Ω_ij J_sᵀ   over the bodies i of contact k and j of contact l     (1)
Joints that follow others are eliminated from M̂ and J in ``direct``, and are in the Ω of
``chains``; the other ways take them out of Λ with the rows G of the couplings:

    Λ ← Λ − A K⁻¹ Aᵀ,   A = J M̂⁻¹ Gᵀ,   K = G M̂⁻¹ Gᵀ                               (2)
[1] Chardonnet et al. 2006, II-D. [2] Chang and Khatib 2000. [3] Chardonnet 2012, 3.2.
"""

import numpy as np
from numpy.typing import NDArray

from tabi.dynamics import aba, crba
from tabi.dynamics.delassus import branch_inertia, elimination, wrench_inertia
from tabi.dynamics.inverse_inertia import body_inertia, chain_tables
from tabi.dynamics.jacobian import point_velocity
from tabi.jit import kernel
from tabi.jit.structure import Structure
from tabi.model.arrays import INDEX
from tabi.model.compiled import Model
from tabi.spatial.vector import axpy6, cross, load3, load6, pair, store6, sub

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Contacts(Structure):
    """Contact points between bodies.

    Attributes:
        bodies: rows of the bodies in contact, each once, shape (C,).
        a, b: which of them each contact is between, shape (m,); b is −1 against what does not move.
        arm_a, arm_b: the point from the origin of each body's tree [m], shape (m, 3).
    """

    bodies: Integers
    a: Integers
    b: Integers
    arm_a: Floats
    arm_b: Floats


class DelassusWork(Structure):
    """Arrays the kernels write: M̂ and Jᵀ; K and A of (2);
    Ω in rows of blocks, and what its ways need; rows of J Ω.
    """

    mass: Floats
    jacobian: Floats
    coupling: Floats
    coupled: Floats
    start: Integers
    column: Integers
    omega: Floats
    mark: Integers
    path: Integers
    body_omega: Floats
    is_fixed: Integers
    chains: chain_tables.Chains
    rows: Floats


def allocate(model: Model, p: Contacts) -> DelassusWork:
    """Memory for these contacts."""
    chains, count, v = chain_tables.allocate(model), len(p.bodies), model.v_count
    start, couplings = np.zeros(count + 1, INDEX), len(model.arrays.mimic)
    blocks = body_inertia.layout(chains, p.bodies, count, start, np.zeros(0, INDEX))
    return DelassusWork(
        mass=np.zeros((v, v)),
        jacobian=np.zeros((v, 3 * len(p.a))),
        coupling=np.zeros((couplings, couplings)),
        coupled=np.zeros((couplings, 3 * len(p.a))),
        start=start,
        column=np.zeros(blocks, INDEX),
        omega=np.zeros((blocks, 6, 6)),
        mark=np.zeros(model.body_count + 1, INDEX),
        path=np.zeros(model.body_count + 1, INDEX),
        body_omega=np.zeros((model.body_count + 1, 21)),
        is_fixed=np.zeros(v, INDEX),
        chains=chains,
        rows=np.zeros((count, 3, 6)),
    )


# ---- the five ways: each needs kinematics.positions and aba.factor, and writes Λ -----------------


@kernel
def direct(m, w, p, k, out):
    """Λ by the mass matrix."""
    crba.of_bodies(m, w, 1, m.body.shape[0], k.mass)
    for j in range(k.mass.shape[0]):
        k.mass[j, j] += w.dof[j].added - m.dof[j].armature
    _jacobian(m, w, p, k.jacobian)
    elimination.constrain(m, k.mass, k.jacobian, k.path, k.is_fixed)
    elimination.factor(k.mass)
    elimination.forward(k.mass, k.jacobian)
    out[:, :] = 0.0
    elimination.square(k.jacobian, 1.0, out)


@kernel
def points(m, w, p, k, out):
    """Λ by unit forces at the points."""
    for j in range(w.unit.shape[0]):
        w.dof[j].known = 0.0
        w.unit[j] = 0.0
    for i in range(p.a.shape[0]):
        for c in range(3):
            f = (1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0)
            for b in range(1, m.body.shape[0]):
                store6(w.body[b].force, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
            # aba gathers the forces that bodies need: those that they get have the other sign
            F = load6(w.body[p.bodies[p.a[i]]].force)
            store6(
                w.body[p.bodies[p.a[i]]].force, axpy6(-1.0, pair(cross(load3(p.arm_a[i]), f), f), F)
            )
            if p.b[i] >= 0:
                F = load6(w.body[p.bodies[p.b[i]]].force)
                store6(
                    w.body[p.bodies[p.b[i]]].force,
                    axpy6(1.0, pair(cross(load3(p.arm_b[i]), f), f), F),
                )
            aba.gather(m, w.unit, w)
            aba.spread(m, w, w.response, w.unit)
            for l in range(i + 1):
                u = point_velocity(load6(w.body[p.bodies[p.a[l]]].delta), load3(p.arm_a[l]))
                if p.b[l] >= 0:
                    u = sub(
                        u, point_velocity(load6(w.body[p.bodies[p.b[l]]].delta), load3(p.arm_b[l]))
                    )
                out[3 * i + c, 3 * l] = u[0]
                out[3 * i + c, 3 * l + 1] = u[1]
                out[3 * i + c, 3 * l + 2] = u[2]
    elimination.mirror(out)
    if m.mimic.shape[0] > 0:
        _couple(m, w, p, k, out)


@kernel
def branches(m, w, p, k, out):
    """Λ by Ω of ``branch_inertia``."""
    branch_blocks(m, w, p, k)
    project(p, k, out)
    if m.mimic.shape[0] > 0:
        _couple(m, w, p, k, out)


@kernel
def wrenches(m, w, p, k, out):
    """Λ by Ω of ``wrench_inertia``."""
    wrench_blocks(m, w, p, k)
    project(p, k, out)
    if m.mimic.shape[0] > 0:
        _couple(m, w, p, k, out)


@kernel
def chains(m, w, p, k, out):
    """Λ by Ω of ``body_inertia``."""
    chain_blocks(m, w, p, k)
    project(p, k, out)


WAYS = {
    "direct": direct,
    "points": points,
    "branches": branches,
    "wrenches": wrenches,
    "chains": chains,
}


# ---- Ω of the contacting bodies; only the last has joints that follow others in it --------------


@kernel(inline=True)
def branch_blocks(m, w, p, k):
    """Ω by ``branch_inertia``."""
    body_inertia.layout(k.chains, p.bodies, p.bodies.shape[0], k.start, k.column)
    branch_inertia.omega(
        m, w, p.bodies, p.bodies.shape[0], k.mark, k.path, k.body_omega, k.start, k.column, k.omega
    )


@kernel(inline=True)
def wrench_blocks(m, w, p, k):
    """Ω by ``wrench_inertia``."""
    body_inertia.layout(k.chains, p.bodies, p.bodies.shape[0], k.start, k.column)
    wrench_inertia.omega(m, w, p.bodies, p.bodies.shape[0], k.mark, k.start, k.column, k.omega)


@kernel(inline=True)
def chain_blocks(m, w, p, k):
    """Ω by ``body_inertia``."""
    body_inertia.omega(m, w, k.chains, p.bodies, p.bodies.shape[0], k.start, k.column, k.omega)


# ---- from bodies to points -----------------------------------------------------------------------


@kernel
def project(p, k, out):
    """Λ of points from Ω of bodies: equation (1)."""
    for i in range(p.a.shape[0]):
        for j in range(p.bodies.shape[0]):
            for c in range(3):
                store6(k.rows[j, c], (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
        _reach(k, p.a[i], load3(p.arm_a[i]), 1.0)
        if p.b[i] >= 0:
            _reach(k, p.b[i], load3(p.arm_b[i]), -1.0)
        for l in range(i + 1):
            x, y, z = _arrive(k.rows[p.a[l]], load3(p.arm_a[l]))
            if p.b[l] >= 0:
                a, b, c = _arrive(k.rows[p.b[l]], load3(p.arm_b[l]))
                x, y, z = sub(x, a), sub(y, b), sub(z, c)
            # both halves at once: two passes over a large matrix would cost more than its numbers
            _store(out, 3 * i, 3 * l, x, y, z)
            _store(out, 3 * l, 3 * i, (x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2]))
        # exactly symmetric on the diagonal too
        out[3 * i, 3 * i + 1] = out[3 * i + 1, 3 * i]
        out[3 * i, 3 * i + 2] = out[3 * i + 2, 3 * i]
        out[3 * i + 1, 3 * i + 2] = out[3 * i + 2, 3 * i + 1]


@kernel(inline=True)
def _arrive(T, r):
    """Rows of T J_rᵀ."""
    return (
        point_velocity(load6(T[0]), r),
        point_velocity(load6(T[1]), r),
        point_velocity(load6(T[2]), r),
    )


@kernel(inline=True)
def _store(out, i, j, x, y, z):
    """A block of three rows."""
    out[i, j], out[i, j + 1], out[i, j + 2] = x[0], x[1], x[2]
    out[i + 1, j], out[i + 1, j + 1], out[i + 1, j + 2] = y[0], y[1], y[2]
    out[i + 2, j], out[i + 2, j + 1], out[i + 2, j + 2] = z[0], z[1], z[2]


@kernel(inline=True)
def _reach(k, i, r, sign):
    """rows += ± J_r Ω_ij for every body j that body i moves."""
    x, y, z = sign * r[0], sign * r[1], sign * r[2]
    for e in range(k.start[i], k.start[i + 1]):
        O, T = k.omega[e], k.rows[k.column[e]]
        a, b, c = load6(O[0]), load6(O[1]), load6(O[2])
        store6(T[0], axpy6(z, b, axpy6(-y, c, axpy6(sign, load6(O[3]), load6(T[0])))))
        store6(T[1], axpy6(x, c, axpy6(-z, a, axpy6(sign, load6(O[4]), load6(T[1])))))
        store6(T[2], axpy6(y, a, axpy6(-x, b, axpy6(sign, load6(O[5]), load6(T[2])))))


@kernel
def _jacobian(m, w, p, out):
    """Jᵀ, shape (v, 3m)."""
    out[:, :] = 0.0
    for i in range(p.a.shape[0]):
        for side in range(2 if p.b[i] >= 0 else 1):
            b = p.bodies[p.a[i]] if side == 0 else p.bodies[p.b[i]]
            r, sign = (load3(p.arm_a[i]), 1.0) if side == 0 else (load3(p.arm_b[i]), -1.0)
            while b != 0:
                for k in range(m.body[b].v_start, m.body[b].v_end):
                    u = point_velocity(load6(w.dof[k].motion), r)
                    out[k, 3 * i] += sign * u[0]
                    out[k, 3 * i + 1] += sign * u[1]
                    out[k, 3 * i + 2] += sign * u[2]
                b = m.body[b].parent


@kernel
def _couple(m, w, p, k, out):
    """Add the terms of couplings: equation (2)."""
    count = m.mimic.shape[0]
    for c in range(count):
        for j in range(w.unit.shape[0]):
            w.unit[j] = 0.0
        w.unit[m.mimic[c].follower] += 1.0
        w.unit[m.mimic[c].leader] -= m.mimic[c].ratio
        aba.respond(m, w.unit, w, w.response)
        for b in range(count):
            k.coupling[b, c] = (
                w.response[m.mimic[b].follower] - m.mimic[b].ratio * w.response[m.mimic[b].leader]
            )
        for l in range(p.a.shape[0]):
            u = point_velocity(load6(w.body[p.bodies[p.a[l]]].delta), load3(p.arm_a[l]))
            if p.b[l] >= 0:
                u = sub(u, point_velocity(load6(w.body[p.bodies[p.b[l]]].delta), load3(p.arm_b[l])))
            k.coupled[c, 3 * l], k.coupled[c, 3 * l + 1], k.coupled[c, 3 * l + 2] = u[0], u[1], u[2]
    elimination.factor(k.coupling)
    elimination.forward(k.coupling, k.coupled)
    elimination.square(k.coupled, -1.0, out)
