"""Measures of steered walks: against what was told, and where the robot went."""

import numpy as np
import pytest

import tabi
from tabi.analysis.steered_measures import SteeredWatch
from tabi.control import Controller
from tabi.model.controllers.signals import Command
from tabi.walking import SteeredWalker


def steered(wrap=lambda walker: walker):
    world = tabi.World()
    world.add_ground(friction=0.8)
    robot = tabi.robots.hrp2(bush=True)
    robot.stand_on_ground()
    robot = world.add_robot(robot)
    sim, walker = tabi.Simulator(world), SteeredWalker(robot)
    sim.set_controller(robot, wrap(walker), rate=200)
    return sim, robot, walker


def test_who_stands_has_been_told_nothing_and_went_nowhere():
    sim, _, walker = steered()
    watch = SteeredWatch(sim)
    sim.run(0.5)
    found = watch.measured({})["hrp2"]
    assert (found.landed, found.stands, found.walked_s) == (0, walker.stands, 0.0)
    assert found.commanded_m_s == found.speed_m_s == (0.0, 0.0)
    with pytest.warns(FutureWarning, match="commanded_m_s"):
        assert found.told_m_s == found.commanded_m_s
    assert found.to_dict()["told_m_s"] == [0.0, 0.0]
    # its margin is what the walker says, and was never larger than at its best
    assert found.margin_m == walker.margin
    assert 0.0 < found.least_margin_m <= found.margin_m


@pytest.mark.slow
def test_speeds_are_ways_in_the_robots_own_axes_over_the_time_it_was_told_to_walk():
    sim, robot, walker = steered()
    sim.run(0.5)
    watch, start = SteeredWatch(sim), sim.position(robot.base)
    told = walker.steer(forward=0.15, turn=0.1)
    sim.run(6.0)
    walker.stop()
    sim.run(3.0)
    found = watch.measured({})["hrp2"]
    assert found.landed == walker.landed > 4
    assert found.stands
    # commands reach the walker with the tick after they are told: 5 ms of 6 s
    assert found.walked_s == pytest.approx(6.0, abs=0.01)
    assert found.commanded_m_s == pytest.approx((told.forward, told.sideways), abs=1e-9)
    assert found.commanded_deg_s == pytest.approx(np.degrees(told.turn), abs=1e-9)
    # the way along an arc is as long as its chord to the second order of half its angle, and the
    # base stands over the feet again at the end, within a centimetre; its pose turns with them
    angle = np.radians(found.speed_deg_s) * found.walked_s
    chord = np.hypot(*(sim.position(robot.base) - start)[:2])
    arc = chord * 0.5 * angle / np.sin(0.5 * angle)
    assert found.speed_m_s[0] * found.walked_s == pytest.approx(arc, abs=0.02)
    R = sim.pose(robot.base).R
    assert np.arctan2(R[1, 0], R[0, 0]) == pytest.approx(angle, abs=0.02)


def test_who_fell_has_no_margin_and_does_not_stand():
    sim, _, _ = steered()
    watch = SteeredWatch(sim)
    sim.run(0.1)
    found = watch.measured({"hrp2": 0.05})["hrp2"]
    assert (found.stands, found.margin_m, found.least_margin_m) == (False, 0.0, 0.0)
    assert found.to_dict()["speed_m_s"] == [0.0, 0.0]


def test_walkers_inside_of_other_controllers_are_found():
    class Around(Controller):
        def __init__(self, motion):
            self.motion = motion

        @property
        def inner(self):
            return (self.motion,)

        def __call__(self, time, measurement):
            return Command()

    sim, _, _ = steered(Around)
    assert list(SteeredWatch(sim).measured({})) == ["hrp2"]
