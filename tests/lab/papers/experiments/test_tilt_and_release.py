"""The rubber of the feet, told by an oscillation."""

from __future__ import annotations

import pytest
from paper_experiments import check

from tabi.lab.papers.experiments.tilt_and_release import EXPERIMENTS

pytestmark = pytest.mark.papers


def test_frequency_and_decay_tell_the_rubber():
    found = check(EXPERIMENTS[0])
    assert found.missed == 0
