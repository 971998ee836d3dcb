"""Deep overlaps are left without speed, and as far as there is room.

What was put inside of something has to come out, and must not gain energy by it. So where points
overlap deeper than DEEP, or than a step can leave gently, the contact problem is solved without
these overlaps, for the velocity v⁺, and a second one says how configurations leave them:
q⁺ = q ⊕ h v̄ with

    v̄ = v⁺ + M̂⁻¹ Jᵀ λ,   0 ≤ λ ⟂ u_n + R λ ≥ 0                                                 (1)
and u_n of v̄, with β gap/h added where points overlap.

β ≤ 1 is one number for all points of two bodies, so that the fastest of them parts with PARTING.
There is no friction in (1), and R is a little compliance, in two turns: it has always one solution,
also where overlaps cannot all be left, as of a plug too wide for its hole. What is left of them
then stays. Smaller overlaps are left by velocities, in one problem; where that one is not solved
they are left by (1) too, and for some steps from then on (``caution``).

Soft pads keep their shape in (1), so that leaving an overlap neither presses nor stretches them.

Joints keep to their ends: those near an end or at one have rows in both problems (``rows.joints``),
so that the rest of the robot moves where they cannot. Joints that stick, and those whose motion is
commanded exactly, stay where they are. Then the motion of each group, v̄ − v⁺, is scaled down as a
whole until no joint moves faster than JOINT_SPEED by it, or beyond an end, and rows of (1) still
hold.

Links whose joints are all held cannot be parted by any impulse; their overlap stays until one of
the joints gives way.
"""

from math import inf

from tabi.contact import budget
from tabi.contact.bonds.bond_work import added
from tabi.contact.rows import CONTACT, IDLE, LIMITED, SOFT
from tabi.jit import kernel
from tabi.model.arrays import FLOATING
from tabi.step import caution
from tabi.step.rows.contacts import SLIPS, SPRINGS

# overlap [m] that is left without speed, and speed [m/s] at which smaller ones are left at most: in
# the instant of an impact a nanometre would be metres a second
DEEP, GENTLE = 1e-6, 5e-3
# the speed [m/s] of leaving by (1); its R over 1/ρ: that it ends with, and how many times more it
# begins with, as Newton follows it more easily then
PARTING, COMPLIANCE, SOFTER = 0.5, 1e-6, 1e4
# how fast a joint moves at most by (1) [rad/s or m/s], and how far beyond its end in a step, which
# is what the compliance of (1) leaves [rad or m]
JOINT_SPEED, SLACK = 1.0, 1e-8
# how overlaps are left: by velocities with all else, by (1), by (1) as velocities could not
TOGETHER, APART, JAMMED = 0, 1, 2


@kernel(inline=True)
def measure(d, s):
    """The least gap, and the least of contacts that may not stay inside of each other."""
    report = d.outcome.report[0]
    report.gap, report.overlap = 0.0, 0.0
    for e in range(report.contacts):
        report.gap = min(report.gap, s.points[e].gap)
        if s.soft[e] != SPRINGS:
            report.overlap = min(report.overlap, s.points[e].gap)


@kernel(inline=True)
def deep(h):
    """The overlap [m] from which on all are left by (1)."""
    return min(DEEP, GENTLE * h)


@kernel(inline=True)
def deep_inside(d, h):
    """Whether something overlaps by as much."""
    return d.outcome.report[0].overlap < -deep(h)


@kernel(inline=True)
def apart(d, least, h, turn):
    """Whether overlaps are left by (1), those below ``least`` [m] aside; turn 1: velocities could
    not leave them.
    """
    report = d.outcome.report[0]
    jammed = report.overlap < -least and (caution.asked(d.memory.jammed) or turn == 1)
    report.apart = JAMMED if jammed else APART if deep_inside(d, h) else TOGETHER
    if turn == 1:
        report.missed, report.residual = 0, 0.0
    return report.apart != TOGETHER


@kernel(inline=True)
def jams(d, least):
    """Whether overlaps may be why a problem was not solved."""
    report = d.outcome.report[0]
    return report.missed > 0 and report.apart == TOGETHER and report.overlap < -least


@kernel(apart="none", rare=True)
def leave_out(s, count, h):
    """The first problem: without the overlaps, but for those of impacts."""
    for x in range(count):
        e = s.groups.order[x]
        # those that nothing can part have given in already
        if _left(s, e) and s.problem.kind[x] != IDLE:
            s.problem.q[3 * x + 2] -= s.points[e].gap / h
            s.shift[3 * x + 2] = 0.0


