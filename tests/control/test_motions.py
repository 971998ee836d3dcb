"""Motions by what they promise: where they are, that their velocity is the rate of their position,
and that they start at rest.
"""

import numpy as np
import pytest
from bipeds import biped

import tabi
from tabi.control import motions
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.spatial.inertia import Inertia

SEEN = tabi.Measurement(np.zeros(2), np.zeros(2), np.zeros(2))


def rates_match(controller, times, names):
    """Whether velocities are the central differences of positions;
    cubics and cosines leave O(e²).
    """
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
    for t, a, b in (
        (0.0, 0.2, 0.0),
        (1.0, 0.2, 0.0),
        (2.0, 0.6, -1.0),
        (4.0, 0.0, 0.0),
        (9.0, 0.0, 0.0),
    ):
        command = controller(t, SEEN)
        assert command.position == pytest.approx({"a": a, "b": b}, abs=1e-15)
        assert command.velocity == pytest.approx({"a": 0.0, "b": 0.0}, abs=1e-15)
    # the middle of a cubic is half way
    assert controller(1.5, SEEN).position["a"] == pytest.approx(0.4)
    rates_match(controller, (1.2, 1.9, 2.3, 3.7), ("a", "b"))


def test_key_frames_that_are_passed_lie_on_the_monotone_cubic_of_fritsch_and_butland():
    from scipy.interpolate import PchipInterpolator

    times, places = [0.0, 1.0, 1.5, 3.0, 4.0, 5.0], [0.0, 0.3, 1.0, 1.2, 0.7, 0.7]
    controller = motions.keyframes(
        [(t, {"a": x}) for t, x in zip(times, places, strict=True)], passing=True
    )
    spline = PchipInterpolator(times, places)
    # its ends are free, ours are at rest: they agree between the second frame and the last but one
    for t in np.linspace(1.0, 4.0, 31):
        command = controller(t, SEEN)
        assert command.position["a"] == pytest.approx(float(spline(t)), abs=1e-12)
        assert command.velocity["a"] == pytest.approx(float(spline(t, 1)), abs=1e-12)
    for t in (-1.0, 0.0, 5.0, 6.0):
        assert controller(t, SEEN).velocity["a"] == pytest.approx(0.0, abs=1e-12)
    rates_match(controller, (0.2, 0.7, 1.2, 2.1, 3.4, 4.6), ("a",))


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


@pytest.mark.parametrize("flipped", [(), ("knee",), ("hip", "ankle")])
def test_a_squat_keeps_the_trunk_upright_and_the_soles_level(flipped):
    robot = biped(0.4, 0.3, flipped=flipped)
    start = robot.half_sitting
    command = motions.squat(robot, 0.3, 1.0)(0.5, SEEN)
    assert abs(command.position["l_knee"] - start["l_knee"]) == pytest.approx(0.6)
    robot.stand_on_ground(start)
    high = robot.placements()[robot.base].p[2]
    robot.stand_on_ground(command.position)
    X = robot.placements()
    assert np.allclose(X[robot.base].R, np.eye(3), atol=1e-12)
    assert all(np.allclose(X[foot.body].R, np.eye(3), atol=1e-12) for foot in robot.feet.values())
    assert X[robot.base].p[2] < high - 0.05


def test_a_squat_of_equal_thighs_and_shanks_bends_the_knees_twice_as_far_as_hips_and_ankles():
    robot = biped(0.35, 0.35)
    command, start = motions.squat(robot, 0.2)(0.5, SEEN), robot.half_sitting
    assert [
        command.position[f"r_{part}"] - start[f"r_{part}"] for part in ("hip", "knee", "ankle")
    ] == pytest.approx([-0.2, 0.4, -0.2])


def test_a_squat_of_unequal_ones_keeps_the_hips_over_the_ankles_as_far_as_small_bends_go():
    robot, e = biped(0.5, 0.25), 1e-4
    # hanging straight, where sines are angles
    robot.poses["half_sitting"] = {}
    robot.set_pose(motions.squat(robot, e)(0.5, SEEN).position)
    assert abs(robot.placements()[robot.body("l_ankle_link")].p[0]) < e**2


def test_sway_turns_hips_against_ankles():
    robot = biped(flipped=("ankle_roll",))
    command = motions.sway(robot, 0.05, 0.5)(1.0, SEEN)
    assert [
        command.position[f"{side}_{part}"] for side in "lr" for part in ("hip_roll", "ankle_roll")
    ] == pytest.approx([0.05] * 4)
    robot.stand_on_ground(command.position)
    X = robot.placements()
    assert all(
        np.allclose(X[foot.body].R, X[robot.base].R, atol=1e-12) for foot in robot.feet.values()
    )


def test_sway_of_a_leg_that_does_not_roll_is_refused():
    robot = biped()
    robot.joint("l_ankle_roll").kind = "prismatic"
    with pytest.raises(
        tabi.ModelError,
        match="leg 'left' of biped has 1 joints that roll; expected those of hip and ankle",
    ):
        motions.sway(robot)


def test_lean_brings_the_trunk_forward_and_stays_where_it_arrives():
    robot = biped(flipped=("ankle",))
    controller, start = motions.lean(robot, 0.1, 2.0), robot.half_sitting
    for t in (2.0, 5.0):
        assert controller(t, SEEN).position["l_knee"] == pytest.approx(start["l_knee"])
        assert controller(t, SEEN).position["l_ankle"] - start["l_ankle"] == pytest.approx(0.1)
    robot.stand_on_ground(controller(2.0, SEEN).position)
    # its z axis leans to where its feet point
    assert robot.placements()[robot.base].R[0, 2] == pytest.approx(np.sin(0.1))


@pytest.mark.parametrize("motion", [motions.squat, motions.sway, motions.lean])
def test_a_robot_without_feet_is_asked_for_them(motion):
    robot = Robot("cart")
    robot.add_body("base", Joint("root", "floating"), None, Inertia(1.0))
    robot.poses["half_sitting"] = {}
    with pytest.raises(
        tabi.ModelError,
        match="legs of cart are not known: no feet declared; expected feet 'left' and 'right'",
    ):
        motion(robot)
