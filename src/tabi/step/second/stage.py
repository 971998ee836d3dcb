"""The second stage of a step, which makes it one of second order.

The first stage is the step of ``step``. Where it is smooth, its final velocities predict the middle
of the step (``middle``), and equations (1) and (2) of ``step`` are solved once more with all terms
evaluated there:

    M_m (v⁺ − v) = h f(q_m, v_m) + J_mᵀ λ,   K ∋ λ ⊥ u + Φ(u) ∈ K*,   u = J_m v⁺ + δ + (σ, g/h)  (1)
    q⁺ = q ⊕ h v_θ(v⁺)                                                                           (2)
This is the half-explicit rule of the middle, of second order where contacts roll, stick or slide:
λ/h is the force in the middle of the step, and the law applies to the velocity at its end. Where
something hits, where overlaps are resolved, where a joint reaches its end or a motor its bound,
velocities jump, and (1) does not hold: the first stage is used, as in a step of first order.

References: Brasey & Hairer (1993), half-explicit Runge–Kutta methods for index 2.
"""

import functools
from typing import Any

from tabi.contact.workspace import copy
from tabi.dynamics import aba, forward, free, gyroscopic, integration, kinematics
from tabi.jit import kernel
from tabi.spatial.vector import dot, load3
from tabi.step import assembly, corrections, depenetration, parts, solving
from tabi.step.forces import motors as first_motors
from tabi.step.free_motion import clear_forces, pass_forces, store_velocities
from tabi.step.rows import bonds as first_bonds
from tabi.step.rows import contacts as first_contacts
from tabi.step.rows import joints
from tabi.step.rows import moments as first_moments
from tabi.step.rows.contacts import SLIPS
from tabi.step.second import bonds, contacts, middle, moments, momentum, motors
from tabi.step.sensors import measurement
from tabi.step.tables import BONDS

# results of the second stage: not tried, the first one is the step; the second one is the step;
# dropped, and the first one has to be solved again
STANDS, REFINED, DROPPED = 0, 1, 2
# motion of pressing points
STAYS, ROLLS, LANDS = 0, 1, 2
# rotation in a step [rad] beyond which the explicit products of (1) could gain energy
MAX_ROTATION = 0.5
# share w of the final velocities in those of configurations after rolling in a step of first order,
# whose error is −κ h: u_n⁻ h (1 − w) + (w − ½) κ h² = 0
ROLLING_SHARE = 0.75
# predictions of the middle: velocities of the first stage have an error of order h, those of a
# second stage that began with them one of order h²
MAX_ITERATIONS = 2
# largest ratio of the second change of predicted velocities to the first
CONVERGENCE_RATIO = 0.5


@functools.cache
def stage_on(forces, rows, law):
    """Make the kernels ``refine`` and ``conclude`` from a step's parts."""
    second_parts: dict[Any, Any] = {first_motors: motors, first_contacts: contacts}
    second_parts |= {first_bonds: bonds, first_moments: moments}
    forces, rows = (tuple(second_parts.get(part, part) for part in of) for of in (forces, rows))
    k = parts.kernels(forces, rows, law)
    bonds_at, whole = len(k.load) + BONDS, parts.assemble_kernels(k)
    judge, finish = whole.judge, whole.finish
    solve_contacts, _ = solving.solve_contacts_on(assembly.assemble_on(whole), whole)
    free_motion = _free_motion_on(whole.load)

    @kernel(inline=True)
    def measure_bonds(t, d, s, sign):
        """Add velocities of all bonds to δ, with a sign: + at the end, − at the middle."""
        for e in range(d.outcome.report[0].contacts, d.outcome.report[0].points):
            if s.kind[e] == BONDS:
                bonds.measure(d.memory.parts[bonds_at], t, s, e, sign)

    @kernel(apart="boolean")
    def solve(t, d, s, h, tolerance, part):
        """Solve s.v_next of (1), from the prediction in s.second; False where that fails."""
        if not middle.predict_end(t, d, s, h, part):
            return False
        momentum.store_centres(t.model, s, s.second.centre_end)
        measure_bonds(t, d, s, 1.0)
        middle.go_to_middle(t, d, s, h)
        momentum.store_centres(t.model, s, s.second.centre_m)
        measure_bonds(t, d, s, -1.0)
        kinematics.velocities(t.model, s.second.v_mean, s.dynamics)
        return free_motion(t, d, s, h) and solve_contacts(t, d, s, h, tolerance)

    @kernel(apart="int64")
    def refine(t, d, s, h, tolerance):
        """Solve s.v_next of (1), from that of the first stage; returns STANDS, REFINED or
        DROPPED.
        """
        m, report = t.model, d.outcome.report[0]
        if not is_smooth(d, s, h, tolerance):
            return STANDS
        fall = contacts.fall_distance(m, h)
        middle.store_first_stage(t, d, s, contacts.MAX_CLOSING_RATIO * fall / h, tolerance)
        what = STAYS if report.overlap >= -contacts.ROLLING_OVERLAP_RATIO * fall else LANDS
        if what == STAYS:
            what = contact_motion(d, s, h, fall)
        if what == LANDS:
            return STANDS
        part = 0.5
        if what == ROLLS:
            part = ROLLING_SHARE
            raise_shares(s)
        middle.mark_free_trees(t, d, s, h)
        momentum.store_centres(m, s, s.second.centre)
        # overlaps are resolved as in the first stage
        overlap, report.overlap = report.overlap, 0.0
        for turn in range(MAX_ITERATIONS):
            if turn > 0 and not middle.store_next_iterate(d, s, tolerance):
                break
            if not solve(t, d, s, h, tolerance, part):
                return DROPPED
        report.overlap = overlap
        wrong, report.joint_residual = judge(t, d, s, h, tolerance, 0)
        wrong += report.missed + (report.apart != depenetration.COUPLED)
        wrong += not (report.residual <= tolerance and report.joint_residual <= tolerance)
        wrong += contacts.count_wrong(d, s, h, part, fall)
        # predictions that do not converge, as where loops lie flat
        settled = max(CONVERGENCE_RATIO * s.second.change[0], SLIPS * tolerance)
        wrong += not middle.prediction_error(d, s) <= settled
        return REFINED if wrong == 0 else DROPPED

    @kernel(apart="none")
    def conclude(t, d, s, h, tolerance):
        """Store results of contacts, motors and joints, then advance the configuration."""
        joints.store_forces(d, s, h, tolerance)
        solving.store_contacts(t, d, s, tolerance)
        contacts.store_velocities(d, s)
        mark_pressed(t, d, s)
        finish(t, d, s, h)
        advance_configuration(t, d, s, h)
        measurement.sample(t, d, s, h)

    return refine, conclude


