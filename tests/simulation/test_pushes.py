"""Pushes: how long they last, what they are about a tree's origin, and which joints they move."""

import numpy as np
import pytest

import tabi
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.simulation import pushes
from tabi.spatial.inertia import Inertia


def test_a_push_lasts_as_many_steps_as_its_duration_has():
    world = tabi.World()
    box = world.add_box((1, 1, 1), 1.0)
    link = world.compile().link(box.name)
    for duration, until in ((None, 8.0), (0.003, 10.0), (0.3, 307.0), (0.0015, 8.5), (1e-5, 7.01)):
        assert pushes.push(
            link, ((1, 0, 0), (0, 0, 0), (0, 0, 0)), duration, 1e-3, 7
        ).until == pytest.approx(until, abs=1e-12)


def slider(friction):
    """A mass of 2 kg on a horizontal guide with dry friction [N]."""
    robot, solid = Robot("slider"), Inertia(2.0, (0, 0, 0), 0.1 * np.eye(3))
    robot.add_body("base", Joint("base", "fixed"), None, solid)
    guide = Joint("guide", "prismatic", axis=(1.0, 0.0, 0.0), friction=friction)
    robot.add_body("mass", guide, robot.base, solid)
    world = tabi.World()
    world.add_robot(robot)
    return tabi.Simulator(world)


@pytest.mark.parametrize("force", [5.0, -5.0])
def test_a_push_moves_a_dry_joint_by_what_it_is_stronger_than_its_friction(force):
    sim = slider(friction=3.0)
    sim.apply_force("mass", force=(force, 0, 0), duration=1.0)
    sim.run(1.0)
    # m v = (F − μ) t
    assert sim.state.v[0] == pytest.approx(np.sign(force) * (5.0 - 3.0) / 2.0, rel=1e-9)


def test_a_push_below_the_dry_friction_of_a_joint_moves_nothing():
    sim = slider(friction=3.0)
    sim.apply_force("mass", force=(2.5, 0, 0), duration=0.5)
    sim.run(0.4)
    assert sim.state.q[0] == 0.0
    # friction bears all of it
    assert sim.data.outcome.effort["constraint"][0] == pytest.approx(-2.5, rel=1e-12)


def test_a_push_told_for_later_does_not_break_up_the_run_before_it():
    assert pushes.steps_without_callback([], 0, 1000) == 1000
    sim = slider(friction=0.0)
    sim.apply_force("mass", force=(1, 0, 0), duration=0.01, at=0.5)
    (later,) = sim.pushes
    assert pushes.steps_without_callback([later], 0, 1000) == 500
    assert pushes.steps_without_callback([later], 500, 1000) == 1
    sim.run(1.0)
    assert sim.state.v[0] == pytest.approx(1.0 * 0.01 / 2.0, rel=1e-9)
    assert sim.pushes == ()


def test_a_push_beside_the_centre_turns_a_ball_about_the_right_axis():
    """I ω = r × f h, each component of it."""
    world = tabi.World(gravity=(0, 0, 0))
    world.add_sphere(0.1, 2.0, name="ball")
    sim = tabi.Simulator(world)
    r, f = np.array([0.03, -0.05, 0.07]), np.array([1.0, 2.0, -3.0])
    sim.apply_force("ball", f, point=r, duration=sim.dt)
    sim.step()
    moment = 0.4 * 2.0 * 0.1**2
    assert np.allclose(sim.velocity("ball").angular, np.cross(r, f) * sim.dt / moment, rtol=1e-9)
