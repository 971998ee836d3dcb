"""The second scheme: steps that stop where things hit each other, and go on from there.

Time stepping lets an impact happen anywhere within a step; its error is of first order in h. Here
the moment is looked for: the longest part τ of the step in which nothing bounces, by halving; then
the impact, over an instant in which nothing else moves; then the rest of the step. What flies by
itself follows its parabola exactly, so an elastic ball keeps its energy.

Accumulating impacts (Zeno) end in rest by the rule of ``rows.contacts``: what closes slower than
gravity makes it in two steps lands. And after MOST impacts in one step, as when a ball is caught
between two others, the rest of the step is done by time stepping.

Reference: Chardonnet (2006), sec. II-B.
"""

from __future__ import annotations

from tabi.simulation.step import DROPPED, FINE
from tabi.simulation.stepper import Stepper

# impacts in one step; halvings of a step until its moment is known; how long an impact takes, as a
# part of the step
MOST, HALVINGS, INSTANT = 50, 50, 1e-7


def advance(stepper: Stepper, dt: float, tolerance: float) -> tuple[int, int]:
    """One step of dt [s], with its impacts where they happen.

    Returns:
        steps done, 1 or 0, and the status of the last part. An interrupt leaves the state as it
        was.
    """
    start, known, listed = stepper.save(), len(stepper.foot_events), len(stepper.foot_history)
    try:
        done, status = _advance(stepper, dt, tolerance)
        if status == DROPPED:
            stepper.restore(start)
    except BaseException:
        stepper.restore(start)
        raise
    finally:
        # what was only tried has not happened
        stepper.foot_history[listed:] = stepper.foot_events[known:]
    # the step began where its first part did
    outcome = stepper.data.outcome
    outcome.q_before[:], outcome.v_before[:] = start.q, start.v
    return done, status


def _advance(stepper: Stepper, dt: float, tolerance: float) -> tuple[int, int]:
    left = dt
    for _ in range(MOST):
        before = stepper.save()
        done, status = _part(stepper, left, tolerance)
        if done == 0 or not _bounced(stepper):
            return done, status
        # the longest part without an impact, and then the impact
        low, high = 0.0, left
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            stepper.restore(before)
            done, status = _part(stepper, middle, tolerance)
            if done == 0:
                return done, status
            low, high = (low, middle) if _bounced(stepper) else (middle, high)
        instant = INSTANT * dt
        stepper.restore(before)
        for length in (low, instant):
            if length > 0.0:
                done, status = _part(stepper, length, tolerance)
                if done == 0:
                    return done, status
        left -= low + instant
        if left <= instant:
            return 1, status
    return _part(stepper, left, tolerance)


def _bounced(stepper: Stepper) -> bool:
    return bool(stepper.data.outcome.report[0]["bounced"])


def _part(stepper: Stepper, length: float, tolerance: float) -> tuple[int, int]:
    """A part of a step, by time stepping."""
    done, status = 0, FINE
    while done == 0 and status == FINE:
        done, status = stepper.rollout(length, tolerance, 1)
    return done, status
