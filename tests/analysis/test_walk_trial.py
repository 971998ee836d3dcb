"""What is measured of a walk, against what can be said of it beforehand."""

from dataclasses import replace

import numpy as np
import pytest

import tabi
from tabi.analysis import walk_trial


@pytest.fixture(scope="module")
def exact():
    """HRP-2 on rigid feet, with joints that follow exactly."""
    return walk_trial.try_walk(tabi.robots.hrp2(), 3, exact=True, curves=True)


@pytest.mark.slow
def test_joints_that_follow_exactly_land_where_they_were_planned(exact):
    assert exact.walked
    assert (exact.steps, exact.fell, exact.fault) == (3, None, "")
    # soles from each other depend on the joints alone; those are told to 1e-9 m by 'leg'
    assert exact.landing < 1e-8
    # a slip is of the whole robot: the tolerance of a step is 1e-8 m/s, but landings strike
    assert exact.slip < 1e-3
    assert exact.tilt < np.radians(0.1)
    assert exact.missed == 0
    assert exact.speed > 0


@pytest.mark.slow
def test_forces_are_those_of_the_weight(exact):
    weight = 58.0 * 9.81
    # over a walk that begins and ends at rest the mean of the forces is the weight
    assert exact.force.sum(axis=1).mean() == pytest.approx(weight, rel=1e-3)
    # sensors, above the soles, are turned by what the ground does about the ankles' height
    assert exact.roll.shape == exact.force.shape == (len(exact.times), 2)
    assert np.abs(exact.roll).max() > 1.0
    # nothing of the swinging foot touches in the middle of a swing
    plan, tick = exact.pattern.schedule, exact.pattern.gait.tick
    middle = round(0.5 * (plan.lift[0] + plan.land[0]) * tick / 1e-3)
    assert exact.force[middle, 0] == 0.0
    assert exact.support[middle] == 2


@pytest.mark.slow
def test_shake_is_that_of_a_sine(exact):
    """1 N at 50 Hz about a constant is 1/√2 N; what is far below 5 Hz is none."""
    t = exact.times
    fast, slow = np.sin(2 * np.pi * 50 * t), np.sin(2 * np.pi * 0.2 * t)
    wave = np.repeat(fast[:, None] + 300.0, 2, axis=1)
    shaken = replace(exact, force=wave)
    assert shaken.shake == pytest.approx(np.sqrt(0.5), rel=0.02)
    assert replace(exact, force=np.repeat(slow[:, None], 2, axis=1)).shake < 0.01


@pytest.mark.slow
def test_a_robot_that_falls_is_told_when():
    robot = tabi.robots.hrp2(bush=True)
    fallen = walk_trial.try_walk(robot, 6, lowest=0.4)
    assert not fallen.walked
    assert fallen.fell is not None
    assert fallen.height < 0.4
    assert fallen.steps < 6
    assert fallen.tilt > np.radians(30)
