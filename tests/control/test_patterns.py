"""Patterns: velocities of their own positions, and limits that a robot cannot leave."""

import numpy as np
import pytest
from bipeds import biped

import tabi
from tabi.control import pattern
from tabi.control.patterns import differences


def legs(**limits):
    robot = biped(knee=(-0.1, 2.0))
    for name in robot.joint_names:
        robot.joint(name).velocity_limit = limits.get(name, 4.0)
    return robot


def test_differences_of_a_parabola_are_its_slope_inside_whatever_the_steps():
    t = np.array([0.0, 0.1, 0.15, 0.3, 0.31])
    q = np.column_stack([t**2, 3.0 * t])
    # the parabola through three neighbours is the parabola itself, up to rounding
    assert differences(t, q)[1:-1, 0] == pytest.approx(2.0 * t[1:-1], rel=1e-12)
    assert differences(t, q)[:, 1] == pytest.approx(np.full(5, 3.0), rel=1e-12)
    assert differences(t[:2], q[:2])[:, 0] == pytest.approx([0.1, 0.1])


def test_columns_may_be_some_joints_in_any_order():
    made = pattern(legs(), [0.0, 1.0], [[0.0, 1.0], [0.5, 1.5]], joints=["r_hip", "l_knee"])
    assert made.joints == ("r_hip", "l_knee")
    assert made.duration == 1.0
    assert made.velocity.tolist() == [[0.5, 0.5], [0.5, 0.5]]


def moved(times, positions, velocity=None):
    """A pattern of one knee."""
    return pattern(
        legs(l_knee=2.0), times, np.reshape(positions, (-1, 1)), velocity, joints=["l_knee"]
    )


def test_as_fast_as_the_joint_may_go_is_followed_and_faster_is_refused():
    t = np.linspace(0.0, 0.5, 51)
    fast = moved(t, 2.0 * t)
    fast.check(legs(l_knee=2.0))
    with pytest.raises(
        tabi.ModelError,
        match=r"moves joint 'l_knee' of biped by 0.02 within 8 ms after .* s; with 2 rad/s "
        r"\(or m/s\) it can go 0.016: play it slower, or correct it there",
    ):
        fast.check(legs(l_knee=2.0), rate=1.25)


@pytest.mark.parametrize(
    ("times", "positions", "velocity", "words"),
    [
        (
            [0.0, 0.1, 0.2],
            [0.0, 0.1, 0.6],
            None,
            r"by 0.5 within 100 ms after 0.1 s; with 2 rad/s \(or m/s\) it can go 0.2",
        ),
        (
            [0.0, 1.0, 2.0],
            [1.0, 2.1, 1.0],
            None,
            "takes joint 'l_knee' of biped to 2.1 at 1 s; expected positions within its travel, "
            "-0.1 to 2",
        ),
        ([0.0, 1.0], [0.0, 0.1], [[0.0], [9.0]], "with 9 at 1 s; expected velocities within its"),
        ([0.0, 0.0], [0.0, 0.1], None, r"times of the pattern are \[0.0, 0.0\] …; expected two"),
        ([0.0], [0.0], None, "expected two or more that grow"),
        ([0.0, np.nan], [0.0, 0.0], None, "times of the pattern hold nan"),
        ([0.0, 1.0], [0.0, np.nan], None, "position of the pattern is nan for joint 'l_knee' at 1"),
        (
            [0.0, 1.0],
            [0.0, 1.0, 2.0],
            None,
            r"position of the pattern has shape \(3, 1\); expected ",
        ),
        (
            [0.0, 1.0],
            [0.0, 1.0],
            [0.0],
            r"velocity of the pattern has shape \(1,\); expected \(2, 1",
        ),
    ],
)
def test_patterns_that_cannot_be_followed_are_refused(times, positions, velocity, words):
    with pytest.raises(tabi.ModelError, match=words):
        moved(times, positions, velocity)


def test_columns_that_cannot_be_are_refused():
    with pytest.raises(tabi.ModelError, match="joint 'knee' not found in biped"):
        pattern(legs(), [0.0, 1.0], np.zeros((2, 1)), joints=["knee"])
    with pytest.raises(tabi.ModelError, match="expected each of them once"):
        pattern(legs(), [0.0, 1.0], np.zeros((2, 2)), joints=["l_knee", "l_knee"])
    with pytest.raises(tabi.ModelError, match="position of the pattern is no array of numbers"):
        pattern(legs(), [0.0, 1.0], [[1.0], [1.0, 2.0]])


def test_a_smoothed_pattern_keeps_slow_motion_and_loses_the_digits():
    robot = biped()
    t = np.arange(1000) / 500.0
    slow = 0.3 * np.sin(2 * np.pi * t)[:, None] * np.ones(10)
    rounded = pattern(robot, t, np.round(slow, 3))
    smooth = rounded.smoothed(10.0)
    # 1 Hz passes 10 Hz of the fifth order, twice, by 1 − 10⁻¹⁰; away from the ends
    inside = slice(100, -100)
    assert smooth.position[inside] == pytest.approx(slow[inside], abs=5e-4)
    true = 0.6 * np.pi * np.cos(2 * np.pi * t)[:, None]
    assert np.abs(rounded.velocity - true)[inside].max() > 0.2
    assert np.abs(smooth.velocity - true)[inside].max() < 0.02


def test_a_pattern_with_uneven_times_is_not_smoothed():
    told = pattern(biped(), [0.0, 0.1, 0.3], np.zeros((3, 10)))
    with pytest.raises(tabi.ModelError, match="100 to 200 ms apart; expected even ones"):
        told.smoothed(1.0)


def test_the_old_name_of_extra_data_works_and_prints_the_new_one():
    zmp = np.zeros((2, 3))
    with pytest.warns(FutureWarning, match="others in .* is now called extra"):
        made = pattern(legs(), [0.0, 1.0], [[0.0], [0.1]], joints=["l_knee"], others={"zmp": zmp})
    with pytest.warns(FutureWarning, match="others in Pattern is now called extra"):
        assert made.others is made.extra
