"""Event-driven scheme: steps that are divided at impacts.

Time stepping lets an impact happen anywhere within a step; its error is of first order in h. Here
its time is searched. A part of the step in which contacts bounce is undone, and gives the time at
which the first of them closes,

    τ = min gap / (−u_n)                                                                        (1)
u_n: its velocity at the end of that part. Gravity and motors change u_n within the part, so τ is
early by a term of second order; the part of τ is solved, and (1) evaluated again, until τ is an
instant. Two or three iterations are enough for falling bodies, some ten for legs with motors. Then
come the impact, over an instant in which nothing else moves, and the rest of the step. Free bodies
follow their parabola exactly, so an elastic ball keeps its energy.

Accumulating impacts (Zeno) end in rest by the rule of ``rows.contacts``: contacts that close slower
than gravity accelerates in two steps land. After MAX_IMPACTS impacts in one step, or where the
budget of the step is spent, the rest of it is solved by time stepping, and the step is counted.

Forces are those of the whole step, its impacts among them (``divided_step``).

Reference: Chardonnet (2006), sec. II-B.
"""

from __future__ import annotations

from tabi.contact import budget
from tabi.step.divided_step import DividedStep
from tabi.step.status import OK
from tabi.step.stepper import Stepper
from tabi.step.tables import StepData

# impacts in one step; parts that are tried for each; duration of an impact as a share of the step;
# share of a part that is tried at most after it had an impact
MAX_IMPACTS, MAX_TRIALS, IMPACT_SHARE, MAX_RETRY_SHARE = 50, 20, 1e-7, 0.999
# work to try a part and to undo it, in looks of ``contact.budget``: some 0.3 ms
TRIAL_WORK = 5_000


def advance(stepper: Stepper, dt: float, tolerance: float) -> tuple[int, int]:
    """Advance by a step of dt [s], divided at its impacts.

    Returns:
        steps done, 1 or 0, and the status of the last part. An interrupt leaves the state as it
        was.
    """
    start = stepper.saved_start = stepper.save(stepper.saved_start)
    limit = int(stepper.tables.limits[0])
    known, listed = len(stepper.foot_events), len(stepper.foot_history)
    try:
        done, status = stepper.rollout_one(dt, tolerance)
        if done == 1 and _bounced(stepper):
            done, status = _advance_in_parts(stepper, dt, tolerance, start, limit)
        if done == 0:
            stepper.restore(start)
    except BaseException:
        stepper.restore(start)
        raise
    finally:
        stepper.tables.limits[0] = limit
        # remove changes of feet in parts that were undone
        stepper.foot_history[listed:] = stepper.foot_events[known:]
    # the step began where its first part did
    outcome = stepper.data.outcome
    outcome.q_before[:], outcome.v_before[:] = start.q, start.v
    return done, status


def _advance_in_parts(
    stepper: Stepper, dt: float, tolerance: float, start: StepData, limit: int
) -> tuple[int, int]:
    """Advance in parts through a step that has an impact.

    Args:
        limit: of the work of the whole step.
    """
    left, instant, impacts, status = dt, IMPACT_SHARE * dt, 0, OK
    step, share = DividedStep(stepper, start), _spent_share(stepper, limit)
    length, before = _time_to_impact(stepper, dt, instant), start
    stepper.rewind(start)
    step.begin()
    for turn in range(MAX_IMPACTS * MAX_TRIALS + 1):
        ends_here = (
            impacts == MAX_IMPACTS
            or share >= 1.0
            or turn == MAX_IMPACTS * MAX_TRIALS
            or stepper.watch.is_over()
        )
        if ends_here:
            length = left
        before = stepper.save(before if turn > 0 else None)
        stepper.tables.limits[0] = max(1, int(limit * (1.0 - share)))
        done, status = stepper.rollout_one(length, tolerance, begins=False)
        if done == 0:
            return done, status
        share += _spent_share(stepper, limit)
        bounced = _bounced(stepper)
        if bounced and length > instant and not ends_here:
            length = _time_to_impact(stepper, length, instant)
            stepper.rewind(before)
            continue
        step.add(length)
        impacts, left = impacts + bounced, left - length
        if ends_here or left <= instant:
            stepper.unresolved_count += ends_here and bounced
            break
        length = left
    step.end(dt)
    return 1, status


def _bounced(stepper: Stepper) -> bool:
    return bool(stepper.data.outcome.report[0]["bounced"])


def _time_to_impact(stepper: Stepper, length: float, instant: float) -> float:
    """Return τ of (1) for a part that had an impact [s]."""
    return max(
        instant, min(float(stepper.data.outcome.report[0]["moment"]), MAX_RETRY_SHARE * length)
    )


def _spent_share(stepper: Stepper, limit: int) -> float:
    """Return the work of a part as a share of the limit of the step."""
    report = stepper.data.outcome.report[0]
    return (int(report["work"]) + TRIAL_WORK) / budget.most_of(limit, int(report["points"]))
