"""HRP-2 sits down on a sofa and takes a can."""

from __future__ import annotations

import paper_experiments
import pytest

from tabi.lab.papers.experiments.sofa import EXPERIMENTS

pytestmark = pytest.mark.papers


def test_it_ends_seated_with_the_can_in_its_hand():
    found = paper_experiments.check(EXPERIMENTS[0])
    assert found.missed == 0
    # what is held by friction between two pads: 2 μ N ≥ m g
    assert 2 * 0.5 * found.numbers["grip_force_n"] > 0.35 * 9.81
