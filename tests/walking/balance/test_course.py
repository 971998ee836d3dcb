"""Feet are followed against the plan of the whole way, and landings return to it."""

import numpy as np
import pytest

import tabi
from tabi.dynamics import Configuration, kinematics
from tabi.robots.bipeds import add_sensors, load_biped
from tabi.robots.files import quietly
from tabi.spatial.transform import about, translation
from tabi.walking.balance.course import (
    OFFSET_SHARE,
    RETURN_SHARE,
    measured_sole,
    trunk_velocity,
    update_course,
)
from tabi.walking.balance.stabiliser_tables import Stabiliser, loop_of
from tabi.walking.plan.biped import Biped
from tabi.walking.plan.footsteps import SIDES, walk
from tabi.walking.plan.pattern import walking_pattern
from tabi.walking.walker import Walker

LEFT, RIGHT = 0, 1


@pytest.fixture(scope="module")
def pattern():
    biped = Biped(tabi.robots.hrp2())
    return walking_pattern(biped, walk(biped.stance, 4, 0.2))


def seen(loop, pattern, k, off):
    """Tick k as planned, but all of it moved by ``off`` on the ground."""
    X = off @ Configuration(pattern.biped.model, pattern.q[k]).pose(pattern.robot.base)
    loop.attitude[:], loop.course.base[:] = X.R.ravel(), X.p
    loop.joint[7:] = pattern.q[k, 7:]
    update_course(pattern.biped.model.arrays, loop, k)


def led(loop, pattern, first, last, off):
    for k in range(first, last):
        seen(loop, pattern, k, off)


STILL = translation((0.0, 0.0, 0.0))


def test_a_walk_on_its_plan_is_left_alone(pattern):
    loop = loop_of(pattern, Stabiliser())
    led(loop, pattern, 0, pattern.count, STILL)
    assert np.abs(loop.course.offset).max() < 1e-6
    assert np.abs(loop.course.landing_error).max() < 1e-6


@pytest.mark.parametrize("turn", [0.0, 2.0, -3.1])
def test_the_world_may_be_turned_and_moved_at_the_start(pattern, turn):
    """Where the estimator begins elsewhere than the plan."""
    loop = loop_of(pattern, Stabiliser())
    led(
        loop, pattern, 0, pattern.schedule.land[1], translation((2, -1, 0)) @ about((0, 0, 1), turn)
    )
    assert np.abs(loop.course.offset).max() < 1e-6
    planned = pattern.schedule.position[pattern.schedule.land[1] - 1]
    assert loop.course.pivot_pose[RIGHT, :2] == pytest.approx(planned[RIGHT, :2], abs=0.02)


@pytest.mark.parametrize("aside", [0.002, -0.002])
def test_a_foot_that_slipped_is_known_and_the_next_one_returns(pattern, aside):
    loop, plan = loop_of(pattern, Stabiliser()), pattern.schedule
    led(loop, pattern, 0, plan.lift[1], STILL)
    # the foot that stands slips, and all of the robot with it
    led(loop, pattern, plan.lift[1], plan.land[1] - 1, translation((0.0, aside, 0.0)))
    stands, swings = (LEFT, RIGHT) if plan.support[plan.lift[1]] == 1 else (RIGHT, LEFT)
    moved = loop.course.offset
    assert moved[stands, :2] == pytest.approx((0.0, OFFSET_SHARE * aside), abs=1e-5)
    # seen from there, what is left of the way back to the plan
    assert moved[swings, 1] == pytest.approx(-RETURN_SHARE * (1.0 - OFFSET_SHARE) * aside, abs=1e-5)


@pytest.mark.parametrize("turn", [0.05, -0.05])
def test_a_foot_that_turned_sends_the_next_one_back(pattern, turn):
    loop, plan = loop_of(pattern, Stabiliser()), pattern.schedule
    led(loop, pattern, 0, plan.lift[1], STILL)
    led(loop, pattern, plan.lift[1], plan.land[1] - 1, about((0, 0, 1), turn))
    swings = 2 - plan.support[plan.lift[1]]
    assert loop.course.offset[swings, 2] == pytest.approx(-np.sign(turn) * 0.01)


