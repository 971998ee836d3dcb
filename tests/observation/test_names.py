"""What is seen of a simulation by names: its repr, its bodies, and what is no name of any."""

import numpy as np
import pytest

import tabi
from tabi.simulation.simulator import SET_ONCE


def six_balls():
    world = tabi.World()
    for k in range(6):
        world.add_sphere(0.1, 1.0, position=(k, 0.0, 1.0), name=f"ball{k}")
    return tabi.Simulator(world)


def test_it_shows_four_names_its_time_and_its_step():
    sim = six_balls()
    sim.step()
    assert repr(sim) == (
        "Simulator(ball0, ball1, ball2, ball3 and 2 more: 0.001 s in steps of 0.001 s)"
    )


def test_names_and_objects_stand_for_the_same_body():
    sim = six_balls()
    ball = sim.world.objects[2]
    assert np.array_equal(sim.position("ball2"), sim.position(ball))
    assert sim.position(ball) == pytest.approx([2.0, 0.0, 1.0])
    with pytest.raises(tabi.ModelError, match="ball7"):
        sim.position("ball7")


@pytest.mark.parametrize("name", sorted(SET_ONCE))
def test_what_it_was_made_with_cannot_be_replaced(name):
    with pytest.raises(AttributeError, match=name):
        setattr(six_balls(), name, None)
