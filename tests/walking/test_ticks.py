"""Ticks of a walk: the same from Python and in the compiled loop."""

import numpy as np
import pytest

import tabi
from tabi.walking import Biped, Stabiliser, Walker, walk, walking_pattern
from tabi.walking.ticks import GIVEN, tick_of


@pytest.mark.parametrize("stabiliser", [None, Stabiliser()])
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
    for time, tick in ((7.0, 0), (7.005, 1), (7.0149999, 3), (7.0 + 10 * count, count - 1)):
        assert tick_of(progress, time) == tick
    assert walker.finished
    walker.reset()
    assert not walker.finished
    n = len(robot.joint_names)
    seen = tabi.Measurement(walker.pattern.position[0], np.zeros(n), np.zeros(n))
    first = walker(3.0, seen)
    assert first.position == pytest.approx(walker.pattern.position[1])
    assert first.over == walker.pattern.gait.tick
    assert GIVEN == 7
