"""Findings of all runs of ``tabi validate papers``: a row for each experiment."""

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
RunData = Mapping[str, Any]
# a run that is not there
UNKNOWN: RunData = {"applies": False}


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
    run: RunData
    laws: dict[str, RunData] = field(default_factory=dict)
    counters: dict[str, RunData] = field(default_factory=dict)
    referees: dict[str, RunData] = field(default_factory=dict)
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
        experiment = self.experiment
        ranges = {
            c.number: [None if math.isinf(x) else x for x in (c.at_least, c.at_most)]
            for c in experiment.criteria
        }
        return {
            "paper": experiment.paper,
            "figure": experiment.figure,
            "scene": experiment.scene,
            "claim": experiment.claim,
            "verdict": self.verdict,
            "why": self.why,
            "agrees_within": ranges,
            "numbers": dict(self.run.get("numbers", {})),
            "steps": self.run.get("steps", 0),
            "missed": self.run.get("missed", 0),
            "residual_m_s": self.run.get("residual_m_s"),
            "seconds": self.run.get("seconds"),
            "laws": {name: _brief(experiment, result) for name, result in self.laws.items()},
            "counter_runs": {
                name: _brief(experiment, result) for name, result in self.counters.items()
            },
            "referees": {
                name: {key: x for key, x in result.items() if key != "figures"}
                for name, result in self.referees.items()
            },
            "criteria_that_no_counter_run_fails": self.weak,
            "counter_runs_that_do_not_differ": self.unproven,
        }


def row(experiment: Experiment, results: Mapping[str, RunData], short: bool) -> PaperRow:
    """Return the row of an experiment from its results."""

    def of(kind: str, which: str) -> RunData | None:
        return results.get(PaperJob(experiment.name, kind, which, short).words)

    run = of(RUN, "") or {}
    result = PaperRow(
        experiment,
        verdict_of(experiment, run) if run else MISSING,
        _why(experiment, run),
        run,
        laws={law: outcome for law in experiment.laws if (outcome := of(LAW, law))},
        counters={
            counter.words: outcome
            for k, counter in enumerate(experiment.counters)
            if (outcome := of(COUNTER, str(k)))
        },
        referees={name: outcome for name in experiment.referees if (outcome := of(REFEREE, name))},
    )
    result.unproven.extend(
        counter.words
        for counter in experiment.counters
        if verdict_of(experiment, result.counters.get(counter.words, UNKNOWN)) != DIFFERS
    )
    if len(result.counters) == len(experiment.counters):
        result.weak.extend(_never_failed(experiment, result.counters))
    return result


def verdict_of(experiment: Experiment, outcome: RunData) -> str:
    """Return the verdict on a run."""
    if not outcome.get("applies", True):
        return NOT_APPLICABLE
    return experiment.verdict(numbers_of(outcome))


def numbers_of(outcome: RunData) -> dict[str, float]:
    """Return the numbers of a run; None becomes NaN."""
    return {name: math.nan if x is None else x for name, x in outcome.get("numbers", {}).items()}


def _never_failed(experiment: Experiment, counters: Mapping[str, RunData]) -> list[str]:
    return [
        c.number
        for c in experiment.criteria
        if not experiment.excused and not any(_fails(c, result) for result in counters.values())
    ]


def _fails(c: Criterion, outcome: RunData) -> bool:
    """Whether a counter-run fails a criterion: not where it could not be run at all."""
    return outcome.get("applies", True) and not c.met(numbers_of(outcome))


def _why(experiment: Experiment, run: RunData) -> list[str]:
    if experiment.excused:
        return [experiment.excused]
    if not run:
        return []
    if run.get("fault"):
        return [run["fault"]]
    numbers = numbers_of(run)
    known = [
        experiment.because[c.number]
        for c in experiment.failed(numbers)
        if c.number in experiment.because
    ]
    return [*experiment.reasons(numbers), *known]


def _brief(experiment: Experiment, outcome: RunData) -> dict[str, Any]:
    keys = ("numbers", "steps", "missed", "residual_m_s", "seconds", "fault", "notes")
    return {"verdict": verdict_of(experiment, outcome)} | {
        key: outcome[key] for key in keys if key in outcome
    }


def summary(rows: list[PaperRow]) -> dict[str, Any]:
    """All rows for machines, and which are neither as published nor known to differ."""
    counts = {
        verdict: sum(row.verdict == verdict for row in rows)
        for verdict in (AGREES, DIFFERS, NOT_COMPARABLE, NOT_APPLICABLE, MISSING)
    }
    return {
        "verdicts": counts,
        "experiments": {row.experiment.name: row.to_dict() for row in rows},
        "unexpected": [row.experiment.name for row in rows if not row.within],
    }


def lines(result: Mapping[str, Any]) -> Iterator[str]:
    """A table for a terminal."""
    rows = [{"name": name} | experiment for name, experiment in result["experiments"].items()]
    yield from table(COLUMNS, rows, "", _below)
    counts = ", ".join(f"{count} {name}" for name, count in result["verdicts"].items() if count)
    yield ""
    yield counts


COLUMNS = (
    Column("", "name"),
    Column("paper", "paper"),
    Column("verdict", "verdict"),
    Column("steps", "steps", "d"),
    Column("missed", "missed", "d"),
    Column("", "figure"),
)


def _below(row: Mapping[str, Any]) -> Iterator[str]:
    yield from row["why"]
    weak = row["criteria_that_no_counter_run_fails"]
    if weak:
        yield f"no counter-run fails: {', '.join(weak)}"
    for words in row["counter_runs_that_do_not_differ"]:
        yield f"this counter-run does not differ, or was not run: {words}"
