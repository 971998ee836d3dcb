"""Ticks of a walk: the same from Python and in the compiled loop."""

import numpy as np
import pytest

import tabi
from tabi.walking import Biped, DcmStabiliser, Stabiliser, Walker, walk, walking_pattern
from tabi.walking.balance.ticks import COMMAND_MASK, next_tick


@pytest.mark.slow
@pytest.mark.parametrize("stabiliser", [None, Stabiliser(), DcmStabiliser()])
def test_a_walk_in_the_loop_is_that_from_python_to_the_bit(stabiliser):
    ends, walkers = [], []
    for compiled in (True, False):
        world = tabi.World()
        world.add_ground()
        robot = world.add_robot(tabi.robots.hrp2(bush=stabiliser is not None, sensor_noise=True))
        biped = Biped(robot)
        pattern = walking_pattern(biped, walk(biped.stance, 2, 0.1))
        walker, sim = Walker(pattern, stabiliser), tabi.Simulator(world)
        asked = walker if compiled else (lambda t, m, w=walker: w(t, m))
        sim.set_controller(robot, asked, rate=200)
        assert sim.drivers[robot.name].compiled is compiled
        sim.run(2.5)
        ends.append(sim.q.copy())
        walkers.append(walker)
    assert (ends[0] == ends[1]).all()
    assert walkers[0].tick == walkers[1].tick == 499
    assert walkers[0].zmp == pytest.approx(walkers[1].zmp)
    assert walkers[0].centre_of_mass == pytest.approx(walkers[1].centre_of_mass)


def test_ticks_are_counted_from_the_first_time_and_end_with_the_pattern():
    robot = tabi.robots.hrp2()
    biped = Biped(robot)
    walker = Walker(walking_pattern(biped, walk(biped.stance, 2, 0.1)))
    progress = walker.pilot().structure.progress
    count = walker.pattern.count
    told = [(7.0, 0), (7.001, -1), (7.005, 1), (7.0149999, 3), (7.015, -1)]
    for time, tick in [*told, (7.0 + 10 * count, count - 1), (7.005 + 10 * count, count - 1)]:
        assert next_tick(progress, time) == tick
    assert walker.finished
    walker.reset()
    assert not walker.finished
    n = len(robot.joint_names)
    seen = tabi.Measurement(walker.pattern.position[0], np.zeros(n), np.zeros(n))
    first = walker(3.0, seen)
    assert first.position == pytest.approx(walker.pattern.position[1])
    assert first.over == walker.pattern.gait.tick
    assert COMMAND_MASK == 7


def walking_robot(rate, contact="coulomb", steps=2, stabiliser=None):
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(tabi.robots.hrp2(bush=True))
    biped = Biped(robot)
    pattern = walking_pattern(biped, walk(biped.stance, steps, 0.2))
    walker = Walker(pattern, stabiliser or Stabiliser())
    sim = tabi.Simulator(world, contact=contact)
    sim.set_controller(robot, walker, rate=rate)
    return sim, robot, walker


@pytest.mark.slow
def test_a_walk_that_is_asked_in_every_step_is_told_once_in_every_tick():
    ends = []
    for rate in (200, None):
        sim, robot, walker = walking_robot(rate)
        sim.run(walker.pattern.duration)
        ends.append(sim.pose(robot.feet["left"]).p)
    # a tick is told a millisecond before its time
    assert ends[1] == pytest.approx(ends[0], abs=5e-4)


@pytest.mark.slow
def test_a_rate_that_does_not_fit_is_refused_before_the_first_step():
    for rate in (100, 500 / 3):
        with pytest.raises(tabi.ModelError, match=r"is called every .* periods of 5 ms; call"):
            walking_robot(rate)


@pytest.mark.parametrize("stabiliser", [Stabiliser(), DcmStabiliser()])
def test_a_saved_moment_of_a_walk_goes_on_to_the_bit(stabiliser):
    sim, _, walker = walking_robot(200, stabiliser=stabiliser)
    sim.run(2.0)
    moment = sim.save()
    sim.run(1.0)
    end, tick = sim.q.copy(), walker.tick
    sim.restore(moment)
    assert walker.tick == 399
    sim.run(1.0)
    assert (sim.q == end).all()
    assert walker.tick == tick
    sim.reset()
    assert walker.tick == 0
