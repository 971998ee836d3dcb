"""Resolved rates: what they bring about, and what they keep to."""

import numpy as np
import pytest
from bipeds import standing_hrp2
from control.inverse_kinematics.arms import planar_arm

import tabi
from tabi import dynamics
from tabi.control.inverse_kinematics import rates
from tabi.spatial.transform import Transform

InverseKinematics = tabi.control.InverseKinematics


def test_a_loop_brings_tasks_to_their_targets():
    robot = standing_hrp2()
    ik = InverseKinematics(robot)
    feet = [ik.pose(name) for name in ("left", "right")]
    hand = ik.pose("left_hand", orientation="", priority=1)
    hand.target = hand.target.p + np.array([0.1, 0.05, 0.1])
    q, dt = ik.model.initial(), 5e-3
    for _ in range(400):
        q = dynamics.integrate(ik.model, q, ik.velocity(q, dt, gain=0.1), dt)
    for task in (*feet, hand):
        here = dynamics.pose(ik.model, q, task.name)
        np.testing.assert_allclose(here.p, task.target.p, atol=1e-6)


def test_small_errors_shrink_by_the_gain():
    robot = standing_hrp2()
    ik = InverseKinematics(robot)
    hand = ik.pose("left_hand")
    home = hand.target
    hand.target = Transform(home.R, home.p + np.array([1e-4, 0.0, 0.0]))
    q = ik.model.initial()
    q = dynamics.integrate(ik.model, q, ik.velocity(q, 1e-3, gain=0.3), 1e-3)
    left = np.linalg.norm(dynamics.pose(ik.model, q, "left_hand").p - hand.target.p)
    # but for the least damping, 1e-6 beside squares of rows of about one
    assert left == pytest.approx(0.7e-4, rel=1e-4)


def test_no_lower_priority_slows_a_higher_one():
    robot = standing_hrp2()
    results = []
    for lower in (False, True):
        ik = InverseKinematics(robot)
        foot = ik.pose("left")
        foot.target = Transform(foot.target.R, foot.target.p + np.array([0.01, 0.0, 0.05]))
        ik.pose("right")
        if lower:
            ik.centre_of_mass(priority=1).target = (0.5, 0.5, 0.5)
            ik.posture({}, priority=2)
        v = ik.velocity(ik.model.initial(), 1e-3).copy()
        results.append(dynamics.velocity(ik.model, ik.model.initial(), v, "left").linear)
    # 14 m/s, most joints at their fastest; rows that hold have a damping of 1e-9 of the others'
    np.testing.assert_allclose(*results, rtol=1e-5, atol=1e-5)


def test_velocities_keep_within_limits_of_speed_and_position():
    robot = planar_arm(upper=0.5, lower=-0.5)
    for name in ("joint0", "joint1"):
        robot.joint(name).velocity_limit = 2.0
    ik = InverseKinematics(robot)
    ik.pose("tip", orientation="").target = (-0.3, 0.6, 0.0)
    q, dt = np.zeros(2), 0.01
    fastest = 0.0
    for _ in range(100):
        v = ik.velocity(q, dt, gain=1.0)
        assert np.abs(v).max() <= 2.0
        fastest = max(fastest, np.abs(v).max())
        q = q + dt * v
        # one rounding of x = u − q, and one of q + h (x/h)
        assert np.abs(q).max() <= 0.5 + 1e-15
    assert fastest == 2.0
    assert q.max() == pytest.approx(0.5, abs=1e-12)


def test_a_joint_beyond_its_limit_comes_back():
    robot = planar_arm(upper=0.5, lower=-0.5)
    robot.joint("joint1").velocity_limit = 3.0
    ik = InverseKinematics(robot)
    ik.pose("tip", orientation="")
    v = ik.velocity(np.array([0.0, 0.9]), 0.01)
    assert v[1] == pytest.approx(-3.0)


def test_followers_have_the_velocities_of_their_leaders():
    robot = planar_arm((0.4, 0.3, 0.2), mimic={2: ("joint1", 0.7, 0.0)})
    ik = InverseKinematics(robot)
    ik.pose("tip", orientation="").target = (0.5, 0.5, 0.0)
    v = ik.velocity(np.array([0.1, 0.2, 0.14]), 0.01)
    assert abs(v[1]) > 0
    assert v[2] == pytest.approx(0.7 * v[1])


def test_a_target_out_of_reach_makes_no_joint_fast():
    """At the stretched arm rows lose rank, where an undamped inverse would be without bound."""
    ik = InverseKinematics(planar_arm())
    ik.pose("tip", orientation="").target = (1.5, 0.0, 0.0)
    for bend in (1e-2, 1e-4, 1e-6, 0.0):
        v = ik.velocity(np.array([0.0, bend]), 0.01, gain=0.5)
        # by (1) and (2): no more than ‖κe‖/(2√λ) a period, with λ ≥ ½‖κe‖²: 1/√2
        assert np.abs(v).max() * 0.01 <= 0.75
    assert rates.MIN_DAMPING > rates.FIXED_ROW_DAMPING


@pytest.mark.parametrize(("dt", "gain"), [(0.0, 0.5), (-1.0, 0.5), (np.nan, 0.5), (1e-3, 0.0)])
def test_periods_and_gains_that_are_none_are_refused(dt, gain):
    ik = InverseKinematics(planar_arm())
    ik.pose("tip")
    with pytest.raises(tabi.ModelError, match="expected a positive time, and 0 < gain ≤ 1"):
        ik.velocity(np.zeros(2), dt, gain)
