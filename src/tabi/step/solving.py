"""Equation (2) of ``step``: contact problems become impulses, and these velocities.

No law judges itself: backward errors are recomputed from impulses and the problem. A group is
solved again where its coefficients have to be revised, and all of them where overlaps are deep.
"""

from tabi.contact import bodies, budget
from tabi.contact.bonds import bond_elimination
from tabi.contact.certificate import residual
from tabi.contact.rows import CONTACT, IDLE
from tabi.dynamics.inverse_inertia import body_response
from tabi.jit import kernel
from tabi.spatial.vector import load3, load9, mul_t, store3
from tabi.step import caution, depenetration
from tabi.step.parts import worse
from tabi.step.rows.contacts import REVISIONS, SLIPS, slides
from tabi.step.tables import OPEN, SLIP, STICK

# velocities are as good as the tolerance, so that their work with impulses is zero up to so many
ENERGY = 10.0
# what impulses may do, one by one, of what all rows that press ask for
STRAINED = 1e3


def solve_contacts_on(assemble, k):
    """The contacts of a step, from the kernels of its parts (``parts.Assembled``)."""
    look, velocities, prepare_law, solve_law = k.look, k.velocities, k.prepare, k.solve
    certified, revise = k.certified, k.revise

    @kernel(inline=True)
    def check(p, s, l, u):
        """Backward error of impulses l [m/s]; their velocities in u."""
        velocities(p, l, u, s)
        return residual(p, l, u)

    @kernel(inline=True)
    def no_worse_than_none(p, s, l, u, shift, tolerance, error):
        """Drop impulses of a problem that was not solved where none at all are the lesser evil, or
        where they bring energy: rows that cannot be met together would throw what they hold;
        returns the backward error.
        """
        none, work, total = s.parting_impulse[: l.shape[0]], 0.0, 0.0
        for i in range(l.shape[0]):
            none[i] = 0.0
            # by the mean of the velocities before and after, without what gaps ask for
            work += 0.5 * l[i] * (u[i] + p.q[i] - 2.0 * shift[i])
            total += abs(l[i])
        zero = check(p, s, none, u)
        if error <= zero and work <= ENERGY * tolerance * total:
            check(p, s, l, u)
            return error
        for i in range(l.shape[0]):
            l[i] = 0.0
        return zero

    @kernel(inline=True)
    def solve_group(t, d, s, g, h, tolerance, p, impulse, u, revised):
        """Impulses of a group of the problem p, and its velocities; False to give the step up."""
        report, c, e = d.outcome.report[0], s.groups.start[g], rows_end(s, g)
        part = rows_of(s, p, g, c, e, revised)
        l, w = impulse[3 * c : 3 * e], u[3 * c : 3 * e]
        if revised:
            look(t, d, s, g, h)
        blocks = prepare_law(part, s.law)
        if blocks > s.problem.omega.shape[0]:
            report.blocks = blocks
            return False
        error, failed, closing = 0.0, False, depenetration.give_in(s, c, e) if revised else 0.0
        for turn in range(REVISIONS if c < e else 0):
            if revised:
                give_velocities(s, g, c, e)
            done, attempt, failed = solve_law(part, t, tolerance, l, s.law)
            error = worse(check(part, s, l, w), closing)
            count_work(report, done, attempt)
            if not revised:
                break
            if certified and relaxed(s, p, g, part, l, error, tolerance):
                continue
            changed, off = revise(t, d, s, g, tolerance, turn)
            # coefficients that changed, and are not solved for any more
            cut = changed > 0 and not budget.left(s.budget)
            error, failed = worse(check(part, s, l, w) if cut else error, off), failed or cut
            if changed == 0 or cut:
                break
        # of an older law that it is solved, and how far it is from the exact one
        s.unsolved[g] = failed or (certified and not error <= tolerance)
        if s.unsolved[g] != 0 and revised and certified:
            shift = s.shift[3 * c :]
            error = worse(no_worse_than_none(part, s, l, w, shift, tolerance, error), closing)
        error = worse(error, bonds_bear(s, p, g, impulse, u, revised, tolerance))
        report.missed += s.unsolved[g] != 0
        report.residual = worse(report.residual, error)
        return s.budget[budget.DROPPED] == 0

    @kernel(inline=True)
    def solve_groups(t, d, s, h, tolerance, p, impulse, u, revised):
        """All groups of the problem p; False to give the step up."""
        for g in range(d.outcome.report[0].groups):
            if not solve_group(t, d, s, g, h, tolerance, p, impulse, u, revised):
                return False
        return True

    @kernel(inline=True)
    def solve_contacts(t, d, s, h, tolerance):
        """v_next; False to give the step up."""
        report, count = d.outcome.report[0], d.outcome.report[0].points
        clear(report, s)
        if count == 0:
            add_nothing(s)
            return True
        if not assemble(t, d, s, h):
            return False
        # once more without overlaps, where they may be why there is no solution
        for turn in range(2):
            if depenetration.apart(d, tolerance * h, h, turn):
                depenetration.leave_out(s, count, h)
            if not solve_groups(t, d, s, h, tolerance, s.problem, s.impulse, s.u, True):
                return False
            if not depenetration.jams(d, tolerance * h):
                break
            budget.extend(s.budget, t.limits)
        close_bonds(t, s, report.groups)
        add_impulses(t.model, s, report.groups, s.impulse, s.v_free, s.v_next)
        store_reactions(s)
        return True

    @kernel(apart="boolean", rare=True)
    def leave_overlaps(t, d, s, h, tolerance):
        """v_configuration, in which overlaps are left apart; False to give the step up."""
        report = d.outcome.report[0]
        depenetration.begin_parting(t, s, report.points, h, tolerance)
        p, l, u = s.parting, s.parting_impulse, s.parting_u
        if not solve_groups(t, d, s, h, tolerance, p, l, u, False):
            return False
        # nearly rigid, as far as a few steps of Newton get: where they fail, the first one stands
        missed, residual = report.missed, report.residual
        depenetration.stiffen(s, report.points)
        if not solve_groups(t, d, s, h, tolerance, p, l, u, False):
            return False
        report.missed, report.residual = missed, residual
        add_impulses(t.model, s, report.groups, l, s.v_next, s.v_configuration)
        depenetration.slow_joints(t, d, s, report.groups, h)
        return True

    return solve_contacts, leave_overlaps


