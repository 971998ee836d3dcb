"""Two squats, whose forces go with the square of their speed."""

from __future__ import annotations

import pytest
from paper_experiments import check

from tabi.lab.papers.experiments.hoap_squat import EXPERIMENTS

pytestmark = pytest.mark.papers


def test_it_agrees_and_its_counter_runs_do_not():
    found = check(EXPERIMENTS[0])
    assert found.missed == 0
    # the figure is of what inertia adds: nothing while it stands
    _, force = found.figures[0].lines["before it is rounded"]
    assert abs(force[500]) < 0.1
