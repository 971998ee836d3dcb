"""Contacts in steps of second order: friction that turns with the sliding, gaps, overlaps."""

import numpy as np
import pytest

import tabi
from tabi.step.second import contacts

G = 9.81


def block(order=2, dt=1e-3, v=(2.0, 0, 0, 0, 0, 0), height=0.05):
    world = tabi.World()
    world.add_ground(friction=0.3)
    world.add_box((0.2, 0.2, 0.1), 1.0, position=(0, 0, height), friction=0.3)
    sim = tabi.Simulator(world, dt=dt, order=order)
    sim.set_state(sim.q, v)
    return sim


def test_a_sliding_block_goes_as_far_as_the_parabola_says():
    # x = v t − μ g t²/2, exactly: the first order is short by μ g t h/2
    sim = block()
    sim.run(0.5)
    assert sim.q[0] == pytest.approx(2.0 * 0.5 - 0.5 * 0.3 * G * 0.25, abs=1e-9)
    assert {c.status for c in sim.contacts} == {"slip"}
    sim.run(0.5)
    assert sim.q[0] == pytest.approx(2.0**2 / (2 * 0.3 * G), abs=1e-4)
    assert np.abs(sim.v).max() < 1e-8


def test_friction_on_a_turntable_turns_with_the_sliding():
    """A block that slides while it turns: slope two."""
    ends = []
    for dt in (2.5e-4, 4e-3, 2e-3):
        sim = block(dt=dt, v=(1.0, 0, 0, 0, 0, 6.0))
        sim.run(0.2)
        ends.append(np.concatenate([sim.q, sim.v]))
    errors = [np.linalg.norm(end - ends[0]) for end in ends[1:]]
    assert np.log2(errors[0] / errors[1]) > 1.7


def test_a_block_that_starts_a_little_inside_leaves_gently():
    sim = block(v=np.zeros(6), height=0.05 - 5e-7)
    top = []
    sim.every(1, lambda data: top.append(data.v[2]))
    sim.run(0.05)
    assert sim.q[2] == pytest.approx(0.05, abs=1e-8)
    assert max(top) <= contacts.PARTING_RATIO * G * 1e-3 + 1e-9


def test_a_conveyor_carries_a_block_with_its_own_speed():
    world = tabi.World()
    world.add_fixed(
        tabi.Box((4.0, 2.0, 0.2)), (0, 0, -0.1), friction=0.6, surface_velocity=(1.0, 0.3, 0)
    )
    world.add_box((0.2, 0.2, 0.1), 1.0, position=(0, 0, 0.05))
    sim = tabi.Simulator(world, order=2)
    sim.run(0.5)
    assert sim.v[:2] == pytest.approx((1.0, 0.3), abs=1e-7)
    assert sim.data.contact["velocity"][0, :2] == pytest.approx((1.0, 0.3), abs=1e-7)


def test_what_falls_in_a_step_is_never_nothing():
    world = tabi.World()
    world.gravity = (0, 0, 0)
    world.add_box((0.2, 0.2, 0.1), 1.0, position=(0, 0, 1.0))
    world.add_box((0.2, 0.2, 0.1), 1.0, position=(0.3, 0.02, 1.0))
    sim = tabi.Simulator(world, order=2)
    sim.set_state(sim.q, (1.0, 0, 0, 1, 2, 3, *np.zeros(6)))
    sim.run(0.5)
    assert contacts.fall_distance(sim.model.arrays, 1e-3) == 1e-6
    # what floats and hits keeps its momentum
    momentum = sim.v[0] + sim.v[6]
    assert momentum == pytest.approx(1.0, abs=1e-9)
    assert sim.certificate.worst_penetration < 1e-6
