"""Short walks in the simulator, from sensors alone."""

import numpy as np
import pytest

import tabi
from tabi.control import Logged, replay
from tabi.walking.balance.stabiliser_tables import DcmStabiliser, Stabiliser
from tabi.walking.plan.biped import Biped
from tabi.walking.plan.footsteps import walk
from tabi.walking.plan.pattern import walking_pattern
from tabi.walking.walker import Walker


def walk_on(robot, steps=3, stabiliser=None, contact="coulomb", **kind):
    world = tabi.World()
    world.add_ground(friction=0.8)
    robot = world.add_robot(robot)
    biped = Biped(robot)
    plan = walk(biped.stance, steps, **(kind or {"length": 0.2}))
    walker = Logged(Walker(walking_pattern(biped, plan), stabiliser))
    sim = tabi.Simulator(world, contact=contact)
    sim.set_controller(robot, walker, rate=200)
    sim.run(walker.controller.pattern.duration)
    return sim, robot, plan, walker


def landed(sim, robot, plan):
    """Of the last two steps, how far from their places the soles are [m] and their tilt [rad]."""
    off, tilt = [], []
    for step in plan[-2:]:
        X = sim.pose(robot.feet[step.foot])
        off.append(np.linalg.norm(X.p - step.pose.p))
        tilt.append(np.arccos(np.clip((X.R.T @ step.pose.R)[0, 0], -1, 1)))
    return max(off), max(tilt)


@pytest.mark.parametrize(
    ("rubber", "stabiliser"),
    [
        (False, None),
        (False, Stabiliser()),
        (True, Stabiliser()),
        (False, DcmStabiliser()),
        (True, DcmStabiliser()),
    ],
)
def test_hrp2_walks_and_its_soles_land_within_two_millimetres(rubber, stabiliser):
    sim, robot, plan, walker = walk_on(tabi.robots.hrp2(bush=rubber), stabiliser=stabiliser)
    off, tilt = landed(sim, robot, plan)
    # the bound of one step, here of all of them
    assert off < 2e-3
    assert np.degrees(tilt) < 0.2
    assert walker.controller.finished
    assert sim.certificate.missed == 0
    # upright in the end
    assert sim.pose(robot.base).R[2, 2] > np.cos(np.radians(1.0))


@pytest.mark.slow
def test_with_soft_rubber_it_falls_without_a_stabiliser():
    sim, robot, *_ = walk_on(tabi.robots.hrp2(bush=True), steps=6)
    # Hirukawa 2003, the second row
    assert sim.position(robot.base)[2] < 0.4


@pytest.mark.slow
@pytest.mark.parametrize("stabiliser", [Stabiliser(), DcmStabiliser()])
def test_it_turns_on_the_spot_with_all_errors_of_its_sensors(stabiliser):
    robot = tabi.robots.hrp2(bush=True, sensor_noise=True)
    sim, robot, plan, _ = walk_on(robot, 3, stabiliser, turn=0.17)
    off, tilt = landed(sim, robot, plan)
    # the bounds of one step with noise
    assert off < 5e-3
    assert np.degrees(tilt) < 1.5


def test_its_commands_are_the_same_to_the_bit_without_a_simulator():
    _, _, _, walker = walk_on(tabi.robots.hrp2(bush=True), 2, Stabiliser())
    again = replay(walker.controller, walker.log)
    assert walker.log.first_difference(again.commands) == ""


def test_a_stabiliser_needs_force_sensors_and_an_imu():
    robot = tabi.robots.hrp2()
    del robot.sensors["left_foot_force"]
    biped = Biped(robot)
    pattern = walking_pattern(biped, walk(biped.stance, 2, 0.1))
    assert Walker(pattern).stabiliser is None
    with pytest.raises(tabi.ModelError, match="foot 'left' of hrp2 has no force sensor; a stab"):
        Walker(pattern, Stabiliser())
    del robot.sensors["imu"]
    with pytest.raises(tabi.ModelError, match="has no IMU"):
        Walker(pattern, Stabiliser())
