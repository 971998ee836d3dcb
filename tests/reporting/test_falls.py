"""Falls of recorded robots are those that the simulator saw."""

import pytest

from tabi import scenes
from tabi.recording.recorded import read
from tabi.reporting.report.falls import fall_time


@pytest.mark.parametrize(("scene", "falls"), [("fall", True), ("standing", False)])
def test_a_recorded_robot_fell_when_the_simulator_first_said_so(scene, falls, tmp_path):
    sim = scenes.load(scene).simulator()
    recording, first = sim.record(tmp_path / "run.h5"), None
    for _ in range(700):
        sim.step()
        if first is None and sim.fallen(sim.world.robots[0]):
            first = sim.time
    recording.close()
    run = read(tmp_path / "run.h5")
    base = int(run.world.robot.tolist().index(0))
    found = fall_time(run, 0, base, 0.0, 0.7)
    assert (first is not None) is falls
    assert found == (None if first is None else pytest.approx(first, abs=1.5 * sim.dt))
