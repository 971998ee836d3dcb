"""Runs of experiments as plain data."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from tabi.lab.papers import experiments, jobs
from tabi.lab.papers.experiments.experiment import (
    CounterRun,
    Criterion,
    Experiment,
    PaperFigure,
    PaperOutcome,
    PaperTrial,
    watch,
)
from tabi.lab.papers.jobs import COUNTER, LAW, REFEREE, RUN, PaperJob


def measure(trial: PaperTrial) -> PaperOutcome:
    rows = watch(trial.load("duration_s=0.3"), lambda sim: {"x": sim.position("rough")[0]}, 100)
    figure = PaperFigure("way", "time [s]", "x [m]", {"cube": (rows.time, rows["x"])})
    return rows.outcome({"slide_m": float(rows["x"][-1]), "nothing": math.nan}, figure)


SLIDE = Experiment(
    "slide",
    "C06",
    "fig. 0",
    "slide",
    "a cube slides",
    (Criterion("slide_m", "it slides", 0.2, 0.3),),
    (CounterRun("no speed", ("objects.rough.velocity_m_s=[0,0,0]",)),),
    measure,
    rests_on={"objects.rough.friction": 0.8},
    laws=("coulomb", "pyramid"),
    referees=("mujoco",),
)


@pytest.fixture
def catalogue(monkeypatch):
    """Only the experiment of this file."""
    known = {"slide": SLIDE}
    monkeypatch.setattr(experiments, "catalogue", lambda: known)
    return known


def test_an_experiment_has_its_run_counter_runs_other_laws_and_engines():
    found = [job.words for job in jobs.jobs([SLIDE], ["mujoco", "pinocchio"], False)]
    assert found == [
        "slide run",
        "slide counter-run 0",
        "slide law pyramid",
        "slide referee mujoco",
    ]
    assert next(job.words for job in jobs.jobs([SLIDE], [], True)) == "slide run short"


def test_a_run_is_plain_data_with_its_certificate(catalogue):
    found = PaperJob("slide", RUN).run()
    again = json.loads(json.dumps(found))
    # v²/2μg of 2 m/s and 0.8
    assert again["numbers"]["slide_m"] == pytest.approx(4 / (2 * 0.8 * 9.81), abs=2e-3)
    assert again["numbers"]["nothing"] is None
    assert (again["steps"], again["missed"]) == (300, 0)
    x, y = again["figures"][0]["lines"]["cube"]
    assert len(x) == len(y) == 4


def test_a_counter_run_and_another_law_change_the_scene(catalogue):
    assert PaperJob("slide", COUNTER, "0").run()["numbers"]["slide_m"] == pytest.approx(0.0)
    law = PaperJob("slide", LAW, "pyramid").run()
    assert law["numbers"]["slide_m"] == pytest.approx(0.255, abs=0.01)


@pytest.mark.slow
def test_another_engine_tells_how_far_apart_things_end(catalogue):
    found = PaperJob("slide", REFEREE, "mujoco").run()
    assert found["engine"] == "MuJoCo"
    # MuJoCo's contacts are soft: some tenths of a millimetre, and never exactly nothing
    assert 0.0 < found["end_apart_mm"]["rough"] < 2.0
    assert set(found["engines"]) == {"tabi", "MuJoCo"}
    json.dumps(found)


def test_a_scene_that_was_edited_does_not_apply(catalogue):
    catalogue["slide"] = replace(SLIDE, rests_on={"objects.rough.friction": 0.7})
    found = PaperJob("slide", RUN).run()
    assert found["applies"] is False
    assert "objects.rough.friction = 0.7" in found["fault"]


def test_long_lines_are_thinned_and_keep_their_ends():
    line = PaperFigure("f", "x", "y", {"a": (range(10_000), range(10_000))})
    x, y = jobs.plain(PaperOutcome({}, (line,)))["figures"][0]["lines"]["a"]
    assert len(x) <= jobs.POINTS
    assert (x[0], x[-1], y[-1]) == (0, 9999, 9999)
