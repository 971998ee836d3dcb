"""The bench of walking: that both engines walk with all sensors, whatever the clock says."""

import json

import pytest

from tabi.lab.bench.feet import walk


@pytest.fixture(scope="module")
def found():
    pytest.importorskip("mujoco")
    return walk.WalkBench(steps=2).run()


@pytest.mark.slow
def test_both_walk_and_every_step_is_certified(found):
    assert found["walk"]["landed"] == found["walk"]["planned"] == 2
    assert not found["fallen"]
    assert not found["mujoco"]["fallen"]
    assert found["missed"] == 0
    assert found["worst_residual"] <= 1e-8


@pytest.mark.slow
def test_all_sensors_are_on(found):
    # of feet and wrists, the body's, and two of each of thirty joints
    assert found["settings"]["sensors"] == 4 + 1 + 2 * 30
    # forces and imu of six numbers, an encoder tells position and velocity
    assert found["settings"]["sensor_values"] == 5 * 6 + 30 * 2 + 30
    assert (found["settings"]["dt"], found["settings"]["control_hz"]) == (1e-3, 200.0)


@pytest.mark.slow
def test_figures_are_whole_and_printed(found):
    assert json.loads(json.dumps(found)) == found
    assert found["python"]["control_microseconds"] < found["python"]["microseconds"]
    said = walk.WalkBench().text(found)
    assert "Python above the motors" in said
    assert "mj_step alone" in said
    assert "control in compiled loop" in said
