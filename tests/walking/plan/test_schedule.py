"""Soles and zero moment point in time: what stands stays, what swings lands as planned."""

from dataclasses import replace

import numpy as np
import pytest

import tabi
from tabi.spatial.transform import about, translation
from tabi.walking.plan.biped import Biped
from tabi.walking.plan.footsteps import Footstep, walk
from tabi.walking.plan.gait import gait_for
from tabi.walking.plan.schedule import (
    BOTH,
    LEFT,
    RIGHT,
    quintic,
    rotation_matrix,
    rotation_vector,
    schedule,
    swing_path,
    under,
)


@pytest.fixture(scope="module")
def biped():
    return Biped(tabi.robots.hrp2())


def planned(biped, **step):
    own = gait_for(biped)
    steps = walk(biped.stance, 6, **step)
    return steps, own, schedule(steps, biped.stance, own, biped.centre)


@pytest.mark.parametrize("step", [{"length": 0.2}, {"turn": 0.2, "sideways": 0.04}, {"rise": 0.05}])
def test_a_foot_that_stands_stays_and_one_that_swings_lands_where_it_should(biped, step):
    steps, own, plan = planned(biped, **step)
    for i, number in enumerate((LEFT, RIGHT)):
        stands = (plan.support == BOTH) | (plan.support == number)
        # both ticks of a difference
        still = stands[1:] & stands[:-1]
        assert np.abs(np.diff(plan.position[:, i], axis=0)[still]).max() == 0.0
        assert np.abs(np.diff(plan.rotation[:, i], axis=0)[still]).max() == 0.0
    for number, footstep in enumerate(steps):
        side = ("left", "right").index(footstep.foot)
        swing = slice(plan.lift[number], plan.land[number])
        assert plan.position[swing, side][-1] == pytest.approx(footstep.pose.p, abs=1e-12)
        assert plan.rotation[swing, side][-1] == pytest.approx(footstep.pose.R, abs=1e-12)
        begin = plan.position[plan.lift[number] - 1, side]
        top = max(begin[2], footstep.pose.p[2]) + own.lift
        assert plan.position[swing, side, 2].max() == pytest.approx(top, abs=1e-6)
        assert set(plan.support[swing]) == {RIGHT if side == 0 else LEFT}
        # the zero moment point under the foot that stands
        stance = 1 - side
        where = plan.position[swing, stance][0], plan.rotation[swing, stance][0]
        sole = type(footstep.pose)(where[1], where[0])
        there = under(sole, ("left", "right")[stance], own)
        assert np.abs(plan.zmp[swing] - there).max() < 1e-12
    times = np.diff([0, *plan.land])[1:] * own.tick
    assert times == pytest.approx(own.step_time)


def test_the_zero_moment_point_goes_without_jumps_and_ends_between_the_feet(biped):
    _, own, plan = planned(biped, length=0.2)
    # the fastest way: from sole to sole within a double support
    fastest = np.hypot(0.2, 0.25) / own.double_support * own.tick
    assert np.linalg.norm(np.diff(plan.zmp, axis=0), axis=1).max() < fastest
    middle = 0.5 * (plan.position[-1, 0] + plan.position[-1, 1])
    assert plan.zmp[-1] == pytest.approx(middle + np.array([own.zmp[0], 0, 0]))
    assert plan.zmp[0, :2] == pytest.approx(biped.centre[:2], abs=1e-3)


def test_the_ground_of_a_robot_on_stairs_is_that_of_the_lower_foot(biped):
    _, _, up = planned(biped, length=0.25, rise=0.05)
    _, _, down = planned(biped, length=0.25, rise=-0.05)
    for plan in (up, down):
        for lift, land in zip(plan.lift, plan.land, strict=True):
            lower = plan.position[land - 1, :, 2].min()
            assert plan.ground[land - 1] == pytest.approx(lower, abs=1e-12)
            assert plan.ground[lift - 1] <= plan.position[lift - 1, :, 2].max() + 1e-12
    assert up.ground[-1] == pytest.approx(0.25, abs=1e-12)
    assert down.ground[-1] == pytest.approx(-0.25, abs=1e-12)


def test_a_landing_speed_is_reached_at_the_end_of_a_swing(biped):
    own, s = gait_for(biped), np.linspace(0.001, 1.0, 1000)
    start, end = biped.stance["left"], translation((0.2, 0.0, 0.0)) @ biped.stance["left"]
    for speed in (0.0, 0.2):
        p, _ = swing_path(start, end, s, own.swing_time, replace(own, landing_speed=speed))
        rate = np.gradient(p[:, 2], s * own.swing_time)
        assert rate[-1] == pytest.approx(-speed, abs=2e-3)
        # from rest at its highest point on
        assert p[500:, 2].max() == pytest.approx(own.lift, abs=1e-4)
        assert p[-1] == pytest.approx(end.p, abs=1e-12)


def test_the_quintic_begins_and_ends_at_rest():
    s = np.linspace(0.0, 1.0, 10001)
    b = quintic(s)
    assert (b[0], b[-1], quintic(-1.0), quintic(2.0)) == (0.0, 1.0, 0.0, 1.0)
    for order in (1, 2):
        b = np.gradient(b, s)
        assert (b[2 * order], b[-1 - 2 * order]) == pytest.approx((0.0, 0.0), abs=5e-2 * order)
    assert (np.diff(quintic(s)) >= 0).all()


def test_rotations_and_their_vectors():
    phi = np.array([0.3, -0.2, 0.9])
    assert rotation_vector(rotation_matrix(phi)) == pytest.approx(phi, abs=1e-12)
    assert rotation_matrix(phi) == pytest.approx(
        about(phi, float(np.linalg.norm(phi))).R, abs=1e-12
    )
    assert rotation_matrix(np.zeros(3)) == pytest.approx(np.eye(3))
    assert rotation_vector(np.eye(3)) == pytest.approx(np.zeros(3))


def test_yaw_has_no_jumps_over_whole_turns(biped):
    steps = [*walk(biped.stance, 40, turn=0.3)]
    plan = schedule(steps, biped.stance, gait_for(biped), biped.centre)
    assert np.abs(np.diff(plan.yaw, axis=0)).max() < 0.1
    assert plan.yaw[-1] == pytest.approx([39 * 0.3] * 2, abs=1e-9)
    assert isinstance(steps[0], Footstep)
