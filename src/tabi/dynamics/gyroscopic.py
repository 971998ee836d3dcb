"""Rotating bodies keep their energy over a step.

    J (ω⁺ − ω) = h N − h ω̄ × J ω̄,   ω̄ = ½ (ω + ω⁺)                                             (1)
instead of −h ω × J ω, whose error h² (ω × J ω)·J⁻¹(ω × J ω)/2 is energy gained: a slender thing
that lies on the ground and spins would spin ever faster. Multiplied by ω̄, (1) says that T changes
by the work of N alone; and turning the body by h ω⁺ does not change ω⁺ᵀ J ω⁺ either, as it is a
turn about ω⁺ itself. J: tensor about the centre of mass, in the world's axes. Of a body that floats
by itself (1) is solved by Newton's method; the velocity of its centre of mass stays.

Trees that turn fast take all of their velocity products at the middle of the step, by two passes of

    v⁺ ← v + h a(q, ½ (v + v⁺)),                                                               (2)
which turn an oscillation e^{iz} of the explicit step into one of size √(1 − z⁴/4): none grows.
Where a velocity changes by more than 0.1/h, as that of a joint that a wrong guess takes to its end
within the step, (2) would feed on its own products: the step stays explicit.

A body that flies keeps its spin L, and so its orientation alone says how fast it turns: it is
turned by h ω̄, of second order, or else it would soon turn about its shortest axis.
(The base of a tree may be thrown about by its joints, and turns with them.) And where a body is
turned otherwise than by h ω⁺, to leave an overlap, its ω⁺ turns with it: what was put elsewhere has
the energy it had.

The velocity of a body that floats by itself is that of its origin; its momentum is in its centre of
mass, c away. Explicit products would foresee how ω × c turns within the step, with the ω before an
impact, and not the one after. So they are left out, the centre goes straight by h v_c⁺, and the
origin is put where, and made as fast as, that says:

    v_c⁺ − v_c = h a_c + impulses / m,   p⁺ = p + c − c⁺ + h v_c⁺,   v⁺ = v_c⁺ − ω⁺ × c⁺       (3)
"""

from math import cos, sin, sqrt

import numpy as np

from tabi.dynamics import forward, kinematics
from tabi.jit import kernel
from tabi.model.arrays import FLOATING, PRISMATIC, SPHERICAL, ModelArrays
from tabi.spatial.vector import (
    add,
    angular,
    cross,
    dot,
    load3,
    load6,
    load9,
    mul,
    mul_t,
    scale,
    sub,
    sym_mul,
)

NEWTON_STEPS, PASSES = 6, 2
# turn in a step [rad] below which a body, and a tree, gains nothing in the life of a simulation
MIN_BODY_TURN_RAD, MIN_TREE_TURN_RAD = 1e-6, 5e-3
# change of a velocity, times the step [rad], beyond which (2) is left out
MAX_TURN_CHANGE_RAD = 0.1


def loose(m: ModelArrays) -> int:
    """Return how many bodies float by themselves."""
    carries = np.isin(np.arange(len(m.body)), m.body["parent"])
    return int(((m.body["kind"] == FLOATING) & (m.body["parent"] == 0) & ~carries)[1:].sum())


@kernel(inline=True)
def floats_alone(m, i):
    """Whether body i floats by itself."""
    return (
        m.body[i].kind == FLOATING
        and m.body[i].parent == 0
        and (i + 1 == m.body.shape[0] or m.body[i + 1].root != i)
    )


@kernel(inline=True)
def unmoved(m, w, k):
    """Whether no damper, motor or prescribed motion acts on a floating body directly;
    k: its first degree of freedom.
    """
    return m.dof[k].prescribed == 0 and w.dof[k].added == 0.0 and w.dof[k].fixed == 0


@kernel(apart="none", rare=True)
def keep_energy(m, h, w, free):
    """Velocities after a step without contacts, ``free``, by (1) where a body floats by itself;
    w: kinematics before the step.
    """
    for i in range(1, m.body.shape[0]):
        if not (floats_alone(m, i) and unmoved(m, w, m.body[i].v_start)):
            continue
        body, row, k = m.body[i], w.body[i], m.body[i].v_start
        omega = angular(load6(row.velocity))
        if h * h * dot(omega, omega) < MIN_BODY_TURN_RAD * MIN_BODY_TURN_RAD:
            continue
        R, c = load9(body.rotation), load3(row.centre)
        explicit = mul(R, (free[k + 3], free[k + 4], free[k + 5]))
        correction = sub(spin(load6(row.tensor), omega, explicit, h), explicit)
        spins = mul_t(R, correction)
        push = mul_t(R, add(cross(c, correction), scale(h, cross(omega, cross(omega, c)))))
        free[k] = free[k] + push[0]
        free[k + 1] = free[k + 1] + push[1]
        free[k + 2] = free[k + 2] + push[2]
        free[k + 3] = free[k + 3] + spins[0]
        free[k + 4] = free[k + 4] + spins[1]
        free[k + 5] = free[k + 5] + spins[2]


