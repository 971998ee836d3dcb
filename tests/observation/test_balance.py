"""Where the energy of a step goes: works by closed forms, and a sum that is right to rounding."""

import numpy as np
import pytest

import tabi
from tabi.observation import balance

G = 9.81


def test_a_push_works_by_force_times_the_mean_velocity():
    world = tabi.World(gravity=(0, 0, 0))
    box = world.add_box((0.1, 0.1, 0.1), 2.0)
    sim = tabi.Simulator(world)
    sim.apply_force(box, force=(6.0, 0, 0), duration=1.0)
    sim.run(0.1)
    v = sim.state.v[0]
    found = balance.of_last_step(sim.data)
    # a = 3 m/s²; the last step went from v − a h to v
    assert v == pytest.approx(0.3)
    assert found.pushes == pytest.approx(6.0 * (v - 0.5 * 3.0 * sim.dt) * sim.dt, rel=1e-9)
    assert found.change == pytest.approx(found.pushes, rel=1e-9)
    assert abs(found.scheme) < 1e-12


def test_friction_takes_mu_m_g_times_the_way():
    world = tabi.World()
    world.add_ground(friction=0.4)
    world.add_box((0.2, 0.2, 0.02), 3.0, position=(0, 0, 0.01), friction=0.4)
    sim = tabi.Simulator(world)
    sim.set_state(sim.state.q, [1.0, 0, 0, 0, 0, 0])
    sim.run(0.05)
    found, v = sim.balance, sim.state.v[0]
    way = (v + 0.5 * 0.4 * G * sim.dt) * sim.dt
    # the normal impulse of g h = 1e-2 m/s is as good as the tolerance of 1e-8 m/s
    assert found.contacts == pytest.approx(-0.4 * 3.0 * G * way, rel=5e-6)
    parts = (found.motors, found.contacts, found.joints, found.pushes, found.scheme)
    assert found.change == pytest.approx(sum(parts), abs=1e-15)
    assert np.isfinite(parts).all()
