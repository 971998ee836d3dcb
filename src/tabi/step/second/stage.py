"""The second stage of a step, which makes it one of second order.

The first stage is the step of ``step``. Where it goes smoothly, the velocities that it ends with
foresee the middle of the step (``middle``), and equations (1) and (2) of ``step`` are solved once
more with everything taken there:

    M_m (v⁺ − v) = h f(q_m, v_m) + J_mᵀ λ,   K ∋ λ ⟂ u + Φ(u) ∈ K*,   u = J_m v⁺ + δ + (σ, g/h)  (1)
    q⁺ = q ⊕ h v_θ(v⁺)                                                                           (2)
This is the half-explicit rule of the middle, of second order where contacts roll, stick or slide:
λ/h is the force in the middle of the step, and the velocity that the law is asked of the one in its
end. Where something hits, where overlaps are left, where a joint gets to its end or a motor to its
bound, velocities jump, and (1) says nothing about jumps: the first stage stands, as in a step of
first order.

References: Brasey & Hairer (1993), half-explicit Runge–Kutta methods for index 2.
"""

import functools

from tabi.contact.workspace import copy
from tabi.dynamics import aba, forward, free, gyroscopic, integration, kinematics
from tabi.jit import kernel
from tabi.spatial.vector import dot, load3
from tabi.step import assembly, corrections, depenetration, parts, solving
from tabi.step.forces import motors as first_motors
from tabi.step.free_motion import clear_forces, hand_over_forces, store_velocities
from tabi.step.rows import bonds as first_bonds
from tabi.step.rows import contacts as first_contacts
from tabi.step.rows import joints
from tabi.step.rows import moments as first_moments
from tabi.step.rows.contacts import SLIPS
from tabi.step.second import bonds, contacts, middle, moments, momentum, motors
from tabi.step.sensors import measurement
from tabi.step.tables import BONDS

# what the second stage comes to: nothing was done, the first one stands; it is the step; it is
# dropped, and the first one has to be done again
STANDS, REFINED, DROPPED = 0, 1, 2
# what points that press do
STAYS, ROLLS, LANDS = 0, 1, 2
# turn in a step [rad] beyond which the explicit products of (1) could gain energy
FASTEST = 0.5
# share of the velocities of the end by which configurations go on where those before have rolled
# in a step of first order: as −κ h of it, u_n⁻ h (1 − w) + (w − ½) κ h² = 0
ANEW = 0.75
# how often the middle is looked for: the velocities of the first stage are as much off as its step
# is short, and those of a second stage that has begun with them by the square of that
TURNS = 2
# of the first change of the velocities that are foreseen: how much the second may be
CLOSER = 0.5


@functools.cache
def stage_on(forces, rows, law):
    """The kernels ``refine`` and ``conclude`` of a step's parts."""
    own = {first_motors: motors, first_contacts: contacts}
    own |= {first_bonds: bonds, first_moments: moments}
    forces, rows = (tuple(own.get(part, part) for part in of) for of in (forces, rows))
    k = parts.kernels(forces, rows, law)
    bonds_at, whole = len(k.load) + BONDS, parts.assembled(k)
    judge, finish = whole.judge, whole.finish
    solve_contacts, _ = solving.solve_contacts_on(assembly.assemble_on(whole), whole)
    free_motion = _free_motion_on(whole.load)

    @kernel(inline=True)
    def measure_bonds(t, d, s, sign):
        """δ of all bonds: what they have in the end, less what they have in the middle."""
        for e in range(d.outcome.report[0].contacts, d.outcome.report[0].points):
            if s.kind[e] == BONDS:
                bonds.measure(d.memory.own[bonds_at], t, s, e, sign)

    @kernel(apart="boolean")
    def solve(t, d, s, h, tolerance, part):
        """s.v_next of (1), from what s.second foresees; False where it cannot be."""
        if not middle.look_ahead(t, d, s, h, part):
            return False
        momentum.keep_centres(t.model, s, s.second.centre_end)
        measure_bonds(t, d, s, 1.0)
        middle.go_to_middle(t, d, s, h)
        momentum.keep_centres(t.model, s, s.second.centre_m)
        measure_bonds(t, d, s, -1.0)
        kinematics.velocities(t.model, s.second.v_mean, s.dynamics)
        return free_motion(t, d, s, h) and solve_contacts(t, d, s, h, tolerance)

    @kernel(apart="int64")
    def refine(t, d, s, h, tolerance):
        """s.v_next of (1), from that of the first stage; STANDS, REFINED or DROPPED."""
        m, report = t.model, d.outcome.report[0]
        if not smooth(d, s, h, tolerance):
            return STANDS
        fall = contacts.fall_within(m, h)
        middle.keep_first(t, d, s, contacts.SETTLED * fall / h, tolerance)
        what = STAYS if report.overlap >= -contacts.ROLLED * fall else LANDS
        if what == STAYS:
            what = closing(d, s, h, fall)
        if what == LANDS:
            return STANDS
        part = 0.5
        if what == ROLLS:
            part = ANEW
            start_anew(s)
        middle.mark_free(t, d, s, h)
        momentum.keep_centres(m, s, s.second.centre)
        # overlaps are left as the first stage does
        overlap, report.overlap = report.overlap, 0.0
        for turn in range(TURNS):
            if turn > 0 and not middle.keep_next(d, s, tolerance):
                break
            if not solve(t, d, s, h, tolerance, part):
                return DROPPED
        report.overlap = overlap
        wrong, report.joint_residual = judge(t, d, s, h, tolerance, 0)
        wrong += report.missed + (report.apart != depenetration.TOGETHER)
        wrong += not (report.residual <= tolerance and report.joint_residual <= tolerance)
        wrong += contacts.wrong(d, s, h, part, fall)
        # looks ahead that do not come nearer to each other, as where loops lie flat
        settled = max(CLOSER * s.second.change[0], SLIPS * tolerance)
        wrong += not middle.foreseen_wrong(d, s) <= settled
        return REFINED if wrong == 0 else DROPPED

    @kernel(apart="none")
    def conclude(t, d, s, h, tolerance):
        """What became of contacts, motors and joints, and then the configuration."""
        joints.settle(d, s, h, tolerance)
        solving.store_contacts(t, d, s, tolerance)
        contacts.store_velocities(d, s)
        mark_pressed(t, d, s)
        finish(t, d, s, h)
        advance_configuration(t, d, s, h)
        measurement.sample(t, d, s, h)

    return refine, conclude


