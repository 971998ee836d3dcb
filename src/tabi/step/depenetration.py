"""Deep overlaps are resolved without adding velocity, as far as there is room.

Bodies that start inside of each other have to separate, and must not gain energy by it. So where
points overlap deeper than DEEP_OVERLAP_M, or than a step can resolve slowly, the contact problem is
solved without these overlaps, for the velocity v⁺, and a second one moves the configurations:
q⁺ = q ⊕ h v̄ with

    v̄ = v⁺ + M̂⁻¹ Jᵀ λ,   0 ≤ λ ⊥ u_n + R λ ≥ 0                                                 (1)
and u_n of v̄, with β gap/h added where points overlap.

β ≤ 1 is one number for all points of two bodies, so that the fastest of them parts with
PARTING_SPEED. There is no friction in (1), and R is a little compliance, in two turns: it has
always one solution, also where overlaps cannot all be resolved, as of a plug too wide for its hole.
They then remain in part. Smaller overlaps are resolved by velocities, in one problem; where that
does not converge they are resolved by (1) too, and for some steps from then on (``backoff``).

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
from tabi.step import backoff
from tabi.step.rows.contacts import SLIPS, SPRINGS

# overlap [m] from which on (1) is used, and the highest speed [m/s] at which smaller ones are
# resolved: in the instant of an impact a nanometre would be metres per second
DEEP_OVERLAP_M, MAX_SHALLOW_SPEED = 1e-6, 5e-3
# parting speed of (1) [m/s]; its R over 1/ρ at the end, and how many times more at the beginning,
# where Newton converges more easily
PARTING_SPEED, COMPLIANCE, INITIAL_COMPLIANCE_RATIO = 0.5, 1e-6, 1e4
# highest joint speed by (1) [rad/s or m/s], and how far a joint may pass its end in a step, as the
# compliance of (1) leaves so much [rad or m]
JOINT_SPEED, SLACK = 1.0, 1e-8
# how overlaps are resolved: by velocities with all else, by (1), by (1) as velocities could not
COUPLED, SEPARATE, JAMMED = 0, 1, 2


@kernel(inline=True)
def measure(d, s):
    """Store the least gap of all contacts, and that of contacts that must not overlap [m]."""
    report = d.outcome.report[0]
    report.gap, report.overlap = 0.0, 0.0
    for e in range(report.contacts):
        report.gap = min(report.gap, s.points[e].gap)
        if s.soft[e] != SPRINGS:
            report.overlap = min(report.overlap, s.points[e].gap)


@kernel(inline=True)
def deep_overlap(h):
    """Return the overlap [m] from which on all are resolved by (1)."""
    return min(DEEP_OVERLAP_M, MAX_SHALLOW_SPEED * h)


@kernel(inline=True)
def deep_inside(d, h):
    """Whether some contact overlaps as deep as ``deep_overlap``."""
    return d.outcome.report[0].overlap < -deep_overlap(h)


@kernel(inline=True)
def decide_separate(d, least, h, turn):
    """Decide whether overlaps are resolved by (1), except those below ``least`` [m].

    Args:
        turn: 1 if velocities could not resolve them, else 0.
    """
    report = d.outcome.report[0]
    jammed = report.overlap < -least and (backoff.is_active(d.memory.overlap_backoff) or turn == 1)
    report.apart = JAMMED if jammed else SEPARATE if deep_inside(d, h) else COUPLED
    if turn == 1:
        report.missed, report.residual = 0, 0.0
    return report.apart != COUPLED


@kernel(inline=True)
def is_jammed(d, least):
    """Whether overlaps may be the reason why a problem did not converge."""
    report = d.outcome.report[0]
    return report.missed > 0 and report.apart == COUPLED and report.overlap < -least


@kernel(apart="none", rare=True)
def leave_out(s, count, h):
    """Remove overlaps from the first problem, except those of impacts."""
    for x in range(count):
        e = s.groups.order[x]
        # rows that nothing can part are relaxed already
        if _is_separate_point(s, e) and s.problem.kind[x] != IDLE:
            s.problem.q[3 * x + 2] -= s.points[e].gap / h
            s.shift[3 * x + 2] = 0.0


@kernel(inline=True)
def relax_idle_rows(s, first, end):
    """Relax rows of links that no impulse can part, so that they need not close.

    Returns:
        the speed at which they still close [m/s].
    """
    closing = 0.0
    for x in range(first, end):
        if s.problem.kind[x] == IDLE:
            i = 3 * x + 2
            moves = s.problem.q[i] + added(s.bonds, i)
            relief = max(0.0, min(0.0, moves - s.shift[i]) - moves)
            s.problem.q[i] += relief
            s.shift[i] += relief
            closing = max(closing, -moves - relief)
    return closing


@kernel(inline=True)
def begin_parting(t, s, count, h, tolerance):
    """Set up the problem (1) in s.parting, from the velocities of the first one."""
    p = s.parting
    for x in range(count):
        e, i, kind = s.groups.order[x], 3 * x, s.problem.kind[x]
        p.kind[x], p.mu[x], p.bound[x] = kind, 0.0, 0.0
        for c in range(3):
            p.q[i + c], s.parting_impulse[i + c] = s.u[i + c], 0.0
        if kind == CONTACT and s.soft[e] == SPRINGS:
            p.kind[x] = IDLE
        elif kind == CONTACT:
            p.kind[x], p.bound[x] = (
                SOFT,
                INITIAL_COMPLIANCE_RATIO * COMPLIANCE / s.problem.weight[x],
            )
            if _is_separate_point(s, e):
                p.q[i + 2] += s.points[e].gap / h
        elif kind == LIMITED:
            # joints that stick are held
            sticks = e >= s.first_joint[0] and abs(s.u[i + 2]) <= SLIPS * tolerance
            p.kind[x], p.bound[x] = (LIMITED, inf) if sticks else (IDLE, 0.0)
        elif kind == SOFT:
            # ends of joints give way like contacts
            p.bound[x] = INITIAL_COMPLIANCE_RATIO * COMPLIANCE / s.problem.weight[x]
    _slow_down(s, count, h)
    budget.extend(s.budget, t.limits)


@kernel(inline=True)
def stiffen(s, count):
    """Set the final compliance of (1), with no more work than the steps of a first attempt."""
    for x in range(count):
        if s.parting.kind[x] == SOFT:
            s.parting.bound[x] /= INITIAL_COMPLIANCE_RATIO
    s.budget[budget.LIMIT] = s.budget[budget.WORK]


@kernel(inline=True)
def _slow_down(s, count, h):
    """Apply β of (1): where overlaps would part too fast, all points of both bodies use a share."""
    x = 0
    while x < count:
        first, a, b = x, s.points[s.groups.order[x]].a, s.points[s.groups.order[x]].b
        least = 0.0
        while x < count and _is_of_bodies(s.points[s.groups.order[x]], a, b):
            least = min(least, s.points[s.groups.order[x]].gap)
            x += 1
        if -least > PARTING_SPEED * h:
            part = 1.0 - PARTING_SPEED * h / -least
            for y in range(first, x):
                e = s.groups.order[y]
                if s.problem.kind[y] == CONTACT and _is_separate_point(s, e):
                    s.parting.q[3 * y + 2] -= part * s.points[e].gap / h


@kernel(inline=True)
def slow_joints(t, d, s, groups, h):
    """Scale the motion by (1) of each group down to the limits of its joints."""
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
                limit = _max_joint_speed(d, m.dof[k], s.v_next[k], moves, h)
                if abs(moves) > limit:
                    share[g] = min(share[g], limit / abs(moves))
    for i in range(1, m.body.shape[0]):
        g = group[t.chain[i].family]
        if g >= 0 and share[g] < 1.0:
            for k in range(m.body[i].v_start, m.body[i].v_end):
                s.v_configuration[k] = s.v_next[k] + share[g] * (s.v_configuration[k] - s.v_next[k])


@kernel(inline=True)
def _max_joint_speed(d, par, v, moves, h):
    """Return the highest speed of a joint by (1) [rad/s or m/s], in its direction of motion."""
    end = inf
    if par.q >= 0:
        end = par.upper - d.q[par.q] if moves > 0.0 else d.q[par.q] - par.lower
    before = v if moves > 0.0 else -v
    return min(JOINT_SPEED, max(0.0, end / h - before) + SLACK / h)


@kernel(inline=True)
def _is_separate_point(s, e):
    """Whether a point overlaps, neither in an impact nor under a law that allows overlaps."""
    return s.points[e].gap < 0.0 and s.approach[e] == 0.0 and s.soft[e] != SPRINGS


@kernel(inline=True)
def _is_of_bodies(point, a, b):
    return point.a == a and point.b == b