@kernel(inline=True)
def give_in(s, first, end):
    """Of the rows of a group: links that no impulse can part need not close, and no more.

    Returns:
        what they close with all the same [m/s].
    """
    closing = 0.0
    for x in range(first, end):
        if s.problem.kind[x] == IDLE:
            i = 3 * x + 2
            moves = s.problem.q[i] + added(s.bonds, i)
            more = max(0.0, min(0.0, moves - s.shift[i]) - moves)
            s.problem.q[i] += more
            s.shift[i] += more
            closing = max(closing, -moves - more)
    return closing


@kernel(inline=True)
def begin_parting(t, s, count, h, tolerance):
    """The problem (1), in s.parting, from the velocities of the first one."""
    p = s.parting
    for x in range(count):
        e, i, kind = s.groups.order[x], 3 * x, s.problem.kind[x]
        p.kind[x], p.mu[x], p.bound[x] = kind, 0.0, 0.0
        for c in range(3):
            p.q[i + c], s.parting_impulse[i + c] = s.u[i + c], 0.0
        if kind == CONTACT and s.soft[e] == SPRINGS:
            p.kind[x] = IDLE
        elif kind == CONTACT:
            p.kind[x], p.bound[x] = SOFT, SOFTER * COMPLIANCE / s.problem.weight[x]
            if _left(s, e):
                p.q[i + 2] += s.points[e].gap / h
        elif kind == LIMITED:
            # joints that stick are held
            sticks = e >= s.first_joint[0] and abs(s.u[i + 2]) <= SLIPS * tolerance
            p.kind[x], p.bound[x] = (LIMITED, inf) if sticks else (IDLE, 0.0)
        elif kind == SOFT:
            # ends of joints give way like contacts
            p.bound[x] = SOFTER * COMPLIANCE / s.problem.weight[x]
    _slow_down(s, count, h)
    budget.extend(s.budget, t.limits)


@kernel(inline=True)
def stiffen(s, count):
    """The compliance that (1) ends with, by no more than the steps of a first attempt."""
    for x in range(count):
        if s.parting.kind[x] == SOFT:
            s.parting.bound[x] /= SOFTER
    s.budget[budget.LIMIT] = s.budget[budget.WORK]


@kernel(inline=True)
def _slow_down(s, count, h):
    """β of (1): where overlaps would be left too fast, all points of the two bodies use a part."""
    x = 0
    while x < count:
        first, a, b = x, s.points[s.groups.order[x]].a, s.points[s.groups.order[x]].b
        least = 0.0
        while x < count and _between(s.points[s.groups.order[x]], a, b):
            least = min(least, s.points[s.groups.order[x]].gap)
            x += 1
        if -least > PARTING * h:
            part = 1.0 - PARTING * h / -least
            for y in range(first, x):
                e = s.groups.order[y]
                if s.problem.kind[y] == CONTACT and _left(s, e):
                    s.parting.q[3 * y + 2] -= part * s.points[e].gap / h


@kernel(inline=True)
def slow_joints(t, d, s, groups, h):
    """Scale the motion by (1) of each group down to what its joints may do."""
    m, group, share = t.model, s.tangled, s.share
    for i in range(group.shape[0]):
        group[i], share[i] = -1, 1.0
    for g in range(groups):
        for x in range(s.first[g], s.first[g + 1]):
            group[t.chain[s.body[x]].family] = g
    for i in range(1, m.body.shape[0]):
        g = group[t.chain[i].family]
        if g >= 0 and m.body[i].kind != FLOATING:
            for k in range(m.body[i].v_start, m.body[i].v_end):
                moves = s.v_configuration[k] - s.v_next[k]
                room = _room(d, m.dof[k], s.v_next[k], moves, h)
                if abs(moves) > room:
                    share[g] = min(share[g], room / abs(moves))
    for i in range(1, m.body.shape[0]):
        g = group[t.chain[i].family]
        if g >= 0 and share[g] < 1.0:
            for k in range(m.body[i].v_start, m.body[i].v_end):
                s.v_configuration[k] = s.v_next[k] + share[g] * (s.v_configuration[k] - s.v_next[k])


@kernel(inline=True)
def _room(d, par, v, moves, h):
    """How fast a joint may move by (1) [rad/s or m/s], in the direction in which it does."""
    end = inf
    if par.q >= 0:
        end = par.upper - d.q[par.q] if moves > 0.0 else d.q[par.q] - par.lower
    before = v if moves > 0.0 else -v
    return min(JOINT_SPEED, max(0.0, end / h - before) + SLACK / h)


@kernel(inline=True)
def _left(s, e):
    """Whether a point overlaps, and neither by an impact nor by a law that lets it."""
    return s.points[e].gap < 0.0 and s.approach[e] == 0.0 and s.soft[e] != SPRINGS


@kernel(inline=True)
def _between(point, a, b):
    return point.a == a and point.b == b
