"""Steps with given impulses: the solved one comes again, and changes are straight."""

import numpy as np
import pytest

import tabi
from tabi.observation.frozen_modes import FrozenModeStep, OtherPointsError, twin_of


def held(size=(0.4, 0.3, 0.2)):
    world = tabi.World()
    world.add_ground(friction=0.5)
    world.add_box(size=size, mass=2.0, position=(0, 0, size[2] / 2))
    sim = tabi.Simulator(world)
    sim.run(0.003)
    stepper = sim._stepper
    return sim, FrozenModeStep(stepper, twin_of(stepper, ((), ())), sim.tolerance)


def test_without_a_change_the_solved_step_comes_again():
    sim, steps = held()
    sim.step()
    assert np.allclose(steps.q, sim.q, atol=1e-12)
    assert np.allclose(steps.v, sim.v, atol=1e-9)
    assert len(steps.contacts) == len(steps.rows.identity) == 4
    assert np.allclose(np.einsum("kij,ki->kj", steps.frame, steps.rows.impulse)[:, 2].sum(),
                       2.0 * 9.81 * sim.dt)  # fmt: skip


def test_velocities_change_by_the_impulse_over_the_mass():
    _, steps = held()

    def lift(data, size):
        data.memory.contact["impulse"][:4, 2] += 0.25 * size

    change = steps.change(lift, 1e-4)
    assert np.allclose(change.state[8], 0.5)
    assert np.allclose(change.state[2], 0.5e-3)


def test_a_start_with_other_points_is_told():
    _, steps = held()

    def turn_over(data, size):
        data.q[2] += 5.0

    with pytest.raises(OtherPointsError, match="box and world touch in other points"):
        steps.change(turn_over, 1e-6)


def test_an_overlap_that_is_left_apart_is_refused():
    world = tabi.World()
    world.add_ground(friction=0.5)
    world.add_box(size=(0.2, 0.2, 0.2), mass=2.0, position=(0, 0, 0.05))
    sim = tabi.Simulator(world)
    with pytest.raises(tabi.SimulationError, match="overlap so deeply"):
        sim.linearise()
    assert sim.time == 0.0
