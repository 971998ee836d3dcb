"""Steered walks in the simulator, from sensors alone."""

import numpy as np
import pytest

import tabi
from tabi.walking.steered.walker import SteeredWalker


def stand(robot, obstacles=(), **how):
    world = tabi.World()
    world.add_ground(friction=0.8)
    for size, at, degrees, friction in obstacles:
        half = np.radians(degrees) / 2
        turn = (np.cos(half), 0.0, np.sin(half), 0.0)
        world.add_fixed(tabi.Box(size), at, turn, friction=friction)
    robot = world.add_robot(robot)
    walker, sim = SteeredWalker(robot, **how), tabi.Simulator(world)
    sim.set_controller(robot, walker, rate=1 / walker.gait.tick)
    assert sim.drivers[robot.name].compiled
    sim.run(1.0)
    return sim, robot, walker


def push(sim, robot, force):
    """For 0.1 s, at the height of the centre of mass."""
    X, c = sim.pose(robot.base), sim.centre_of_mass(robot)
    point = X.R.T @ np.array([0.0, 0.0, c[2] - X.p[2]])
    sim.apply_force(robot.base, force, duration=0.1, point=point)


def yaw(sim, robot):
    R = sim.pose(robot.base).R
    return np.arctan2(R[1, 0], R[0, 0])


@pytest.mark.slow
@pytest.mark.parametrize("noise", [False, True])
def test_hrp2_follows_its_steering_within_a_tenth_and_stops(noise):
    sim, robot, walker = stand(tabi.robots.hrp2(bush=True, sensor_noise=noise))
    walker.steer(forward=0.2)
    sim.run(2.4)
    x, t = sim.position(robot.base)[0], sim.time
    # whole strides
    sim.run(3.2)
    assert (sim.position(robot.base)[0] - x) / (sim.time - t) == pytest.approx(0.2, rel=0.1)
    walker.steer(turn=0.2)
    sim.run(1.6)
    begin = yaw(sim, robot)
    sim.run(3.2)
    assert yaw(sim, robot) - begin == pytest.approx(0.2 * 3.2, rel=0.1)
    walker.stop()
    sim.run(3.0)
    assert walker.stands
    assert walker.footsteps == []
    assert np.abs(sim.velocity(robot.base).linear).max() < 5e-3
    assert sim.missed_count == 0


# sizes [m], places [m], slopes [°], friction; the faces of the ramps meet 84 mm above the ground
OBSTACLES = {
    "a step of 2 cm": [((1.0, 1.2, 0.02), (1.4, 0, 0.01), 0, 0.8)],
    "a ramp up and down": [
        ((1.6, 1.6, 0.1), (1.60152, 0, -0.008063), -3, 0.8),
        ((1.6, 1.6, 0.1), (3.1941, 0, -0.008063), 3, 0.8),
    ],
    "ice": [((1.0, 1.2, 0.001), (1.4, 0, 5e-4), 0, 0.1)],
}


@pytest.mark.slow
@pytest.mark.parametrize("speed", [0.2, 0.3])
@pytest.mark.parametrize("what", OBSTACLES)
def test_it_walks_over_what_it_does_not_see(what, speed):
    robot = tabi.robots.hrp2(bush=True, sensor_noise=True)
    sim, robot, walker = stand(robot, OBSTACLES[what])
    walker.steer(forward=speed)
    end = 4.8 if "ramp" in what else 2.6
    sim.run((end + 0.5) / speed)
    assert not sim.fallen(robot)
    assert walker.reason == ""
    assert sim.position(robot.base)[0] > end
    walker.stop()
    sim.run(3.0)
    assert walker.stands
    assert sim.pose(robot.base).R[2, 2] > np.cos(np.radians(3.0))


@pytest.mark.slow
@pytest.mark.parametrize("way", [(200, 0), (0, 200), (-200, 0), (0, -200)])
def test_a_push_that_fells_a_pattern_is_caught_by_steps(way):
    sim, robot, walker = stand(tabi.robots.hrp2(bush=True, sensor_noise=True))
    walker.steer(forward=0.2)
    # at the start of a swing
    sim.run(2.5)
    push(sim, robot, (*way, 0))
    sim.run(3.0)
    assert sim.position(robot.base)[2] > 0.6


@pytest.mark.slow
def test_a_push_that_is_too_much_for_its_soles_makes_it_step_and_stand_again():
    sim, robot, walker = stand(tabi.robots.hrp2(bush=True))
    assert walker.landed == 0
    push(sim, robot, (310, 0, 0))
    sim.run(5.0)
    assert walker.landed > 0
    assert walker.stands
    assert sim.position(robot.base)[2] > 0.6


@pytest.mark.slow
def test_without_adapted_steps_it_stands_still():
    sim, robot, walker = stand(tabi.robots.hrp2(bush=True), adapts=False)
    push(sim, robot, (200, 0, 0))
    sim.run(3.0)
    assert walker.landed == 0
    assert sim.position(robot.base)[2] > 0.6


def test_what_legs_do_not_allow_is_limited_and_said():
    walker = SteeredWalker(tabi.robots.hrp2())
    assert walker.steer(forward=0.1) == (0.1, 0.0, 0.0)
    assert walker.reason == ""
    got = walker.steer(forward=5.0)
    assert got.forward == pytest.approx(walker.fastest.forward)
    assert "forward of at most" in walker.reason
    both = walker.steer(forward=walker.fastest.forward, turn=walker.fastest.turn)
    assert both.turn == pytest.approx(walker.fastest.turn / 2)
    with pytest.raises(tabi.ModelError, match="steering"):
        walker.steer(forward=np.nan)
    with pytest.raises(tabi.ModelError, match="turn of steering"):
        walker.steer(turn="left")


@pytest.mark.slow
def test_it_tells_where_its_feet_will_land():
    sim, robot, walker = stand(tabi.robots.hrp2())
    walker.steer(forward=0.2)
    sim.run(2.2)
    told = walker.footsteps[0]
    landed = walker.landed
    while walker.landed == landed:
        sim.run(0.005)
    foot = robot.feet[told.foot]
    assert sim.pose(foot).p[:2] == pytest.approx(told.pose.p[:2], abs=5e-3)
    assert walker.feet[told.foot].p[:2] == pytest.approx(told.pose.p[:2], abs=5e-3)
    assert walker.support in (0, 1, 2)
    assert np.isfinite([*walker.zmp, *walker.planned_zmp, *walker.capture_point]).all()
