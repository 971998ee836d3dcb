"""Contacts and energy of things by name, object or owner."""

import pytest

import tabi


@pytest.fixture(scope="module")
def sim():
    world = tabi.World()
    world.add_ground(friction=0.5)
    world.add_box((0.1, 0.1, 0.1), 1.0, position=(0, 0, 0.05), name="low")
    world.add_box((0.1, 0.1, 0.1), 2.0, position=(0, 0, 0.15), name="high")
    sim = tabi.Simulator(world)
    sim.run(0.02)
    return sim


def test_contacts_of_a_thing_are_those_that_it_takes_part_in(sim):
    low, high = (sim.contacts_of(name) for name in ("low", "high"))
    assert (len(low), len(high), len(sim.contacts)) == (8, 4, 8)
    assert sim.contacts_of(sim.world.objects[1])[0].point == pytest.approx(high[0].point)
    assert sum(c.force_on("high")[2] for c in high) == pytest.approx(2.0 * 9.81)
    with pytest.raises(tabi.ModelError, match="expected a robot, body, foot or name"):
        sim.contacts_of(3)


def test_energy_at_rest_is_that_of_the_heights(sim):
    assert sim.energy.kinetic == pytest.approx(0.0, abs=1e-12)
    heights = 1.0 * 0.05 + 2.0 * 0.15
    assert sim.energy.potential == pytest.approx(9.81 * heights, rel=1e-6)
