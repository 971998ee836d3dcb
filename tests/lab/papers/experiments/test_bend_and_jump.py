"""A jump by exact selection and by one step of it."""

from __future__ import annotations

import pytest
from paper_experiments import check

from tabi.lab.papers.experiments.bend_and_jump import EXPERIMENTS
from tabi.lab.papers.experiments.experiment import DIFFERS

pytestmark = pytest.mark.papers


def test_it_jumps_alike_but_the_exact_search_has_nothing_to_search():
    found = check(EXPERIMENTS[0], DIFFERS)
    (reason,) = EXPERIMENTS[0].reasons(found.numbers)
    assert "states_tried" in reason
    assert EXPERIMENTS[0].because
