"""Feet that are known to be off, and a walk in the simulator."""

import numpy as np
import pytest
from bipeds import hrp2_on_ground

import tabi
from tabi import control, walking
from tabi.analysis.walk_measures import WalkWatch, measured, walker_of, walkers
from tabi.control import Logged
from tabi.spatial.transform import about


@pytest.fixture(scope="module")
def pattern():
    biped = walking.Biped(tabi.robots.hrp2())
    return walking.walking_pattern(biped, walking.walk(biped.stance, 4, 0.1, turn=0.1))


def test_the_plan_itself_has_no_errors(pattern):
    found = measured(pattern, pattern.schedule.position, pattern.schedule.rotation)
    assert (found.planned, found.landed, found.finished) == (4, 4, True)
    zero = [found.landing_m, found.landing_deg, found.slip_m, found.end_deg, *found.end_m]
    assert zero == pytest.approx([0.0] * 7, abs=1e-12)


def test_a_world_that_is_moved_and_turned_shows_at_the_end_alone(pattern):
    X = about((0, 0, 1), 0.3, (1.0, 2.0, 0.0))
    plan = pattern.schedule
    found = measured(pattern, plan.position @ X.R.T + X.p, X.R @ plan.rotation)
    assert found.landing_m == pytest.approx(0.0, abs=1e-12)
    assert found.end_deg == pytest.approx(np.degrees(0.3))
    middle = plan.position[-1].mean(axis=0)
    assert found.end_m == pytest.approx(X @ middle - middle, abs=1e-12)


def test_one_foot_that_lands_short_is_found_where_it_landed(pattern):
    plan = pattern.schedule
    position, rotation = plan.position.copy(), plan.rotation.copy()
    # the second step, right, 3 mm short and turned by 1° until it lifts again
    rows = slice(plan.lift[1], plan.lift[3])
    position[rows, 1] -= [0.003, 0.0, 0.0]
    rotation[rows, 1] = about((0, 0, 1), np.radians(1.0)).R @ rotation[rows, 1]
    found = measured(pattern, position, rotation)
    assert found.landing_m > 0.003 - 1e-12
    # the foot that lands next is seen from one that is turned: its lever is the stride
    assert found.landing_m < 0.003 + 0.3 * np.radians(1.0)
    assert found.landing_deg == pytest.approx(1.0)
    assert found.end_m == pytest.approx((0, 0, 0), abs=1e-12)


def test_slip_is_of_the_foot_that_stands_alone(pattern):
    plan = pattern.schedule
    position = plan.position.copy()
    middle = (plan.lift[0] + plan.land[0]) // 2
    # the right foot, while the left one swings
    position[middle:, 1] += [0.0, 0.004, 0.0]
    assert measured(pattern, position, plan.rotation).slip_m == pytest.approx(0.004)


def test_who_falls_lands_no_more_steps(pattern):
    plan, gait = pattern.schedule, pattern.gait
    until = plan.land[2] * gait.tick
    found = measured(pattern, plan.position, plan.rotation, until)
    assert (found.landed, found.finished) == (2, False)


@pytest.mark.slow
def test_a_walk_is_followed_also_inside_of_a_log(pattern):
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(tabi.robots.hrp2())
    walker = walking.Walker(walking.walking_pattern(robot, pattern.steps[:2]))
    sim = tabi.Simulator(world)
    sim.set_controller(robot, Logged(walker), rate=200)
    assert walkers(sim) == {"hrp2": walker}
    assert walker_of(tabi.control.hold({})) is None
    watch = WalkWatch(sim)
    sim.run(walker.pattern.duration)
    found = watch.measured({})["hrp2"]
    assert (found.planned, found.landed, found.finished) == (2, 2, True)
    # the bound of a step without noise
    assert found.landing_m < 2e-3
    assert found.to_dict()["landing_m"] == found.landing_m


