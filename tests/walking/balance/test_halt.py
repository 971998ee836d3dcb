"""A walk along a pattern that cannot go on stops on both feet, and says why."""

import numpy as np
import pytest

import tabi
from tabi.walking import Biped, Stabiliser, Walker, walk, walking_pattern
from tabi.walking.balance.halt import must_halt


def begin(steps=6, noise=True):
    world = tabi.World()
    world.add_ground(friction=0.8)
    robot = world.add_robot(tabi.robots.hrp2(bush=True, sensor_noise=noise))
    biped = Biped(robot)
    walker = Walker(walking_pattern(biped, walk(biped.stance, steps, 0.2)), Stabiliser())
    sim = tabi.Simulator(world)
    sim.set_controller(robot, walker, rate=200)
    return sim, robot, walker


@pytest.fixture(scope="module")
def pushed():
    """A robot whose walk is pushed when its second foot has just landed."""
    sim, robot, walker = begin()
    land = walker.pattern.schedule.land[1]
    sim.run(0.005 * land)
    X, c = sim.pose(robot.base), sim.centre_of_mass(robot)
    point = X.R.T @ np.array([0.0, 0.0, c[2] - X.p[2]])
    sim.apply_force(robot.base, (0.0, 280.0, 0.0), duration=0.1, point=point)
    moment = sim.save()
    sim.run(6.0)
    return sim, robot, walker, moment


@pytest.mark.slow
def test_it_stops_in_double_support_and_stands(pushed):
    sim, robot, walker, _ = pushed
    assert walker.stopped
    assert not walker.finished
    assert walker.pattern.schedule.support[walker.tick] == 0
    assert not sim.fallen(robot)
    assert sim.pose(robot.base).R[2, 2] > np.cos(np.radians(3.0))
    assert np.abs(sim.velocity(robot.base).linear).max() < 0.02
    feet = [sim.position(robot.feet[side]) for side in ("left", "right")]
    assert [p[2] for p in feet] == pytest.approx([0.0, 0.0], abs=2e-3)


@pytest.mark.slow
def test_it_says_after_how_many_steps_and_why(pushed):
    *_, walker, _ = pushed
    assert "hrp2 stopped in double support after 2 of 6 steps" in walker.reason
    assert "mm from the plan" in walker.reason


@pytest.mark.slow
def test_without_that_it_would_fall(pushed):
    sim, robot, walker, moment = pushed
    sim.restore(moment)
    assert not walker.stopped
    # soles so wide that nothing is too far from the plan
    box = walker._walk.loop.box.copy()
    ticks = walker.pattern.schedule.lift[2] + 2 - walker.tick
    walker._walk.loop.box[:] = [-1.0, 1.0, -1.0, 1.0]
    sim.run(0.005 * ticks)
    walker._walk.loop.box[:] = box
    assert not walker.stopped
    sim.run(5.0)
    assert sim.fallen(robot)


@pytest.mark.slow
def test_a_walk_without_a_push_never_stops():
    sim, _, walker = begin(3)
    sim.run(walker.pattern.duration)
    assert walker.finished
    assert walker.reason == ""


@pytest.mark.slow
def test_the_bound_is_the_sole_about_its_planned_point():
    _, _, walker = begin()
    loop, plan = walker._walk.loop, walker.pattern.schedule
    k, gap = plan.lift[0] - 1, np.zeros(2)
    ref, margin = loop.reference, float(loop.settings["margin"][0])
    stance = ref.support[k + 1] - 1
    at = ref.under[k, stance] - ref.position[k, stance]
    ahead = loop.box[stance, 1] - margin - at[0]
    for e, halts in ((0.99 * ahead, False), (1.01 * ahead, True)):
        loop.centre[:3], loop.centre[3:] = ref.centre[k], ref.centre_velocity[k]
        loop.centre[0] += e
        assert must_halt(loop, k, gap) is halts
        assert gap == pytest.approx((e, 0.0), abs=1e-12)
    # only before a foot lifts
    assert not must_halt(loop, k - 1, gap)
    assert not must_halt(loop, k + 1, gap)
