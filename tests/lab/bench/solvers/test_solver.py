"""``tabi bench solver`` over a handful of cases that stand in for the family."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from contact.problems import box_on_plane, random_problem
from typer.testing import CliRunner

from tabi.apps import cli
from tabi.contact import Problem, solve_bodies
from tabi.lab import family
from tabi.lab.bench.solvers import race, solver
from tabi.lab.family.case import STEP
from tabi.lab.family.stances import standing_robot

STUDY = solver.SolverRace(siconos=False)


def case(name: str, kind: str, W, q, mu):
    return SimpleNamespace(
        name=name, kind=kind, bodies=None, warm=None, problem=lambda: Problem(W, q, mu, order="ttn")
    )


def cases(*_):
    yield case("box at rest", "boxes", *box_on_plane((0, 0, 0), 0.5)[:3])
    yield case("box that slides", "boxes", *box_on_plane((1, 0, 0), 0.3)[:3])
    yield case("stack", "stacks", *random_problem(np.random.default_rng(3)))


@pytest.fixture
def without_looks(monkeypatch):
    """The race alone: what comes after it takes seconds."""
    for name in ("sweep_cost", "warm_stances", "large_walls", "convergence"):
        monkeypatch.setattr(solver, name, lambda *_, **__: {})


@pytest.mark.slow
def test_kinds_are_counted_apart_and_places_for_the_closer_looks_are_there(
    monkeypatch, without_looks
):
    monkeypatch.setattr(solver.SolverRace, "members", cases)
    result = STUDY.run()
    kinds = result["summary"]["kinds"]
    assert {kind: row["problems"] for kind, row in kinds.items()} == {"boxes": 2, "stacks": 1}
    assert all(row["solved"][race.DEFAULT] == row["problems"] for row in kinds.values())
    assert kinds["boxes"]["contacts"] == [4, 4]
    assert {"sweep", "warm_stances", "walls", "convergence"} <= set(result)
    assert re.search(r"boxes +2 +4 +2 +[\d.]+ [µm]s", STUDY.text(result))


def test_the_line_through_sweeps_is_the_one_they_lie_on():
    rows = [{"contacts": float(n), "microseconds": 0.5 + 0.25 * n} for n in (8, 64, 1024)]
    found = solver.linear(rows)
    assert found["microseconds_per_contact"] == pytest.approx(0.25)
    assert found["microseconds_fixed"] == pytest.approx(0.5)
    assert found["largest_deviation"] < 1e-12
    # a cost that grows with the square is off by more than half somewhere
    assert (
        solver.linear([{"contacts": n, "microseconds": n * n} for n in (8.0, 64.0, 1024.0)])[
            "largest_deviation"
        ]
        > 0.5
    )


@pytest.mark.slow
def test_a_sweep_is_timed_for_every_size_and_form():
    found = solver.sweep_cost((8, 16))
    assert [row["contacts"] for row in found["space of bodies"]["rows"]] == [8, 16]
    assert [row["contacts"] for row in found["W formed"]["rows"]] == [8, 16]
    assert all(row["microseconds"] > 0 for form in found.values() for row in form["rows"])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["standing", "squatting", "sliding"])
def test_settled_runs_bear_the_weight_and_their_warm_starts_are_near(kind):
    _, model = standing_robot()
    problems = list(solver.settled(kind, 24, 20))
    assert len(problems) == 24 - 20
    for problem, warm in problems:
        s = solve_bodies(problem, initial=warm)
        assert s.converged
        assert s.solver == "warm newton"
        weight = 9.81 * model.mass * STEP
        # a squat of 1 Hz and 10 cm changes the weight by up to (2π)²·0.05/9.81, a fifth;
        # the motors catch up within that
        assert s.impulse[2::3].sum() == pytest.approx(weight, rel=0.3)
        # what is known a step before is right to a few per cent of the weight
        assert np.abs((s.impulse - warm)[2::3].sum()) < 0.05 * weight
        slip = np.abs(s.velocity.reshape(-1, 3)[:, :2]).max()
        assert (slip > 0.3) if kind == "sliding" else (slip < 1e-6)


@pytest.mark.slow
def test_warm_stances_are_counted_and_timed(monkeypatch):
    monkeypatch.setattr(solver, "cases", lambda kind, count, seed: [family.case(kind, 5, seed)])
    found = solver.warm_stances(6)
    assert set(found) == {
        "standing",
        "squatting",
        "sliding",
        "family, stance",
        "family, slide",
        "family, fall",
    }
    assert found["standing"]["problems"] == found["standing"]["solved"] == 4
    assert all(0 < row["median"] <= row["largest"] for row in found.values())


def test_convergence_ends_at_the_solution():
    found = solver.convergence(solver.plate(8))
    assert found["Newton"][-1]["residual"] <= 1e-12
    assert found["Gauss–Seidel"][0]["iterations"] == 1
    errors = [row["residual"] for row in found["Gauss–Seidel, accelerated"]]
    assert errors[-1] < 1e-8 < errors[0]


def test_the_closer_looks_are_printed(monkeypatch, without_looks):
    rows = [{"contacts": float(n), "microseconds": 0.5 + 0.25 * n} for n in (8, 16)]
    stance = {
        "problems": 40,
        "solved": 39,
        "median_iterations": 1.0,
        "median": 4.0,
        "mean": 5.0,
        "largest": 6.0,
    }
    wall = {
        "speed": 0.02,
        "mu": 0.5,
        "converged": True,
        "seconds": 0.0086,
        "iterations": 24,
        "residual": 5e-12,
        "by": "newton from zero",
    }
    way = [
        {"iterations": 1, "seconds": 1e-6, "residual": 1e-3},
        {"iterations": 2, "seconds": 2e-6, "residual": 1e-9},
    ]
    monkeypatch.setattr(solver.SolverRace, "members", cases)
    result = STUDY.run() | {
        "sweep": {"space of bodies": solver.linear(rows)},
        "warm_stances": {"standing": stance},
        "walls": [wall],
        "convergence": {"a plate": {"Newton": way}},
    }
    text = STUDY.text(result)
    assert "0.50 + 0.250 per contact, off by at most 0 %" in text
    assert re.search(r"standing +4\.00 +5\.00 +6\.00 +1 +39 of 40", text)
    assert re.search(r"bricks at 0\.02 +m/s, μ 0\.5: 8\.6 ms +24 +5e-12, newton from zero", text)
    assert re.search(r"Newton +1e-09 after 2, 2\.0 µs", text)


@pytest.mark.slow
def test_the_command_passes_count_and_seed_to_the_family(monkeypatch, without_looks):
    asked = []
    monkeypatch.setattr(
        solver, "everything", lambda seed, part: asked.append((seed, part)) or cases()
    )
    done = CliRunner().invoke(
        cli.app, ["bench", "solver", "--json", "--no-siconos", "--count", "3", "--seed", "5"]
    )
    assert done.exit_code == 0, done.output
    assert asked == [(5, 0.003)]
    assert json.loads(done.stdout)["summary"]["problems"] == 3


def test_an_interrupted_run_leaves_out_what_comes_after(monkeypatch):
    def interrupted():
        yield next(cases())
        raise KeyboardInterrupt

    monkeypatch.setattr(solver.SolverRace, "members", lambda self: interrupted())
    result = STUDY.run()
    assert result["interrupted"]
    assert "sweep" not in result
    assert "interrupted" in STUDY.text(result)
