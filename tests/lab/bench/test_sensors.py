"""The bench of sensors: that both engines measure the same, whatever the clock says."""

import json

import numpy as np
import pytest

from tabi.lab.bench import sensors
from tabi.simulation.simulator import Simulator


@pytest.fixture(scope="module")
def found():
    pytest.importorskip("mujoco")
    return sensors.SensorsBench(blocks=3).run()


@pytest.mark.slow
def test_figures_are_whole_and_printed(found):
    assert json.loads(json.dumps(found)) == found
    assert set(found["microseconds"]) == {sensors.SILENT, sensors.MUJOCO} | set(found["extra"])
    # five times six numbers, and three of each of thirty joints
    assert list(found["values"].values()) == [0, 30, 30, 120, 120]
    said = sensors.SensorsBench().text(found)
    assert "five sensors" in said
    assert "MuJoCo's take" in said


@pytest.mark.slow
def test_nobody_listens_unless_asked():
    runs, _ = sensors.marching()
    assert not runs[sensors.SILENT].sim.data.command.active_sensors.any()
    assert runs[sensors.ALL].sim.data.command.active_sensors.sum() == 65


def test_extra_is_the_median_of_differences_within_a_turn():
    times = {
        sensors.SILENT: np.array([10.0, 20.0, 30.0]),
        sensors.FIVE: np.array([12.0, 22.0, 90.0]),
        sensors.MUJOCO: np.array([1.0, 2.0, 3.0]),
        sensors.MUJOCO_FIVE: np.array([2.0, 3.0, 4.0]),
    }
    assert sensors.extras(times) == {sensors.FIVE: 2.0, sensors.MUJOCO_FIVE: 1.0}


@pytest.mark.slow
def test_mujoco_measures_the_same_with_the_other_sign_of_forces():
    mujoco = pytest.importorskip("mujoco")
    world = sensors.equipped(joints=False, real=False)
    model = sensors.with_sensors(world)
    runs, sim = sensors.rolling()[sensors.MUJOCO_FIVE], Simulator(world)
    told = sensors.listen(sim)
    assert model.nsensordata == len(told) == 30
    runs(2000)
    sim.run(2.0)
    data = mujoco.MjData(runs.model)
    mujoco.mj_setState(runs.model, data, runs.state[0], runs.kind)
    data.ctrl[:] = runs.control[0]
    mujoco.mj_forward(runs.model, data)
    for name in ("left_foot_force", "right_wrist_force"):
        theirs = data.sensor(f"{name} FORCE").data
        # how much two feet that stick press apart is not determined, what they carry is
        assert sim.sensor(name).force[2] == pytest.approx(-theirs[2], abs=2.0)
    theirs = data.sensor("imu ACCELEROMETER").data
    assert sim.sensor("imu").accelerometer == pytest.approx(theirs, abs=0.05)
