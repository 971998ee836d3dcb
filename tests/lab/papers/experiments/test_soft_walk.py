"""Pads of several stiffnesses under a walking robot."""

from __future__ import annotations

import pytest
from paper_experiments import check

from tabi.lab.papers.experiments.soft_walk import EXPERIMENTS

pytestmark = pytest.mark.papers


@pytest.mark.slow
def test_softer_pads_land_softer_and_lean_more():
    found = check(EXPERIMENTS[0])
    assert found.missed == 0
