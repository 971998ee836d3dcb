"""The link of a controller that is a kernel: what its arrays stand for."""

import numpy as np
import pytest

import tabi
from tabi.model.controllers.pilot import Pilot, channel
from tabi.observation.readings import MeasurementSource
from tabi.step.commands.pilot_link import no_link


def test_places_are_those_of_the_robots_joints_encoders_and_sensors():
    world = tabi.World()
    robot = world.add_robot(tabi.robots.hrp2(sensor_noise=True))
    sim = tabi.Simulator(world)
    senses: MeasurementSource = sim.measurement_source(robot)
    talk = channel(30, 12)
    link = senses.linked(Pilot(None, talk, talk, ("imu", "left_foot_force"), 0.005))
    sim.run(0.01)
    seen = sim.measure(robot)
    told = sim.data.sensor_values(link.value, np.zeros(0, np.int64))
    assert told == pytest.approx([*seen.sensors["imu"], *seen.sensors["left_foot_force"]])
    values = sim.data.sensor_values(link.encoder.ravel(), np.zeros(0, np.int64)).reshape(-1, 2)
    assert values[:, 0] == pytest.approx(seen.position)
    assert values[:, 1] == pytest.approx(seen.velocity)
    assert sim.q[link.q_at] == pytest.approx(seen.position, abs=1e-4)
    with pytest.raises(tabi.ModelError, match="sensor 'nose' not found in hrp2"):
        senses.linked(Pilot(None, talk, talk, ("nose",), 0.005))


def test_an_empty_one_has_no_joints():
    assert len(no_link().rows) == 0
