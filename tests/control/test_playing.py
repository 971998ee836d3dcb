"""Playing: samples exactly, a smooth cubic between them, at any rate, from where the robot is."""

from dataclasses import replace

import numpy as np
import pytest
from bipeds import biped
from control.test_pattern_dynamics import squat
from tests.step.forces.test_motors import arm

import tabi
from tabi.control import pattern, pattern_dynamics, playback
from tabi.model.joint import Motor

RNG = np.random.default_rng(5)
TIMES = np.cumsum(RNG.uniform(0.01, 0.05, 40))
POSITION = np.cumsum(RNG.normal(size=(40, 10)), axis=0) * 0.1
SEEN = tabi.Measurement(np.full(10, 0.25), np.zeros(10), np.zeros(10))


def test_at_its_samples_positions_and_velocities_are_the_given_ones_exactly():
    velocity = RNG.normal(size=(40, 10))
    # times that start at zero and are sums of binary fractions have no rounding
    times = np.arange(40) / 64.0
    played = playback(biped(), (times, POSITION, velocity))
    for t, q, v in zip(times[:-1], POSITION, velocity, strict=False):
        command = played(t, SEEN)
        assert command.position.tolist() == q.tolist()
        assert command.velocity.tolist() == pytest.approx(v.tolist(), rel=1e-15)
    assert played(times[-1], SEEN).position.tolist() == POSITION[-1].tolist()
    assert played(99.0, SEEN).position.tolist() == POSITION[-1].tolist()
    assert not played(99.0, SEEN).velocity.any()


def test_the_first_sample_is_at_time_zero_wherever_its_times_begin():
    played = playback(biped(), (TIMES, POSITION))
    assert played(0.0, SEEN).position.tolist() == POSITION[0].tolist()
    assert played.ends == pytest.approx(TIMES[-1] - TIMES[0])


def test_a_cubic_with_its_own_velocities_is_played_as_it_is():
    t = np.array([0.0, 0.3, 0.5, 1.1])
    coefficients = RNG.normal(size=(4, 10))
    at = lambda x: coefficients.T @ [1, x, x**2, x**3]  # noqa: E731
    rate = lambda x: coefficients.T @ [0, 1, 2 * x, 3 * x**2]  # noqa: E731
    played = playback(biped(), (t, [at(x) for x in t], [rate(x) for x in t]))
    for x in (0.01, 0.2999, 0.31, 0.7, 1.09):
        assert played(x, SEEN).position == pytest.approx(at(x), abs=1e-13)
        assert played(x, SEEN).velocity == pytest.approx(rate(x), abs=1e-12)


@pytest.mark.parametrize("rate", [0.5, 1.0, 3.0])
def test_velocities_are_the_rate_of_positions_at_any_rate(rate):
    played, e = playback(biped(), (TIMES, POSITION), rate), 1e-6
    assert played.ends == pytest.approx((TIMES[-1] - TIMES[0]) / rate)
    for t in np.linspace(0.01, 0.95 * played.ends, 17):
        slope = (played(t + e, SEEN).position - played(t - e, SEEN).position) / (2 * e)
        # a kink of the acceleration within 1e-6 s leaves 1e-6 of it
        assert played(t, SEEN).velocity == pytest.approx(slope, abs=1e-2)


def test_a_blend_goes_from_where_the_robot_is_to_the_first_sample_at_rest():
    played = playback(biped(), (TIMES, POSITION), blend=0.5)
    first = played(0.0, SEEN)
    assert first.position.tolist() == [0.25] * 10
    assert not first.velocity.any()
    elsewhere = tabi.Measurement(np.ones(10), np.zeros(10), np.zeros(10))
    middle = played(0.25, elsewhere)
    assert middle.position == pytest.approx(0.5 * (0.25 + POSITION[0]), abs=1e-15)
    # a cubic from rest to rest is 1.5 times as fast in its middle as on the average
    assert middle.velocity == pytest.approx(1.5 * (POSITION[0] - 0.25) / 0.5, abs=1e-15)
    assert played(0.5, elsewhere).position.tolist() == POSITION[0].tolist()
    played.reset()
    assert played(0.0, elsewhere).position.tolist() == [1.0] * 10


