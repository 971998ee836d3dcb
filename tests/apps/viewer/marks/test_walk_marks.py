"""The plan of a walk in a page: where it says, and sent once."""

import numpy as np
import pytest

import tabi
from tabi import walking
from tabi.apps.viewer.gate import open_server
from tabi.apps.viewer.marks.walk_marks import WalkMarks
from tabi.apps.viewer.view import Observer
from tabi.apps.viewer.walk_look import LIFT_M, WalkLook, plan_of


@pytest.fixture(scope="module")
def sim():
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(tabi.robots.hrp2())
    biped = walking.Biped(robot)
    pattern = walking.walking_pattern(biped, walking.walk(biped.stance, 3, 0.2, turn=0.1))
    sim = tabi.Simulator(world)
    sim.set_controller(robot, walking.Walker(pattern), rate=200)
    sim.run(1.2)
    return sim


def pattern_of(sim):
    return sim.drivers["hrp2"].controller.pattern


def test_every_sole_is_outlined_where_it_lands(sim):
    pattern = pattern_of(sim)
    plan = plan_of(pattern)
    lands = {"left": [0, 2], "right": [1]}
    assert len(pattern.steps) == 3
    for side, numbers in lands.items():
        corners = getattr(plan, side)[:, 0].reshape(len(numbers), 4, 3)
        for k, number in enumerate(numbers):
            own = pattern.steps[number].pose.inverse() @ (corners[k] - [0, 0, LIFT_M]).astype(float)
            assert own[:, :2] == pytest.approx(pattern.biped.outline[side], abs=1e-6)
            assert own[:, 2] == pytest.approx(0.0, abs=1e-6)


def test_paths_are_whole_and_end_where_the_feet_do(sim):
    plan, pattern = plan_of(pattern_of(sim)), pattern_of(sim)
    for path in (plan.zmp, plan.centre):
        assert np.array_equal(path[1:, 0], path[:-1, 1])
    middle = np.mean([step.pose.p for step in pattern.steps[-2:]], axis=0)
    # under the middle of the soles, which is 15 mm before that of the ankles
    assert np.hypot(*(plan.centre[-1, 1] - middle)[:2]) < 0.02
    assert np.hypot(*(plan.zmp[-1, 1] - plan.centre[-1, 1])[:2]) < 2e-3


def test_a_view_tells_where_the_zero_moment_point_should_be_now(sim):
    look, walker = WalkLook(), sim.drivers["hrp2"].controller
    (now,) = look.look(sim)
    assert now.zmp[:2] == pytest.approx(walker.pattern.zmp[walker.tick])
    (again,) = look.look(sim)
    assert again.plan is now.plan
    assert len(Observer(sim).look().walks) == 1


def test_a_plan_is_sent_once_and_hidden_without_its_box(sim):
    server, _ = open_server("127.0.0.1", 0)
    try:
        marks, walks = WalkMarks(server), WalkLook().look(sim)
        marks.draw(walks, True)
        assert marks.shown == [True]
        sent = marks._marks[0]._lines["left"].sent["points"]
        assert sent is walks[0].plan.left
        marks.draw(walks, True)
        assert marks._marks[0]._lines["left"].sent["points"] is sent
        marks.draw(walks, False)
        assert marks.shown == [False]
        marks.draw((), True)
        assert marks.shown == [False]
    finally:
        server.stop()
