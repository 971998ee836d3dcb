"""Solution of equation (2) of ``step``: impulses of the contact problems, and velocities.

No law checks itself: backward errors are recomputed from impulses and the problem. A group is
solved again where its coefficients have to be revised, and all of them where overlaps are deep.
"""

from tabi.contact import bodies, budget
from tabi.contact.bonds import bond_elimination
from tabi.contact.certificate import residual
from tabi.contact.rows import CONTACT, IDLE
from tabi.dynamics.inverse_inertia import body_response
from tabi.jit import kernel
from tabi.spatial.vector import load3, load9, mul_t, store3
from tabi.step import backoff, depenetration
from tabi.step.parts import worse
from tabi.step.rows.contacts import REVISIONS, SLIPS, slides
from tabi.step.tables import OPEN, SLIP, STICK

# velocities are within the tolerance, so their work with impulses is zero up to so many of it
ENERGY_MARGIN = 10.0
# highest ratio of the effect of one impulse to the velocities of all rows that press
MAX_IMPULSE_RATIO = 1e3


def solve_contacts_on(assemble, k):
    """Make the kernels that solve contacts from those of a step's parts (``parts.Assembled``)."""
    look, velocities, prepare_law, solve_law = k.look, k.velocities, k.prepare, k.solve
    certified, revise = k.certified, k.revise

    @kernel(inline=True)
    def check(p, s, l, u):
        """Return the backward error of impulses l [m/s]; stores their velocities in u."""
        velocities(p, l, u, s)
        return residual(p, l, u)

    @kernel(inline=True)
    def drop_if_harmful(p, s, l, u, shift, tolerance, error):
        """Drop impulses of a problem that did not converge where zero ones have a smaller error, or
        where they add energy: contradictory rows would throw the bodies they hold; returns the
        backward error.
        """
        none, work, total = s.parting_impulse[: l.shape[0]], 0.0, 0.0
        for i in range(l.shape[0]):
            none[i] = 0.0
            # by the mean of the velocities before and after, without those that close gaps
            work += 0.5 * l[i] * (u[i] + p.q[i] - 2.0 * shift[i])
            total += abs(l[i])
        zero = check(p, s, none, u)
        if error <= zero and work <= ENERGY_MARGIN * tolerance * total:
            check(p, s, l, u)
            return error
        for i in range(l.shape[0]):
            l[i] = 0.0
        return zero

    @kernel(inline=True)
    def solve_group(t, d, s, g, h, tolerance, p, impulse, u, revised):
        """Solve impulses and velocities of a group of the problem p; False to abort the step."""
        report, c, e = d.outcome.report[0], s.groups.start[g], rows_end(s, g)
        part = rows_of(s, p, g, c, e, revised)
        l, w = impulse[3 * c : 3 * e], u[3 * c : 3 * e]
        if revised:
            look(t, d, s, g, h)
        blocks = prepare_law(part, s.law)
        if blocks > s.problem.omega.shape[0]:
            report.blocks = blocks
            return False
        error, failed = 0.0, False
        closing = depenetration.relax_idle_rows(s, c, e) if revised else 0.0
        for turn in range(REVISIONS if c < e else 0):
            if revised:
                set_law_velocities(s, g, c, e)
            done, attempt, failed = solve_law(part, t, tolerance, l, s.law)
            error = worse(check(part, s, l, w), closing)
            count_work(report, done, attempt)
            if not revised:
                break
            if certified and relax_bonds(s, p, g, part, l, error, tolerance):
                continue
            changed, off = revise(t, d, s, g, tolerance, turn)
            # coefficients changed, and there is no work left to solve with them
            cut = changed > 0 and not budget.left(s.budget)
            error, failed = worse(check(part, s, l, w) if cut else error, off), failed or cut
            if changed == 0 or cut:
                break
        # an older law reports whether it failed; the error is that of the exact law
        s.unsolved[g] = failed or (certified and not error <= tolerance)
        if s.unsolved[g] != 0 and revised and certified:
            shift = s.shift[3 * c :]
            error = worse(drop_if_harmful(part, s, l, w, shift, tolerance, error), closing)
        error = worse(error, recover_bonds(s, p, g, impulse, u, revised, tolerance))
        report.missed += s.unsolved[g] != 0
        report.residual = worse(report.residual, error)
        return s.budget[budget.DROPPED] == 0

    @kernel(inline=True)
    def solve_groups(t, d, s, h, tolerance, p, impulse, u, revised):
        """Solve all groups of the problem p; False to abort the step."""
        for g in range(d.outcome.report[0].groups):
            if not solve_group(t, d, s, g, h, tolerance, p, impulse, u, revised):
                return False
        return True

    @kernel(inline=True)
    def solve_contacts(t, d, s, h, tolerance):
        """Solve for v_next; False to abort the step."""
        report, count = d.outcome.report[0], d.outcome.report[0].points
        clear(report, s)
        if count == 0:
            store_free_velocities(s)
            return True
        if not assemble(t, d, s, h):
            return False
        # again without overlaps, if they may be the reason why it did not converge
        for turn in range(2):
            if depenetration.decide_separate(d, tolerance * h, h, turn):
                depenetration.leave_out(s, count, h)
            if not solve_groups(t, d, s, h, tolerance, s.problem, s.impulse, s.u, True):
                return False
            if not depenetration.is_jammed(d, tolerance * h):
                break
            budget.extend(s.budget, t.limits)
        close_bonds(t, s, report.groups)
        add_impulses(t.model, s, report.groups, s.impulse, s.v_free, s.v_next)
        store_reactions(s)
        return True

    @kernel(apart="boolean", rare=True)
    def resolve_overlaps(t, d, s, h, tolerance):
        """Solve for v_configuration, which resolves overlaps; False to abort the step."""
        report = d.outcome.report[0]
        depenetration.begin_parting(t, s, report.points, h, tolerance)
        p, l, u = s.parting, s.parting_impulse, s.parting_u
        if not solve_groups(t, d, s, h, tolerance, p, l, u, False):
            return False
        # nearly rigid, by a few steps of Newton: where they fail, the first solution is used
        missed, residual = report.missed, report.residual
        depenetration.stiffen(s, report.points)
        if not solve_groups(t, d, s, h, tolerance, p, l, u, False):
            return False
        report.missed, report.residual = missed, residual
        add_impulses(t.model, s, report.groups, l, s.v_next, s.v_configuration)
        depenetration.slow_joints(t, d, s, report.groups, h)
        return True

    return solve_contacts, resolve_overlaps