def test_joints_that_are_not_played_are_left_alone():
    some = pattern(biped(), [0.0, 1.0], [[0.0, 1.0], [1.0, 3.0]], joints=["r_hip", "l_hip"])
    command = playback(biped(), some)(0.5, SEEN)
    assert dict(command.position) == pytest.approx({"l_hip": 2.0, "r_hip": 0.5})
    assert dict(command.velocity) == pytest.approx({"l_hip": 2.0, "r_hip": 1.0})


def test_a_stiff_joint_follows_what_is_played():
    world, robot = arm(gravity=False, motor=Motor(kp=4000.0, kd=200.0), velocity_limit=5.0)
    t = np.linspace(0.0, 1.0, 101)
    sim = tabi.Simulator(world)
    sim.set_controller(robot, playback(robot, (t, 0.5 * (1 - np.cos(np.pi * t))[:, None])))
    sim.run(1.5)
    assert sim.state.q[0] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"rate": 0.0}, "rate of the playback is 0; expected a positive number"),
        ({"rate": np.nan}, "rate of the playback is nan"),
        ({"blend": -1.0}, "blend of the playback is -1 s; expected a number ≥ 0"),
        ({"trajectory": 5}, r"the trajectory is int; expected \(times, positions\)"),
        ({"trajectory": (TIMES, POSITION[:, :9])}, r"has shape \(40, 9\); expected \(40, 10\)"),
    ],
)
def test_playbacks_that_cannot_be_are_refused(told, words):
    with pytest.raises(tabi.ModelError, match=words):
        playback(biped(), **{"trajectory": (TIMES, POSITION), **told})


def test_faster_than_the_joints_is_refused_at_the_door():
    robot = biped()
    robot.joint("l_hip").velocity_limit = 2.0
    t = np.linspace(0.0, 1.0, 11)
    slow = pattern(robot, t, np.outer(t, np.ones(10)))
    playback(robot, slow, rate=1.9)
    with pytest.raises(tabi.ModelError, match=r"joint 'l_hip' of biped by 0\.1 within 47\.6"):
        playback(robot, slow, rate=2.1)


@pytest.mark.slow
def test_efforts_fed_forward_are_those_of_the_motion_and_of_its_rate():
    robot = tabi.robots.hrp2()
    told = squat(robot)
    asked, twice = pattern_dynamics(robot, told), playback(robot, told, 2.0, feed_forward=True)
    played = playback(robot, told, feed_forward=asked)
    seen = tabi.Measurement(*np.zeros((3, 30)))
    half = 0.5 * (asked.effort[100] + asked.effort[101])
    assert played(100.5 / 200.0, seen).effort == pytest.approx(half, abs=1e-9)
    assert played(99.0, seen).effort.tolist() == asked.effort[-1].tolist()
    assert playback(robot, told)(0.5, seen).effort is None
    # twice as fast, what accelerates is four times as much, what bears the weight the same
    fast = np.array([twice(t / 2.0, seen).effort for t in told.times[:-1]])
    knee = robot.joint_names.index("RLEG_KNEE_P")
    still = pattern_dynamics(
        robot, replace(told, times=1e3 * told.times, velocity=0 * told.velocity), 1e-5 * 200
    )
    slow = asked.effort[:-1, knee] - still.effort[:-1, knee]
    assert np.abs(slow).max() > 1.0
    assert fast[:, knee] - still.effort[:-1, knee] == pytest.approx(
        4.0 * slow, abs=0.1 * 4 * np.abs(slow).max()
    )


def test_a_blend_brings_the_efforts_in_with_the_pose():
    robot = tabi.robots.hrp2()
    asked = pattern_dynamics(robot, squat(robot))
    played = playback(robot, squat(robot), blend=1.0, feed_forward=asked)
    seen = tabi.Measurement(*np.zeros((3, 30)))
    assert played(0.5, seen).effort == pytest.approx(0.5 * asked.effort[0])
    assert played(1.0, seen).effort == pytest.approx(asked.effort[0])


def test_dynamics_of_another_pattern_are_refused():
    robot = tabi.robots.hrp2()
    told = squat(robot, seconds=1.0)
    asked = pattern_dynamics(robot, told)
    with pytest.raises(tabi.ModelError, match="does not fit the pattern of 400 samples"):
        playback(robot, squat(robot), feed_forward=asked)