def test_a_step_that_lands_far_from_its_plan_does_not_count(pattern):
    plan = pattern.schedule
    for off, landed in ((0.049, 4), (0.051, 3)):
        position = plan.position.copy()
        # the last step alone, beside its plan
        position[plan.lift[3] + 1 :, 0 if pattern.steps[3].foot == "left" else 1] += [0.0, 0.0, off]
        found = measured(pattern, position, plan.rotation)
        assert (found.landed, found.finished) == (landed, landed == 4)
    assert found.stopped == "1 of its 4 steps landed more than 50 mm from their plan"


def test_a_robot_that_slides_back_under_its_steps_has_not_made_them(pattern):
    # both feet are dragged back as fast as it walks ahead: seen from each other they land well
    plan = pattern.schedule
    back = np.linspace(0.0, 1.0, len(plan.position))[:, None, None] * np.array([-0.6, 0.0, 0.0])
    found = measured(pattern, plan.position + back, plan.rotation)
    assert not found.finished
    assert found.landed < 4


def walking_robot(wrap, count=6):
    """HRP-2 with a stabilised walk inside of another controller."""
    world, robot = hrp2_on_ground()
    biped = walking.Biped(robot)
    gait = walking.gait_for(biped)
    plan = walking.walking_pattern(biped, walking.walk(biped.stance, count, gait.length), gait)
    walker = walking.Walker(plan, walking.Stabiliser())
    sim = tabi.Simulator(world)
    sim.set_controller(robot, wrap(robot, walker), rate=1 / gait.tick)
    return sim, robot, walker


WRAPS = {
    "alone": lambda robot, walker: walker,
    "logged": lambda robot, walker: Logged(walker),
    "together": lambda robot, walker: control.together(robot, walker),
    "sequence": lambda robot, walker: control.sequence(
        robot, [(0.5, control.hold(robot.half_sitting)), (None, walker)]
    ),
    "nested": lambda robot, walker: Logged(
        control.sequence(robot, [(None, control.together(robot, Logged(walker)))])
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("wrap", WRAPS)
def test_a_walk_that_was_stopped_by_a_push_is_not_finished_wherever_its_walker_is(wrap):
    sim, robot, walker = walking_robot(WRAPS[wrap])
    watch = WalkWatch(sim)
    late = 0.5 if wrap == "sequence" else 0.0
    sim.run(3.0 + late)
    sim.apply_force(robot.base, force=(0, 350, 0), duration=0.1)
    sim.run(walker.pattern.duration - 2.5)
    found = watch.measured({})[robot.name]
    assert walker.stopped
    assert not walker.finished
    assert not sim.fallen(robot)
    assert (found.planned, found.finished) == (6, False)
    assert 1 <= found.landed < 6
    assert found.stopped == walker.reason
    assert f"after {found.landed} of 6 steps" in found.stopped


@pytest.mark.slow
def test_a_walk_in_a_sequence_is_measured_from_its_own_start_and_again_after_a_reset():
    sim, robot, walker = walking_robot(WRAPS["sequence"], 2)
    watch = WalkWatch(sim)
    for _ in range(2):
        sim.run(walker.pattern.duration + 0.6)
        found = watch.measured({})[robot.name]
        assert (found.landed, found.finished, found.stopped) == (2, True, None)
        assert found.landing_m < 5e-3
        sim.reset()


@pytest.mark.slow
def test_who_has_fallen_walks_no_more_and_its_fall_does_not_flicker():
    sim, robot, walker = walking_robot(WRAPS["alone"])
    watch, fallen = WalkWatch(sim), []
    sim.run(3.0)
    sim.apply_force(robot.base, force=(600, 500, 0), duration=0.1)
    for _ in range(60):
        sim.run(0.05)
        fallen.append(sim.fallen(robot))
    assert np.diff(np.array(fallen, int)).sum() == 1
    # joints stand still where they were when it fell
    before = sim.data.command.motor["position"].copy()
    sim.run(0.3)
    np.testing.assert_array_equal(sim.data.command.motor["position"], before)
    found = watch.measured({robot.name: 3.5})[robot.name]
    assert walker.fell
    assert not found.finished
    assert found.stopped.startswith("hrp2 fell at 3.5 s, after")
    # on its feet again it begins anew
    sim.stand_up(robot)
    assert not walker.fell
    assert not sim.fallen(robot)
