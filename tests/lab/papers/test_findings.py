"""What runs say together."""

from __future__ import annotations

import json
from dataclasses import replace

from tabi.lab.papers import findings
from tabi.lab.papers.command import Papers
from tabi.lab.papers.experiments.experiment import (
    AGREES,
    DIFFERS,
    NOT_APPLICABLE,
    NOT_COMPARABLE,
    CounterRun,
    Criterion,
    Experiment,
    PaperOutcome,
)

ONE = Experiment(
    "one",
    "C06",
    "fig. 1",
    "slide",
    "it is so",
    (Criterion("x_m", "x is small", 0, 1), Criterion("y_m", "y too", 0, 1)),
    (CounterRun("less", ()), CounterRun("more", ())),
    lambda trial: PaperOutcome({}),
)
GOOD = {"numbers": {"x_m": 0.5, "y_m": 0.5}, "steps": 10, "missed": 0, "residual_m_s": 1e-9}


def results(first, second=None, run=GOOD):
    counters = {"one counter-run 0": first, "one counter-run 1": second}
    return {"one run": run} | {name: x for name, x in counters.items() if x}


def numbers(x, y):
    return {"numbers": {"x_m": x, "y_m": y}}


def test_it_agrees_where_every_criterion_could_have_been_failed():
    row = findings.row(ONE, results(numbers(2, 0.5), numbers(0.5, None)), False)
    assert (row.verdict, row.weak, row.within) == (AGREES, [], True)


def test_a_criterion_that_no_counter_run_fails_is_weak():
    row = findings.row(ONE, results(numbers(2, 0.5), numbers(3, 0.5)), False)
    assert (row.verdict, row.weak, row.within) == (AGREES, ["y_m"], False)


def test_before_all_counter_runs_are_there_nothing_is_proven():
    row = findings.row(ONE, results(numbers(2, 0.5)), False)
    assert (row.weak, row.unproven, row.within) == ([], ["more"], False)


def test_a_counter_run_that_agrees_or_cannot_be_run_proves_nothing():
    row = findings.row(ONE, results(numbers(2, 2), numbers(0.5, 0.5)), False)
    assert (row.unproven, row.within) == (["more"], False)
    broken = {"numbers": {}, "applies": False, "fault": "no such key"}
    row = findings.row(ONE, results(broken, broken), False)
    assert row.unproven == ["less", "more"]
    assert row.weak == ["x_m", "y_m"]
    assert not row.within


def test_it_differs_by_so_much_and_for_a_reason():
    found = results(numbers(2, 2), numbers(2, 2), numbers(1.5, 0.5))
    row = findings.row(ONE, found, False)
    assert (row.verdict, row.within) == (DIFFERS, False)
    assert row.why == ["x_m is 1.5, at most 1 expected"]
    known = findings.row(replace(ONE, because={"x_m": "it is not."}), found, False)
    assert known.within
    assert known.why[-1] == "it is not."
    # a reason for one number excuses no other
    other = findings.row(replace(ONE, because={"y_m": "it is not."}), found, False)
    assert not other.within


def test_nothing_is_said_of_what_was_not_run():
    row = findings.row(ONE, {}, False)
    assert (row.verdict, row.within) == (findings.MISSING, False)


def test_a_scene_that_was_edited_has_no_verdict():
    fault = {"numbers": {}, "applies": False, "fault": "edited"}
    row = findings.row(ONE, results(fault, fault, fault), False)
    assert (row.verdict, row.why, row.within) == (NOT_APPLICABLE, ["edited"], False)


def test_three_may_be_excused_and_no_more():
    rows = [
        findings.row(
            replace(ONE, name=f"e{k}", excused="not published"), {f"e{k} run": GOOD}, False
        )
        for k in range(4)
    ]
    assert {row.verdict for row in rows} == {NOT_COMPARABLE}
    excused = Papers.criteria[1]
    assert excused.met(findings.summary(rows[:3]))
    assert not excused.met(findings.summary(rows))


def test_the_summary_is_for_machines_and_its_text_for_people():
    row = findings.row(ONE, results(numbers(2, 2), numbers(2, 2)), False)
    told = findings.summary([row])
    json.dumps(told)
    assert told["verdicts"][AGREES] == 1
    text = "\n".join(findings.lines(told))
    assert "one  C06    agrees" in text
    assert text.endswith("1 agrees")
