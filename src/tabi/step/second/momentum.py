"""Momentum of single floating bodies over the second stage.

Their velocity v is that of their origin, the centre of mass is c away, and (1) of ``stage`` says

    Δv + Δω × c_m + h ω_m × (ω_m × c_m) = h g + Σ λ / m                                         (1)
where the momentum changes by the right-hand side times m only if the left one is the change of
v + ω × c. The difference, of third order,

    κ(ω⁺) = Δω × c_m + h ω_m × (ω_m × c_m) − (ω⁺ × c⁺ − ω × c)                                  (2)
is added to the free motion, as predicted by the first stage, so that contacts take it into account;
the remainder is added at the end.
"""

from tabi.dynamics import gyroscopic
from tabi.jit import kernel
from tabi.spatial.vector import add, cross, load3, load9, mul, mul_t, scale, store3, sub
from tabi.step.corrections import FREE


@kernel(inline=True)
def _needs_correction(m, w, i):
    """Whether body i needs (2): it is loaded, and its centre of mass is not its origin."""
    if not gyroscopic.floats_alone(m, i) or w.body[i].acted_on == FREE:
        return False
    k, c = m.body[i].v_start, load3(m.body[i].centre)
    return (c[0] != 0.0 or c[1] != 0.0 or c[2] != 0.0) and gyroscopic.unmoved(m, w, k)


@kernel(inline=True)
def _angular_velocity(m, v, i):
    """Return ω of a floating body, in the world's axes [rad/s]."""
    k = m.body[i].v_start + 3
    return mul(load9(m.body[i].rotation), (v[k], v[k + 1], v[k + 2]))


@kernel(inline=True)
def store_centres(m, s, out):
    """Store the centres of mass at the configuration of the workspace."""
    for i in range(1, m.body.shape[0]):
        store3(out[3 * i :], load3(s.dynamics.body[i].centre))


@kernel(inline=True)
def _missing_velocity(m, s, h, i, before, v, end):
    """Return κ of (2) for the final velocities v, with the final centre of mass ``end``."""
    second, w, w_end = s.second, _angular_velocity(m, before, i), _angular_velocity(m, v, i)
    c, middle, turn = load3(second.centre[3 * i :]), load3(second.centre_m[3 * i :]), second.v_mean
    w_m = _angular_velocity(m, turn, i)
    change = add(cross(sub(w_end, w), middle), scale(h, cross(w_m, cross(w_m, middle))))
    return add(change, sub(cross(w, c), cross(w_end, end)))


@kernel(inline=True)
def add_predicted(m, d, s, h):
    """Store κ for v₁ at q_e in s.second.lacking, and add it to v_free."""
    second = s.second
    for i in range(1, m.body.shape[0]):
        if _needs_correction(m, s.dynamics, i):
            lacking = _missing_velocity(
                m, s, h, i, d.v, second.v_first, load3(second.centre_end[3 * i :])
            )
            store3(second.lacking[3 * i :], lacking)
            _add_velocity(m, i, lacking, s.v_free)


@kernel(inline=True)
def add_remainder(m, d, s, h):
    """Add the remainder of κ to d.v, with the kinematics of the end."""
    second, w, before = s.second, s.dynamics, d.outcome.v_before
    for i in range(1, m.body.shape[0]):
        if _needs_correction(m, w, i):
            lacking = _missing_velocity(m, s, h, i, before, d.v, load3(w.body[i].centre))
            _add_velocity(m, i, sub(lacking, load3(second.lacking[3 * i :])), d.v)


@kernel(inline=True)
def _add_velocity(m, i, by, v):
    """Add a velocity to the origin of a floating body."""
    k, push = m.body[i].v_start, mul_t(load9(m.body[i].rotation), by)
    v[k], v[k + 1], v[k + 2] = v[k] + push[0], v[k + 1] + push[1], v[k + 2] + push[2]
