"""HRP-2 pushes a cart, lifts it and lets it go."""

from __future__ import annotations

import paper_experiments
import pytest

from tabi.lab.papers.experiments.cart_lift import EXPERIMENTS

pytestmark = pytest.mark.papers


def test_the_cart_is_pushed_lifted_and_released_with_its_box():
    found = paper_experiments.check(EXPERIMENTS[0])
    assert found.missed == 0
    # a normal, a row for each of 8 sides and one for the slip, against a normal and two tangents
    most = found.numbers["most_contacts"]
    assert found.numbers["pyramid_rows"] == most * (1 + 8 + 1)
    assert found.numbers["cone_rows"] == most * 3
