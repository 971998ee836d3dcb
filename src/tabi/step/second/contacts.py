"""Contacts of the second stage: rows at the middle of the step, velocities at its end.

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
from tabi.step.parts import withhold_none as withhold
from tabi.step.rows.contacts import (
    add,
    pair_of,
    place_row,
    revise,
)
from tabi.step.second.middle import rotated

__all__ = ["add", "fill", "revise", "store_velocities", "warm_start", "withhold"]

# of the distance of fall in a step: deepening allowed for rolling points and for landing ones, and
# closing from which on a point rolls
ROLLING_OVERLAP_RATIO, LANDING_OVERLAP_RATIO, MIN_ROLLING_RATIO = 10.0, 0.02, 0.25
# of the gain of speed by gravity in a step: closing speed allowed for a pressing point
MAX_CLOSING_RATIO = 0.2
# of that, too: speed at which overlaps part; least acceleration of gravity that is used [m/s²]
PARTING_RATIO, MIN_GRAVITY = 0.5, 1.0


@kernel(inline=True)
def fill(part_memory, t, d, e, s, x, group, h):
    """Fill the row x by (1); needs twists of the free motion, at the middle of the step."""
    p, i = s.problem, 3 * x
    point, second = s.points[e], s.second
    tx, ty, normal, u, runs = place_row(t, s, e, x, group)
    shift = plus(runs, load3(second.drift[3 * e :]))
    slips = shift
    if second.slid[e] != 0:
        slips = plus(shift, initial_velocity(s, e))
    s.approach[e] = 0.0
    s.shift[i], s.shift[i + 1] = dot(tx, slips), dot(ty, slips)
    s.shift[i + 2] = dot(normal, shift) + gap_velocity(s, e, h, fall_distance(t.model, h))
    p.q[i], p.q[i + 1] = dot(tx, u) + s.shift[i], dot(ty, u) + s.shift[i + 1]
    p.q[i + 2] = dot(normal, u) + s.shift[i + 2]
    p.kind[x], p.mu[x], p.bound[x] = CONTACT, pair_of(t, point).friction, 0.0


@kernel(inline=True)
def initial_velocity(s, e):
    """Return the initial velocity of a point, rotated with its normal to the middle [m/s]."""
    n, u = load3(s.second.start[e].normal), load3(s.second.before[3 * e :])
    return rotated(u, n, load3(s.points[e].normal))


@kernel(inline=True)
def warm_start(part_memory, t, d, e, s, x, previous):
    """Start with the first stage's impulse in the frame of this one, and its friction."""
    l = mul(load9(s.problem.contact[x].frame), load3(s.second.impulse[3 * e :]))
    store3(s.impulse[3 * x :], l)
    s.problem.mu[x] = s.second.mu[e]


@kernel(inline=True)
def fall_distance(m, h):
    """Return the approximate distance of fall in a step [m], never zero."""
    g = load3(m.gravity)
    return h * h * max(MIN_GRAVITY, sqrt(dot(g, g)))


@kernel(inline=True)
def gap_velocity(s, e, h, fall):
    """Return the velocity that the gap of a point adds to its row [m/s]: for overlaps so little
    that resting bodies do not lift off. Points that did not press may close the rest of the gap by
    half of their last velocity.
    """
    gap = max(s.second.gap[e], -PARTING_RATIO * fall) / h
    return gap if s.second.pressing[e] != 0 or gap < 0.0 else 2.0 * gap


@kernel(inline=True)
def hits(s, e, slow):
    """Whether a point has closed with more than ``slow`` [m/s], and has not pressed before."""
    initial_velocity = load3(s.second.before[3 * e :])
    return (
        s.second.lasting[e] == 0 and dot(load3(s.second.start[e].normal), initial_velocity) < -slow
    )


@kernel(inline=True)
def max_deepening(s, e, fall):
    """Return the deepening allowed for a point in the step [m], from the distance of fall in it:
    after rolling in a step of first order the velocity has an error of that size.
    """
    return (ROLLING_OVERLAP_RATIO if s.second.lasting[e] != 0 else LANDING_OVERLAP_RATIO) * fall


@kernel(inline=True)
def count_wrong(d, s, h, part, fall):
    """Count contacts that contradict rows (1): they hit something, end deeper by more than a part
    of ``fall`` [m], or slide in the opposite direction at the end.
    """
    second, count = s.second, 0
    for e in range(d.outcome.report[0].contacts):
        i = 3 * s.place[e]
        leaves = s.u[i + 2] - gap_velocity(s, e, h, fall)
        count += s.impulse[i + 2] > 0.0 and hits(s, e, MAX_CLOSING_RATIO * fall / h)
        gap = second.gap[e] + part * h * leaves
        count += not gap >= min(0.0, s.points[e].gap) - max_deepening(s, e, fall)
        if second.slid[e] != 0:
            b = mul(load9(s.problem.contact[s.place[e]].frame), initial_velocity(s, e))
            u, v = s.u[i] - b[0], s.u[i + 1] - b[1]
            count += not u * b[0] + v * b[1] > 0.0
    return count


@kernel(inline=True)
def store_velocities(d, s):
    """Store velocities of contacts at the end of the step, after ``solving.store_contacts``."""
    second = s.second
    for e in range(d.outcome.report[0].contacts):
        row, i = d.memory.contact[e], 3 * e
        u = plus(load3(row.velocity), load3(second.drift[i:]))
        store3(row.velocity, rotated(u, load3(s.points[e].normal), load3(second.normal[i:])))
