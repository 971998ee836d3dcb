"""External wrenches (``tabi.step.forces.external``): what they do to joints is JᵀF, on
random trees.
"""

import numpy as np
import pytest
from tests.worlds import random_robot, random_state

import tabi
from tabi import dynamics


@pytest.mark.parametrize("seed", range(5))
def test_a_push_on_a_link_is_its_jacobian_transposed_in_the_joints(seed):
    rng = np.random.default_rng(seed)
    world = tabi.World(gravity=(0, 0, 0))
    robot = world.add_robot(random_robot(seed))
    sims = [tabi.Simulator(world, dt=1e-4) for _ in range(2)]
    q, _ = random_state(sims[0].model, rng)
    for sim in sims:
        sim.set_state(q)
    body, sim = robot.bodies[-1], sims[0]
    force, torque, point = rng.normal(size=3), rng.normal(size=3), 0.1 * rng.normal(size=3)
    sim.apply_force(body, force=force, torque=torque, point=point)
    for one in sims:
        one.step()
    # rows of the Jacobian: velocity of the link's origin, then angular
    J = dynamics.point_jacobian(sim.model, q, body.name)
    X = dynamics.pose(sim.model, q, body.name)
    wrench = np.concatenate([force, torque + np.cross(X.R @ point, force)])
    with_push, without = (one._stepper.workspace.applied for one in sims)
    np.testing.assert_allclose(with_push - without, J.T @ wrench, atol=1e-12)


def test_nothing_is_looked_at_where_nothing_pushes():
    world = tabi.World(gravity=(0, 0, 0))
    world.add_box((0.1, 0.1, 0.1), 1.0)
    sim = tabi.Simulator(world)
    # a wrench that is not announced, behind the doors
    sim._stepper.data.command.wrench[1, 3] = 1.0
    sim._stepper.rollout(1e-3, 1e-8, 1)
    assert sim.state.v[0] == 0.0
    sim._stepper.data.command.pushed[0] = 1
    sim._stepper.rollout(1e-3, 1e-8, 1)
    assert sim.state.v[0] == pytest.approx(1e-3)
