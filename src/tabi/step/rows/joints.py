"""Joints whose laws are solved together with the contacts.

Whether a joint sticks, moves or is at its end is guessed (``forces.joint_limits``), and the guess
is right after one or two iterations. Where contacts and joints hold each other, guesses may cycle.
Then the joints that are still wrong are added to the contact problem, each with rows along its
axis; and so are all held joints of trees whose contacts did not converge. Where links start inside
of something (``depenetration``), joints at or near an end are added at once.

    dry friction   ‖λ‖ ≤ h μ, and where v⁺ ≠ 0 the impulse is −h μ sign(v⁺)      LIMITED         (1)
    end of travel  0 ≤ λ ⊥ ±(v⁺ − v_end) ≥ 0                                     SOFT, R = 0     (2)
v_end: the velocity that leads to the end within the step, or the top speed; 0 for a joint beyond
its end, so that all may stand still where contacts forbid its return. They are free in M̂, and
certified like contacts. Afterwards their modes are known for the next step's guess.
"""

from tabi.contact import budget
from tabi.contact.rows import LIMITED, SOFT
from tabi.jit import kernel
from tabi.model.arrays import FLOATING
from tabi.spatial.vector import dot, load3, scale, store3, store9
from tabi.step import backoff
from tabi.step.forces.joint_limits import (
    FOLLOWS,
    JOINED,
    LOWER,
    MOVES,
    SIMULTANEOUS_GUESS_COUNT,
    STUCK,
    UPPER,
    max_row_velocity,
    min_row_velocity,
)
from tabi.step.forces.motors import has_given_motion
from tabi.step.parts import no_revision as revise
from tabi.step.parts import withhold_none as withhold
from tabi.step.rows.contacts import SLIPS, SPRINGS

__all__ = [
    "add",
    "fill",
    "has_held_joint",
    "join",
    "join_inside",
    "revise",
    "store_forces",
    "warm_start",
    "withhold",
]

# meaning of a point of a joint: its friction, one of its ends
FRICTION, LOWER_END, UPPER_END = 0, 1, 2
# ends that a joint could reach only at a much higher speed than it has get no rows: above
# MIN_END_SPEED and twice its speed at first, then above MAX_END_SPEED [rad/s or m/s]
MIN_END_SPEED, MAX_END_SPEED = 0.5, 1e3
ZERO = (0.0, 0.0, 0.0)


@kernel(apart="boolean", rare=True)
def join(t, d, s, guess):
    """Add joints that were guessed wrong too often to the contacts, or earlier if no work is left;
    where these did not converge, all held joints of the tree. Returns whether joints were added;
    the first ones start a new budget.
    """
    before, has_joined, unsolved = s.joined[0], False, d.outcome.report[0].missed > 0
    spent = not budget.left(s.budget)
    if s.joined[1] > 0 and spent:
        return False
    if unsolved or guess >= SIMULTANEOUS_GUESS_COUNT - 1 or spent:
        _mark_unsolved_trees(t, d, s)
        for i in range(1, t.model.body.shape[0]):
            tangled = unsolved and s.tangled[t.chain[i].family] != 0
            for k in range(t.model.body[i].v_start, t.model.body[i].v_end):
                joint = d.memory.joint[k]
                if joint.mode == JOINED:
                    # it passed an end that had no row
                    if s.wrong[k] != 0 and before < 2:
                        s.joined[0], has_joined = 2, True
                elif s.wrong[k] != 0 or (tangled and joint.mode >= STUCK):
                    joint.mode, s.joined[0], has_joined = JOINED, max(s.joined[0], 1), True
    if has_joined and s.joined[1] == 0:
        budget.begin(s.budget, t.limits, d.outcome.report[0].points)
        s.joined[1] = 1
    return has_joined


@kernel(apart="none", rare=True)
def join_inside(t, d, s, deep, h):
    """Add joints at or near an end to the contacts, in trees that overlap by more than ``deep``
    [m], as leaving the overlap may move them there. Those that stick are held.
    """
    m = t.model
    for i in range(s.tangled.shape[0]):
        s.tangled[i] = 0
    for e in range(d.outcome.report[0].contacts):
        if s.points[e].gap < -deep and s.soft[e] != SPRINGS:
            s.tangled[t.chain[s.points[e].a].family] = 1
            if s.points[e].b > 0:
                s.tangled[t.chain[s.points[e].b].family] = 1
    for i in range(1, m.body.shape[0]):
        if s.tangled[t.chain[i].family] == 0 or m.body[i].kind == FLOATING:
            continue
        for k in range(m.body[i].v_start, m.body[i].v_end):
            joint, par = d.memory.joint[k], m.dof[k]
            if joint.mode in (FOLLOWS, STUCK, JOINED) or has_given_motion(par, d.command.motor[k]):
                continue
            place, reach = d.q[par.q] if par.q >= 0 else 0.0, 2.0 * abs(d.v[k]) + MIN_END_SPEED
            near = (
                min_row_velocity(par, place, h) > -reach or max_row_velocity(par, place, h) < reach
            )
            if near:
                joint.mode, s.joined[0] = JOINED, max(s.joined[0], 1)


@kernel(inline=True)
def _mark_unsolved_trees(t, d, s):
    """Mark trees with contacts of a group that did not converge."""
    for i in range(s.tangled.shape[0]):
        s.tangled[i] = 0
    for g in range(d.outcome.report[0].groups):
        if s.unsolved[g] != 0:
            for x in range(s.first[g], s.first[g + 1]):
                s.tangled[t.chain[s.body[x]].family] = 1


