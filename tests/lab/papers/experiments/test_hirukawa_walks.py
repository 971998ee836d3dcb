"""Four models of a robot that walks, of which one falls."""

from __future__ import annotations

import pytest
from paper_experiments import check

from tabi.lab.papers.experiments.hirukawa_walks import EXPERIMENTS

pytestmark = pytest.mark.papers


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda one: one.name)
def test_rubber_falls_without_a_stabiliser_and_servos_are_calm(experiment):
    # the counter-runs of the second are those of the first, with numbers of another robot
    found = check(experiment, like=experiment is not EXPERIMENTS[0])
    # in the walk that shakes one step in ten thousand may just miss, by as much as its tolerance
    assert found.missed <= 1e-4 * found.steps
    assert found.residual < 2e-8
    assert len(found.figures) == 3


def test_both_have_the_same_criteria_and_kinds_of_counter_runs():
    first, second = EXPERIMENTS
    assert first.criteria == second.criteria
    kinds = [[one.changes[0].partition("=")[0] for one in x.counters[1:]] for x in EXPERIMENTS]
    assert kinds[0] == kinds[1]
