"""One step of Moreau's scheme: forces, free motion, contacts, configuration.

    M̂ a = τ₀ − b(q, v),   v_free = v + h a                                                     (1)
    u = J v⁺ + (0, 0, gap/h),   v⁺ = v_free + M̂⁻¹ Jᵀ λ,   K ∋ λ ⟂ u + Φ(u) ∈ K*                (2)
    q⁺ = q ⊕ h v⁺                                                                              (3)
(1): forces and forward dynamics; (2): contacts.
Contact points are found where the step starts, those that are near enough to be reached among them.
Overlaps deeper than ``depenetration.DEEP`` are left by (3) alone: the velocity keeps what (2) gives
without them, so nothing gains energy from having been put inside of something.

What motors and joints do is an active set: (1) and (2) are solved again while they turn out to do
other than was guessed, and the best guess is taken where none is right. Joints that change to and
fro may be misled by what contacts leave within their tolerance, and join them.

A step is built from parts (``parts``): forces of (1), kinds of rows and a law of (2). One of second
order has a second stage behind it (``second``). The workspace
holds the kinematics of the state it is handed, and in the end that of the state it returns.

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
    best_guess,
    caution,
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
from tabi.step.status import BROKEN, DROPPED, FINE, ROOM, SINGULAR, UNCOMPILED

# how often a step is done at most, to find the motors that saturate and the joints that are held
GUESSES = 200
# beyond this [m/s or rad/s] something is broken, and configurations would soon be no numbers
# any more
FASTEST = 1e9
# the parts of every step; other forces stand between external ones and the limits,
# which need them all, and other rows before those of joints
FORCES, LIMITS = (motors, external, feet, measurement), (joint_limits,)
ROWS = (moments, bonds)


class Units(NamedTuple):
    """What a step consists of, beside the solver of its law: kernels that are compiled apart."""

    find_contacts: Any
    free_motion: Any
    assemble: Any
    conclude: Any


class Step(NamedTuple):
    """A step that was built.

    Attributes:
        forces, rows, law: its parts.
        rollout: the kernel that does steps, see there. units: that it calls.
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
        """All parts, in the order of ``Memory.own``."""
        return (*self.forces, *self.rows, self.law)

    def place(self, name: str) -> int:
        """Of the part of a name in ``Memory.own``."""
        return [parts.name_of(part) for part in self.parts].index(name)


def step_on(
    law: Any, more_forces: tuple[Any, ...] = (), more_rows: tuple[Any, ...] = (), order: int = 1
) -> Step:
    """A step with a law of contact, with forces and kinds of rows beside those of every step; of
    first or second order.
    """
    forces = (*FORCES, *getattr(law, "FORCES", ()), *more_forces, *LIMITS)
    found = getattr(law, "CONTACTS", contacts)
    rows = (found, *ROWS, *getattr(law, "ROWS", ()), *more_rows, joints)
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
    """The compiled step and its units, from the kernels of its parts and of its second stage."""
    own = parts.assembled(k)
    units = _units_on(own)
    solve = _solve_on(_points_on(own, units), _velocities_on(own, units))
    conclude = units.conclude

    @kernel(inline=True)
    def step(t, d, s, h, tolerance):
        """Advance q and v by h [s]; returns a status. Unless it is FINE nothing has moved."""
        report = d.outcome.report[0]
        status = solve(t, d, s, h, tolerance)
        if status != FINE:
            return status
        if not report.joint_residual <= tolerance:
            report.missed += 1
        conclude(t, d, s, h, tolerance)
        return FINE

    if refine is not None:
        step = _step_in_stages_on(solve, conclude, refine, conclude_refined)

    return rollout_on(step), units


def _units_on(own: parts.Assembled) -> Units:
    """The kernels of a step that are compiled apart, from those of its parts."""
    add_contacts, finish = own.find_contacts, own.finish

    @kernel(apart="int64")
    def find_contacts(t, d, s, h):
        """Contact points; returns how many there are, also if too many."""
        return add_contacts(t, d, 0, s, h)

    @kernel(apart="none")
    def conclude(t, d, s, h, tolerance):
        """What became of contacts, motors and joints, and then the configuration."""
        joints.settle(d, s, h, tolerance)
        solving.store_contacts(t, d, s, tolerance)
        corrections.mark_pressed(t, d, s, h)
        finish(t, d, s, h)
        corrections.advance_configuration(t, d, s, h)
        measurement.sample(t, d, s, h)

    return Units(find_contacts, free_motion_on(own.load), assembly.assemble_on(own), conclude)


# the kernels below are inlined, as all that is handed all of the memory: passing it on would cost
# more than the work


def _points_on(own: parts.Assembled, units: Units) -> Any:
    """``find_points`` from the kernels of a step's parts."""
    find_contacts, withhold, add_others = units.find_contacts, own.withhold, own.add_others

    @kernel(inline=True)
    def find_points(t, d, s, h):
        """Contact points, those of other kinds behind them; whether there was memory enough."""
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


