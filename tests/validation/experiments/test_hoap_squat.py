"""Two squats, whose forces go with the square of their speed."""

from __future__ import annotations

from paper_experiments import check

from tabi.validation.experiments.hoap_squat import EXPERIMENTS


def test_it_agrees_and_its_counter_runs_do_not():
    assert check(EXPERIMENTS[0]).missed == 0
