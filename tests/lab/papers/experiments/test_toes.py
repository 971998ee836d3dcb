"""A fall over the toes has one clean transition, by the rule of pressure alone."""

from __future__ import annotations

import pytest
from paper_experiments import check

from tabi.lab.papers.experiments.toes import EXPERIMENTS

pytestmark = pytest.mark.papers


def test_it_agrees_and_its_counter_runs_do_not():
    assert check(EXPERIMENTS[0]).missed == 0