def _velocities_on(own: parts.Assembled, units: Units) -> Any:
    """``find_velocities`` from the kernels of a step's parts."""
    certified, add_joints, judge = own.certified, own.add_joints, own.judge
    free_motion = units.free_motion
    solve_contacts, leave_overlaps = solving.solve_contacts_on(units.assemble, own)

    @kernel(inline=True)
    def find_velocities(t, d, s, h, tolerance):
        """s.v_next, and s.v_configuration where overlaps are left apart; returns a status."""
        report, points = d.outcome.report[0], d.outcome.report[0].points
        if certified and depenetration.deep_inside(d, h):
            joints.join_inside(t, d, s, depenetration.deep(h), h)
        last = False
        for guess in range(GUESSES + 1):
            best_guess.keep(d, s)
            finer = tolerance if sure(s, guess) else 0.1 * tolerance
            report.points = add_joints(t, d, points, s, h)
            if report.points > s.points.shape[0]:
                return ROOM
            if guess > 0:
                kinematics.velocities(t.model, d.v, s.dynamics)
            if not free_motion(t, d, s, h, guess):
                return SINGULAR
            if not solve_contacts(t, d, s, h, finer):
                return given_up(s)
            if certified and report.residual <= tolerance:
                report.missed = 0
            wrong, report.joint_residual = judge(t, d, s, h, tolerance, guess)
            if last or (wrong == 0 and report.missed == 0):
                break
            if not guess_again(t, d, s, guess, wrong, certified):
                last = certified and best_guess.go_back(t, d, s)
                if not last:
                    break
        s.first_joint[0] = points
        if report.apart != depenetration.TOGETHER and not leave_overlaps(t, d, s, h, finer):
            return given_up(s)
        return FINE

    return find_velocities


def _solve_on(find_points: Any, find_velocities: Any) -> Any:
    """``solve`` from its two halves."""

    @kernel(inline=True)
    def solve(t, d, s, h, tolerance):
        """Points and s.v_next; returns a status."""
        clear_failed()
        if not find_points(t, d, s, h):
            return ROOM
        begin(t, d, s)
        status = checked(s, find_velocities(t, d, s, h, tolerance))
        if status != FINE:
            undo(d, s, status)
        return status

    return solve


def _step_in_stages_on(solve: Any, conclude: Any, refine: Any, conclude_refined: Any) -> Any:
    """A step of second order from the kernels of both of its stages."""

    @kernel(inline=True)
    def step_in_stages(t, d, s, h, tolerance):
        """``step`` with a second stage, or without where that is dropped."""
        report, outcome = d.outcome.report[0], stage.DROPPED
        for turn in range(2):
            status = solve(t, d, s, h, tolerance)
            if status != FINE:
                return status
            if turn == 0:
                outcome = refine(t, d, s, h, tolerance)
                if failed():
                    go_back(t, d, s)
                    return UNCOMPILED
            if outcome != stage.DROPPED:
                break
            if turn == 0:
                go_back(t, d, s)
                if s.budget[budget.DROPPED] != 0:
                    return DROPPED
        report.order = 2 if outcome == stage.REFINED else 1
        if outcome == stage.REFINED:
            conclude_refined(t, d, s, h, tolerance)
            return FINE
        if not report.joint_residual <= tolerance:
            report.missed += 1
        conclude(t, d, s, h, tolerance)
        return FINE

    return step_in_stages


@kernel(inline=True)
def begin(t, d, s):
    """Nothing is spent yet; modes of the joints are kept, as guesses will change them."""
    budget.begin(s.budget, t.limits, d.outcome.report[0].points)
    s.joined[0], s.joined[1] = caution.asked(d.memory.joined), 0
    best_guess.begin(s)
    # what may fail for another reason than that it is hard
    if joints.any_held(d):
        s.budget[budget.LIMIT] = min(s.budget[budget.LIMIT], budget.SHORT)
    s.budget[budget.HELPED] = d.memory.helped[0]
    copy_modes(s.joint, d.memory.joint)


@kernel(inline=True)
def sure(s, guess):
    """Whether the tolerance of contacts cannot mislead joints: few were guessed, or all joined."""
    return guess < joint_limits.BOLD or s.joined[0] > 0


@kernel(inline=True)
def guess_again(t, d, s, guess, wrong, certified):
    """Whether another guess is worth its work: the next one is prepared then."""
    best_guess.note(d, s)
    if certified and guess < GUESSES - 1 and joints.join(t, d, s, guess):
        return True
    return wrong > 0 and guess < GUESSES - 1 and budget.left(s.budget)


@kernel(inline=True)
def given_up(s):
    """The status of a step whose contacts were not solved: memory is short,
    or somebody said to drop it.
    """
    return ROOM if s.budget[budget.DROPPED] == 0 else DROPPED


@kernel(inline=True)
def undo(d, s, status):
    """Nothing has happened."""
    copy_modes(d.memory.joint, s.joint)
    if status == DROPPED:
        d.outcome.report[0].missed = 0


@kernel(inline=True)
def go_back(t, d, s):
    """To where the step begins, after a second stage that is dropped."""
    copy_modes(d.memory.joint, s.joint)
    kinematics.positions(t.model, d.q, s.dynamics)
    kinematics.velocities(t.model, d.v, s.dynamics)


@kernel(inline=True)
def copy_modes(out, joint):
    """What motors and joints do."""
    for k in range(joint.shape[0]):
        out[k].saturation, out[k].mode = joint[k].saturation, joint[k].mode
        out[k].direction = joint[k].direction


@kernel(inline=True)
def checked(s, status):
    """The status of a step whose velocities are there: BROKEN where they are not sane."""
    if failed():
        return UNCOMPILED
    return BROKEN if status == FINE and not sane(s.v_next) else status


@kernel(inline=True)
def sane(v):
    """Whether all velocities are numbers below FASTEST.

    By comparisons, as sums of x − x are folded away where sums may be reordered.
    """
    for i in range(v.shape[0]):  # noqa: SIM110 - kernels have no generators
        if not abs(v[i]) < FASTEST:
            return False
    return True