@kernel(inline=True)
def rows_end(s, g):
    """Where the rows of a group end that its law solves; those of bonds that are eliminated are
    behind.
    """
    return s.bonds.end[g] if s.bonds.scale.shape[0] > 0 else s.groups.start[g + 1]


@kernel(inline=True)
def rows_of(s, p, g, c, e, revised):
    """The problem of the rows c to e of a group without its bonds: bodies move as these let them
    (``bond_elimination``).
    """
    if e == s.groups.start[g + 1]:
        return bodies.part(p, s.first[g], s.first[g + 1], c, e)
    w, first, inner = s.bonds, s.first[g], s.bonds.inner[g]
    # how overlaps are left begins with velocities that bonds allow
    q = s.law_q if revised else p.q
    return bodies.BodyProblem(
        p.contact[c:e],
        w.start[first : first + inner + 1],
        w.column,
        w.omega,
        q[3 * c : 3 * e],
        p.kind[c:e],
        p.mu[c:e],
        p.bound[c:e],
        p.weight[c:e],
        p.parent[first : first + inner],
    )


@kernel(inline=True)
def give_velocities(s, g, c, e):
    """Of the rows c to e, with what bonds do without contacts."""
    if e < s.groups.start[g + 1]:
        for i in range(3 * c, 3 * e):
            s.law_q[i] = s.problem.q[i] + s.bonds.given[i]


@kernel(apart="boolean", rare=True)
def strained(p, l, error, tolerance):
    """Whether rows of a group with bonds are not solved, or by impulses out of all proportion to
    the velocities of the rows that press: they pull at each other through bonds that let them do
    nothing.
    """
    asked, most = 0.0, 0.0
    for k in range(p.kind.shape[0]):
        i = 3 * k
        size = abs(l[i]) + abs(l[i + 1]) + abs(l[i + 2])
        if size > 0.0:
            asked += abs(p.q[i]) + abs(p.q[i + 1]) + abs(p.q[i + 2])
            most = max(most, size / p.weight[k])
    return not error <= tolerance or most > STRAINED * asked


@kernel(inline=True)
def relaxed(s, p, g, part, l, error, tolerance):
    """Where rows are strained, bonds stay as they are over the step instead of following their
    curves, so that nothing need move; whether they do now and did not before.
    """
    c, end, first = s.groups.start[g], s.groups.start[g + 1], s.first[g]
    if rows_end(s, g) == end or not strained(part, l, error, tolerance):
        return False
    whole = bodies.part(p, first, s.first[g + 1], c, end)
    if not bond_elimination.rest(whole, s.bonds, g, c, first, s.shift[3 * c : 3 * end]):
        return False
    for i in range(l.shape[0]):
        l[i] = 0.0
    return True


