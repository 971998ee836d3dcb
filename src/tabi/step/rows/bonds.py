"""Bonds between bodies: the rows of welds, balls and hinges.

    ball    u = ẋ_a − ẋ_b + h/2 (κ_a − κ_b) = 0     at the middle x of the two places            (1)
    weld    (1), and u = ω_a − ω_b + h/2 (κ_a − κ_b) = 0                                        (2)
    hinge   (1), and the two parts of (2) across the axis z_b                                    (3)
x is one point for both bodies: where their anchors have a gap that nothing can close, a rotation of
both together is no relative velocity, and the impulse has no torque.
κ = J̇ v: acceleration of the anchors at constant joint velocities. Without it a crank
would open its chain by h² κ/2 in each step; with it what is left is of third order. How far bonds
are open, x_a − x_b, the turn from b's frame to a's, or z_b × z_a, is closed besides
(``contact.bond_closing``). Bonded bodies do not collide.
"""

from math import atan2, sqrt

import numpy as np

from tabi.contact.rows import BILATERAL, BILATERAL_TWO
from tabi.jit import kernel
from tabi.model.arrays import INDEX, REAL, table
from tabi.spatial.vector import (
    add as plus,
)
from tabi.spatial.vector import (
    add6,
    axpy6,
    cross,
    dot,
    load3,
    load6,
    load9,
    matmul,
    mul,
    scale,
    store3,
    store9,
    sub,
)
from tabi.step.parts import no_revision as revise
from tabi.step.rows.contacts import move

__all__ = [
    "BOND",
    "add",
    "angular_part",
    "fill",
    "memory",
    "point_velocity",
    "revise",
    "warm_start",
    "withhold",
]

BALL, WELD, HINGE = 0, 1, 2
KINDS = ("ball", "weld", "hinge")
BOND = np.dtype(
    [
        # BALL, WELD or HINGE of two bodies; a moves
        ("kind", INDEX),
        ("a", INDEX),
        ("b", INDEX),
        # anchors and frames that coincide, in the frames of the moving bodies; the third axis is
        # that of a hinge
        ("place_a", REAL, 3),
        ("place_b", REAL, 3),
        ("frame_a", REAL, 9),
        ("frame_b", REAL, 9),
        # the links they belong to, among those of the model; −1: the world
        ("link_a", INDEX),
        ("link_b", INDEX),
        # number of the bond, never used again
        ("name", INDEX),
    ],
    align=True,
)


def bond_name(model, bond):
    """Return the name of a row of BOND in reports."""
    links = [*model.links, "world"]
    return f"{KINDS[bond['kind']]} of {links[bond['link_a']]!r} and {links[bond['link_b']]!r}"


def memory(model):
    """Return an empty table of BOND."""
    return table(0, BOND)


@kernel(inline=True)
def withhold(part_memory, t, d, count, s):
    """Remove contact points between bonded bodies."""
    if part_memory.shape[0] == 0:
        return count
    count_left = 0
    for e in range(count):
        p, bonded = s.points[e], False
        for k in range(part_memory.shape[0]):
            a, b = part_memory[k].a, part_memory[k].b
            bonded = bonded or (p.a == a and p.b == b) or (p.a == b and p.b == a)
        if not bonded:
            move(s, count_left, e)
            count_left += 1
    return count_left


@kernel(inline=True)
def add(part_memory, t, d, count, s, h):
    """Add a point for each three rows of a bond."""
    total = count
    for k in range(part_memory.shape[0]):
        for part in range(1 if part_memory[k].kind == BALL else 2):
            if total < s.points.shape[0]:
                p = s.points[total]
                p.a, p.b, p.gap = part_memory[k].a, part_memory[k].b, 0.0
                p.shape_a, p.shape_b, p.feature = part_memory[k].name, 0, part
                s.source[total] = k
            total += 1
    return total


