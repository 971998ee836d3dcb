"""Criteria, trials and verdicts."""

from __future__ import annotations

import math

import pytest

from tabi import ModelError
from tabi.lab.papers.experiments import applies
from tabi.lab.papers.experiments.experiment import (
    AGREES,
    DIFFERS,
    NOT_COMPARABLE,
    CounterRun,
    Criterion,
    Experiment,
    PaperOutcome,
    PaperTrial,
    value_at,
    watch,
)

SLIDES = Criterion("slide_m", "the rough cube slides v²/2μg", 0.50, 0.52)


def measure(trial: PaperTrial) -> PaperOutcome:
    rows = watch(trial.load("duration_s=0.9"), lambda sim: {"x": sim.position("middling")[0]}, 10)
    return rows.outcome({"slide_m": float(rows["x"][-1] - rows["x"][0])})


EXPERIMENT = Experiment(
    "slide",
    "C06",
    "fig. 0",
    "slide",
    "it slides",
    (SLIDES,),
    (CounterRun("friction halved", ("objects.middling.friction=0.2", "ground.friction=0.2")),),
    measure,
    rests_on={"objects.middling.friction": 0.4, "robots": ()},
)


@pytest.mark.slow
def test_a_run_agrees_by_the_law_of_sliding_and_its_counter_run_differs():
    found = measure(EXPERIMENT.trial())
    # v²/2μg with 2 m/s and 0.4
    assert found.numbers["slide_m"] == pytest.approx(4 / (2 * 0.4 * 9.81), abs=2e-3)
    assert EXPERIMENT.verdict(found.numbers) == AGREES
    assert (found.steps, found.missed) == (900, 0)
    assert 0 < found.residual < 1e-8
    counter = measure(EXPERIMENT.trial(changes=EXPERIMENT.counters[0].changes)).numbers
    assert EXPERIMENT.verdict(counter) == DIFFERS
    (reason,) = EXPERIMENT.reasons(counter)
    assert "at most 0.52 expected" in reason


@pytest.mark.parametrize(
    ("x", "met", "words"),
    [
        (0.5, True, ""),
        (0.49, False, "slide_m is 0.49, at least 0.5 expected"),
        (0.53, False, "slide_m is 0.53, at most 0.52 expected"),
        (math.nan, False, "slide_m was not found"),
    ],
)
def test_a_criterion_is_a_range_and_tells_by_how_much_it_is_missed(x, met, words):
    assert SLIDES.met({"slide_m": x}) is met
    assert SLIDES.off({"slide_m": x}) == words
    assert SLIDES.off({}) == "slide_m was not found"


def test_what_cannot_be_compared_has_no_verdict():
    from dataclasses import replace

    excused = replace(EXPERIMENT, excused="not published")
    assert excused.verdict({"slide_m": 0.51}) == NOT_COMPARABLE


def test_the_law_of_a_trial_is_that_of_its_scene():
    assert EXPERIMENT.trial().load().contents.simulation.contact == "coulomb"
    assert EXPERIMENT.trial(law="pyramid").load().contents.simulation.contact == "pyramid"


def test_a_scene_that_was_edited_is_refused_and_the_value_named():
    applies(EXPERIMENT, EXPERIMENT.trial().load())
    edited = EXPERIMENT.trial(changes=("objects.middling.friction=0.3",)).load()
    with pytest.raises(ModelError, match=r"objects.middling.friction = 0.4, and .* says 0.3"):
        applies(EXPERIMENT, edited)


def test_a_value_is_found_by_the_path_of_set():
    scene = EXPERIMENT.trial().load()
    assert value_at(scene, "objects.rough.mass_kg") == scene.contents.objects[2].mass_kg
    assert value_at(scene, "objects.2.mass_kg") == scene.contents.objects[2].mass_kg
    assert value_at(scene, "ground.friction") == scene.contents.ground.friction
    assert value_at(scene, "objects.nothing.mass_kg") is None


def test_two_outcomes_are_one():
    both = PaperOutcome({"a": 1.0}, steps=2, missed=1, residual=1e-9).plus(
        PaperOutcome({"b": 2.0}, steps=3, residual=2e-9)
    )
    assert both.numbers == {"a": 1.0, "b": 2.0}
    assert (both.steps, both.missed, both.residual) == (5, 1, 2e-9)
