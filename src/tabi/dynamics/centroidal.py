"""Centre of mass, momentum and energy: sums over bodies.

Of a tree, P and L about its own centre of mass c:

    P = Σ m_i ċ_i,   L = Σ (c_i − c) × m_i ċ_i + J_i ω_i                                       (1)
    T = ½ Σ (m_i ċ_i² + ω_i J_i ω_i) + ½ Σ d_k v_k²,   d: armature                             (2)
    U = −Σ m_i g·c_i + ½ Σ k (q − q₀)²                                                         (3)
All need ``kinematics.positions`` and ``velocities``.
"""

from tabi.dynamics import composite
from tabi.jit import kernel
from tabi.spatial.vector import add, angular, cross, dot, linear, load3, load6, scale, sub, sym_mul


@kernel
def tree_momentum(m, w, root):
    """Mass, centre of mass from the tree's origin, P and L of (1)."""
    mass, first, P, L = 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(root, m.body.shape[0]):
        if m.body[i].root == root:
            out, m_i = w.body[i], m.body[i].mass
            c, V = load3(out.centre), load6(out.velocity)
            p = scale(m_i, add(linear(V), cross(angular(V), c)))
            mass += m_i
            first = add(first, scale(m_i, c))
            P = add(P, p)
            L = add(L, add(cross(c, p), sym_mul(load6(out.tensor), angular(V))))
    centre = scale(1.0 / mass, first) if mass > 0.0 else first
    return mass, centre, P, sub(L, cross(centre, P))


@kernel
def kinetic_energy(m, v, w):
    """T of (2) [J], all trees."""
    T = 0.0
    for i in range(1, m.body.shape[0]):
        out = w.body[i]
        V = load6(out.velocity)
        omega = angular(V)
        speed = add(linear(V), cross(omega, load3(out.centre)))
        T += 0.5 * (
            m.body[i].mass * dot(speed, speed) + dot(omega, sym_mul(load6(out.tensor), omega))
        )
    for k in range(v.shape[0]):
        T += 0.5 * m.dof[k].armature * v[k] * v[k]
    return T


@kernel
def potential_energy(m, q, w):
    """U of (3) [J], all trees; zero at the world's origin and with springs at rest."""
    U = 0.0
    g = load3(m.gravity)
    for i in range(1, m.body.shape[0]):
        c = add(load3(w.body[i].centre), load3(w.body[m.body[i].root].origin))
        U -= m.body[i].mass * dot(g, c)
    for k in range(m.dof.shape[0]):
        dof = m.dof[k]
        if dof.stiffness > 0.0 and dof.q >= 0:
            stretch = q[dof.q] - dof.rest
            U += 0.5 * dof.stiffness * stretch * stretch
    return U


@kernel
def total(m, w, first, end):
    """Mass, centre of mass in the world, P, and L about that centre, of whole trees: bodies
    ``first`` to ``end``.
    """
    mass, moment, P, L = 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(first, end):
        row, m_i, V = w.body[i], m.body[i].mass, load6(w.body[i].velocity)
        c, o = load3(row.centre), load3(w.body[m.body[i].root].origin)
        p = scale(m_i, add(linear(V), cross(angular(V), c)))
        c = add(c, o)
        mass += m_i
        moment, P = add(moment, scale(m_i, c)), add(P, p)
        L = add(L, add(cross(c, p), sym_mul(load6(row.tensor), angular(V))))
    centre = scale(1.0 / mass, moment) if mass > 0.0 else moment
    return mass, centre, P, sub(L, cross(centre, P))


@kernel
def matrix(m, w, first, end, c, A):
    """A of P, L = A v, shape (6, ·), of bodies ``first`` to ``end`` about the point c of the world,
    linear rows first: a column is the momentum of ``composite``. Needs ``composite.gather``.
    """
    start = m.body[first].v_start
    for i in range(first, end):
        arm = sub(load3(w.body[m.body[i].root].origin), c)
        for k in range(m.body[i].v_start, m.body[i].v_end):
            F, at = composite.momentum(w, i, k), k - start
            L = add(angular(F), cross(arm, linear(F)))
            A[0, at], A[1, at], A[2, at] = F[3], F[4], F[5]
            A[3, at], A[4, at], A[5, at] = L[0], L[1], L[2]


@kernel
def centre_matrix(m, w, first, end, factor, J):
    """Linear rows of ``matrix`` times a factor, shape (3, ·); needs ``composite.masses``."""
    start = m.body[first].v_start
    for i in range(first, end):
        row = w.body[i].inertia
        for k in range(m.body[i].v_start, m.body[i].v_end):
            S = load6(w.dof[k].motion)
            p = add(scale(row[0], linear(S)), cross(angular(S), load3(row[1:4])))
            J[0, k - start], J[1, k - start] = factor * p[0], factor * p[1]
            J[2, k - start] = factor * p[2]


@kernel
def rate(m, w, first, end, c):
    """Ṗ and L̇ about c, from the forces of ``rnea.forces``, before these are gathered; gravity is in
    them, as a force that holds against it.
    """
    force, moment = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(first, end):
        F, arm = load6(w.body[i].force), sub(load3(w.body[m.body[i].root].origin), c)
        force = add(force, linear(F))
        moment = add(moment, add(angular(F), cross(arm, linear(F))))
    return force, moment
