"""Of guesses that are all wrong, the one with the least error is made again."""

import math

import numpy as np
import pytest

import tabi
from tabi.contact import budget
from tabi.lab.validate.dry_trees import random_dry_world
from tabi.step import best_guess
from tabi.step.forces.joint_limits import LOWER, MOVES, STUCK


@pytest.fixture
def parts():
    """Tables, data and workspace of a robot that holds its pose, and its memory of joints."""
    world = tabi.World()
    world.add_robot(tabi.robots.hrp2())
    sim = tabi.Simulator(world)
    sim.step()
    stepper = sim._stepper
    return stepper.tables, stepper.data, stepper.workspace, stepper.data.memory.joint


def guess(parts, mode, residual, missed=0, joint_residual=0.0):
    """A guess with all joints in a mode, and what came out of it."""
    _, d, s, joint = parts
    joint["mode"], joint["direction"] = mode, mode
    best_guess.store_modes(d, s)
    # as a judge changes it afterwards
    joint["mode"] = MOVES
    report = d.outcome.report[0]
    report["residual"], report["missed"], report["joint_residual"] = (
        residual,
        missed,
        joint_residual,
    )
    best_guess.update_best(d, s)


def test_the_modes_of_the_least_error_come_back_with_work_to_do(parts):
    t, d, s, joint = parts
    best_guess.begin(s)
    guess(parts, MOVES, 1e-9, joint_residual=0.3)
    s.joined[0] = 1
    guess(parts, STUCK, 0.1, missed=1, joint_residual=0.02)
    s.joined[0] = 2
    guess(parts, LOWER, 1e-9, joint_residual=1800.0)
    s.budget[budget.LIMIT] = s.budget[budget.WORK] = 7
    assert best_guess.restore_best(t, d, s)
    assert set(joint["mode"]) == set(joint["direction"]) == {STUCK}
    assert s.joined[0] == 1
    assert s.budget[budget.LIMIT] > s.budget[budget.WORK]


def test_where_the_last_guess_is_the_best_nothing_is_made_again(parts):
    t, d, s, joint = parts
    best_guess.begin(s)
    guess(parts, LOWER, 1e-9, joint_residual=0.3)
    guess(parts, STUCK, 0.1, missed=1)
    before = joint["mode"].copy()
    assert not best_guess.restore_best(t, d, s)
    assert (joint["mode"] == before).all()


def test_an_error_that_is_no_number_is_the_worst(parts):
    t, d, s, joint = parts
    best_guess.begin(s)
    guess(parts, STUCK, 0.1, missed=1)
    guess(parts, LOWER, math.nan, missed=1)
    assert best_guess.restore_best(t, d, s)
    assert set(joint["mode"]) == {STUCK}


def test_steps_whose_work_ends_early_gain_no_energy_from_a_wrong_guess():
    missed = 0
    for seed in range(4, 10):
        sim = tabi.Simulator(random_dry_world(seed), budget=100)
        before = sim.energy.total
        largest = abs(before) + 1.0
        for _ in range(150):
            sim.step()
            after = sim.energy.total
            assert after - before < 0.05 * largest
            before = after
        missed += sim.missed_count
        assert np.isfinite(sim.v).all()
    # some steps did end early
    assert missed > 0