@kernel(inline=True)
def rows_end(s, g):
    """Return the end of the rows of a group that its law solves; eliminated bonds are behind."""
    return s.bonds.end[g] if s.bonds.scale.shape[0] > 0 else s.groups.start[g + 1]


@kernel(inline=True)
def rows_of(s, p, g, c, e, revised):
    """Return the problem of the rows c to e of a group, with its bonds eliminated
    (``bond_elimination``).
    """
    if e == s.groups.start[g + 1]:
        return bodies.part(p, s.first[g], s.first[g + 1], c, e)
    w, first, inner = s.bonds, s.first[g], s.bonds.inner[g]
    # the problem of overlaps begins with velocities that bonds allow
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
def set_law_velocities(s, g, c, e):
    """Set velocities of the rows c to e, with the effect of bonds without contacts."""
    if e < s.groups.start[g + 1]:
        for i in range(3 * c, 3 * e):
            s.law_q[i] = s.problem.q[i] + s.bonds.added[i]


@kernel(apart="boolean", rare=True)
def is_strained(p, l, error, tolerance):
    """Whether rows of a group with bonds did not converge, or have impulses out of proportion to
    the velocities of the rows that press: they load each other through bonds that do not give way.
    """
    demand, most = 0.0, 0.0
    for k in range(p.kind.shape[0]):
        i = 3 * k
        size = abs(l[i]) + abs(l[i + 1]) + abs(l[i + 2])
        if size > 0.0:
            demand += abs(p.q[i]) + abs(p.q[i + 1]) + abs(p.q[i + 2])
            most = max(most, size / p.weight[k])
    return not error <= tolerance or most > MAX_IMPULSE_RATIO * demand


@kernel(inline=True)
def relax_bonds(s, p, g, part, l, error, tolerance):
    """Let bonds rest over the step where rows are strained, instead of following their curves, so
    that nothing need move; returns whether this is new.
    """
    c, end, first = s.groups.start[g], s.groups.start[g + 1], s.first[g]
    if rows_end(s, g) == end or not is_strained(part, l, error, tolerance):
        return False
    whole = bodies.part(p, first, s.first[g + 1], c, end)
    if not bond_elimination.rest(whole, s.bonds, g, c, first, s.shift[3 * c : 3 * end]):
        return False
    for i in range(l.shape[0]):
        l[i] = 0.0
    return True


@kernel(inline=True)
def recover_bonds(s, p, g, impulse, u, keep, tolerance):
    """Recover impulses and velocities of the eliminated bonds of a group; returns the largest
    velocity that they should stop and do not [m/s].
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
    """Add iterations of the law to the report, and its last attempt."""
    report.iterations += done
    report.attempt = max(report.attempt, attempt)


@kernel(inline=True)
def store_reactions(s):
    """Store the impulses of contacts that held joints bear."""
    for k in range(s.v_next.shape[0]):
        s.reaction[k] = s.dynamics.dof[k].reaction


@kernel(inline=True)
def clear(report, s):
    """Clear the report of a step before its contacts are solved."""
    s.bonds.closes[0] = 0
    report.groups, report.iterations, report.attempt, report.missed = 0, 0, 0, 0
    report.residual, report.bounced, report.lowered, report.apart = 0.0, 0, 0, 0
    report.moment = float("inf")


@kernel(inline=True)
def store_free_velocities(s):
    """Store v⁺ of a step without contacts, and no reactions of held joints."""
    for k in range(s.v_next.shape[0]):
        s.v_next[k], s.reaction[k] = s.v_free[k], 0.0


@kernel(inline=True)
def close_bonds(t, s, groups):
    """Compute v_closing by (4) of ``bond_elimination``, where some bonds are open."""
    if s.bonds.closes[0] == 0:
        return
    for k in range(s.v_closing.shape[0]):
        s.v_closing[k] = 0.0
    add_impulses(t.model, s, groups, s.bonds.closing, s.v_closing, s.v_closing)


@kernel(inline=True)
def add_impulses(m, s, groups, impulse, before, v):
    """Compute v = v_before + M̂⁻¹ Jᵀ λ."""
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
    """Store contacts of this step: status, and impulses and velocities in the world's axes."""
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
                    # residual impulses of open contacts are within the tolerance
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
    memory.count[0], memory.last_rescue[0] = report.points, s.budget[budget.HELPED]
    together = report.apart == depenetration.COUPLED and report.overlap < 0.0
    backoff.update(memory.overlap_backoff, report.apart == depenetration.JAMMED, together)
    report.work = s.budget[budget.WORK]
