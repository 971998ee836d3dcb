"""Points of a study of soles, which of them count, and the compromise among those.

A point has the peak of acceleration a at impacts and the inclination i of the waist, both better
when smaller. Every point is run with the step h and with h/2; it counts if the robot fell in
neither run and

    |a(h/2) − a(h)| ≤ 0.1 a(h/2)                                                                (1)
The front is made of the points that count and that no other one beats: none is as good in both and
better in one. With both axes scaled to their ranges over the front, the compromise is the point of
the front nearest to the corner of the best of both,

    min (a − a_min)²/(a_max − a_min)² + (i − i_min)²/(i_max − i_min)²                           (2)
An axis without a range is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

# of the peak, by which it may change where the step is halved
CHANGE = 0.1


@dataclass(frozen=True)
class SoleRun:
    """One run of a point.

    Attributes:
        impact, median: peaks of acceleration at touchdowns, largest and median [m/s²].
        inclination, roll, pitch: of the waist, largest [°]. fallen: when the robot fell [s].
        stopped: the sentence that ended the run. missed: steps that missed their tolerance.
    """

    impact: float | None
    median: float | None
    inclination: float | None
    roll: float | None
    pitch: float | None
    fallen: float | None
    stopped: str | None
    missed: int


def walked(outcome: dict[str, Any]) -> SoleRun:
    """From the row of a run, of its first robot that walks by a pattern."""
    walks = outcome.get("walks") or {}
    name = next((name for name, walk in walks.items() if "inclination_deg" in walk), "")
    walk = walks.get(name, {})
    return SoleRun(
        walk.get("impact_m_s2"),
        walk.get("median_impact_m_s2"),
        walk.get("inclination_deg"),
        walk.get("roll_deg"),
        walk.get("pitch_deg"),
        outcome["fallen_at_s"].get(name),
        outcome["stopped"],
        outcome["missed_steps"],
    )


@dataclass(frozen=True)
class StudyPoint:
    """A material in one series: its values, and its runs with the step and with half of it."""

    series: str
    parameters: dict[str, str]
    run: SoleRun
    finer: SoleRun

    @property
    def falls(self) -> bool:
        """Whether the robot fell in one of the runs."""
        return self.run.fallen is not None or self.finer.fallen is not None

    @property
    def change(self) -> float | None:
        """Relative change of the peak when the step is halved; None without a peak."""
        a, b = self.run.impact, self.finer.impact
        if a is None or b is None or b <= 0:
            return None
        return abs(b - a) / b

    @property
    def counts(self) -> bool:
        """Whether it may stand on the front."""
        stopped = self.run.stopped or self.finer.stopped
        change = self.change
        return not (self.falls or stopped or change is None) and change <= CHANGE

    @property
    def state(self) -> str:
        """In a word or two."""
        if self.falls:
            return "falls"
        if self.run.stopped or self.finer.stopped:
            return "stopped"
        if self.change is None:
            return "no impact"
        return "" if self.counts else "step too long"

    @property
    def place(self) -> tuple[float, float]:
        """Peak [m/s²] and inclination [°] of a point that counts."""
        assert self.run.impact is not None
        assert self.run.inclination is not None
        return self.run.impact, self.run.inclination


def front(points: Sequence[StudyPoint]) -> list[StudyPoint]:
    """Return the points that count and that none dominates, the smallest peak first."""
    result = [point for point in points if point.counts]

    def beaten(point: StudyPoint) -> bool:
        a, i = point.place
        return any(
            other.place[0] <= a and other.place[1] <= i and other.place != (a, i)
            for other in result
        )

    return sorted((point for point in result if not beaten(point)), key=lambda point: point.place)


def compromise(points: Sequence[StudyPoint]) -> StudyPoint | None:
    """(2) over the front; None where there is none. Of equals the one with the smaller peak."""
    best = front(points)
    if not best:
        return None
    low = [min(point.place[k] for point in best) for k in range(2)]
    span = [max(point.place[k] for point in best) - low[k] for k in range(2)]

    def away(point: StudyPoint) -> float:
        return sum(((point.place[k] - low[k]) / span[k]) ** 2 for k in range(2) if span[k] > 0)

    return min(best, key=away)
