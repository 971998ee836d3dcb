"""Contacts of the second stage: rows at the middle of the step, velocities in its end.

    q = E (J_m v_free + δ) + (σ, g/h),   or where surfaces slide   q = … + E u⁻                  (1)
δ: of (2) of ``middle``; g: gap in the end, if it does not change any more then, and twice that for
what did not press; σ: of surfaces that run over their bodies. What sticks or rolls has to be still
in the end. What slides has a friction that turns with the sliding: its mean over the step is
against the mean ½ (u⁻ + u⁺) of the velocities before and after, so the row has twice this mean. W
stays symmetric, and the certificate is of these rows. Where friction grows with the speed it is
that of the end, of first order.
"""

from math import sqrt

from tabi.contact.rows import CONTACT
from tabi.jit import kernel
from tabi.spatial.vector import add as plus
from tabi.spatial.vector import dot, load3, load9, mul, store3
from tabi.step.parts import keep_all as withhold
from tabi.step.rows.contacts import (
    add,
    pair_of,
    place_row,
    revise,
)
from tabi.step.second.middle import turned

__all__ = ["add", "fill", "revise", "store_velocities", "warm_start", "withhold"]

# of how far things fall in a step: how much deeper points may overlap that roll, or that land
ROLLED, LANDED, ROLLS_ON = 10.0, 0.02, 0.25
# of how much faster things fall after a step: how fast a point that presses may still close
SETTLED = 0.2
# of that too: how fast overlaps are left; the least acceleration that things fall with [m/s²]
GENTLE, LEAST = 0.5, 1.0


@kernel(inline=True)
def fill(own, t, d, e, s, x, group, h):
    """Equation (1) and the row x; needs twists of the free motion, at the middle of the step."""
    p, i = s.problem, 3 * x
    point, more = s.points[e], s.second
    tx, ty, normal, u, runs = place_row(t, s, e, x, group)
    shift = plus(runs, load3(more.drift[3 * e :]))
    slips = shift
    if more.slid[e] != 0:
        slips = plus(shift, before(s, e))
    s.approach[e] = 0.0
    s.shift[i], s.shift[i + 1] = dot(tx, slips), dot(ty, slips)
    s.shift[i + 2] = dot(normal, shift) + parting(s, e, h, fall_within(t.model, h))
    p.q[i], p.q[i + 1] = dot(tx, u) + s.shift[i], dot(ty, u) + s.shift[i + 1]
    p.q[i + 2] = dot(normal, u) + s.shift[i + 2]
    p.kind[x], p.mu[x], p.bound[x] = CONTACT, pair_of(t, point).friction, 0.0


@kernel(inline=True)
def before(s, e):
    """Velocity with which a point begins the step, turned with its normal to the middle."""
    n, u = load3(s.second.start[e].normal), load3(s.second.before[3 * e :])
    return turned(u, n, load3(s.points[e].normal))


@kernel(inline=True)
def warm_start(own, t, d, e, s, x, found):
    """The first stage's impulse in the frame of this one, and its friction."""
    l = mul(load9(s.problem.contact[x].frame), load3(s.second.impulse[3 * e :]))
    store3(s.impulse[3 * x :], l)
    s.problem.mu[x] = s.second.mu[e]


@kernel(inline=True)
def fall_within(m, h):
    """How far things fall in a step [m], about, also where nothing falls."""
    g = load3(m.gravity)
    return h * h * max(LEAST, sqrt(dot(g, g)))


@kernel(inline=True)
def parting(s, e, h, fall):
    """The velocity that the gap of a point adds to its row [m/s]: of overlaps so little that what
    rests does not lift off by it. What did not press may close all that is left of it by half of
    its last velocity.
    """
    gap = max(s.second.gap[e], -GENTLE * fall) / h
    return gap if s.second.pressing[e] != 0 or gap < 0.0 else 2.0 * gap


@kernel(inline=True)
def hits(s, e, slow):
    """Whether a point has closed with more than ``slow`` [m/s], and has not pressed before."""
    before = load3(s.second.before[3 * e :])
    return s.second.lasting[e] == 0 and dot(load3(s.second.start[e].normal), before) < -slow


@kernel(inline=True)
def allowed(s, e, fall):
    """How much deeper a point may overlap after the step [m], ``fall`` being how far things fall in
    it: what has rolled in a step of first order has a velocity that is off by as much.
    """
    return (ROLLED if s.second.lasting[e] != 0 else LANDED) * fall


@kernel(inline=True)
def wrong(d, s, h, part, fall):
    """How many contacts do not go as rows (1) suppose: they hit something, would be left inside of
    it by more than they were and a part of ``fall`` [m], or slide the other way in the end.
    """
    more, count = s.second, 0
    for e in range(d.outcome.report[0].contacts):
        i = 3 * s.place[e]
        leaves = s.u[i + 2] - parting(s, e, h, fall)
        count += s.impulse[i + 2] > 0.0 and hits(s, e, SETTLED * fall / h)
        gap = more.gap[e] + part * h * leaves
        count += not gap >= min(0.0, s.points[e].gap) - allowed(s, e, fall)
        if more.slid[e] != 0:
            b = mul(load9(s.problem.contact[s.place[e]].frame), before(s, e))
            u, v = s.u[i] - b[0], s.u[i + 1] - b[1]
            count += not u * b[0] + v * b[1] > 0.0
    return count


@kernel(inline=True)
def store_velocities(d, s):
    """Velocities of the contacts in the end of the step, after ``solving.store_contacts``."""
    more = s.second
    for e in range(d.outcome.report[0].contacts):
        row, i = d.memory.contact[e], 3 * e
        u = plus(load3(row.velocity), load3(more.drift[i:]))
        store3(row.velocity, turned(u, load3(s.points[e].normal), load3(more.normal[i:])))
