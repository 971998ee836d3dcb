"""Rates of controllers and recordings divide the rate of the steps."""

import pytest

from tabi import ModelError
from tabi.model.controllers.rates import steps_between


def test_a_rate_is_so_many_steps_and_without_one_it_is_each():
    assert steps_between(None, 1e-3, "it") == 1
    assert steps_between(200, 1e-3, "it") == 5
    assert steps_between(1000.0, 1e-3, "it") == 1


@pytest.mark.parametrize("rate", [0, -5, 300, 3000, float("nan"), float("inf")])
def test_a_rate_that_does_not_divide_the_steps_is_refused(rate):
    with pytest.raises(ModelError, match=r"rate of it is .* expected one that divides 1000 Hz"):
        steps_between(rate, 1e-3, "it")
