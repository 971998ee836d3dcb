"""Two lifts of a paper: held to its criteria, and to Newton's law over the whole motion."""

import numpy as np
import paper_experiments
import pytest

from tabi import ModelError, scenes
from tabi.lab.papers.experiments import lifts
from tabi.robots import hrp2

pytestmark = pytest.mark.papers

LIGHT, HEAVY = lifts.EXPERIMENTS


@pytest.mark.parametrize("experiment", lifts.EXPERIMENTS, ids=lambda one: one.name)
def test_the_load_goes_over_the_head_within_what_the_motors_can(experiment):
    # the counter-runs of the heavy load are those of the light one, with numbers of their own
    found = paper_experiments.check(experiment, like=experiment is HEAVY)
    assert found.missed == 0
    # what rises and comes to rest has pressed with its weight in the mean (momentum is zero at both
    # ends); the stands carry the load until it is lifted
    force, time = (np.asarray(x) for x in reversed(found.figures[0].lines["both feet"]))
    times = lifts.phase_times(experiment.trial().load())
    held = time > times[1] + 0.2
    mass = 58.0 + sum(lifts.MASSES[8.4 if experiment is LIGHT else 23.4])
    assert force[held].mean() == pytest.approx(9.81 * mass, rel=0.02)
    assert [note[:3] for note in found.notes[:6]] == ["(a)", "(b)", "(c)", "(d)", "(e)", "(f)"]


def test_both_have_the_same_criteria_and_kinds_of_counter_runs():
    assert LIGHT.criteria == HEAVY.criteria
    kinds = [
        [[change.partition("=")[0] for change in one.changes] for one in lift.counters]
        for lift in (LIGHT, HEAVY)
    ]
    assert kinds[0] == kinds[1]


def test_motors_of_the_counter_run_are_those_of_the_robot():
    robot = hrp2()
    # three of a leg and three of an arm
    assert len(lifts.MOTORS) == 6
    for side in "RL":
        for joint, limit in lifts.MOTORS.items():
            assert robot.joint(side + joint).effort_limit == pytest.approx(limit, rel=1e-3)


def test_a_scene_without_the_key_frames_of_a_lift_is_refused():
    with pytest.raises(ModelError, match="key frames of a lift"):
        lifts.phase_times(scenes.load("squat"))


def test_the_crown_is_that_of_a_robot_of_1540_mm():
    robot = hrp2()
    robot.stand_on_ground(dict.fromkeys(robot.joint_names, 0.0))
    from tabi import dynamics

    model = robot.compile()
    head = dynamics.pose(model, model.initial(), "head").p[2]
    assert head + lifts.CROWN == pytest.approx(1.54, abs=2e-3)
