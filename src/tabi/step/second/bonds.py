"""Bonds of the second stage: rows of ``rows.bonds`` at the middle of the step.

    u = E_m J_m v⁺ + δ,   δ = E_e u_e(v₁) − E_m J_m v₁                                           (1)
as contacts have it (``middle``), in the axes that each row has there and in the end: what holds in
the end is the hinge as it stands then. How far bonds are open is what it was when the step began:
half-way through a turn they are open by what the other half closes.
"""

from tabi.jit import kernel
from tabi.spatial.vector import add as plus
from tabi.spatial.vector import load3, load6, load9, matmul, mul, mul_t, scale, store3, sub
from tabi.step.parts import unchanged as revise
from tabi.step.rows import bonds
from tabi.step.rows.bonds import add, memory, speed, turn, warm_start, withhold

__all__ = ["add", "fill", "measure", "memory", "revise", "warm_start", "withhold"]


@kernel(apart="none", rare=True)
def fill(own, t, d, e, s, x, group, h):
    """The rows of one bond; needs kinematics of the middle of the step."""
    bonds.fill(own, t, d, e, s, x, group, h)
    for i in range(3 * x, 3 * x + 3):
        drift = s.second.drift[3 * e + i - 3 * x]
        s.problem.q[i] += drift - s.shift[i]
        s.shift[i], s.bonds.offset[i] = drift, s.second.open[i]


@kernel(apart="none", rare=True)
def measure(own, t, s, e, sign):
    """Add the velocity of the rows of one bond to δ, with a sign; for the twists in the
    workspace.
    """
    m, w, bond, more = t.model, s.dynamics, own[s.source[e]], s.second.drift[3 * e :]
    a, b = bond.a, bond.b
    R_A, R_B = load9(w.body[a].rotation), load9(w.body[b].rotation)
    V_A, V_B = load6(w.body[a].velocity), load6(w.body[b].velocity)
    if s.points[e].feature == 0:
        o_A, o_B = load3(w.body[m.body[a].root].origin), load3(w.body[m.body[b].root].origin)
        r = plus(plus(load3(w.body[a].position), mul(R_A, load3(bond.place_a))), o_A)
        o = plus(plus(load3(w.body[b].position), mul(R_B, load3(bond.place_b))), o_B)
        x = scale(0.5, plus(r, o))
        u = sub(speed(V_A, sub(x, o_A)), speed(V_B, sub(x, o_B)))
    else:
        u = mul_t(matmul(R_B, load9(bond.frame_b)), sub(turn(V_A), turn(V_B)))
    store3(more, plus(load3(more), scale(sign, u)))
