"""What turns keeps its energy over a step.

    J (ω⁺ − ω) = h N − h ω̄ × J ω̄,   ω̄ = ½ (ω + ω⁺)                                                          (1)
instead of −h ω × J ω, whose error h² (ω × J ω)·J⁻¹(ω × J ω)/2 is energy gained: a slender thing that lies on the ground and
spins would spin ever faster. Multiplied by ω̄, (1) says that T changes by the work of N alone; and turning the body by
h ω⁺ does not change ω⁺ᵀ J ω⁺ either, as it is a turn about ω⁺ itself. J: tensor about the centre of mass, in the world's
axes. Of a body that floats by itself (1) is solved by Newton's method; the velocity of its centre of mass stays.

Trees that turn fast take all of their velocity products at the middle of the step, by two passes of

    v⁺ ← v + h a(q, ½ (v + v⁺)),                                                                                (2)
which turn an oscillation e^{iz} of the explicit step into one of size √(1 − z⁴/4): none grows.

A body that flies keeps its spin L, and so its orientation alone says how fast it turns: it is turned by h ω̄, of second
order, or else it would soon turn about its shortest axis. (The base of a tree may be thrown about by its joints, and turns
with them.) And where a body is turned otherwise than by h ω⁺, to leave an overlap,
its ω⁺ turns with it: what was put elsewhere has the energy it had.
"""

from math import cos, sin, sqrt

from tabi._jit import kernel
from tabi.dynamics import forward, kinematics
from tabi.model.arrays import FLOATING, SPHERICAL
from tabi.spatial.vector import add, angular, cross, dot, load3, load6, load9, mul, mul_t, scale, sub, sym_mul

NEWTON, PASSES = 6, 2
# turn in a step [rad] below which a body, and a tree, gains nothing in the life of a simulation
STILL, SLOW = 1e-6, 5e-3


@kernel(inline=True)
def _alone(m, i):
    """Whether body i floats by itself."""
    return m.body[i].kind == FLOATING and m.body[i].parent == 0 and (i + 1 == m.body.shape[0] or m.body[i + 1].root != i)


@kernel
def keep_energy(m, h, w, free):
    """Velocities after a step without contacts, ``free``, by (1) where a body floats by itself; w: kinematics before the step."""
    for i in range(1, m.body.shape[0]):
        if not _alone(m, i):
            continue
        body, row, k = m.body[i], w.body[i], m.body[i].v_start
        omega = angular(load6(row.velocity))
        if h * h * dot(omega, omega) < STILL * STILL or w.dof[k].added != 0.0 or w.dof[k].fixed != 0:
            continue
        R, c = load9(body.rotation), load3(row.centre)
        explicit = mul(R, (free[k + 3], free[k + 4], free[k + 5]))
        more = sub(spin(load6(row.tensor), omega, explicit, h), explicit)
        spins, push = mul_t(R, more), mul_t(R, cross(c, more))
        free[k], free[k + 1], free[k + 2] = free[k] + push[0], free[k + 1] + push[1], free[k + 2] + push[2]
        free[k + 3], free[k + 4], free[k + 5] = free[k + 3] + spins[0], free[k + 4] + spins[1], free[k + 5] + spins[2]


@kernel
def fast(m, h, w):
    """Whether a tree turns so fast that it needs (2)."""
    for i in range(1, m.body.shape[0]):
        omega = angular(load6(w.body[i].velocity))
        if h * h * dot(omega, omega) > SLOW * SLOW and not _alone(m, i):
            return True
    return False


@kernel
def settle(m, v, h, load, w, a, free):
    """Velocities of the trees in ``free`` by (2); w.load is the joint forces, and their copy ``load``."""
    for _ in range(PASSES):
        for k in range(v.shape[0]):
            w.middle[k], w.load[k] = 0.5 * (v[k] + free[k]), load[k]
        kinematics.velocities(m, w.middle, w)
        forward.accelerations(m, w.load, w, a)
        for i in range(1, m.body.shape[0]):
            if not _alone(m, i):
                for k in range(m.body[i].v_start, m.body[i].v_end):
                    if w.dof[k].fixed == 0:
                        free[k] = v[k] + h * a[k]
    kinematics.velocities(m, v, w)


@kernel
def turn_flying(m, v, free, w, change):
    """Of bodies that float by themselves and nothing holds, the mean of the angular velocities before and after the step, into ``change``."""
    for i in range(1, m.body.shape[0]):
        if w.body[i].held == 0 and _alone(m, i):
            for k in range(m.body[i].v_start + 3, m.body[i].v_end):
                if m.dof[k].prescribed == 0:
                    change[k] = 0.5 * (v[k] + free[k])


@kernel
def carry(m, v, change, h):
    """ω⁺ in v, turned by h ω of ``change``, for floating bodies and ball joints."""
    for i in range(1, m.body.shape[0]):
        if m.body[i].kind in (FLOATING, SPHERICAL):
            k = m.body[i].v_end - 3
            turn, omega = (h * change[k], h * change[k + 1], h * change[k + 2]), (v[k], v[k + 1], v[k + 2])
            angle = sqrt(dot(turn, turn))
            if angle > 0.0:
                axis = scale(1.0 / angle, turn)
                along = scale((1.0 - cos(angle)) * dot(axis, omega), axis)
                omega = add(add(scale(cos(angle), omega), scale(sin(angle), cross(axis, omega))), along)
                v[k], v[k + 1], v[k + 2] = omega[0], omega[1], omega[2]


@kernel
def spin(J, omega, explicit, h):
    """ω⁺ of (1), from ω and the value that −h ω × J ω gives."""
    y = explicit
    known = scale(h, cross(omega, sym_mul(J, omega)))
    xx, yy, zz = (J[0], J[1], J[2]), (J[1], J[3], J[4]), (J[2], J[4], J[5])
    for _ in range(NEWTON):
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
