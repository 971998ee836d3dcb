"""One step of Moreau's scheme: forces, free motion, contacts, configuration.

    M̂ a = τ₀ − b(q, v),   v_free = v + h a                                                     (1)
    u = J v⁺ + (0, 0, gap/h),   v⁺ = v_free + M̂⁻¹ Jᵀ λ,   K ∋ λ ⊥ u + Φ(u) ∈ K*                (2)
    q⁺ = q ⊕ h v⁺                                                                              (3)
(1): forces and forward dynamics; (2): contacts.
Contact points are found where the step starts, those that may close within the step among them.
Overlaps deeper than ``depenetration.DEEP_OVERLAP_M`` are resolved by (3) alone: the velocity is
that of (2) without them, so nothing gains energy from a start inside of something.

Saturated motors and held joints are an active set: (1) and (2) are solved again while the set was
guessed wrong, and the best guess is used where none is right. Joints that switch back and forth may
be misled by errors of contacts within the tolerance, and are solved together with them.

A step is built from parts (``parts``): forces of (1), kinds of rows and a law of (2). One of second
order has a second stage behind it (``second``). The workspace
holds the kinematics of the state before the step, and afterwards that of the state after it.

References: Moreau (1988); Chardonnet (2006), sec. III; (2012), sec. 3.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from tabi.contact import budget
from tabi.dynamics import kinematics
from tabi.jit import kernel
from tabi.jit.callback import clear_failed, failed
from tabi.step import (
    assembly,
    backoff,
    best_guess,
    corrections,
    depenetration,
    feet,
    parts,
    solving,
)
from tabi.step.forces import external, joint_limits, motors
from tabi.step.free_motion import free_motion_on
from tabi.step.rollout import rollout_on
from tabi.step.rows import bonds, contacts, joints, moments
from tabi.step.second import stage
from tabi.step.sensors import measurement
from tabi.step.status import ABORTED, DIVERGED, OK, OUT_OF_MEMORY, SINGULAR, UNCOMPILED

# how often a step is solved at most, to find motors that saturate and joints that are held
MAX_GUESSES = 200
# beyond this [m/s or rad/s] the step has diverged, and configurations would soon be NaN
MAX_SPEED = 1e9
# the parts of every step; other forces stand between external ones and the limits,
# which need them all, and other rows before those of joints
FORCES, LIMITS = (motors, external, feet, measurement), (joint_limits,)
ROWS = (moments, bonds)


class Units(NamedTuple):
    """Kernels of a step that are compiled separately, beside the solver of its law."""

    find_contacts: Any
    free_motion: Any
    assemble: Any
    conclude: Any


class Step(NamedTuple):
    """A step that was built from its parts.

    Attributes:
        forces, rows, law: its parts.
        rollout: the kernel that advances steps, see there. units: kernels that it calls.
        order: 1, or 2 with a second stage (``second``).
    """

    forces: tuple[Any, ...]
    rows: tuple[Any, ...]
    law: Any
    rollout: Any
    units: Units
    order: int = 1

    @property
    def parts(self) -> tuple[Any, ...]:
        """All parts, in the order of ``Memory.parts``."""
        return (*self.forces, *self.rows, self.law)

    def place(self, name: str) -> int:
        """Return the index of a part in ``Memory.parts``, by its name."""
        return [parts.name_of(part) for part in self.parts].index(name)


def step_on(
    law: Any, more_forces: tuple[Any, ...] = (), more_rows: tuple[Any, ...] = (), order: int = 1
) -> Step:
    """Build a step with a law of contact, with forces and kinds of rows beside those of every step;
    of first or second order.
    """
    forces = (*FORCES, *getattr(law, "FORCES", ()), *more_forces, *LIMITS)
    contact_rows = getattr(law, "CONTACTS", contacts)
    rows = (contact_rows, *ROWS, *getattr(law, "ROWS", ()), *more_rows, joints)
    parts.check(forces, rows, law)
    k = parts.kernels(forces, rows, law)
    if order == 1:
        return Step(forces, rows, law, *_rollout_on(k))
    return Step(forces, rows, law, *_rollout_on(k, *stage.stage_on(forces, rows, law)), order)


# steps of the same kernels are compiled once
@functools.cache
def _rollout_on(
    k: parts.Kernels, refine: Any = None, conclude_refined: Any = None
) -> tuple[Any, Units]:
    """Return the step and its units, from the kernels of its parts and of its second stage."""
    kernels = parts.assemble_kernels(k)
    units = _units_on(kernels)
    solve = _solve_on(_points_on(kernels, units), _velocities_on(kernels, units))
    conclude = units.conclude

    @kernel(inline=True)
    def step(t, d, s, h, tolerance):
        """Advance q and v by h [s]; returns a status. Unless it is OK the state is unchanged."""
        report = d.outcome.report[0]
        status = solve(t, d, s, h, tolerance)
        if status != OK:
            return status
        if not report.joint_residual <= tolerance:
            report.missed += 1
        conclude(t, d, s, h, tolerance)
        return OK

    if refine is not None:
        step = _step_in_stages_on(solve, conclude, refine, conclude_refined)

    return rollout_on(step), units


def _units_on(kernels: parts.Assembled) -> Units:
    """Return the kernels of a step that are compiled separately, from those of its parts."""
    add_contacts, finish = kernels.find_contacts, kernels.finish

    @kernel(apart="int64")
    def find_contacts(t, d, s, h):
        """Find contact points; returns their number, also if it exceeds the memory."""
        return add_contacts(t, d, 0, s, h)

    @kernel(apart="none")
    def conclude(t, d, s, h, tolerance):
        """Store results of contacts, motors and joints, then advance the configuration."""
        joints.store_forces(d, s, h, tolerance)
        solving.store_contacts(t, d, s, tolerance)
        corrections.mark_pressed(t, d, s, h)
        finish(t, d, s, h)
        corrections.advance_configuration(t, d, s, h)
        measurement.sample(t, d, s, h)

    return Units(
        find_contacts, free_motion_on(kernels.load), assembly.assemble_on(kernels), conclude
    )


# the kernels below are inlined, as all that take the whole memory: passing it on would cost more
# than the work


def _points_on(kernels: parts.Assembled, units: Units) -> Any:
    """Make ``find_points`` from the kernels of a step's parts."""
    find_contacts, withhold, add_others = units.find_contacts, kernels.withhold, kernels.add_others

    @kernel(inline=True)
    def find_points(t, d, s, h):
        """Find contact points and, behind them, those of other kinds; False if memory is
        exceeded.
        """
        report, room = d.outcome.report[0], s.points.shape[0]
        corrections.measure_turning(t, s)
        report.points = find_contacts(t, d, s, h)
        if report.points > room:
            return False
        report.contacts = withhold(t, d, report.points, s)
        report.points = add_others(t, d, report.contacts, s, h)
        depenetration.measure(d, s)
        return report.points <= room

    return find_points


