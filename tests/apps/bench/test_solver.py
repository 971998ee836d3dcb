"""``tabi bench solver`` over a handful of cases that stand in for the family."""

import json
from types import SimpleNamespace

import numpy as np
from contact.problems import box_on_plane, random_problem
from typer.testing import CliRunner

from tabi.apps import cli
from tabi.apps.bench import race, solver
from tabi.contact import Problem


def case(name: str, kind: str, W, q, mu):
    return SimpleNamespace(name=name, kind=kind, bodies=None, warm=None, problem=lambda: Problem(W, q, mu, order="ttn"))


def cases(*_):
    yield case("box at rest", "boxes", *box_on_plane((0, 0, 0), 0.5)[:3])
    yield case("box that slides", "boxes", *box_on_plane((1, 0, 0), 0.3)[:3])
    yield case("stack", "stacks", *random_problem(np.random.default_rng(3)))


def test_kinds_are_counted_apart_and_places_for_sweeps_and_stances_are_there():
    result = solver.measure(cases())
    kinds = result["summary"]["kinds"]
    assert {kind: counts["problems"] for kind, counts in kinds.items()} == {"boxes": 2, "stacks": 1}
    assert all(counts[race.DEFAULT] == counts["problems"] for counts in kinds.values())
    assert "boxes, solved: tabi auto 2/2" in solver.text(result)
    assert isinstance(result["sweep"], list)
    assert isinstance(result["warm_stances"], dict)


def test_sweeps_and_stances_are_printed():
    result = solver.measure(cases()) | {"sweep": [{"contacts": 8, "microseconds": 1.5}], "warm_stances": {"standing": {"median": 4.0}}}
    text = solver.text(result)
    assert "a sweep over 8 contacts: 1.5 µs" in text
    assert "warm, standing: median 4.00 µs" in text


def test_the_command_passes_count_and_seed_to_the_family(monkeypatch):
    asked = []
    monkeypatch.setattr(solver, "family", lambda count, seed: asked.append((count, seed)) or cases())
    done = CliRunner().invoke(cli.app, ["bench", "solver", "--json", "--no-siconos", "--count", "3", "--seed", "5"])
    assert done.exit_code == 0, done.output
    assert asked == [(3, 5)]
    assert json.loads(done.stdout)["summary"]["problems"] == 3


def test_an_interrupted_run_leaves_out_what_comes_after():
    def interrupted():
        yield next(cases())
        raise KeyboardInterrupt

    result = solver.measure(interrupted())
    assert result["interrupted"]
    assert "sweep" not in result
    assert "interrupted" in solver.text(result)
