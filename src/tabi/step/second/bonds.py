"""Bonds of the second stage: rows of ``rows.bonds`` at the middle of the step.

    u = E_m J_m v⁺ + δ,   δ = E_e u_e(v₁) − E_m J_m v₁                                           (1)
as for contacts (``middle``), in the axes that each row has there and at the end: a hinge holds
about its final axis. The gap of a bond is that of the beginning of the step: half-way through a
rotation it is open by as much as the other half closes.
"""

from tabi.jit import kernel
from tabi.spatial.vector import add as plus
from tabi.spatial.vector import load3, load6, load9, matmul, mul, mul_t, scale, store3, sub
from tabi.step.parts import no_revision as revise
from tabi.step.rows import bonds
from tabi.step.rows.bonds import add, angular_part, memory, point_velocity, warm_start, withhold

__all__ = ["add", "fill", "measure", "memory", "revise", "warm_start", "withhold"]


@kernel(apart="none", rare=True)
def fill(part_memory, t, d, e, s, x, group, h):
    """Fill the rows of one bond; needs kinematics of the middle of the step."""
    bonds.fill(part_memory, t, d, e, s, x, group, h)
    for i in range(3 * x, 3 * x + 3):
        drift = s.second.drift[3 * e + i - 3 * x]
        s.problem.q[i] += drift - s.shift[i]
        s.shift[i], s.bonds.offset[i] = drift, s.second.open[i]


@kernel(apart="none", rare=True)
def measure(part_memory, t, s, e, sign):
    """Add the velocity of the rows of one bond to δ, with a sign; for the twists in the
    workspace.
    """
    m, w, bond, drift = t.model, s.dynamics, part_memory[s.source[e]], s.second.drift[3 * e :]
    a, b = bond.a, bond.b
    R_A, R_B = load9(w.body[a].rotation), load9(w.body[b].rotation)
    V_A, V_B = load6(w.body[a].velocity), load6(w.body[b].velocity)
    if s.points[e].feature == 0:
        o_A, o_B = load3(w.body[m.body[a].root].origin), load3(w.body[m.body[b].root].origin)
        r = plus(plus(load3(w.body[a].position), mul(R_A, load3(bond.place_a))), o_A)
        o = plus(plus(load3(w.body[b].position), mul(R_B, load3(bond.place_b))), o_B)
        x = scale(0.5, plus(r, o))
        u = sub(point_velocity(V_A, sub(x, o_A)), point_velocity(V_B, sub(x, o_B)))
    else:
        u = mul_t(matmul(R_B, load9(bond.frame_b)), sub(angular_part(V_A), angular_part(V_B)))
    store3(drift, plus(load3(drift), scale(sign, u)))
