"""The force on a foot that lands."""

from __future__ import annotations

import pytest
from paper_experiments import check

from tabi.lab.papers.experiments.foot_impact import EXPERIMENTS

pytestmark = pytest.mark.papers


def test_the_force_peaks_dips_and_rises_to_the_weight():
    found = check(EXPERIMENTS[0])
    assert found.missed == 0
    # the foot bears the robot at the end, and no more than its weight by much
    (force,) = (line[1] for line in found.figures[0].lines.values())
    assert 0.9 * 58 * 9.81 < force[-1] < 1.2 * 58 * 9.81
