"""The loop of steps: commands that end, targets that move, and the worst of what was done."""

import numpy as np
import pytest

import tabi
from tabi.step import rollout


@pytest.fixture
def data():
    world = tabi.World()
    world.add_robot(tabi.robots.hrp2())
    return tabi.Simulator(world)._stepper.data


def test_the_worst_of_a_rollout_keeps_each_figure_and_a_nan(data):
    report = data.outcome.report[0]
    report["residual"], report["joint_residual"], report["gap"] = 2e-9, 1e-9, -1e-4
    worst = rollout.worst_of((1e-9, 3e-9, 0.0), report)
    assert worst == (2e-9, 3e-9, 1e-4)
    report["residual"], report["gap"] = np.nan, 1.0
    worst = rollout.worst_of(worst, report)
    assert np.isnan(worst[0])
    assert worst[1:] == (3e-9, 1e-4)
    report["residual"] = 0.0
    assert np.isnan(rollout.worst_of(worst, report)[0])


def test_a_target_is_reached_when_its_time_is_over_and_not_before(data):
    motor, clock, at = data.command.motor[-1:], data.memory.clock, []
    motor["position"], motor["target"], motor["until"], clock[0] = 0.0, 1.0, 5e-3, 0.0
    for _ in range(7):
        rollout.move_targets(data, 1e-3)
        clock[0] += 1e-3
        at.append(float(motor["position"][0]))
    # on a straight line that ends there
    assert at == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0, 1.0, 1.0])


def test_commands_of_a_rollout_end_and_the_last_ones_stay(data):
    motors = data.command.motor
    program = np.arange(2.0 * len(motors) * 3).reshape(2, len(motors), 3)
    for step, last in ((0, 0), (1, 1), (2, 1)):
        rollout.write_commands(program, step, data)
        assert motors["position"][-1] == program[last, -1, 0]
        assert motors["velocity"][-1] == program[last, -1, 1]
        assert motors["effort"][-1] == program[last, -1, 2]
