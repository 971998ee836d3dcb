"""HRP-2 sits down on a sofa and takes a can."""

from __future__ import annotations

import paper_experiments

from tabi.validation.experiments.sofa import EXPERIMENTS


def test_it_ends_seated_with_the_can_in_its_hand():
    assert paper_experiments.check(EXPERIMENTS[0]).missed == 0