def _free_motion_on(load):
    """The free motion of the second stage, from the kernel that loads all forces."""

    @kernel(apart="boolean")
    def free_motion(t, d, s, h):
        """s.v_free at the middle of the step; False where a joint has no inertia."""
        m, w = t.model, s.dynamics
        clear_forces(m, d, s)
        load(t, d, s, h)
        hand_over_forces(m, s)
        if aba.factor(m, w) != 0:
            return False
        forward.accelerations(m, w.load, w, s.acceleration)
        store_velocities(d, s, h)
        keep_flights(m, s)
        momentum.foresee(m, d, s, h)
        return True

    return free_motion


@kernel(inline=True)
def keep_flights(m, s):
    """Bodies that fly by themselves go on as in the first stage, which is of second order there and
    keeps their energy (``gyroscopic``).
    """
    for i in range(1, m.body.shape[0]):
        if gyroscopic.floats_alone(m, i) and s.dynamics.body[i].acted_on == corrections.FREE:
            for k in range(m.body[i].v_start, m.body[i].v_end):
                s.v_free[k] = s.second.v_flight[k]


@kernel(inline=True)
def smooth(d, s, h, tolerance):
    """Whether nothing in the first stage jumps, as far as it is known without a look at gaps."""
    report = d.outcome.report[0]
    if report.missed > 0 or report.apart == depenetration.JAMMED:
        return False
    if not (report.residual <= tolerance and report.joint_residual <= tolerance):
        return False
    if s.joined[0] > 0 or report.points > s.second.mu.shape[0] or h * s.turning[0] > FASTEST:
        return False
    for k in range(d.v.shape[0]):
        held = s.dynamics.dof[k].fixed != 0 and d.command.motor[k].exact == 0
        if held and abs(s.v_next[k] - d.v[k]) > tolerance:
            return False
    return True


@kernel(inline=True)
def closing(d, s, h, fall):
    """Whether a point that presses has closed within the step, by more than a part of ``fall`` [m],
    how far things fall in it: LANDS, or ROLLS where it has pressed before.
    """
    what = STAYS
    for e in range(d.outcome.report[0].contacts):
        point, i = s.points[e], 3 * s.place[e]
        if s.impulse[i + 2] > 0.0:
            before = dot(load3(point.normal), load3(s.second.before[3 * e :]))
            over = min(0.0, point.gap) - point.gap - 0.5 * h * before
            hits = s.approach[e] < 0.0 or contacts.hits(s, e, contacts.SETTLED * fall / h)
            if hits or over > contacts.allowed(s, e, fall):
                return LANDS
            if over > contacts.ROLLS_ON * fall:
                what = ROLLS
    return what


@kernel(inline=True)
def start_anew(s):
    """Configurations follow more of the velocities of the end than of those before."""
    for k in range(s.second.after.shape[0]):
        s.second.after[k] = max(s.second.after[k], ANEW)


@kernel(inline=True)
def mark_pressed(t, d, s):
    """Trees that contacts press on do not keep their momentum."""
    m, w = t.model, s.dynamics
    for e in range(d.memory.count[0]):
        row, f = d.memory.contact[e], load3(d.memory.contact[e].impulse)
        if dot(f, f) > 0.0:
            w.body[m.body[row.a].root].acted_on = corrections.DRIVEN
            if row.b > 0:
                w.body[m.body[row.b].root].acted_on = corrections.DRIVEN


@kernel(inline=True)
def advance_configuration(t, d, s, h):
    """q and v of the end of the step by (2), and kinematics of both."""
    m, w, q, v = t.model, s.dynamics, d.q, d.v
    copy(d.outcome.q_before, q, q.shape[0])
    copy(d.outcome.v_before, v, v.shape[0])
    for k in range(v.shape[0]):
        s.v_configuration[k] = v[k] + s.second.after[k] * (s.v_next[k] - v[k])
        v[k] = s.v_next[k]
        # bonds that have drifted apart
        if s.bonds.closes[0] != 0:
            s.v_configuration[k] += s.v_closing[k]
        s.v_configuration[k] += s.second.parting[k]
    integration.advance(m, q, s.v_configuration, h)
    for c in range(m.mimic.shape[0]):
        row = m.mimic[c]
        if m.dof[row.follower].prescribed == 0:
            v[row.follower] = row.ratio * v[row.leader]
    kinematics.positions(m, q, w)
    momentum.complete(m, d, s, h)
    kinematics.velocities(m, v, w)
    # what flies by itself follows its parabola
    free.conserve(m, q, v, h, free.SECOND, w)
