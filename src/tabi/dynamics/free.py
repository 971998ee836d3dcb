"""One step without contacts.

First order (the default), with dampers D and springs K taken at the end of the step:

    (M + hD + h²K) a = τ − b(q, v) − D v − K (q − q₀ + h v),   v⁺ = v + h a,   q⁺ = q ⊕ h v⁺   (1)
Second order, symmetric in time, dampers and springs at the middle; the velocity in b makes (2)
implicit, and a few cheap passes with one factorisation settle it:

    q½ = q ⊕ h/2 v,   (M + h/2 D + h²/4 K) a = τ − b(q½, v + h/2 a) − D v − K (q½ − q₀),
    v⁺ = v + h a,   q⁺ = q½ ⊕ h/2 v⁺                                                           (2)

Joint coordinates do not know that a tree in flight keeps its momentum: each step loses a little of
it, O(h²) in the first order and O(h³) in the second. So at the end a free tree's base is shifted
and its velocity corrected, until exactly

    P⁺ = P + h F,   L⁺ = L + h N,   c⁺ = c + h P⁺/m   (second order: c + h (P + P⁺)/2m)        (3)
with F, N the external force and moment about the centre of mass c. The centre of mass flies its
parabola, and nothing starts to turn by itself.

The workspace holds the kinematics of the state it is handed, and in the end that of the state
it returns.
"""

from tabi.dynamics import aba, centroidal, forward, integration, kinematics
from tabi.jit import kernel
from tabi.model.arrays import FLOATING
from tabi.spatial.symmetric import solve
from tabi.spatial.vector import (
    add,
    cross,
    dot,
    load3,
    load6,
    load9,
    mul,
    mul_t,
    scale,
    store3,
    sub,
)

FIRST, SECOND = 1, 2
PASSES = 12


@kernel
def prepare(m, q, v, w):
    """Kinematics of the state; once before the first step, and whenever q or v were set
    from outside.

    Whatever the workspace held before, it is ready then.
    """
    kinematics.place_world(w)
    kinematics.positions(m, q, w)
    kinematics.velocities(m, v, w)


@kernel
def step(m, q, v, tau, h, order, w, a):
    """Advance q and v by h [s] under the joint forces τ.

    Args:
        tau: joint forces [N·m or N]; a floating base's are the force at its origin and the moment.
            Written where prescribed.
        order: FIRST or SECOND.
        a: accelerations; read where prescribed, written elsewhere.

    Returns:
        0, or 1 + a degree of freedom whose articulated inertia is not positive.
    """
    measure(m, tau, h, w)
    status = _first(m, q, v, tau, h, w, a) if order == FIRST else _second(m, q, v, tau, h, w, a)
    for c in range(m.mimic.shape[0]):
        row = m.mimic[c]
        if m.dof[row.follower].prescribed == 0:
            v[row.follower] = row.ratio * v[row.leader]
    kinematics.positions(m, q, w)
    kinematics.velocities(m, v, w)
    conserve(m, q, v, h, order, w)
    return status


@kernel
def _first(m, q, v, tau, h, w, a):
    """Make a step of first order: equation (1)."""
    for k in range(v.shape[0]):
        par, dof = m.dof[k], w.dof[k]
        stretch = q[par.q] - par.rest + h * v[k] if par.q >= 0 else 0.0
        dof.passive = par.damping * v[k] + par.stiffness * stretch
        dof.added, dof.fixed = par.armature + h * (par.damping + h * par.stiffness), par.prescribed
        w.load[k] = tau[k] - dof.passive
    status = aba.factor(m, w)
    forward.accelerations(m, w.load, w, a)
    for k in range(v.shape[0]):
        v[k] += h * a[k]
        if m.dof[k].prescribed != 0:
            tau[k] = w.load[k] + w.dof[k].passive
    integration.advance(m, q, v, h)
    return status


@kernel
def _second(m, q, v, tau, h, w, a):
    """Make a step of second order: equation (2)."""
    integration.advance(m, q, v, 0.5 * h)
    kinematics.positions(m, q, w)
    for k in range(v.shape[0]):
        par, dof = m.dof[k], w.dof[k]
        dof.passive = par.damping * v[k] + (
            par.stiffness * (q[par.q] - par.rest) if par.q >= 0 else 0.0
        )
        dof.added = par.armature + 0.5 * h * (par.damping + 0.5 * h * par.stiffness)
        dof.fixed = par.prescribed
        w.middle[k] = v[k]
    status = aba.factor(m, w)
    for _ in range(PASSES):
        for k in range(v.shape[0]):
            w.load[k] = tau[k] - w.dof[k].passive
        kinematics.velocities(m, w.middle, w)
        forward.accelerations(m, w.load, w, a)
        # converged when the middle velocity no longer changes: squares, to their rounding
        change, size = 0.0, 0.0
        for k in range(v.shape[0]):
            new = v[k] + 0.5 * h * a[k]
            change += (new - w.middle[k]) * (new - w.middle[k])
            size += new * new
            w.middle[k] = new
        if change <= 1e-30 * size:
            break
    for k in range(v.shape[0]):
        v[k] += h * a[k]
        if m.dof[k].prescribed != 0:
            tau[k] = w.load[k] + w.dof[k].passive
    integration.advance(m, q, v, 0.5 * h)
    return status