@kernel
def fast(m, h, w):
    """Whether a tree turns so fast that it needs (2)."""
    for i in range(1, m.body.shape[0]):
        omega = angular(load6(w.body[i].velocity))
        fast = h * h * dot(omega, omega) > MIN_TREE_TURN_RAD * MIN_TREE_TURN_RAD
        if fast and not floats_alone(m, i):
            return True
    return False


@kernel(apart="none", rare=True)
def settle(m, v, h, load, w, a, again, free):
    """Velocities of the trees in ``free`` by (2);
    w.load is the joint forces, and their copy ``load``.

    Repeated (``again``) with other forces, the middle velocity stays as it was, so that the result
    is linear in the forces.
    """
    for _ in range(1 if again else PASSES):
        half = 0.0 if _jumps(m, v, free, h) else 0.5
        for k in range(v.shape[0]):
            w.load[k] = load[k]
            if not again:
                w.middle[k] = v[k] + half * (free[k] - v[k])
        kinematics.velocities(m, w.middle, w)
        forward.accelerations(m, w.load, w, a)
        for i in range(1, m.body.shape[0]):
            if not floats_alone(m, i):
                for k in range(m.body[i].v_start, m.body[i].v_end):
                    if w.dof[k].fixed == 0:
                        free[k] = v[k] + h * a[k]
    kinematics.velocities(m, v, w)


@kernel(inline=True)
def _jumps(m, v, free, h):
    """Whether a joint or a base turns by more than JUMP otherwise in a step than before."""
    for i in range(1, m.body.shape[0]):
        body = m.body[i]
        if body.kind == PRISMATIC or floats_alone(m, i):
            continue
        for k in range(body.v_start + (3 if body.kind == FLOATING else 0), body.v_end):
            # a NaN jumps
            if not abs(free[k] - v[k]) * h <= MAX_TURN_CHANGE_RAD:
                return True
    return False


@kernel(apart="none", rare=True)
def turn(m, v, free, w, h, deep, change):
    """Compute the velocities of bodies over a step: ``change`` is the one that configurations
    follow, ``free`` the one at the end.

    Args:
        v, w: velocities and kinematics before the step.
        deep: whether change is other than free, to leave overlaps.
    """
    for i in range(1, m.body.shape[0]):
        if m.body[i].kind not in (FLOATING, SPHERICAL):
            continue
        k = m.body[i].v_end - 3
        before = (v[k], v[k + 1], v[k + 2])
        after = (free[k], free[k + 1], free[k + 2])
        velocity = (change[k], change[k + 1], change[k + 2])
        ends, alone = after, floats_alone(m, i) and unmoved(m, w, m.body[i].v_start)
        if deep:
            ends = _rotated(after, scale(h, velocity))
            free[k], free[k + 1], free[k + 2] = ends[0], ends[1], ends[2]
        if alone and w.body[i].acted_on == 0:
            velocity = scale(0.5, add(before, after))
            change[k], change[k + 1], change[k + 2] = velocity[0], velocity[1], velocity[2]
        if alone:
            # (3), in the axes of the joint
            b, c = k - 3, mul_t(load9(m.body[i].rotation), load3(w.body[i].centre))
            new = _rotated(c, scale(h, velocity))
            moves = add(
                (change[b], change[b + 1], change[b + 2]),
                add(cross(velocity, c), scale(1.0 / h, sub(c, new))),
            )
            fast = sub(add((free[b], free[b + 1], free[b + 2]), cross(after, c)), cross(ends, new))
            change[b], change[b + 1], change[b + 2] = moves[0], moves[1], moves[2]
            free[b], free[b + 1], free[b + 2] = fast[0], fast[1], fast[2]


@kernel
def _rotated(x, by):
    """A vector turned by a rotation vector [rad]."""
    angle = sqrt(dot(by, by))
    if angle == 0.0:
        return x
    axis = scale(1.0 / angle, by)
    return add(
        add(scale(cos(angle), x), scale(sin(angle), cross(axis, x))),
        scale((1.0 - cos(angle)) * dot(axis, x), axis),
    )


@kernel
def spin(J, omega, explicit, h):
    """ω⁺ of (1), from ω and the value that −h ω × J ω gives."""
    y = explicit
    known = scale(h, cross(omega, sym_mul(J, omega)))
    xx, yy, zz = (J[0], J[1], J[2]), (J[1], J[3], J[4]), (J[2], J[4], J[5])
    for _ in range(NEWTON_STEPS):
        mean = scale(0.5, add(omega, y))
        L = sym_mul(J, mean)
        error = add(sub(sym_mul(J, sub(y, explicit)), known), scale(h, cross(mean, L)))
        if dot(error, error) <= 1e-30 * dot(L, L):
            break
        # columns of the derivative, J e + h/2 (e × J ω̄ + ω̄ × J e), and Cramer's rule
        a = add(xx, scale(0.5 * h, add(cross((1.0, 0.0, 0.0), L), cross(mean, xx))))
        b = add(yy, scale(0.5 * h, add(cross((0.0, 1.0, 0.0), L), cross(mean, yy))))
        c = add(zz, scale(0.5 * h, add(cross((0.0, 0.0, 1.0), L), cross(mean, zz))))
        bc = cross(b, c)
        f = 1.0 / dot(a, bc)
        y = sub(y, scale(f, (dot(error, bc), dot(a, cross(error, c)), dot(a, cross(b, error)))))
    return y
