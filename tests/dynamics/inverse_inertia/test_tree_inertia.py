"""The factors of Ω of whole trees, and the answer of the joints,
against the inverse of the mass matrix.
"""

import numpy as np
import pytest
from dynamics.inverse_inertia.test_body_inertia import BOUND, constrained_inverse
from worlds import random_robot, random_state, relative

import tabi
from tabi import dynamics
from tabi.contact import trees
from tabi.dynamics import aba, jacobian, kinematics, workspace
from tabi.dynamics.inverse_inertia import body_inertia, body_response, chain_tables


def compiled(*robots):
    world = tabi.World()
    for robot in robots:
        world.add_robot(robot)
    world.add_box((0.2, 0.3, 0.4), 2.0, position=(3.0, 0.0, 1.0), name="box")
    return world.compile()


def check_factors(model, seed):
    """Ω by factors of some bodies and all that carry them, and dv, against dense algebra."""
    rng = np.random.default_rng(seed)
    m, w, c = model.arrays, workspace.allocate(model), chain_tables.allocate(model)
    q, added = random_state(model, rng)[0], rng.uniform(0.0, 0.1, model.v_count)
    # the box stays as free as it is: its Ω comes from its own inertia
    added[-6:] = 0.0
    kinematics.positions(m, q, w)
    w.dof["added"] = m.dof["armature"] + added
    assert aba.factor(m, w) == 0
    bodies, count = listed(m, c, [*rng.choice(model.body_count, 5) + 1, model.body_count])
    start, column = np.zeros(count + 1, np.int64), np.zeros(3 * count, np.int64)
    out = np.full((3 * count, 6, 6), np.nan)
    assert body_inertia.omega(m, w, c, bodies, count, start, column, out) == 3 * count
    start, column, blocks = trees.with_blocks(c.above[:count], start, column, out)
    omega, J = np.zeros((6 * count, 6 * count)), np.zeros((count, 6, model.v_count))
    for i in range(count):
        jacobian.columns(m, w, bodies[i], (0.0, 0.0, 0.0), J[i])
        for e in range(start[i], start[i + 1]):
            omega[6 * i : 6 * i + 6, 6 * column[e] : 6 * column[e] + 6] = blocks[e]
    J = J.reshape(-1, model.v_count)
    inverse = constrained_inverse(model, dynamics.mass_matrix(model, q) + np.diag(added))
    assert relative(omega, J @ inverse @ J.T) < BOUND
    wrench, dv = rng.normal(size=6 * count), np.full(model.v_count, np.nan)
    expected = inverse @ J.T @ wrench
    body_response.respond(m, w, c, bodies, count, wrench, dv)
    assert relative(dv, expected) < BOUND


def listed(m, c, bodies):
    """Bodies and all that carry them, parents first, with their parents in c.above."""
    found = set()
    for body in bodies:
        while body:
            found.add(int(body))
            body = m.body["parent"][body]
    place = {body: k for k, body in enumerate(sorted(found))} | {0: trees.ROOT}
    c.above[: len(found)] = [place[m.body["parent"][body]] for body in sorted(found)]
    return np.array(sorted(found)), len(found)


@pytest.mark.parametrize("seed", range(6))
def test_random_trees(seed):
    check_factors(compiled(random_robot(seed, 14)), seed)


def test_several_trees_and_a_free_object():
    check_factors(compiled(random_robot(7, 9), random_robot(8, 6, base="fixed")), 7)


@pytest.mark.parametrize("seed", range(3))
def test_prescribed_joints_yield_nothing(seed):
    robot = random_robot(20 + seed, 14, kinds=("revolute", "prismatic", "spherical"))
    for body in robot.bodies[2::3]:
        body.joint.prescribed = True
    model = compiled(robot)
    assert model.arrays.dof["prescribed"].any()
    check_factors(model, seed)
