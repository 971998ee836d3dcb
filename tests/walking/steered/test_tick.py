"""References of a steered walk, against the robot's own kinematics and dynamics."""

import numpy as np
import pytest

import tabi
from tabi.dynamics.configuration import Configuration
from tabi.walking.plan.footsteps import SIDES
from tabi.walking.steered.walker import SteeredWalker


def walk(robot, seconds, **asked):
    world = tabi.World()
    world.add_ground(friction=0.8)
    robot = world.add_robot(robot)
    walker, sim = SteeredWalker(robot), tabi.Simulator(world)
    sim.set_controller(robot, walker, rate=200)
    sim.run(1.0)
    walker.steer(**asked)
    sim.run(seconds)
    return sim, walker


def test_joints_put_feet_and_centre_of_mass_where_they_are_planned():
    _, walker = walk(tabi.robots.hrp2(), 2.1, forward=0.2, turn=0.1)
    ref, biped = walker._walk.loop.reference, walker.biped
    state = Configuration(biped.model, ref.q[1])
    # the legs are solved to 1e-9, the centre of mass to as much
    assert state.centre_of_mass(biped.robot) == pytest.approx(ref.centre[1], abs=1e-7)
    for i, side in enumerate(SIDES):
        assert state.pose(biped.robot.feet[side]).p == pytest.approx(ref.position[1, i], abs=1e-7)


def test_the_estimate_of_the_centre_of_mass_is_where_it_is():
    sim, walker = walk(tabi.robots.hrp2(bush=True), 3.0, forward=0.2)
    robot = walker.biped.robot
    # of what a stance foot on rubber tells
    assert walker.centre_of_mass == pytest.approx(sim.centre_of_mass(robot), abs=8e-3)


@pytest.mark.slow
def test_efforts_are_those_of_inverse_dynamics():
    """The robot tracks its references: motors need not add much to what they are told."""
    sim, walker = walk(tabi.robots.hrp2(), 3.0, forward=0.2)
    biped = walker.biped
    answer = walker._walk.loop.q_desired
    real = np.array([sim.q[biped.model.q_index(name)] for name in biped.joints])
    told = np.array([answer[biped.model.q_index(name)] for name in biped.joints])
    # a tenth of what knees would yield by without efforts: 60 N·m by 5 kN·m/rad
    assert np.abs(real - told).max() < 1.2e-2
