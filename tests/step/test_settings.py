"""What a simulator is told: a step, a tolerance and a scheme that can be."""

from types import SimpleNamespace

import numpy as np
import pytest

import tabi
from tabi.step import settings
from tabi.step.forces import external
from tabi.step.laws import soft


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
    assert settings.check(tabi.World(), 0.01, 1e-8, settings.EVENT_DRIVEN) is None


def test_a_long_step_is_said_and_a_longer_one_refused_as_is_a_loose_tolerance():
    world, scheme = tabi.World(), settings.TIME_STEPPING
    with pytest.warns(tabi.LongStepWarning, match=r"^dt is 0.011 s, .* goes 11 mm between"):
        settings.check(world, 0.011, 1e-8, scheme)
    with pytest.warns(tabi.LongStepWarning):
        settings.check(world, 0.1, 1e-8, scheme)
    with pytest.raises(
        tabi.ModelError, match=r"^dt is 1 s, .* fall 4.9 m unseen; expected at most"
    ):
        settings.check(world, 1, 1e-8, scheme)
    assert settings.check(world, 1e-3, 0.01, scheme) is None
    with pytest.raises(tabi.ModelError, match=r"tolerance is 0.02 m/s, .* expected at most 0.01"):
        settings.check(world, 1e-3, 0.02, scheme)


@pytest.mark.parametrize("steps", [-1, 2.5, "3", None, True])
def test_a_rollout_has_a_whole_number_of_steps(steps):
    with pytest.raises(
        tabi.ModelError, match=r"steps of a rollout are .*; expected a whole number"
    ):
        settings.checked_program(steps, None, 6)


def test_a_program_is_finite_numbers_for_every_step():
    assert settings.checked_program(np.int64(2), np.ones((2, 6, 3)), 6).shape == (2, 6, 3)
    for program in (np.ones((2, 5, 3)), np.full((2, 6, 3), np.nan), "none", [[1], [1, 2]]):
        with pytest.raises(tabi.ModelError, match=r"expected finite numbers of shape \(2, 6, 3\)"):
            settings.checked_program(2, program, 6)


def test_orders_that_there_are_not_are_refused():
    world = tabi.World()
    world.add_sphere(0.1, 1.0)
    for order in (0, 3, True, "2", 2.0, None):
        with pytest.raises(tabi.ModelError, match=r"^order is .*; expected 1, or 2"):
            tabi.Simulator(world, order=order)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"scheme": "event-driven"}, r"scheme='event-driven' .*; take scheme='time-stepping', or"),
        ({"contact": "pyramid"}, r"contact='pyramid' are given, .*; take contact='coulomb', or"),
        ({"forces": [external]}, r"with forces or rows of your own, .*; leave them out, or take"),
    ],
)
def test_second_order_is_refused_where_something_has_none(options, said):
    world = tabi.World()
    world.add_ground()
    world.add_sphere(0.1, 1.0, position=(0, 0, 0.1))
    with pytest.raises(tabi.ModelError, match=r"^order=2 .*" + said):
        tabi.Simulator(world, order=2, **options)


def test_second_order_is_refused_with_pads_and_its_steps_are_not_linearised():
    assert settings.checked_order(1, settings.EVENT_DRIVEN, soft, ()) == 1
    pads = SimpleNamespace(CONTACTS=None, CERTIFIED=True)
    with pytest.raises(tabi.ModelError, match=r"^order=2 .* soft soles or pads, .* take order=1"):
        settings.checked_order(2, settings.TIME_STEPPING, pads, ())
    with pytest.raises(tabi.ModelError, match=r"^order is 2, whose steps cannot be linearised"):
        settings.check_linear(2, settings.TIME_STEPPING, pads, 0.0)


def test_names_that_a_simulator_does_not_know_are_refused_as_python_does():
    assert settings.own_parts({"rows": [external]}) == ((), (external,))
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'ordre'"):
        tabi.Simulator(tabi.World(), ordre=2)
