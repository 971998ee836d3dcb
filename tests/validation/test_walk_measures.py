"""Feet that are known to be off, and a walk in the simulator."""

import numpy as np
import pytest

import tabi
from tabi import walking
from tabi.control import Logged
from tabi.spatial.transform import about
from tabi.validation.walk_measures import WalkWatch, measured, walker_of, walkers


@pytest.fixture(scope="module")
def pattern():
    biped = walking.Biped(tabi.robots.hrp2())
    return walking.walking_pattern(biped, walking.walk(biped.stance, 4, 0.1, turn=0.1))


def test_the_plan_itself_has_no_errors(pattern):
    found = measured(pattern, pattern.schedule.position, pattern.schedule.rotation)
    assert (found.planned, found.landed, found.finished) == (4, 4, True)
    zero = [found.landing_m, found.landing_deg, found.slip_m, found.end_deg, *found.end_m]
    assert zero == pytest.approx([0.0] * 7, abs=1e-12)


def test_a_world_that_is_moved_and_turned_shows_at_the_end_alone(pattern):
    X = about((0, 0, 1), 0.3, (1.0, 2.0, 0.0))
    plan = pattern.schedule
    found = measured(pattern, plan.position @ X.R.T + X.p, X.R @ plan.rotation)
    assert found.landing_m == pytest.approx(0.0, abs=1e-12)
    assert found.end_deg == pytest.approx(np.degrees(0.3))
    middle = plan.position[-1].mean(axis=0)
    assert found.end_m == pytest.approx(X @ middle - middle, abs=1e-12)


def test_one_foot_that_lands_short_is_found_where_it_landed(pattern):
    plan = pattern.schedule
    position, rotation = plan.position.copy(), plan.rotation.copy()
    # the second step, right, 3 mm short and turned by 1° until it lifts again
    rows = slice(plan.lift[1], plan.lift[3])
    position[rows, 1] -= [0.003, 0.0, 0.0]
    rotation[rows, 1] = about((0, 0, 1), np.radians(1.0)).R @ rotation[rows, 1]
    found = measured(pattern, position, rotation)
    assert found.landing_m > 0.003 - 1e-12
    # the foot that lands next is seen from one that is turned: its lever is the stride
    assert found.landing_m < 0.003 + 0.3 * np.radians(1.0)
    assert found.landing_deg == pytest.approx(1.0)
    assert found.end_m == pytest.approx((0, 0, 0), abs=1e-12)


def test_slip_is_of_the_foot_that_stands_alone(pattern):
    plan = pattern.schedule
    position = plan.position.copy()
    middle = (plan.lift[0] + plan.land[0]) // 2
    # the right foot, while the left one swings
    position[middle:, 1] += [0.0, 0.004, 0.0]
    assert measured(pattern, position, plan.rotation).slip_m == pytest.approx(0.004)


def test_who_falls_lands_no_more_steps(pattern):
    plan, gait = pattern.schedule, pattern.gait
    until = plan.land[2] * gait.tick
    found = measured(pattern, plan.position, plan.rotation, until)
    assert (found.landed, found.finished) == (2, False)


def test_a_walk_is_followed_also_inside_of_a_log(pattern):
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(tabi.robots.hrp2())
    walker = walking.Walker(walking.walking_pattern(robot, pattern.steps[:2]))
    sim = tabi.Simulator(world)
    sim.set_controller(robot, Logged(walker), rate=200)
    assert walkers(sim) == {"hrp2": walker}
    assert walker_of(tabi.control.hold({})) is None
    watch = WalkWatch(sim)
    sim.run(walker.pattern.duration)
    found = watch.measured({})["hrp2"]
    assert (found.planned, found.landed, found.finished) == (2, 2, True)
    # the bound of a step without noise
    assert found.landing_m < 2e-3
    assert found.to_dict()["landing_m"] == found.landing_m