@kernel(inline=True)
def has_held_joint(d):
    """Whether some joint is guessed to be held."""
    for k in range(d.v.shape[0]):  # noqa: SIM110 - kernels have no generators
        if STUCK <= d.memory.joint[k].mode < JOINED:
            return True
    return False


@kernel(inline=True)
def add(part_memory, t, d, count, s, h):
    """Add points for friction and ends of joints that are solved with contacts; they come last."""
    total = count
    if s.joined[0] == 0:
        return total
    m, fresh = t.model, s.joined[1] == 0
    for i in range(1, m.body.shape[0]):
        if m.body[i].kind == FLOATING:
            continue
        for k in range(m.body[i].v_start, m.body[i].v_end):
            if d.memory.joint[k].mode != JOINED:
                continue
            par = m.dof[k]
            place = d.q[par.q] if par.q >= 0 else 0.0
            if par.friction > 0.0:
                total = _add_point(m, s, total, i, k, FRICTION)
            # s.v_next is of this step only after joints were added in it
            speed = abs(d.v[k]) + (0.0 if fresh else abs(s.v_next[k]))
            reach = MAX_END_SPEED if s.joined[0] > 1 else 2.0 * speed + MIN_END_SPEED
            if min_row_velocity(par, place, h) > -reach:
                total = _add_point(m, s, total, i, k, LOWER_END)
            if max_row_velocity(par, place, h) < reach:
                total = _add_point(m, s, total, i, k, UPPER_END)
    return total


@kernel(inline=True)
def _add_point(m, s, total, i, k, what):
    """Add one point, if there is memory."""
    if total < s.points.shape[0]:
        p = s.points[total]
        p.a, p.b, p.gap = i, m.body[i].parent, 0.0
        p.shape_a, p.shape_b, p.feature = k, 0, what
        store3(p.position, ZERO)
        store3(p.normal, ZERO)
        s.source[total] = k
    return total + 1


@kernel(apart="none", rare=True)
def fill(part_memory, t, d, e, s, x, group, h):
    """Fill row (1) or (2), the last of the three; the other two are empty."""
    m, w, p, i, base = t.model, s.dynamics, s.problem, 3 * x, s.first[group]
    point, row, k, what = s.points[e], p.contact[x], s.source[e], s.points[e].feature
    S, par = w.dof[k].motion, m.dof[k]
    place = d.q[par.q] if par.q >= 0 else 0.0
    turns = (S[0], S[1], S[2])
    row.angular = 1 if dot(turns, turns) > 0.0 else 0
    axis = turns if row.angular == 1 else (S[3], S[4], S[5])
    axis = scale(-1.0 if what == UPPER_END else 1.0, axis)
    store9(row.frame, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, axis[0], axis[1], axis[2]))
    # arms of both bodies to the joint
    store3(row.arm_a, load3(w.body[point.a].position))
    store3(row.arm_b, load3(w.body[point.a].position))
    row.partner = -1
    row.a, row.b = s.number[point.a] - base, s.number[point.b] - base if point.b > 0 else -1
    p.kind[x], p.mu[x], p.bound[x] = LIMITED, 0.0, h * par.friction
    shift = 0.0
    if what != FRICTION:
        p.kind[x], p.bound[x] = SOFT, 0.0
        shift = (
            max_row_velocity(par, place, h)
            if what == UPPER_END
            else -min_row_velocity(par, place, h)
        )
    v = -s.v_free[k] if what == UPPER_END else s.v_free[k]
    s.place[e] = x
    s.shift[i], s.shift[i + 1], s.shift[i + 2] = 0.0, 0.0, shift
    p.q[i], p.q[i + 1], p.q[i + 2] = 0.0, 0.0, v + shift


@kernel(apart="none", rare=True)
def warm_start(part_memory, t, d, e, s, x, previous):
    """Start with the last step's impulse along the axis."""
    i, E = 3 * x, s.problem.contact[x].frame
    s.impulse[i], s.impulse[i + 1], s.impulse[i + 2] = 0.0, 0.0, 0.0
    if previous >= 0:
        l = load3(d.memory.contact[previous].impulse)
        s.impulse[i + 2] = E[6] * l[0] + E[7] * l[1] + E[8] * l[2]


@kernel(inline=True)
def store_forces(d, s, h, tolerance):
    """Store forces of joints that were solved with contacts, and their modes as the guess of the
    next step, unless that solves them with contacts again.
    """
    # joints that were added for an overlap alone were not guessed wrong
    backoff.update(d.memory.joint_backoff, s.joined[1] > 0, s.joined[0] == 0)
    if s.joined[0] == 0:
        return
    stay = backoff.is_active(d.memory.joint_backoff)
    for k in range(d.v.shape[0]):
        joint, u = d.memory.joint[k], s.v_next[k]
        if joint.mode == JOINED:
            d.outcome.effort[k].constraint = 0.0
            if not stay:
                joint.mode, joint.direction = MOVES, 1 if u > 0.0 else -1
    for e in range(s.first_joint[0], d.outcome.report[0].points):
        k, what, l = s.source[e], s.points[e].feature, s.impulse[3 * s.place[e] + 2]
        joint = d.memory.joint[k]
        d.outcome.effort[k].constraint += (-l if what == UPPER_END else l) / h
        if not stay and what == FRICTION and abs(s.v_next[k]) <= SLIPS * tolerance:
            joint.mode, joint.direction = STUCK, 0
        elif not stay and what != FRICTION and l > 0.0:
            joint.mode, joint.direction = LOWER if what == LOWER_END else UPPER, 0