# inlined: handing over the tables for each body would cost more than the test
@kernel(inline=True)
def _flies(m, i):
    """Whether body i is the floating base of a tree that nothing holds:
    no guide, no damper, no inertia but its own.
    """
    if m.body[i].parent != 0 or m.body[i].kind != FLOATING:
        return False
    for k in range(m.body[i].v_start, m.body[i].v_end):
        if m.dof[k].prescribed != 0 or m.dof[k].damping != 0.0 or m.dof[k].armature != 0.0:
            return False
    return True


@kernel
def measure(m, tau, h, w):
    """Right-hand sides of (3) for every free tree that nothing acts on, before the step."""
    for i in range(1, m.body.shape[0]):
        if w.body[i].acted_on == 0 and _flies(m, i):
            out, k = w.body[i], m.body[i].v_start
            mass, c, P, L = centroidal.tree_momentum(m, w, i)
            # the base's joint forces come from outside:
            # force at its origin, moment, in the joint frame's axes
            R = load9(m.body[i].rotation)
            force = mul(R, (tau[k], tau[k + 1], tau[k + 2]))
            moment = sub(mul(R, (tau[k + 3], tau[k + 4], tau[k + 5])), cross(c, force))
            force = add(force, scale(mass, load3(m.gravity)))
            store3(out.flight_centre, add(load3(out.origin), c))
            store3(out.flight_momentum, P)
            store3(out.flight_momentum_end, add(P, scale(h, force)))
            store3(out.flight_spin_end, add(L, scale(h, moment)))


@kernel
def conserve(m, q, v, h, order, w):
    """Restore momenta by equation (3), moving each free tree as one rigid body; trees that
    something acts on stay as they are.
    """
    has_changed = False
    for i in range(1, m.body.shape[0]):
        if w.body[i].acted_on == 0 and _flies(m, i):
            out, k, iq = w.body[i], m.body[i].v_start, m.body[i].q_start
            mass, c, P, L = centroidal.tree_momentum(m, w, i)
            if not mass > 0.0:
                continue
            has_changed = True
            goal = load3(out.flight_momentum_end)
            mean = goal if order == FIRST else scale(0.5, add(goal, load3(out.flight_momentum)))
            shift = sub(
                add(load3(out.flight_centre), scale(h / mass, mean)), add(load3(out.origin), c)
            )
            # rigid twist about the centre of mass that brings P and L to their goals
            turn = solve(_tree_tensor(m, w, i, c), sub(load3(out.flight_spin_end), L))
            push = sub(scale(1.0 / mass, sub(goal, P)), cross(turn, c))
            store3(out.origin, add(load3(out.origin), shift))
            R = load9(m.body[i].rotation)
            shift, spin, speed = mul_t(R, shift), mul_t(R, turn), mul_t(R, push)
            q[iq] = q[iq] + shift[0]
            q[iq + 1] = q[iq + 1] + shift[1]
            q[iq + 2] = q[iq + 2] + shift[2]
            v[k], v[k + 1], v[k + 2] = v[k] + speed[0], v[k + 1] + speed[1], v[k + 2] + speed[2]
            v[k + 3] = v[k + 3] + spin[0]
            v[k + 4] = v[k + 4] + spin[1]
            v[k + 5] = v[k + 5] + spin[2]
    if has_changed:
        kinematics.velocities(m, v, w)


@kernel
def _tree_tensor(m, w, root, centre):
    """Tensor of a tree, frozen, about its centre of mass."""
    xx, xy, xz, yy, yz, zz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(root, m.body.shape[0]):
        if m.body[i].root == root:
            mass, J = m.body[i].mass, load6(w.body[i].tensor)
            d = sub(load3(w.body[i].centre), centre)
            s = dot(d, d)
            xx += J[0] + mass * (s - d[0] * d[0])
            xy += J[1] - mass * d[0] * d[1]
            xz += J[2] - mass * d[0] * d[2]
            yy += J[3] + mass * (s - d[1] * d[1])
            yz += J[4] - mass * d[1] * d[2]
            zz += J[5] + mass * (s - d[2] * d[2])
    return (xx, xy, xz, yy, yz, zz)
