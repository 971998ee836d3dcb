"""HRP-2 leans onto a table and pushes a carton over."""

from __future__ import annotations

import paper_experiments
import pytest

from tabi.lab.papers.experiments.lean_and_push import EXPERIMENTS

pytestmark = pytest.mark.papers


def test_the_carton_slides_while_it_falls_and_the_feet_do_not():
    found = paper_experiments.check(EXPERIMENTS[0])
    assert found.missed == 0
