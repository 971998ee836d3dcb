"""The second scheme: steps that stop where things hit each other, and go on from there.

Time stepping lets an impact happen anywhere within a step; its error is of first order in h. Here
the moment is looked for. A part of the step in which contacts bounce is undone, and says when the
first of them closes,

    τ = min gap / (−u_n)                                                                        (1)
u_n: its velocity at the end of that part. Gravity and motors change u_n within the part, so τ is
early by a term of second order; the part of τ is done, and (1) asked again, until τ is an instant.
Two or three turns are enough for what falls, some ten for legs that motors move. Then come the
impact, over an instant in which nothing else moves, and the rest of the step. What flies by itself
follows its parabola exactly, so an elastic ball keeps its energy.

Accumulating impacts (Zeno) end in rest by the rule of ``rows.contacts``: what closes slower than
gravity makes it in two steps lands. After MOST impacts in one step, or where the budget of the step
is spent, the rest of it is done by time stepping, and the step is counted.

Forces are those of the whole step, its impacts among them (``divided_step``).

Reference: Chardonnet (2006), sec. II-B.
"""

from __future__ import annotations

from tabi.contact import budget
from tabi.step.divided_step import DividedStep
from tabi.step.status import FINE
from tabi.step.stepper import Stepper
from tabi.step.tables import StepData

# impacts in one step; parts that are tried for each; how long an impact takes, as a share of the
# step; share of a part that is tried at most after it had an impact
MOST, TRIALS, INSTANT, SHORTER = 50, 20, 1e-7, 0.999
# what it costs to try a part and to undo it, in looks of ``contact.budget``: some 0.3 ms
TRIAL = 5_000


def advance(stepper: Stepper, dt: float, tolerance: float) -> tuple[int, int]:
    """One step of dt [s], with its impacts where they happen.

    Returns:
        steps done, 1 or 0, and the status of the last part. An interrupt leaves the state as it
        was.
    """
    start = stepper.kept = stepper.save(stepper.kept)
    limit = int(stepper.tables.limits[0])
    known, listed = len(stepper.foot_events), len(stepper.foot_history)
    try:
        done, status = stepper.rollout_one(dt, tolerance)
        if done == 1 and _bounced(stepper):
            done, status = _in_parts(stepper, dt, tolerance, start, limit)
        if done == 0:
            stepper.restore(start)
    except BaseException:
        stepper.restore(start)
        raise
    finally:
        stepper.tables.limits[0] = limit
        # what was only tried has not happened
        stepper.foot_history[listed:] = stepper.foot_events[known:]
    # the step began where its first part did
    outcome = stepper.data.outcome
    outcome.q_before[:], outcome.v_before[:] = start.q, start.v
    return done, status


def _in_parts(
    stepper: Stepper, dt: float, tolerance: float, start: StepData, limit: int
) -> tuple[int, int]:
    """A step that has an impact somewhere, which was just done as one; limit: of its work."""
    left, instant, impacts, status = dt, INSTANT * dt, 0, FINE
    step, share = DividedStep(stepper, start), _share(stepper, limit)
    length, before = _until_impact(stepper, dt, instant), start
    stepper.rewind(start)
    step.begin()
    for turn in range(MOST * TRIALS + 1):
        hurried = (
            impacts == MOST or share >= 1.0 or turn == MOST * TRIALS or stepper.watch.is_over()
        )
        if hurried:
            length = left
        before = stepper.save(before if turn > 0 else None)
        stepper.tables.limits[0] = max(1, int(limit * (1.0 - share)))
        done, status = stepper.rollout_one(length, tolerance, begins=False)
        if done == 0:
            return done, status
        share += _share(stepper, limit)
        bounced = _bounced(stepper)
        if bounced and length > instant and not hurried:
            length = _until_impact(stepper, length, instant)
            stepper.rewind(before)
            continue
        step.add(length)
        impacts, left = impacts + bounced, left - length
        if hurried or left <= instant:
            stepper.unresolved_count += hurried and bounced
            break
        length = left
    step.end(dt)
    return 1, status


def _bounced(stepper: Stepper) -> bool:
    return bool(stepper.data.outcome.report[0]["bounced"])


def _until_impact(stepper: Stepper, length: float, instant: float) -> float:
    """Equation (1), of a part that had an impact [s]."""
    return max(instant, min(float(stepper.data.outcome.report[0]["moment"]), SHORTER * length))


def _share(stepper: Stepper, limit: int) -> float:
    """What a part has spent, as a share of what the step may."""
    report = stepper.data.outcome.report[0]
    return (int(report["work"]) + TRIAL) / budget.most_of(limit, int(report["points"]))