@kernel(apart="none", rare=True)
def fill(part_memory, t, d, e, s, x, group, h):
    """Fill rows (1), or those of (2) and (3), of one bond."""
    m, w, p, base = t.model, s.dynamics, s.problem, s.first[group]
    bond, row, i = part_memory[s.source[e]], p.contact[x], 3 * x
    a, b, part = bond.a, bond.b, s.points[e].feature
    R_A, R_B = load9(w.body[a].rotation), load9(w.body[b].rotation)
    V_A, V_B = load6(w.body[a].velocity), load6(w.body[b].velocity)
    row.a, row.b = s.number[a] - base, s.number[b] - base if b > 0 else -1
    row.angular, row.partner = part, -1
    p.kind[x], p.mu[x], p.bound[x] = BILATERAL, 0.0, 0.0
    if part == 0:
        o_A, o_B = load3(w.body[m.body[a].root].origin), load3(w.body[m.body[b].root].origin)
        r = plus(plus(load3(w.body[a].position), mul(R_A, load3(bond.place_a))), o_A)
        o = plus(plus(load3(w.body[b].position), mul(R_B, load3(bond.place_b))), o_B)
        apart, x_AB = sub(r, o), scale(0.5, plus(r, o))
        store3(s.points[e].position, x_AB)
        r, o = sub(x_AB, o_A), sub(x_AB, o_B)
        store3(row.arm_a, r)
        store3(row.arm_b, o)
        store9(row.frame, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
        u = sub(point_velocity(V_A, r), point_velocity(V_B, o))
        curve = sub(_point_acceleration(m, w, d.v, a, r), _point_acceleration(m, w, d.v, b, o))
    else:
        F_A, F_B = matmul(R_A, load9(bond.frame_a)), matmul(R_B, load9(bond.frame_b))
        # rows across the axis, and along it
        E = (F_B[0], F_B[3], F_B[6], F_B[1], F_B[4], F_B[7], F_B[2], F_B[5], F_B[8])
        store9(row.frame, E)
        u, A_A, A_B = (
            sub(angular_part(V_A), angular_part(V_B)),
            _bias_acceleration(m, w, a),
            _bias_acceleration(m, w, b),
        )
        curve = sub(angular_part(A_A), angular_part(A_B))
        if bond.kind == HINGE:
            p.kind[x] = BILATERAL_TWO
            apart = cross((F_B[2], F_B[5], F_B[8]), (F_A[2], F_A[5], F_A[8]))
        else:
            apart = _rotation_vector(matmul(F_A, E))
    u, curve = mul(load9(row.frame), u), mul(load9(row.frame), scale(0.5 * h, curve))
    store3(s.bonds.offset[i : i + 3], mul(load9(row.frame), apart))
    store3(s.shift[i : i + 3], curve)
    store3(p.q[i : i + 3], plus(u, curve))


@kernel(apart="none", rare=True)
def warm_start(part_memory, t, d, e, s, x, previous):
    """Start with the last step's impulse in the frame of this one."""
    i = 3 * x
    s.impulse[i], s.impulse[i + 1], s.impulse[i + 2] = 0.0, 0.0, 0.0
    if previous >= 0:
        l = mul(load9(s.problem.contact[x].frame), load3(d.memory.contact[previous].impulse))
        s.impulse[i], s.impulse[i + 1], s.impulse[i + 2] = l[0], l[1], l[2]


@kernel(inline=True)
def angular_part(V):
    """Return the angular part of a twist."""
    return (V[0], V[1], V[2])


@kernel(inline=True)
def point_velocity(V, r):
    """Return the velocity of the point r under a twist."""
    return plus((V[3], V[4], V[5]), cross(angular_part(V), r))


@kernel
def _bias_acceleration(m, w, i):
    """Return J̇ v of a body about its tree's origin, from the velocities before the step."""
    A = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    while i != 0:
        A = add6(A, load6(w.body[i].product))
        i = m.body[i].parent
    return A


@kernel
def _point_acceleration(m, w, v, i, r):
    """Return κ of a point r of body i, for the velocities v before the step."""
    A = V = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    while i != 0:
        A = add6(A, load6(w.body[i].product))
        # w.body.velocity has velocities of the end of the step
        for k in range(m.body[i].v_start, m.body[i].v_end):
            V = axpy6(v[k], load6(w.dof[k].motion), V)
        i = m.body[i].parent
    return plus(point_velocity(A, r), cross(angular_part(V), point_velocity(V, r)))


@kernel
def _rotation_vector(R):
    """Return the rotation vector of a matrix, for angles well below π."""
    v = (0.5 * (R[7] - R[5]), 0.5 * (R[2] - R[6]), 0.5 * (R[3] - R[1]))
    s = sqrt(dot(v, v))
    angle = atan2(s, 0.5 * (R[0] + R[4] + R[8] - 1.0))
    return scale(angle / s if s > 1e-12 else 1.0, v)
