"""A race of solvers: who is counted as solved and as faster; an interrupt;
the words for a terminal.
"""

import json
import os

import numpy as np
import pytest
from contact.problems import random_problem

from tabi import TabiError
from tabi.contact import SOLVERS, Problem
from tabi.lab import siconos
from tabi.lab.bench.solvers import race
from tabi.lab.study import Benchmark

NSGS = "Siconos NSGS"


class GivenRace(race.Race, Benchmark, name="given"):
    """Problems of a test."""

    given: object = ()

    def entries(self):
        return self.given


def run(entries, **settings):
    return GivenRace(given=entries, **{"siconos": False} | settings).run()


def entry(seed: int) -> race.Entry:
    return race.Entry(
        f"stack {seed}",
        "stacks",
        Problem(*random_problem(np.random.default_rng(seed)), order="ttn"),
    )


def row(name: str, ours: float | None, theirs: float | None) -> dict:
    """A finished problem with these times [s], None where not solved."""
    figures = [
        {
            "converged": t is not None,
            "seconds": t,
            "iterations": 3,
            "residual": 1e-9 if t else 1e-3,
            "by": "newton",
        }
        for t in (ours, theirs)
    ]
    return {
        "name": name,
        "kind": "made up",
        "contacts": 4,
        "solvers": dict(zip((race.DEFAULT, NSGS), figures, strict=True)),
    }


ROWS = [
    row("won", 1e-6, 3e-6),
    row("lost", 4e-6, 2e-6),
    row("only ours", 1e-3, None),
    row("only theirs", None, 1e-3),
    row("nobody's", None, None),
]


def test_the_summary_counts_solved_and_faster_problems():
    sums = race.summary(ROWS)
    assert sums["problems"] == 5
    assert sums["solved"] == {race.DEFAULT: 3, NSGS: 3}
    assert list(sums["kinds"]) == ["made up"]
    kind = sums["kinds"]["made up"]
    assert (kind["problems"], kind["contacts"], kind["solved"]) == (
        5,
        [4, 4],
        {race.DEFAULT: 3, NSGS: 3},
    )
    # medians of 1, 4, 1000 µs and of 3, 2, 1000 µs
    assert kind["median_seconds"] == {race.DEFAULT: 4e-6, NSGS: 3e-6}
    assert sums["not_solved"] == ["only theirs", "nobody's"]
    duel = sums["against"][NSGS]
    # what nobody solves is nobody's victory; factors 3 and 1/2 have the median 1.75
    assert (duel["faster"], duel["problems"], duel["median_speedup"]) == (2, 4, 1.75)
    assert duel["slower_by"] == {"lost": 2.0, "only theirs": None}
    # both win two of five; from τ = 2 on ours is above, from τ = 3 on both have three
    assert duel["profile_above_everywhere"]


def test_the_faster_of_two_is_the_harder_one_to_beat():
    rows = [row("a", 2e-6, 1e-6), row("b", 2e-6, 3e-6), row("c", 2e-6, None)]
    other = [{"converged": t is not None, "seconds": t} for t in (4e-6, 1e-6, None)]
    for r, figures in zip(rows, other, strict=True):
        r["solvers"]["Siconos NSN_AC"] = figures
    against = race.summary(rows)["against"]
    # each of them wins one problem; together they win both that they solve
    assert {name: d["faster"] for name, d in against.items()} == {
        NSGS: 2,
        "Siconos NSN_AC": 2,
        race.FASTER: 1,
    }
    assert against[race.FASTER]["slower_by"] == {"a": 2.0, "b": 2.0}


def test_every_solver_is_timed_and_judged():
    result = run([entry(1), entry(2)])
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert [r["name"] for r in result["problems"]] == ["stack 1", "stack 2"]
    for r in result["problems"]:
        assert set(r["solvers"]) == {f"tabi {solver}" for solver in SOLVERS}
        default = r["solvers"][race.DEFAULT]
        assert default["converged"]
        assert default["residual"] <= 1e-8
        assert default["seconds"] > 0
        assert default["by"]
    assert result["profile"]["solvers"][race.DEFAULT]["fastest"] == 1.0
    assert not result["interrupted"]


def test_an_interrupt_keeps_what_is_done(capsys):
    def entries():
        yield entry(1)
        raise KeyboardInterrupt

    result = run(entries())
    assert result["interrupted"]
    assert len(result["problems"]) == 1
    assert "interrupted" in GivenRace().text(result)
    assert "stack 1 (6): tabi auto" in capsys.readouterr().err


def test_an_interrupt_before_the_first_is_no_traceback():
    def entries():
        raise KeyboardInterrupt
        yield

    result = run(entries())
    assert result["summary"]["problems"] == 0
    assert "no problem was finished" in GivenRace().text(result)


def test_words_for_a_terminal_name_losses():
    result = {
        "hardware": {"processor": "a processor"},
        "versions": {"tabi": "1", "siconos": "4.4"},
        "settings": {"tolerance": 1e-8},
        "interrupted": False,
        "problems": ROWS,
        "summary": race.summary(ROWS),
    }
    text = GivenRace().text(result)
    assert "tabi auto is faster than Siconos NSGS in 2 of 4, 1.75 × in the median" in text
    assert "slower in lost (2 ×), only theirs (not solved)" in text
    assert "not solved by tabi auto: only theirs, nobody's" in text
    assert race.title(result, "problems") == "5 problems, each solved to 1e-8 of ‖q‖∞, on one core"


def test_siconos_may_be_missing_unless_it_is_asked_for(monkeypatch, capsys):
    monkeypatch.setattr(siconos, "available", lambda: False)
    assert race.methods(None) == ()
    assert "python3-siconos" in capsys.readouterr().err
    assert race.methods(False) == ()
    assert capsys.readouterr().err == ""
    with pytest.raises(TabiError, match="python3-siconos"):
        race.methods(True)
    monkeypatch.setattr(siconos, "available", lambda: True)
    assert race.methods(None) == ("NSGS", "NSN_AC")
    assert race.methods(None, dense=True) == ("NSGS", "NSN_AC", "NSN_AC dense")


@pytest.mark.skipif(
    os.environ.get("TABI_SICONOS") != "1" or not siconos.available(),
    reason="a competitor is no part of the tests: TABI_SICONOS=1, with python3-siconos, runs it",
)
def test_siconos_runs_beside():
    result = run([entry(1)], siconos=True)
    found = result["problems"][0]["solvers"]
    assert found["Siconos NSN_AC"]["converged"]
    assert found["Siconos NSN_AC"]["seconds"] > 0
    assert set(result["summary"]["against"]) == {"Siconos NSGS", "Siconos NSN_AC", race.FASTER}
    assert set(result["profile"]["solvers"]) == {race.DEFAULT, "Siconos NSGS", "Siconos NSN_AC"}
