"""Friction that walks need: the closed form against references that were made otherwise."""

from dataclasses import replace

import numpy as np
import pytest

import tabi
from tabi.lab.walking.walks import stage
from tabi.walking import Biped, Preview, gait_for, walk, walking_pattern
from tabi.walking.plan.friction_gait import FRICTION_SHARE, friction_demand, gait_for_friction
from tabi.walking.plan.schedule import schedule

G = 9.81


@pytest.fixture(scope="module")
def hrp2():
    return Biped(tabi.robots.hrp2())


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"length": 0.0},
        {"length": 0.3, "double_support": 0.2},
        {"double_support": 0.6, "step_time": 1.4},
    ],
)
def test_preview_control_needs_as_much(hrp2, change):
    """The centre of mass over the same footsteps, by a controller that knows no closed form."""
    gait = replace(gait_for(hrp2), **change)
    steps = walk(hrp2.stance, 12, gait.length)
    plan = schedule(steps, hrp2.stance, gait, hrp2.centre)
    # a light weight on jerk, so that the zero moment point is followed closely
    preview = Preview(gait.centre_height, gait.tick, jerk=1e-9)
    motion = [preview.follow(plan.zmp[:, i]) for i in range(2)]
    force = np.hypot(motion[0][:, 2], motion[1][:, 2]) / G
    # two steps in the middle, where the walk has become periodic
    found = force[plan.land[5] : plan.land[7]].max()
    # corners of the reference are rounded by a tick or two of 5 ms in 100 ms and more
    assert friction_demand(hrp2, gait) == pytest.approx(found, rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hrp2", "g1_29dof_rev_1_0.urdf", "talos_reduced.urdf"])
def test_a_slowed_walk_of_the_whole_robot_stays_below_the_friction(name):
    robot = tabi.robots.hrp2() if name == "hrp2" else stage(tabi.robots.example_file(name))
    biped = Biped(robot)
    gait = gait_for_friction(biped, 0.1)
    assert gait.double_support > gait_for(biped).double_support
    assert gait.length < gait_for(biped).length
    pattern = walking_pattern(biped, walk(biped.stance, 6, gait.length), gait)
    pushes = np.gradient(pattern.centre_velocity[:, :2], gait.tick, axis=0) / G
    # all masses, the first and the last step included; the margin is for feedback
    assert np.hypot(*pushes.T).max() < 1.2 * FRICTION_SHARE * 0.1


def test_the_robots_own_gait_does_where_there_is_friction_enough(hrp2):
    own = gait_for(hrp2)
    enough = friction_demand(hrp2, own) / FRICTION_SHARE
    assert gait_for_friction(hrp2, 1.001 * enough) == own
    assert gait_for_friction(hrp2, 0.98 * enough).double_support > own.double_support


def test_less_friction_is_slower_and_just_within_its_margin(hrp2):
    gaits = {mu: gait_for_friction(hrp2, mu) for mu in (0.2, 0.1, 0.05)}
    speeds = [gait.length / gait.step_time for gait in gaits.values()]
    assert speeds == sorted(speeds, reverse=True)
    for mu, gait in gaits.items():
        assert friction_demand(hrp2, gait) <= FRICTION_SHARE * mu
        shorter = replace(gait, double_support=gait.double_support - 2 * gait.tick)
        assert friction_demand(hrp2, shorter) > FRICTION_SHARE * mu


@pytest.mark.parametrize(
    ("friction", "words"),
    [(0.0, "expected a positive number"), (1e-3, "too little for hrp2 to walk on; expected 0.0")],
)
def test_ground_that_nobody_walks_on_is_refused(hrp2, friction, words):
    with pytest.raises(tabi.ModelError, match=words):
        gait_for_friction(hrp2, friction)