@kernel(inline=True)
def bonds_bear(s, p, g, impulse, u, keep, tolerance):
    """Impulses and velocities of the bonds of a group that were eliminated; returns the largest
    velocity that they leave of what they can stop.
    """
    c, end = s.groups.start[g], s.groups.start[g + 1]
    if rows_end(s, g) == end:
        return 0.0
    part, rows = bodies.part(p, s.first[g], s.first[g + 1], c, end), slice(3 * c, 3 * end)
    l, w, F = impulse[rows], u[rows], s.check_wrench
    left = bond_elimination.recover(part, s.bonds, g, c, s.first[g], l, w, F, keep, s.shift[rows])
    s.unsolved[g] = s.unsolved[g] != 0 or not left <= tolerance
    return left


@kernel(inline=True)
def count_work(report, done, attempt):
    """Iterations of the law, and the last of its attempts."""
    report.iterations += done
    report.attempt = max(report.attempt, attempt)


@kernel(inline=True)
def store_reactions(s):
    """What joints that are held bear of the contacts."""
    for k in range(s.v_next.shape[0]):
        s.reaction[k] = s.dynamics.dof[k].reaction


@kernel(inline=True)
def clear(report, s):
    """The report of a step whose contacts are not solved yet."""
    s.bonds.closes[0] = 0
    report.groups, report.iterations, report.attempt, report.missed = 0, 0, 0, 0
    report.residual, report.bounced, report.lowered, report.apart = 0.0, 0, 0, 0
    report.moment = float("inf")


@kernel(inline=True)
def add_nothing(s):
    """v⁺ without contacts, which held joints bear nothing of."""
    for k in range(s.v_next.shape[0]):
        s.v_next[k], s.reaction[k] = s.v_free[k], 0.0


@kernel(inline=True)
def close_bonds(t, s, groups):
    """v_closing, (4) of ``bond_elimination``, where some are open."""
    if s.bonds.closes[0] == 0:
        return
    for k in range(s.v_closing.shape[0]):
        s.v_closing[k] = 0.0
    add_impulses(t.model, s, groups, s.bonds.closing, s.v_closing, s.v_closing)


@kernel(inline=True)
def add_impulses(m, s, groups, impulse, before, v):
    """v = v_before + M̂⁻¹ Jᵀ λ."""
    count = s.first[groups]
    for i in range(6 * count):
        s.wrench[i] = 0.0
    for g in range(groups):
        for x in range(s.groups.start[g], s.groups.start[g + 1]):
            row, i = s.problem.contact[x], 3 * x
            l = (impulse[i], impulse[i + 1], impulse[i + 2])
            bodies.push_both(s.wrench, row, s.first[g], mul_t(load9(row.frame), l), 1.0)
    body_response.respond(m, s.dynamics, s.chains, s.body, count, s.wrench, s.delta_v)
    for k in range(v.shape[0]):
        v[k] = before[k] + s.delta_v[k]


@kernel(inline=True)
def store_contacts(t, d, s, tolerance):
    """Contacts of this step into the memory:
    impulses and velocities in the world's axes, status.
    """
    report, memory = d.outcome.report[0], d.memory
    for g in range(report.groups):
        for x in range(s.groups.start[g], s.groups.start[g + 1]):
            e, i = s.groups.order[x], 3 * x
            point, row, E = s.points[e], memory.contact[e], load9(s.problem.contact[x].frame)
            row.kind, row.shape_a, row.shape_b = s.kind[e], point.shape_a, point.shape_b
            row.feature, row.a, row.b, row.source = point.feature, point.a, point.b, s.source[e]
            row.gap, row.group = point.gap, g
            store3(row.position, load3(point.position))
            store3(row.normal, load3(point.normal))
            l = (s.impulse[i], s.impulse[i + 1], s.impulse[i + 2])
            u = (s.u[i], s.u[i + 1], s.u[i + 2])
            moves = (u[0] - s.shift[i], u[1] - s.shift[i + 1], u[2] - s.shift[i + 2])
            row.status = STICK
            if s.problem.kind[x] == CONTACT:
                if u[2] > SLIPS * tolerance and s.soft[e] == 0:
                    # what the solver left is within its tolerance
                    l = (0.0, 0.0, 0.0)
                if slides(u[0], u[1], tolerance):
                    row.status = SLIP
                if not l[2] > 0.0:
                    row.status = OPEN
                report.bounced += s.approach[e] < 0.0
            elif s.problem.kind[x] == IDLE:
                row.status = OPEN
            store3(row.impulse, mul_t(E, l))
            store3(row.velocity, mul_t(E, moves))
    memory.count[0], memory.helped[0] = report.points, s.budget[budget.HELPED]
    together = report.apart == depenetration.TOGETHER and report.overlap < 0.0
    caution.note(memory.jammed, report.apart == depenetration.JAMMED, together)
    report.work = s.budget[budget.WORK]