def _velocities_on(kernels: parts.Assembled, units: Units) -> Any:
    """Make ``find_velocities`` from the kernels of a step's parts."""
    certified, add_joints, judge = kernels.certified, kernels.add_joints, kernels.judge
    free_motion = units.free_motion
    solve_contacts, resolve_overlaps = solving.solve_contacts_on(units.assemble, kernels)

    @kernel(inline=True)
    def find_velocities(t, d, s, h, tolerance):
        """Solve for s.v_next, and s.v_configuration of overlaps; returns a status."""
        report, points = d.outcome.report[0], d.outcome.report[0].points
        if certified and depenetration.deep_inside(d, h):
            joints.join_inside(t, d, s, depenetration.deep_overlap(h), h)
        last = False
        for guess in range(MAX_GUESSES + 1):
            best_guess.store_modes(d, s)
            finer = tolerance if is_tolerance_enough(s, guess) else 0.1 * tolerance
            report.points = add_joints(t, d, points, s, h)
            if report.points > s.points.shape[0]:
                return OUT_OF_MEMORY
            if guess > 0:
                kinematics.velocities(t.model, d.v, s.dynamics)
            if not free_motion(t, d, s, h, guess):
                return SINGULAR
            if not solve_contacts(t, d, s, h, finer):
                return abort_status(s)
            if certified and report.residual <= tolerance:
                report.missed = 0
            wrong, report.joint_residual = judge(t, d, s, h, tolerance, guess)
            if last or (wrong == 0 and report.missed == 0):
                break
            if not guess_again(t, d, s, guess, wrong, certified):
                last = certified and best_guess.restore_best(t, d, s)
                if not last:
                    break
        s.first_joint[0] = points
        if report.apart != depenetration.COUPLED and not resolve_overlaps(t, d, s, h, finer):
            return abort_status(s)
        return OK

    return find_velocities


