"""Friction against turning: the moments of a contact, beside its force, and friction that grows with speed.

A surface that presses with λ_n resists turning about the normal by a moment up to τ λ_n, and rolling by one up to ρ λ_n:

    ‖(m_x/ρ, m_y/ρ, m_n/τ)‖ ≤ λ_n,   against the turning, with the most dissipation                              (1)
τ, ρ [m]: torsional and rolling friction. With the rows of the contact's frame scaled by ρ, ρ and τ the three rows about
rotations have velocities in m/s and impulses λ′ in N·s, and (1) is a ball, ‖λ′‖ ≤ R with R = λ_n: ``cone.LIMITED``. They
stand behind the contacts as points of their own. With viscous friction the coefficient follows the speed,

    μ = μ_d + κ ‖u_t‖,   κ [s/m]                                                                                 (2)
and the group is solved again until its impulses obey the law with the μ that their own speeds make, within the tolerance.

References: Chardonnet (2012), sec. 7, who names them as work to come.
"""

from tabi._jit import kernel
from tabi.contact.bodies import MOMENT
from tabi.contact.certificate import defect
from tabi.contact.cone import LIMITED
from tabi.spatial.vector import load3, load6, load9, mul, store9, sub

# shapes of points that are moments of contacts count from here on, those of bonds further out
MOMENTS = 1 << 39


@kernel(inline=True)
def add_points(scene, s, count):
    """Behind the ``count`` contacts one point for each whose surfaces resist turning; returns how many there are then, also if too many."""
    total = count
    if scene.surfaces[0] == 0:
        return total
    for e in range(count):
        p = s.points[e]
        pair = scene.pair[scene.shapes.shape[p.shape_a].material, scene.shapes.shape[p.shape_b].material]
        if pair.torsional_friction > 0.0 or pair.rolling_friction > 0.0:
            if total < s.points.shape[0]:
                row = s.points[total]
                row.a, row.b, row.shape_a, row.shape_b, row.feature, row.gap = p.a, p.b, MOMENTS + p.shape_a, p.shape_b, p.feature, 0.0
                s.partner[total] = e
            total += 1
    return total


@kernel(inline=True)
def fill(scene, e, base, first, s, x):
    """Rows (1) of the point e at the place x of the problem; those of its contact are there already.

    Args:
        base, first: where the bodies and the places of its group begin.
    """
    p, w, i = s.problem, s.dynamics, 3 * x
    contact, point, row = s.points[s.partner[e]], s.points[e], p.contact[x]
    pair = scene.pair[scene.shapes.shape[contact.shape_a].material, scene.shapes.shape[contact.shape_b].material]
    E = load9(p.contact[s.place[s.partner[e]]].frame)
    roll, turn = pair.rolling_friction, pair.torsional_friction
    E = (roll * E[0], roll * E[1], roll * E[2], roll * E[3], roll * E[4], roll * E[5], turn * E[6], turn * E[7], turn * E[8])
    store9(row.frame, E)
    row.turns = MOMENT + s.place[s.partner[e]] - first
    row.a, row.b = s.number[point.a] - base, s.number[point.b] - base if point.b > 0 else -1
    V, U = load6(w.body[point.a].velocity), load6(w.body[point.b].velocity)
    u = mul(E, sub((V[0], V[1], V[2]), (U[0], U[1], U[2])))
    s.shift[i], s.shift[i + 1], s.shift[i + 2] = 0.0, 0.0, 0.0
    p.q[i], p.q[i + 1], p.q[i + 2], p.mu[x] = u[0], u[1], u[2], LIMITED


@kernel(inline=True)
def recall(s, x, found, impulse):
    """Warm start of a moment, from its last one in the world's axes."""
    i, E = 3 * x, load9(s.problem.contact[x].frame)
    s.impulse[i], s.impulse[i + 1], s.impulse[i + 2] = 0.0, 0.0, 0.0
    if found:
        m = load3(impulse)
        s.impulse[i], s.impulse[i + 1], s.impulse[i + 2] = _part(E[0], E[1], E[2], m), _part(E[3], E[4], E[5], m), _part(E[6], E[7], E[8], m)


@kernel(inline=True)
def _part(x, y, z, m):
    """How much of a moment is along a row."""
    size = x * x + y * y + z * z
    return (x * m[0] + y * m[1] + z * m[2]) / size if size > 0.0 else 0.0


@kernel(inline=True)
def thicken(pair, s, x, slip, part):
    """Let the coefficient of a sliding contact come nearer to (2), by a part of the way; returns how far its friction is from the law [m/s]."""
    p, i, right = s.problem, 3 * x, pair.friction + pair.viscous_friction * slip
    error = defect(right, p.weight[x], (s.u[i], s.u[i + 1], s.u[i + 2]), (s.impulse[i], s.impulse[i + 1], s.impulse[i + 2])) / p.weight[x]
    p.mu[x] += part * (right - p.mu[x])
    return error
