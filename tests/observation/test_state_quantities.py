"""Quantities of a simulation follow its state."""

import numpy as np
import pytest

import tabi


def test_quantities_are_those_of_the_moment():
    world = tabi.World()
    world.add_box((0.1, 0.1, 0.1), 2.0, position=(0, 0, 0.15), name="high")
    sim = tabi.Simulator(world)
    J = sim.quantities.jacobian("high")
    assert np.array_equal(J, sim.jacobian("high"))
    assert sim.quantities.centre_of_mass("high") == pytest.approx(sim.position("high"))
    sim.set_joint("high", (1.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0))
    assert sim.quantities.centre_of_mass("high") == pytest.approx([1.0, 0.0, 2.0])
