"""Motions by what they promise: where they are, that their velocity is the rate of their position, and that they start at rest."""

import numpy as np
import pytest

import tabi
from tabi.control import motions
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import Transform
from tabi.spatial.twist import Twist

SEEN = tabi.Measurement(np.zeros(2), np.zeros(2), np.zeros(2), Transform(), Twist(np.zeros(3), np.zeros(3)))


def legs():
    robot = Robot("legs")
    robot.add_body("pelvis", Joint("root", "floating"), None, Inertia(1.0))
    for side in "RL":
        parent = "pelvis"
        for joint in ("HIP_R", "HIP_P", "KNEE", "ANKLE_P", "ANKLE_R"):
            parent = robot.add_body(f"{side}{joint}_link", Joint(f"{side}_{joint}", "revolute"), parent, Inertia(1.0))
    robot.poses["half_sitting"] = {"R_KNEE": 0.5, "L_KNEE": 0.5}
    return robot


def rates_match(controller, times, names):
    """Whether velocities are the central differences of positions; cubics and cosines leave O(e²)."""
    e = 1e-5
    for t in times:
        now, before, after = (controller(x, SEEN) for x in (t, t - e, t + e))
        for name in names:
            rate = (after.position[name] - before.position[name]) / (2 * e)
            assert now.velocity.get(name, 0.0) == pytest.approx(rate, abs=1e-7)


def test_hold_says_the_same_pose_at_rest_at_all_times():
    controller = motions.hold({"a": 0.3})
    assert controller(0.0, SEEN) is controller(5.0, SEEN)
    assert dict(controller(1.0, SEEN).position) == {"a": 0.3}
    assert controller(1.0, SEEN).velocity == 0.0


def test_key_frames_are_reached_at_their_times_and_at_rest():
    controller = motions.keyframes([(1.0, {"a": 0.2}), (2.0, {"a": 0.6, "b": -1.0}), (4.0, {})])
    for t, a, b in ((0.0, 0.2, 0.0), (1.0, 0.2, 0.0), (2.0, 0.6, -1.0), (4.0, 0.0, 0.0), (9.0, 0.0, 0.0)):
        command = controller(t, SEEN)
        assert command.position == pytest.approx({"a": a, "b": b}, abs=1e-15)
        assert command.velocity == pytest.approx({"a": 0.0, "b": 0.0}, abs=1e-15)
    # the middle of a cubic is half way
    assert controller(1.5, SEEN).position["a"] == pytest.approx(0.4)
    rates_match(controller, (1.2, 1.9, 2.3, 3.7), ("a", "b"))


@pytest.mark.parametrize("times", [[0.0], [0.0, 0.0], [1.0, 0.5]])
def test_key_frames_that_do_not_follow_each_other_are_refused(times):
    with pytest.raises(tabi.ModelError, match="two or more, at growing times"):
        motions.keyframes([(t, {}) for t in times])


def test_along_swings_between_the_pose_and_its_far_end():
    controller = motions.along({"a": 0.1, "b": 2.0}, {"a": 1.0, "c": -2.0}, 0.4, 0.5)
    assert controller(0.0, SEEN).position == pytest.approx({"a": 0.1, "b": 2.0, "c": 0.0})
    assert controller(1.0, SEEN).position == pytest.approx({"a": 0.5, "b": 2.0, "c": -0.8})
    assert controller(2.0, SEEN).position == pytest.approx({"a": 0.1, "b": 2.0, "c": 0.0})
    rates_match(controller, (0.1, 0.7, 1.6), ("a", "b", "c"))


@pytest.mark.parametrize("frequency", [0.0, -1.0, float("nan")])
def test_along_without_a_frequency_is_refused(frequency):
    with pytest.raises(tabi.ModelError, match=r"frequency is .* Hz; expected a positive number"):
        motions.along({}, {"a": 1.0}, 0.1, frequency)


def test_a_squat_keeps_the_trunk_upright_and_the_soles_flat():
    robot = legs()
    command = motions.squat(robot, 0.3, 1.0)(0.5, SEEN)
    for side in "RL":
        hip, knee, ankle = (command.position[f"{side}_{part}"] for part in ("HIP_P", "KNEE", "ANKLE_P"))
        assert (hip, knee, ankle) == pytest.approx((-0.3, 0.5 + 0.6, -0.3))
        # pitches add up to what they were
        assert hip + knee + ankle == pytest.approx(0.5)


def test_sway_turns_hips_against_ankles():
    command = motions.sway(legs(), 0.05, 0.5)(1.0, SEEN)
    for side in "RL":
        assert command.position[f"{side}_HIP_R"] == pytest.approx(0.05)
        assert command.position[f"{side}_ANKLE_R"] == pytest.approx(-0.05)


def test_lean_stays_where_it_arrives():
    controller = motions.lean(legs(), 0.1, 2.0)
    for t in (2.0, 5.0):
        assert controller(t, SEEN).position["L_ANKLE_P"] == pytest.approx(-0.1)
        assert controller(t, SEEN).position["L_KNEE"] == pytest.approx(0.5)


@pytest.mark.parametrize("motion", [motions.squat, motions.sway, motions.lean])
def test_a_robot_without_such_joints_is_named(motion):
    robot = Robot("cart")
    robot.add_body("base", Joint("root", "floating"), None, Inertia(1.0))
    robot.poses["half_sitting"] = {}
    with pytest.raises(tabi.ModelError, match="robot 'cart' has no joints named for"):
        motion(robot)
