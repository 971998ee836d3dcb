"""HRP-2 takes a can off a table while it leans on its left hand."""

from __future__ import annotations

import paper_experiments
import pytest

from tabi.lab.papers.experiments.table import EXPERIMENTS

pytestmark = pytest.mark.papers


def test_the_left_hand_keeps_it_from_tipping_to_the_side():
    found = paper_experiments.check(EXPERIMENTS[0])
    assert found.missed == 0
    # what is held by friction between two pads: 2 μ N ≥ m g
    assert 2 * 0.4 * found.numbers["grip_force_n"] > 0.4 * 9.81