def _free_motion_on(load):
    """Make the free motion of the second stage, from the kernel that loads all forces."""

    @kernel(apart="boolean")
    def free_motion(t, d, s, h):
        """Compute s.v_free at the middle of the step; False where a joint has no inertia."""
        m, w = t.model, s.dynamics
        clear_forces(m, d, s)
        load(t, d, s, h)
        pass_forces(m, s)
        if aba.factor(m, w) != 0:
            return False
        forward.accelerations(m, w.load, w, s.acceleration)
        store_velocities(d, s, h)
        restore_flights(m, s)
        momentum.add_predicted(m, d, s, h)
        return True

    return free_motion


@kernel(inline=True)
def restore_flights(m, s):
    """Restore the first stage's velocities of free bodies, which are of second order there and keep
    their energy (``gyroscopic``).
    """
    for i in range(1, m.body.shape[0]):
        if gyroscopic.floats_alone(m, i) and s.dynamics.body[i].acted_on == corrections.FREE:
            for k in range(m.body[i].v_start, m.body[i].v_end):
                s.v_free[k] = s.second.v_flight[k]


@kernel(inline=True)
def is_smooth(d, s, h, tolerance):
    """Whether nothing in the first stage jumps, as far as is known without a check of gaps."""
    report = d.outcome.report[0]
    if report.missed > 0 or report.apart == depenetration.JAMMED:
        return False
    if not (report.residual <= tolerance and report.joint_residual <= tolerance):
        return False
    if s.joined[0] > 0 or report.points > s.second.mu.shape[0] or h * s.turning[0] > MAX_ROTATION:
        return False
    for k in range(d.v.shape[0]):
        is_held = s.dynamics.dof[k].fixed != 0 and d.command.motor[k].exact == 0
        if is_held and abs(s.v_next[k] - d.v[k]) > tolerance:
            return False
    return True


@kernel(inline=True)
def contact_motion(d, s, h, fall):
    """Return whether a pressing point has closed within the step, by more than a part of the
    distance ``fall`` [m]: LANDS, or ROLLS where it has pressed before; STAYS otherwise.
    """
    what = STAYS
    for e in range(d.outcome.report[0].contacts):
        point, i = s.points[e], 3 * s.place[e]
        if s.impulse[i + 2] > 0.0:
            before = dot(load3(point.normal), load3(s.second.before[3 * e :]))
            over = min(0.0, point.gap) - point.gap - 0.5 * h * before
            hits = s.approach[e] < 0.0 or contacts.hits(s, e, contacts.MAX_CLOSING_RATIO * fall / h)
            if hits or over > contacts.max_deepening(s, e, fall):
                return LANDS
            if over > contacts.MIN_ROLLING_RATIO * fall:
                what = ROLLS
    return what


@kernel(inline=True)
def raise_shares(s):
    """Raise the share of final velocities in those of configurations."""
    for k in range(s.second.after.shape[0]):
        s.second.after[k] = max(s.second.after[k], ROLLING_SHARE)


@kernel(inline=True)
def mark_pressed(t, d, s):
    """Mark trees that contacts press on, which do not keep their momentum."""
    m, w = t.model, s.dynamics
    for e in range(d.memory.count[0]):
        row, f = d.memory.contact[e], load3(d.memory.contact[e].impulse)
        if dot(f, f) > 0.0:
            w.body[m.body[row.a].root].acted_on = corrections.DRIVEN
            if row.b > 0:
                w.body[m.body[row.b].root].acted_on = corrections.DRIVEN


@kernel(inline=True)
def advance_configuration(t, d, s, h):
    """Advance q and v to the end of the step by (2), with kinematics of both."""
    m, w, q, v = t.model, s.dynamics, d.q, d.v
    copy(d.outcome.q_before, q, q.shape[0])
    copy(d.outcome.v_before, v, v.shape[0])
    for k in range(v.shape[0]):
        s.v_configuration[k] = v[k] + s.second.after[k] * (s.v_next[k] - v[k])
        v[k] = s.v_next[k]
        # close bonds that have drifted open
        if s.bonds.closes[0] != 0:
            s.v_configuration[k] += s.v_closing[k]
        s.v_configuration[k] += s.second.parting[k]
    integration.advance(m, q, s.v_configuration, h)
    for c in range(m.mimic.shape[0]):
        row = m.mimic[c]
        if m.dof[row.follower].prescribed == 0:
            v[row.follower] = row.ratio * v[row.leader]
    kinematics.positions(m, q, w)
    momentum.add_remainder(m, d, s, h)
    kinematics.velocities(m, v, w)
    # free bodies follow their parabola
    free.conserve(m, q, v, h, free.SECOND, w)
