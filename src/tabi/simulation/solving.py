"""Equation (2) of ``step``: contact problems become impulses, and these velocities.

No law judges itself: backward errors are recomputed from impulses and the problem. A group is
solved again where its coefficients have to be revised, and all of them where overlaps are deep.
"""

from tabi._jit import kernel
from tabi.contact import bodies, budget
from tabi.contact.certificate import residual
from tabi.contact.rows import CONTACT, IDLE
from tabi.dynamics import body_response
from tabi.simulation import caution, depenetration
from tabi.simulation.parts import worse
from tabi.simulation.rows.contacts import REVISIONS, SLIPS, slides
from tabi.simulation.tables import OPEN, SLIP, STICK
from tabi.spatial.vector import load3, load9, mul_t, store3


def solve_contacts_on(assemble, law, certified, revise):
    """The contacts of a step, from the kernels of its kinds of rows and of its law."""
    look, velocities, prepare_law, solve_law = law

    @kernel(inline=True)
    def check(p, s, l, u):
        """Backward error of impulses l [m/s]; their velocities in u."""
        velocities(p, l, u, s)
        return residual(p, l, u)

    @kernel(inline=True)
    def no_worse_than_none(p, s, l, u, error):
        """Drop impulses of a problem that was not solved where none at all are the lesser evil;
        returns the backward error.
        """
        none = s.parting_impulse[: l.shape[0]]
        for i in range(l.shape[0]):
            none[i] = 0.0
        zero = check(p, s, none, u)
        if error <= zero:
            check(p, s, l, u)
            return error
        for i in range(l.shape[0]):
            l[i] = 0.0
        return zero

    @kernel(inline=True)
    def solve_group(t, d, s, g, h, tolerance, p, impulse, u, revised):
        """Impulses of a group of the problem p, and its velocities; False to give the step up."""
        report, c, e = d.outcome.report[0], s.groups.start[g], s.groups.start[g + 1]
        part = bodies.part(p, s.first[g], s.first[g + 1], c, e)
        l, w = impulse[3 * c : 3 * e], u[3 * c : 3 * e]
        if revised:
            look(t, d, s, g, h)
        blocks = prepare_law(part, s.law)
        if blocks > s.problem.omega.shape[0]:
            report.blocks = blocks
            return False
        error, failed, closing = 0.0, False, depenetration.give_in(s, c, e) if revised else 0.0
        for turn in range(REVISIONS):
            done, attempt, failed = solve_law(part, t, tolerance, l, s.law)
            error = worse(check(part, s, l, w), closing)
            report.iterations += done
            report.attempt = max(report.attempt, attempt)
            if not revised:
                break
            changed, off = revise(t, d, s, g, tolerance, turn)
            # coefficients that changed, and are not solved for any more
            cut = changed > 0 and not budget.left(s.budget)
            error, failed = worse(check(part, s, l, w) if cut else error, off), failed or cut
            if changed == 0 or cut:
                break
        # of an older law that it is solved, and how far it is from the exact one
        s.unsolved[g] = failed or (certified and not error <= tolerance)
        if s.unsolved[g] != 0:
            report.missed += 1
            if revised and certified:
                error = no_worse_than_none(part, s, l, w, error)
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
        clear(report)
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
        add_impulses(t.model, s, report.groups, s.impulse, s.v_free, s.v_next)
        for k in range(s.v_next.shape[0]):
            s.reaction[k] = s.dynamics.dof[k].reaction
        return True

    @kernel(apart="boolean", rare=True)
    def leave_overlaps(t, d, s, h, tolerance):
        """v_configuration, in which overlaps are left apart; False to give the step up."""
        report = d.outcome.report[0]
        depenetration.begin_parting(t, s, report.points, h)
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
        return True

    return solve_contacts, leave_overlaps


@kernel(inline=True)
def clear(report):
    """The report of a step whose contacts are not solved yet."""
    report.groups, report.iterations, report.attempt, report.missed = 0, 0, 0, 0
    report.residual, report.bounced, report.lowered, report.apart = 0.0, 0, 0, 0


@kernel(inline=True)
def add_nothing(s):
    """v⁺ without contacts, which held joints bear nothing of."""
    for k in range(s.v_next.shape[0]):
        s.v_next[k], s.reaction[k] = s.v_free[k], 0.0


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
