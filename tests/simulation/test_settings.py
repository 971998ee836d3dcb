"""What a simulator is told: a step, a tolerance and a scheme that can be."""

import pytest

import tabi
from tabi.simulation import settings


@pytest.mark.parametrize("value", [0, -1e-3, float("nan"), float("inf"), "1e-3", None])
def test_steps_and_tolerances_are_positive_numbers(value):
    world = tabi.World()
    with pytest.raises(tabi.ModelError, match=r"dt is .*; expected a positive number of seconds"):
        settings.check(world, value, 1e-8, settings.TIME_STEPPING)
    with pytest.raises(tabi.ModelError, match=r"tolerance is .*; expected a positive velocity"):
        settings.check(world, 1e-3, value, settings.TIME_STEPPING)


def test_a_scheme_and_a_world_are_known_ones():
    with pytest.raises(tabi.ModelError, match=r"scheme 'events' not found in tabi"):
        settings.check(tabi.World(), 1e-3, 1e-8, "events")
    with pytest.raises(tabi.ModelError, match=r"world is 7; expected a tabi.World"):
        settings.check(7, 1e-3, 1e-8, settings.EVENT_DRIVEN)
    assert settings.check(tabi.World(), 1, 1e-8, settings.EVENT_DRIVEN) is None
