"""Momentum of bodies that float by themselves, over the second stage.

Their velocity v is that of their origin, the centre of mass is c away, and (1) of ``stage`` says

    Δv + Δω × c_m + h ω_m × (ω_m × c_m) = h g + Σ λ / m                                         (1)
where the momentum gains the right-hand side times m only if the left one is the change of
v + ω × c. What it lacks, of third order,

    κ(ω⁺) = Δω × c_m + h ω_m × (ω_m × c_m) − (ω⁺ × c⁺ − ω × c)                                  (2)
is added to the free motion, as the first stage foresees it, so that contacts see it; and what they
change of it in the end.
"""

from tabi.dynamics import gyroscopic
from tabi.jit import kernel
from tabi.spatial.vector import add, cross, load3, load9, mul, mul_t, scale, store3, sub
from tabi.step.corrections import FREE


@kernel(inline=True)
def _concerned(m, w, i):
    """Whether (2) is asked of body i: something acts on it, and its centre is not its origin."""
    if not gyroscopic.floats_alone(m, i) or w.body[i].acted_on == FREE:
        return False
    k, c = m.body[i].v_start, load3(m.body[i].centre)
    return (c[0] != 0.0 or c[1] != 0.0 or c[2] != 0.0) and gyroscopic.unmoved(m, w, k)


@kernel(inline=True)
def _turning(m, v, i):
    """ω of a floating body, in the world's axes."""
    k = m.body[i].v_start + 3
    return mul(load9(m.body[i].rotation), (v[k], v[k + 1], v[k + 2]))


@kernel(inline=True)
def keep_centres(m, s, out):
    """Centres of mass where the workspace is now."""
    for i in range(1, m.body.shape[0]):
        store3(out[3 * i :], load3(s.dynamics.body[i].centre))


@kernel(inline=True)
def _lacks(m, s, h, i, before, v, end):
    """κ of (2) for the velocities v of the end, where the centre is ``end`` then."""
    own, w, w_end = s.second, _turning(m, before, i), _turning(m, v, i)
    c, middle, turn = load3(own.centre[3 * i :]), load3(own.centre_m[3 * i :]), own.v_mean
    w_m = _turning(m, turn, i)
    known = add(cross(sub(w_end, w), middle), scale(h, cross(w_m, cross(w_m, middle))))
    return add(known, sub(cross(w, c), cross(w_end, end)))


@kernel(inline=True)
def foresee(m, d, s, h):
    """κ for v₁ at q_e into s.second.lacking, and into v_free."""
    own = s.second
    for i in range(1, m.body.shape[0]):
        if _concerned(m, s.dynamics, i):
            more = _lacks(m, s, h, i, d.v, own.v_first, load3(own.centre_end[3 * i :]))
            store3(own.lacking[3 * i :], more)
            _push(m, i, more, s.v_free)


@kernel(inline=True)
def complete(m, d, s, h):
    """What is left of κ into d.v, with the kinematics of the end."""
    own, w, before = s.second, s.dynamics, d.outcome.v_before
    for i in range(1, m.body.shape[0]):
        if _concerned(m, w, i):
            more = _lacks(m, s, h, i, before, d.v, load3(w.body[i].centre))
            _push(m, i, sub(more, load3(own.lacking[3 * i :])), d.v)


@kernel(inline=True)
def _push(m, i, by, v):
    """Add to the velocity of the origin of a floating body."""
    k, push = m.body[i].v_start, mul_t(load9(m.body[i].rotation), by)
    v[k], v[k + 1], v[k + 2] = v[k] + push[0], v[k + 1] + push[1], v[k + 2] + push[2]
