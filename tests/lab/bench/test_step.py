"""The bench of the step: that all engines do the same, whatever the clock says."""

import json
import sys

import numpy as np
import pytest

import tabi
from tabi.lab.bench import step

G = 9.81


@pytest.fixture(scope="module")
def found():
    pytest.importorskip("mujoco")
    pytest.importorskip("pinocchio")
    return step.StepBench(blocks=3).run()


@pytest.mark.slow
@pytest.mark.parametrize("motion", ["standing", "squat"])
def test_all_engines_stand_on_eight_corners_and_bear_the_same(found, motion):
    robot = found["robots"]["hrp2"]
    row = robot[motion]
    assert set(row["contacts"].values()) == {8}
    forces = np.array(list(row["normal_force_N"].values()))
    # MuJoCo's contacts are soft: while squatting its forces lag a little
    assert np.allclose(forces, forces[0], rtol=0.02)
    assert not any(row["fallen"].values())


@pytest.mark.slow
def test_standing_engines_bear_the_weight(found):
    forces = found["robots"]["hrp2"]["standing"]["normal_force_N"]
    # after half a second there is still some motion
    assert np.allclose(list(forces.values()), 58.0 * G, atol=1.0)


@pytest.mark.slow
@pytest.mark.parametrize("motion", ["standing", "squat"])
def test_no_step_misses_and_pinocchio_solves_the_same_problem(found, motion):
    row = found["robots"]["hrp2"][motion]
    assert row["missed"] == 0
    assert row["worst_residual"] <= 1e-8
    # its decomposition is damped by 1e-10
    assert row["pinocchio"]["matrix_difference"] < 1e-8
    assert any(s["certified"] for s in row["pinocchio"]["solvers"].values())


@pytest.mark.slow
def test_figures_are_json_and_text_names_the_engines(found):
    assert json.loads(json.dumps(found)) == found
    page = step.StepBench().text(found)
    for word in ("hrp2", "standing", "squat", "MuJoCo", "Pinocchio", "PGS", "ADMM"):
        assert word in page


def test_a_robot_without_gains_gets_some_and_one_with_gains_keeps_them():
    robot = tabi.robots.hrp2()
    robot.joint("LLEG_KNEE_P").motor = None
    _, staged = step.stage(robot)
    assert staged.joint("LLEG_KNEE_P").motor.kp > 0
    assert staged.joint("RLEG_KNEE_P").motor.kp == robot.joint("RLEG_KNEE_P").motor.kp
    assert all(shape.collides for body in staged.bodies for shape in body.shapes)


def test_a_march_goes_on_where_memory_has_to_grow():
    world = tabi.World()
    world.add_ground()
    for k in range(40):
        world.add_box((0.1, 0.1, 0.1), 1.0, position=(0.3 * k, 0.0, 0.05), name=f"box{k}")
    run = step.Marching(tabi.Simulator(world))
    run(5)
    assert run.steps == 5
    assert len(run.sim.contacts) == 160


def test_without_pinocchio_one_sentence_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "pinocchio", None)
    world, robot = step.stage(tabi.robots.hrp2())
    sim = tabi.Simulator(world)
    with pytest.raises(tabi.ModelError, match="Pinocchio is not installed"):
        step.step_pinocchio.measure(sim, robot, sim.step, 3)
