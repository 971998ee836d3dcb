"""Siconos as competitor: the same problem, judged by tabi;
and a process that falls, hangs or is inexact (a stand-in plays it).
"""

import os
import sys

import numpy as np
import pytest
from contact.problems import random_problem

from tabi import TabiError
from tabi.contact import Problem, judge
from tabi.lab import siconos

needs_siconos = pytest.mark.skipif(
    os.environ.get("TABI_SICONOS") != "1" or not siconos.available(),
    reason="a competitor is no part of the tests: TABI_SICONOS=1, with python3-siconos, runs it",
)

# plays the worker for one contact at W = 1 that falls on q; its error is 300 times the tolerance;
# μ tells it to fall, hang or get worse
STAND_IN = """
import json, os, sys, time
import numpy as np
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    data = np.load(request["file"])
    if data["mu"][0] == 0.1:
        os.abort()
    if data["mu"][0] == 0.2:
        time.sleep(60)
    error = 1e-11 / request["tolerance"] if data["mu"][0] == 0.3 else 300 * request["tolerance"]
    impulse = [-data["q"][0] + error, 0.0, 0.0]
    answer = {"info": 0, "iterations": 7, "seconds": request["tolerance"], "impulse": impulse}
    print(json.dumps(answer), flush=True)
"""


def falling(mu: float) -> Problem:
    """A unit mass that arrives with 1 m/s."""
    return Problem(np.eye(3), [0.0, 0.0, -1.0], mu, order="ttn")


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    worker = tmp_path / "worker.py"
    worker.write_text(STAND_IN)
    monkeypatch.setattr(siconos, "available", lambda: True)
    monkeypatch.setattr(siconos, "PYTHON", sys.executable)
    monkeypatch.setattr(siconos, "WORKER", worker)


def test_a_problem_is_written_normal_first_and_without_zeros(tmp_path):
    W, q, mu = random_problem(np.random.default_rng(0))
    siconos.write(tmp_path / "p.npz", Problem(W, q, mu, order="ttn"))
    data = np.load(tmp_path / "p.npz")
    theirs = np.zeros_like(W)
    theirs[data["row"], data["column"]] = data["value"]
    # the third of our rows is their first
    P = np.kron(np.eye(len(mu)), np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]]))
    assert np.allclose(theirs, P @ W @ P.T, atol=0)
    assert np.array_equal(data["q"], P @ q)
    assert np.array_equal(data["mu"], mu)
    assert (data["value"] != 0).all()
    assert np.array_equal(siconos.from_ntt(P @ q), q)


def test_a_problem_that_is_normal_first_is_written_as_it_came(tmp_path):
    W, q, mu = random_problem(np.random.default_rng(1))
    siconos.write(tmp_path / "p.npz", Problem(W, q, mu, order="ntt"))
    assert np.array_equal(np.load(tmp_path / "p.npz")["q"], q)


@pytest.mark.process
@pytest.mark.usefixtures("stand_in")
def test_its_tolerance_is_lowered_until_our_certificate_accepts():
    with siconos.Session() as session:
        answer = session.solve(falling(0.5), "NSGS", 1e-8)
    # 300 · 1e-11 is the first within 1e-8, and its time the only one counted
    assert answer.converged
    assert answer.own_tolerance == pytest.approx(1e-11)
    assert answer.seconds == pytest.approx(1e-11)
    assert answer.residual == pytest.approx(3e-9, rel=1e-3)
    assert answer.impulse == pytest.approx([0, 0, 1], abs=1e-8)


@pytest.mark.process
@pytest.mark.usefixtures("stand_in")
def test_what_never_satisfies_is_not_solved_and_keeps_its_best_error():
    with siconos.Session() as session:
        answer = session.solve(falling(0.3), "NSGS", 1e-8)
    # 1e-11/1e-8 at first, ten times as much with each lower tolerance
    assert not answer.converged
    assert answer.residual == pytest.approx(1e-3)
    assert answer.own_tolerance == 1e-8


@pytest.mark.process
@pytest.mark.usefixtures("stand_in")
def test_a_crash_and_a_run_without_end_lose_one_problem_each():
    answers = siconos.solve_all(
        [falling(mu) for mu in (0.5, 0.1, 0.6, 0.2, 0.7)], methods=("NSGS",), seconds=1.0
    )
    assert [a["NSGS"].converged for a in answers] == [True, False, True, False, True]
    assert [a["NSGS"].fault for a in answers] == ["", "crashed", "", "time limit", ""]
    assert answers[1]["NSGS"].impulse is None
    assert answers[1]["NSGS"].seconds == np.inf


@pytest.mark.usefixtures("stand_in")
def test_an_unknown_method_is_refused_with_the_known_ones():
    with (
        siconos.Session() as session,
        pytest.raises(TabiError, match="'NSGSV'; expected one of 'NSGS', 'NSN_AC'"),
    ):
        session.solve(falling(0.5), "NSGSV")


@pytest.mark.process
def test_a_system_without_it_is_told_in_a_sentence(monkeypatch):
    monkeypatch.setattr(siconos, "PYTHON", "/no/such/python")
    siconos.available.cache_clear()
    try:
        assert siconos.available() is False
        with pytest.raises(TabiError, match="apt install python3-siconos"):
            siconos.Session()
    finally:
        siconos.available.cache_clear()


@needs_siconos
@pytest.mark.parametrize("method", siconos.METHODS)
@pytest.mark.parametrize("order", ["ttn", "ntt"])
def test_a_sliding_and_a_sticking_mass_get_their_impulses(method, order):
    # mass 2 kg, arriving with 1 m/s; friction 0.5: slides at 3 m/s, sticks at 0.4 m/s
    normal, along = (2, 0) if order == "ttn" else (0, 1)
    q, expected = np.zeros(6), np.zeros(6)
    q[[normal, normal + 3]] = -1.0
    q[[along, along + 3]] = 3.0, 0.4
    expected[[normal, normal + 3]] = 2.0
    expected[[along, along + 3]] = -0.5 * 2.0, -0.4 * 2.0
    problem = Problem(0.5 * np.eye(6), q, 0.5, order=order)
    with siconos.Session() as session:
        answer = session.solve(problem, method)
    assert answer.converged
    assert answer.impulse == pytest.approx(expected, abs=1e-7)
    assert answer.seconds > 0
    assert judge(problem.blocks, problem.to_ours(answer.impulse)).relative == answer.residual


@needs_siconos
def test_random_stacks_are_solved_by_both_and_judged_by_us():
    problems = [
        Problem(*random_problem(np.random.default_rng(seed)), order="ttn") for seed in range(4)
    ]
    answers = siconos.solve_all(problems)
    # Gauss–Seidel may stall on a rank-deficient one; none may fall
    assert all(a.fault == "" for both in answers for a in both.values())
    assert sum(a.converged for both in answers for a in both.values()) >= 6
    assert all(a.converged == (a.residual <= 1e-8) for both in answers for a in both.values())
