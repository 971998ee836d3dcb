"""What the runs of ``tabi validate papers`` say together: a row for each experiment."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tabi.lab.columns import Column, table
from tabi.lab.papers.experiments.experiment import (
    AGREES,
    DIFFERS,
    NOT_APPLICABLE,
    NOT_COMPARABLE,
    Criterion,
    Experiment,
)
from tabi.lab.papers.jobs import COUNTER, LAW, REFEREE, RUN, PaperJob

MISSING = "not run yet"
# experiments that may be without a verdict
MOST_EXCUSED = 3
Found = Mapping[str, Any]
# a run that is not there
UNKNOWN: Found = {"applies": False}


@dataclass(frozen=True)
class PaperRow:
    """An experiment with what was found of it.

    Attributes:
        verdict: of the run as published. why: by how much it differs, or why there is no verdict.
        run: that one. laws, counters, referees: by their names; those that were run.
        weak: criteria that no counter-run fails.
        unproven: counter-runs that agree, could not be run, or were not yet.
    """

    experiment: Experiment
    verdict: str
    why: list[str]
    run: Found
    laws: dict[str, Found] = field(default_factory=dict)
    counters: dict[str, Found] = field(default_factory=dict)
    referees: dict[str, Found] = field(default_factory=dict)
    weak: list[str] = field(default_factory=list)
    unproven: list[str] = field(default_factory=list)

    @property
    def within(self) -> bool:
        """Whether it agrees, by criteria that could have been failed; or differs where that is
        known, or is excused.
        """
        if self.verdict == NOT_COMPARABLE:
            return True
        failed = {c.number for c in self.experiment.failed(numbers_of(self.run))}
        known = self.verdict == DIFFERS and failed <= set(self.experiment.because)
        return (self.verdict == AGREES or known) and not self.weak and not self.unproven

    def to_dict(self) -> dict[str, Any]:
        """For machines; figures are in the page."""
        one = self.experiment
        ranges = {
            c.number: [None if math.isinf(x) else x for x in (c.at_least, c.at_most)]
            for c in one.criteria
        }
        return {
            "paper": one.paper,
            "figure": one.figure,
            "scene": one.scene,
            "claim": one.claim,
            "verdict": self.verdict,
            "why": self.why,
            "agrees_within": ranges,
            "numbers": dict(self.run.get("numbers", {})),
            "steps": self.run.get("steps", 0),
            "missed": self.run.get("missed", 0),
            "residual_m_s": self.run.get("residual_m_s"),
            "seconds": self.run.get("seconds"),
            "laws": {name: _brief(one, found) for name, found in self.laws.items()},
            "counter_runs": {name: _brief(one, found) for name, found in self.counters.items()},
            "referees": {
                name: {key: x for key, x in found.items() if key != "figures"}
                for name, found in self.referees.items()
            },
            "criteria_that_no_counter_run_fails": self.weak,
            "counter_runs_that_do_not_differ": self.unproven,
        }


def row(one: Experiment, results: Mapping[str, Found], short: bool) -> PaperRow:
    """What is known of an experiment."""

    def of(kind: str, which: str) -> Found | None:
        return results.get(PaperJob(one.name, kind, which, short).words)

    run = of(RUN, "") or {}
    found = PaperRow(
        one,
        judged(one, run) if run else MISSING,
        _why(one, run),
        run,
        laws={law: told for law in one.laws if (told := of(LAW, law))},
        counters={
            counter.words: told
            for k, counter in enumerate(one.counters)
            if (told := of(COUNTER, str(k)))
        },
        referees={name: told for name in one.referees if (told := of(REFEREE, name))},
    )
    found.unproven.extend(
        counter.words
        for counter in one.counters
        if judged(one, found.counters.get(counter.words, UNKNOWN)) != DIFFERS
    )
    if len(found.counters) == len(one.counters):
        found.weak.extend(_never_failed(one, found.counters))
    return found


def judged(one: Experiment, found: Found) -> str:
    """The verdict on a run."""
    if not found.get("applies", True):
        return NOT_APPLICABLE
    return one.verdict(numbers_of(found))


def numbers_of(found: Found) -> dict[str, float]:
    """Numbers of a run; null is no number."""
    return {name: math.nan if x is None else x for name, x in found.get("numbers", {}).items()}


def _never_failed(one: Experiment, counters: Mapping[str, Found]) -> list[str]:
    return [
        c.number
        for c in one.criteria
        if not one.excused and not any(_fails(c, found) for found in counters.values())
    ]


def _fails(c: Criterion, found: Found) -> bool:
    """Whether a counter-run fails a criterion: not where it could not be run at all."""
    return found.get("applies", True) and not c.met(numbers_of(found))


def _why(one: Experiment, run: Found) -> list[str]:
    if one.excused:
        return [one.excused]
    if not run:
        return []
    if run.get("fault"):
        return [run["fault"]]
    numbers = numbers_of(run)
    known = [one.because[c.number] for c in one.failed(numbers) if c.number in one.because]
    return [*one.reasons(numbers), *known]


def _brief(one: Experiment, found: Found) -> dict[str, Any]:
    keys = ("numbers", "steps", "missed", "residual_m_s", "seconds", "fault", "notes")
    return {"verdict": judged(one, found)} | {key: found[key] for key in keys if key in found}


def summary(rows: list[PaperRow]) -> dict[str, Any]:
    """All rows for machines, and which are neither as published nor known to differ."""
    counts = {
        verdict: sum(one.verdict == verdict for one in rows)
        for verdict in (AGREES, DIFFERS, NOT_COMPARABLE, NOT_APPLICABLE, MISSING)
    }
    return {
        "verdicts": counts,
        "experiments": {one.experiment.name: one.to_dict() for one in rows},
        "unexpected": [one.experiment.name for one in rows if not one.within],
    }


def lines(result: Mapping[str, Any]) -> Iterator[str]:
    """A table for a terminal."""
    rows = [{"name": name} | one for name, one in result["experiments"].items()]
    yield from table(COLUMNS, rows, "", _below)
    told = ", ".join(f"{count} {name}" for name, count in result["verdicts"].items() if count)
    yield ""
    yield told


COLUMNS = (
    Column("", "name"),
    Column("paper", "paper"),
    Column("verdict", "verdict"),
    Column("steps", "steps", "d"),
    Column("missed", "missed", "d"),
    Column("", "figure"),
)


def _below(one: Mapping[str, Any]) -> Iterator[str]:
    yield from one["why"]
    weak = one["criteria_that_no_counter_run_fails"]
    if weak:
        yield f"no counter-run fails: {', '.join(weak)}"
    for words in one["counter_runs_that_do_not_differ"]:
        yield f"this counter-run does not differ, or was not run: {words}"
