"""A tree that touches with many links: factors instead of blocks, and the same laws."""

import numpy as np
import pytest

import tabi
from tabi import contact, dynamics
from tabi.contact import trees
from tabi.model.joint import Joint, Mimic
from tabi.model.robot import Robot
from tabi.model.shape import Shape, Sphere
from tabi.spatial import inertia
from tabi.spatial.transform import translation
from tabi.step import assembly

BALL, PITCH = 0.03, 0.08  # m


def snake(links=28, name="snake"):
    """Balls in a row on hinges, which turn up and sideways by turns; each of them can touch."""
    robot, solid = Robot(name), inertia.solid_sphere(0.2, BALL)
    joint = Joint(f"{name} base", "floating")
    for k in range(links):
        parent = f"{name} {k - 1}" if k else None
        robot.add_body(f"{name} {k}", joint, parent, solid, [Shape(Sphere(BALL))])
        axis = (0.0, 0.0, 1.0) if k % 2 else (0.0, 1.0, 0.0)
        joint = Joint(f"{name} hinge {k}", "revolute", translation((PITCH, 0.0, 0.0)), axis)
    return robot


def thrown(world, seed=0):
    """A simulator with robots on the ground, that glide and wind."""
    sim, rng = tabi.Simulator(world, budget=None), np.random.default_rng(seed)
    q, v = sim.state.q.copy(), sim.state.v.copy()
    at = 0
    for y, robot in enumerate(world.robots):
        q[at + 1], q[at + 2] = 0.4 * y, BALL
        end = at + 7 + len(robot.bodies) - 1
        q[at + 8 : end : 2] = rng.uniform(-0.3, 0.3, len(q[at + 8 : end : 2]))
        at = end
    v[:] = 0.02 * rng.normal(size=len(v))
    sim.set_state(q, v)
    return sim


def ground(*robots):
    world = tabi.World()
    world.add_ground(friction=0.8)
    for robot in robots:
        world.add_robot(robot)
    return world


def by_factors(sim):
    """Whether the last step had factors, of all bodies or of none."""
    used = sim._stepper.workspace.chains.above[: len(sim.problem().start) - 1] != trees.BLOCKS
    assert used.all() or not used.any()
    return bool(used.any())


def check_step(sim):
    """The last step against the problem with blocks:
    the judge, the velocities of the joints, and the general solver's answer.
    """
    problem, impulse = sim.problem(), sim.data.impulse
    assert sim.certificate.converged
    assert contact.judge(problem, impulse).residual == pytest.approx(
        sim.certificate.residual, abs=1e-12
    )
    u = sim._stepper.workspace.u[: len(impulse)]
    assert np.allclose(problem.velocities(impulse), u, atol=1e-11)
    # from the answer of the one the other has nothing left to do, or one step within the tolerance
    again = contact.solve_bodies(problem, 1e-8 / np.abs(problem.q).max(), impulse)
    assert again.iterations <= 1
    np.testing.assert_allclose(again.impulse, impulse, atol=1e-7)


def test_every_step_of_a_crawling_snake_is_that_of_the_blocks():
    sim = thrown(ground(snake()))
    for _ in range(10):
        sim.step()
        assert by_factors(sim)
        check_step(sim)


def test_joints_get_the_momentum_of_the_impulses():
    sim = thrown(ground(snake()))
    sim.step()
    assert by_factors(sim)
    w, q = sim._stepper.workspace, sim.data.outcome.q_before
    given = dynamics.momentum(sim.model, q, w.v_next - w.v_free).linear
    assert np.allclose(given, sim.data.contact["impulse"].sum(axis=0), atol=1e-12)


def test_few_links_keep_their_blocks():
    sim = thrown(ground(snake(assembly.MIN_FACTORED_BODIES - 1)))
    sim.step()
    assert not by_factors(sim)
    sim = thrown(ground(snake(assembly.MIN_FACTORED_BODIES)))
    sim.step()
    assert by_factors(sim)


def test_joints_that_follow_others_keep_their_blocks():
    robot = snake()
    robot.joint("snake hinge 3").mimic = Mimic("snake hinge 1", 0.5)
    sim = thrown(ground(robot))
    sim.step()
    assert not by_factors(sim)
    assert sim.certificate.converged


def test_held_joints():
    robot = snake()
    for k in (2, 5, 6):
        robot.joint(f"snake hinge {k}").prescribed = True
    sim = thrown(ground(robot))
    for _ in range(3):
        sim.step()
        assert by_factors(sim)
        check_step(sim)


def test_two_snakes_and_a_box_held_together():
    world = ground(snake(), snake(5, "worm"))
    world.add_box((0.3, 0.3, 0.05), 0.5, position=(0.4, 0.0, 2 * BALL + 0.025), name="box")
    sim = thrown(world, 3)
    # a loop in the one, and a bond between both
    sim.bond("ball", "snake 2", "snake 9")
    sim.bond("ball", "snake 15", "worm 0")
    for _ in range(3):
        sim.step()
        assert by_factors(sim)
        assert sim.certificate.groups == 1
        check_step(sim)


def test_a_rerun_has_the_same_bits():
    ends = []
    for _ in range(2):
        sim = thrown(ground(snake()))
        sim.run(0.02)
        ends.append(sim.state.q.copy())
    assert np.array_equal(*ends)