@pytest.mark.parametrize("aside", [(-0.003, 0.0), (0.0, 0.0015), (0.0, -0.0015)])
def test_what_a_foot_lands_beside_its_place_is_learnt_by_that_foot(pattern, aside):
    loop, plan = loop_of(pattern, Stabiliser()), pattern.schedule
    led(loop, pattern, 0, plan.land[0], STILL)
    # all has landed too short, or too far to one side
    led(loop, pattern, plan.land[0], plan.lift[1] + 1, translation((*aside, 0.0)))
    swung = 2 - plan.support[plan.lift[0]]
    assert loop.course.landing_error[swung] == pytest.approx(-0.3 * np.array(aside), abs=1e-5)
    # what drifts to one side is outwards for one foot and inwards for the other
    assert loop.course.landing_error[1 - swung] == pytest.approx([0.0, 0.0], abs=1e-6)


def test_a_walk_far_off_its_plan_returns_by_small_steps(pattern):
    loop, plan = loop_of(pattern, Stabiliser()), pattern.schedule
    led(loop, pattern, 0, plan.lift[1], STILL)
    led(loop, pattern, plan.lift[1], plan.land[1], translation((0.2, 0.3, 0.0)))
    ahead, beside = loop.course.max_offset
    assert (np.abs(loop.course.offset[:, :2]) <= (ahead + 1e-9, beside + 1e-9)).all()


def walked(robot, yaw):
    """How far the soles are from the end of the plan [m]."""
    world = tabi.World()
    world.add_ground(friction=0.8)
    robot = world.add_robot(robot)
    position = robot.base.joint.position
    w, z = np.cos(0.5 * yaw), np.sin(0.5 * yaw)
    robot.place(position[:3] + np.array([0.3, -0.2, 0.0]), (w, 0.0, 0.0, z))
    biped = Biped(robot)
    plan = walk(biped.stance, 6, 0.15)
    walker = Walker(walking_pattern(biped, plan), Stabiliser())
    sim = tabi.Simulator(world)
    sim.set_controller(robot, walker, rate=200)
    sim.run(walker.pattern.duration)
    ends = {step.foot: step.pose.p for step in plan}
    assert walker.finished
    return max(np.linalg.norm((sim.pose(robot.feet[side]).p - ends[side])[:2]) for side in SIDES)


@pytest.mark.slow
@pytest.mark.parametrize("yaw", [0.0, 2.5])
def test_hrp2_ends_on_its_plan_whatever_way_it_faces(yaw):
    assert walked(tabi.robots.hrp2(bush=True), yaw) < 5e-4


@pytest.mark.slow
def test_a_walk_goes_on_to_the_bit_where_it_was_restored():
    world = tabi.World()
    world.add_ground(friction=0.8)
    robot = world.add_robot(tabi.robots.hrp2())
    biped = Biped(robot)
    walker = Walker(walking_pattern(biped, walk(biped.stance, 4, 0.15)), Stabiliser())
    sim = tabi.Simulator(world)
    sim.set_controller(robot, walker, rate=200)
    sim.run(3.3)
    state = sim.save()
    sim.run(1.5)
    first = sim.pose(robot.base).p.copy()
    sim.restore(state)
    sim.run(1.5)
    assert (sim.pose(robot.base).p == first).all()


@pytest.mark.slow
def test_joints_of_the_trunk_above_a_leg_give_way_in_what_is_seen(shared):
    with quietly():
        robot = load_biped(shared / "data/robots/menagerie/booster_t1/t1.xml")
        robot.stand_on_ground()
    add_sensors(robot)
    biped = Biped(robot)
    pattern = walking_pattern(biped, [])
    loop, model = loop_of(pattern, Stabiliser()), biped.model
    loop.joint[model.q_index("Waist")] = 0.1
    state = Configuration(model, loop.joint)
    kinematics.positions(model.arrays, loop.joint, loop.body.work)
    for i, side in enumerate(SIDES):
        R, p = measured_sole(loop, i)
        sole = state.pose(robot.base).inverse() @ state.pose(robot.feet[side])
        assert p == pytest.approx(sole.p, abs=1e-9)
        assert np.reshape(R, (3, 3))[2] == pytest.approx(sole.R[2], abs=1e-9)
    # and how fast a point of the leg goes as it turns
    kinematics.velocities(model.arrays, velocity_of(model, "Waist", 1.0), loop.body.work)
    moves = trunk_velocity(loop, LEFT, (0.1, 0.2, -0.5))
    assert np.linalg.norm(moves) == pytest.approx(np.hypot(0.1, 0.2), rel=0.5)


def velocity_of(model, joint, speed):
    """v of one joint that turns alone."""
    v = np.zeros(model.v_count)
    v[model.v_index(joint)] = speed
    return v
