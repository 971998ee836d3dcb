"""What a step lifts without speed: the weight times the way out of an overlap, and else nothing."""

import warnings

import pytest

import tabi
from tabi.lab.validate.lift import lift, velocity_only


@pytest.mark.parametrize(("height", "lifted"), [(0.048, 0.5e-3), (0.05, 0.0)])
def test_a_box_in_the_ground_is_lifted_by_half_a_millimetre_a_step(height, lifted):
    world = tabi.World()
    world.add_ground()
    world.add_box((0.1, 0.1, 0.1), 2.0, position=(0, 0, height))
    sim = tabi.Simulator(world)
    before = sim.data.q.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sim.step()
    assert lift(sim, velocity_only(sim, before)) == pytest.approx(
        2.0 * 9.81 * lifted, rel=1e-5, abs=1e-9
    )