def _solve_on(find_points: Any, find_velocities: Any) -> Any:
    """Make ``solve`` from its two halves."""

    @kernel(inline=True)
    def solve(t, d, s, h, tolerance):
        """Find points and s.v_next; returns a status."""
        clear_failed()
        if not find_points(t, d, s, h):
            return OUT_OF_MEMORY
        begin(t, d, s)
        status = checked_status(s, find_velocities(t, d, s, h, tolerance))
        if status != OK:
            restore_modes(d, s, status)
        return status

    return solve


def _step_in_stages_on(solve: Any, conclude: Any, refine: Any, conclude_refined: Any) -> Any:
    """Make a step of second order from the kernels of both of its stages."""

    @kernel(inline=True)
    def step_in_stages(t, d, s, h, tolerance):
        """Advance as ``step`` does, with a second stage unless that is dropped."""
        report, outcome = d.outcome.report[0], stage.DROPPED
        for attempt in range(2):
            status = solve(t, d, s, h, tolerance)
            if status != OK:
                return status
            if attempt == 0:
                outcome = refine(t, d, s, h, tolerance)
                if failed():
                    return_to_start(t, d, s)
                    return UNCOMPILED
            if outcome != stage.DROPPED:
                break
            if attempt == 0:
                return_to_start(t, d, s)
                if s.budget[budget.DROPPED] != 0:
                    return ABORTED
        report.order = 2 if outcome == stage.REFINED else 1
        if outcome == stage.REFINED:
            conclude_refined(t, d, s, h, tolerance)
            return OK
        if not report.joint_residual <= tolerance:
            report.missed += 1
        conclude(t, d, s, h, tolerance)
        return OK

    return step_in_stages


@kernel(inline=True)
def begin(t, d, s):
    """Begin with an unspent budget, and save the modes of the joints, which guesses change."""
    budget.begin(s.budget, t.limits, d.outcome.report[0].points)
    s.joined[0], s.joined[1] = backoff.is_active(d.memory.joint_backoff), 0
    best_guess.begin(s)
    # a guess of held joints may be wrong, which no work would solve
    if joints.has_held_joint(d):
        s.budget[budget.LIMIT] = min(s.budget[budget.LIMIT], budget.MIN_WORK)
    s.budget[budget.HELPED] = d.memory.last_rescue[0]
    copy_modes(s.joint, d.memory.joint)


@kernel(inline=True)
def is_tolerance_enough(s, guess):
    """Whether the plain tolerance of contacts is fine enough for joints, or they need a finer
    one.
    """
    return guess < joint_limits.SIMULTANEOUS_GUESS_COUNT or s.joined[0] > 0


@kernel(inline=True)
def guess_again(t, d, s, guess, wrong, certified):
    """Prepare another guess; False where it is not worth its work."""
    best_guess.update_best(d, s)
    if certified and guess < MAX_GUESSES - 1 and joints.join(t, d, s, guess):
        return True
    return wrong > 0 and guess < MAX_GUESSES - 1 and budget.left(s.budget)


@kernel(inline=True)
def abort_status(s):
    """Return the status of a step whose contacts were not solved: out of memory, or aborted by the
    user.
    """
    return OUT_OF_MEMORY if s.budget[budget.DROPPED] == 0 else ABORTED


@kernel(inline=True)
def restore_modes(d, s, status):
    """Restore the joint modes to their values at the start of the step."""
    copy_modes(d.memory.joint, s.joint)
    if status == ABORTED:
        d.outcome.report[0].missed = 0


@kernel(inline=True)
def return_to_start(t, d, s):
    """Return to the start of the step, after a second stage that is dropped."""
    copy_modes(d.memory.joint, s.joint)
    kinematics.positions(t.model, d.q, s.dynamics)
    kinematics.velocities(t.model, d.v, s.dynamics)


@kernel(inline=True)
def copy_modes(out, joint):
    """Copy modes of motors and joints."""
    for k in range(joint.shape[0]):
        out[k].saturation, out[k].mode = joint[k].saturation, joint[k].mode
        out[k].direction = joint[k].direction


@kernel(inline=True)
def checked_status(s, status):
    """Return the status of a solved step: DIVERGED where velocities are implausible."""
    if failed():
        return UNCOMPILED
    return DIVERGED if status == OK and not is_plausible(s.v_next) else status


@kernel(inline=True)
def is_plausible(v):
    """Whether all velocities are finite and below MAX_SPEED.

    By comparisons, as sums of x − x are folded away where sums may be reordered.
    """
    for i in range(v.shape[0]):  # noqa: SIM110 - kernels have no generators
        if not abs(v[i]) < MAX_SPEED:
            return False
    return True
