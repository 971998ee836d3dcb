"""Walking patterns: what they promise, and walks that are refused before the first step."""

from dataclasses import replace

import numpy as np
import pytest

import tabi
from tabi.control.patterns import Pattern
from tabi.walking.plan.biped import Biped
from tabi.walking.plan.footsteps import stairs, stones, walk
from tabi.walking.plan.gait import gait_for
from tabi.walking.plan.pattern import walking_pattern


@pytest.fixture(scope="module")
def biped():
    return Biped(tabi.robots.hrp2())


@pytest.fixture(scope="module")
def straight(biped):
    return walking_pattern(biped, walk(biped.stance, 4, 0.2))


def test_a_pattern_begins_as_the_robot_stands_and_ends_at_rest(biped, straight):
    # 1e-9 m of the base is what inverse kinematics leaves, over legs of half a metre
    assert straight.q[0] == pytest.approx(biped.q, abs=1e-7)
    assert np.abs(np.diff(straight.q[:3], axis=0)).max() < 1e-6
    # a second after the last shift the sway of 0.2 m/s is down to 3 %, e^−ω, and lasts 5 ms here;
    # over legs of 0.6 m
    assert np.abs(np.diff(straight.q[-20:], axis=0)).max() < 0.03 * 0.2 * 0.005 / 0.6 + 1e-5
    assert straight.duration == pytest.approx(straight.count * 0.005)
    assert straight.omega == pytest.approx(np.sqrt(9.81 / straight.gait.centre_height))
    assert "4 steps" in repr(straight)


def test_shares_of_the_load_are_those_of_the_feet_that_stand(straight):
    assert straight.share.sum(axis=1) == pytest.approx(np.ones(straight.count))
    for number, side in ((1, 0), (2, 1)):
        alone = straight.schedule.support == number
        assert (straight.share[alone, side] == 1.0).all()
    both = straight.schedule.support == 0
    assert 0.45 < straight.share[both][0, 0] < 0.55


@pytest.mark.slow
def test_a_robot_with_rubber_in_its_ankles_has_the_pattern_of_the_rigid_one(straight):
    soft = Biped(tabi.robots.hrp2(bush=True))
    same = walking_pattern(soft, walk(soft.stance, 4, 0.2))
    # what is above and below the rubber weighs the same
    assert same.position == pytest.approx(straight.position, abs=1e-9)
    assert same.effort == pytest.approx(straight.effort, abs=1e-6)


@pytest.mark.slow
def test_a_walk_may_begin_anywhere(straight):
    robot = tabi.robots.hrp2()
    base = robot.placements()[robot.base]
    turn = tabi.spatial.transform.about((0, 0, 1), 1.0, (2.0, -1.0, 0.0))
    moved = turn @ base
    robot.place(moved.p, moved.quaternion)
    there = Biped(robot)
    same = walking_pattern(there, walk(there.stance, 4, 0.2))
    assert same.position == pytest.approx(straight.position, abs=1e-7)
    assert same.centre == pytest.approx(turn @ straight.centre, abs=1e-7)


def test_joints_of_a_pattern_can_be_played(straight):
    joints = straight.joints()
    assert isinstance(joints, Pattern)
    assert joints.joints == tuple(straight.robot.joint_names)
    assert joints.extra["zmp"][:, :2] == pytest.approx(straight.zmp)
    assert joints.extra["waist"][:, :3] == pytest.approx(straight.q[:, :3])


@pytest.mark.parametrize(
    ("steps", "change", "message"),
    [
        (lambda s: walk(s, 4, 1.0), {}, r"step 1, left foot, is .* m from the other foot, out of"),
        (lambda s: stairs(s, 1, 0.6, 0.3), {}, "step 1, left foot, is .* above the other foot"),
        (lambda s: walk(s, 2, sideways=-0.1, first="left"), {}, "mm into the other foot"),
        (lambda s: walk(s, 4, 0.3), {"centre_height": 0.83}, "leg of hrp2 is too short in step"),
        (
            lambda s: walk(s, 4, 0.2),
            {"step_time": 0.3, "double_support": 0.05},
            "the pattern moves",
        ),
        (
            lambda s: stones([("left", (0.2, 0.3, 0.0)), ("left", (0.4, 0.3, 0.0))]),
            {},
            "take turns",
        ),
    ],
)
def test_a_walk_that_cannot_be_is_refused_with_its_step(biped, steps, change, message):
    with pytest.raises(tabi.ModelError, match=message):
        walking_pattern(biped, steps(biped.stance), replace(gait_for(biped), **change))


def test_without_steps_it_stands_as_it_is():
    biped = Biped(tabi.robots.hrp2(bush=True))
    pattern = walking_pattern(biped, [])
    assert pattern.count > 0
    assert (pattern.schedule.support == 0).all()
    assert pattern.centre == pytest.approx(np.tile(biped.centre, (pattern.count, 1)), abs=1e-9)
    # at rest the zero moment point is under the centre of mass; legs find it within 1e-9 m
    assert pattern.zmp == pytest.approx(pattern.centre[:, :2], abs=1e-5)
    for i, side in enumerate(("left", "right")):
        assert (pattern.schedule.position[:, i] == biped.stance[side].p).all()


def test_legs_that_cannot_turn_a_foot_are_refused_steps_that_turn():
    robot = tabi.robots.hrp2()
    for side in "LR":
        robot.joint(f"{side}LEG_HIP_Y").passive = True
    biped = Biped(robot)
    assert walking_pattern(biped, walk(biped.stance, 2, 0.1)).count > 0
    with pytest.raises(tabi.ModelError, match=r"step 1 turns by 5.7°, and no joint in the legs of"):
        walking_pattern(biped, walk(biped.stance, 2, 0.1, turn=0.1))
