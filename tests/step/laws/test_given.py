"""A law that solves nothing: impulses stay as they were."""

import numpy as np
import pytest

import tabi
from tabi.step.laws import given


def test_contacts_keep_the_impulses_that_are_handed_to_them():
    world = tabi.World()
    world.add_ground(friction=0.5)
    world.add_box(size=(0.2, 0.2, 0.2), mass=2.0, position=(0, 0, 0.1))
    solved = tabi.Simulator(world)
    solved.step()
    held = tabi.Simulator(world, contact=given)
    held.restore(solved.save())
    before = [c.force for c in held.contacts]
    held.step()
    assert np.allclose([c.force for c in held.contacts], before, atol=1e-12)
    # they carried the weight within the solver's tolerance, and still do
    assert np.allclose(held.v, 0.0, atol=10 * solved.tolerance)


@pytest.mark.slow
def test_without_impulses_things_fall_through_the_floor():
    world = tabi.World()
    world.add_ground(friction=0.5)
    world.add_box(size=(0.2, 0.2, 0.2), mass=2.0, position=(0, 0, 0.1))
    sim = tabi.Simulator(world, contact=given)
    sim.run(0.01)
    assert np.isclose(sim.v[2], -9.81 * 0.01)
