"""Torsional and rolling friction: the moments of a contact, beside its force.

A surface that presses with λ_n resists turning about the normal by a moment up to τ λ_n, and
rolling by one up to ρ λ_n:

    ‖(m_x/ρ, m_y/ρ, m_n/τ)‖ ≤ λ_n,   against the turning, with the most dissipation             (1)
τ, ρ [m]: torsional and rolling friction. With the rows of the contact's frame scaled by ρ, ρ and τ
the three angular rows have velocities in m/s and impulses λ′ in N·s, and (1) is a ball, ‖λ′‖ ≤ R
with R = λ_n: LIMITED rows with the contact as their partner. They stand behind the contacts.

References: Chardonnet (2012), sec. 7, as future work.
"""

from tabi.contact.rows import LIMITED
from tabi.jit import kernel
from tabi.spatial.vector import load3, load6, load9, mul, store9, sub
from tabi.step.parts import no_revision as revise
from tabi.step.parts import withhold_none as withhold
from tabi.step.rows.contacts import PAD, pair_of

__all__ = ["add", "fill", "revise", "warm_start", "withhold"]


@kernel(inline=True)
def add(part_memory, t, d, count, s, h):
    """Add a point for each contact with torsional or rolling friction."""
    total = count
    if t.surfaces[0] == 0:
        return total
    for e in range(count):
        p, pair = s.points[e], pair_of(t, s.points[e])
        # a pad bears moments by its nodes
        if s.soft[e] == PAD:
            continue
        if pair.torsional_friction > 0.0 or pair.rolling_friction > 0.0:
            if total < s.points.shape[0]:
                row = s.points[total]
                row.a, row.b, row.gap = p.a, p.b, 0.0
                row.shape_a, row.shape_b, row.feature = p.shape_a, p.shape_b, p.feature
                s.source[total] = e
            total += 1
    return total


@kernel(apart="none", rare=True)
def fill(part_memory, t, d, e, s, x, group, h):
    """Fill rows (1), after those of the contact."""
    p, w, i, base = s.problem, s.dynamics, 3 * x, s.first[group]
    contact, point, row = s.source[e], s.points[e], p.contact[x]
    pair = pair_of(t, s.points[contact])
    E = load9(p.contact[s.place[contact]].frame)
    roll, turn = pair.rolling_friction, pair.torsional_friction
    E = (
        roll * E[0], roll * E[1], roll * E[2],
        roll * E[3], roll * E[4], roll * E[5],
        turn * E[6], turn * E[7], turn * E[8],
    )  # fmt: skip
    store9(row.frame, E)
    row.angular, row.partner = 1, s.place[contact] - s.groups.start[group]
    row.a, row.b = s.number[point.a] - base, s.number[point.b] - base if point.b > 0 else -1
    V, U = load6(w.body[point.a].velocity), load6(w.body[point.b].velocity)
    u = mul(E, sub((V[0], V[1], V[2]), (U[0], U[1], U[2])))
    s.shift[i], s.shift[i + 1], s.shift[i + 2] = 0.0, 0.0, 0.0
    p.q[i], p.q[i + 1], p.q[i + 2] = u[0], u[1], u[2]
    p.kind[x], p.mu[x], p.bound[x] = LIMITED, 0.0, 0.0


@kernel(apart="none", rare=True)
def warm_start(part_memory, t, d, e, s, x, previous):
    """Start with the last step's moment, by its parts along the scaled rows."""
    i, E = 3 * x, load9(s.problem.contact[x].frame)
    s.impulse[i], s.impulse[i + 1], s.impulse[i + 2] = 0.0, 0.0, 0.0
    if previous >= 0:
        m = load3(d.memory.contact[previous].impulse)
        s.impulse[i] = _part(E[0], E[1], E[2], m)
        s.impulse[i + 1] = _part(E[3], E[4], E[5], m)
        s.impulse[i + 2] = _part(E[6], E[7], E[8], m)


@kernel(inline=True)
def _part(x, y, z, m):
    """Return the coefficient of a moment along a scaled row."""
    size = x * x + y * y + z * z
    return (x * m[0] + y * m[1] + z * m[2]) / size if size > 0.0 else 0.0
