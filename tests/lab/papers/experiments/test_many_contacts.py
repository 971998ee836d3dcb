"""What many contacts cost."""

from __future__ import annotations

import math

import paper_experiments
import pytest

from tabi.lab.papers.experiments.many_contacts import EXPERIMENTS, slope

pytestmark = pytest.mark.papers

GROWTH, SIZES = EXPERIMENTS


def test_a_slope_is_the_exponent_of_a_power_law():
    assert slope([1, 2, 4, 8], [3, 12, 48, 192]) == pytest.approx(2)
    assert math.isnan(slope([4, 4], [1, 2]))
    assert math.isnan(slope([1, 2], [0, 2]))


def test_the_work_of_gauss_seidel_grows_roughly_with_the_square_of_the_contacts():
    found = paper_experiments.check(GROWTH)
    # 25 feet of four corners
    assert found.numbers["most_contacts"] == 100


def test_a_pyramid_of_eight_sides_has_ten_rows_for_three():
    found = paper_experiments.check(SIZES)
    assert found.numbers["pyramid_rows"] * 3 == found.numbers["cone_rows"] * 10
