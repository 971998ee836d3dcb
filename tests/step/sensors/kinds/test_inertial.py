"""Inertial sensors read in the axes of their mounting, on a body that is rotated itself."""

import numpy as np
import pytest

import tabi
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.model.sensors import Sensor
from tabi.spatial.inertia import solid_sphere
from tabi.spatial.transform import Transform, about, from_quaternion


@pytest.mark.parametrize("angle", [0.0, 0.7])
def test_readings_are_in_the_axes_of_the_mounting(angle):
    """A ball in free fall keeps its angular velocity ω; at a distance r from its centre the
    acceleration less gravity is ω × (ω × r).
    """
    mounting = about((1.0, 2.0, -0.5), angle)
    r = np.array([0.1, -0.05, 0.2])
    robot = Robot("ball")
    ball = robot.add_body("ball", Joint("ball", "floating"), None, solid_sphere(2.0, 0.3))
    for kind in ("gyro", "accelerometer", "imu", "orientation"):
        robot.sensors[kind] = Sensor(kind, ball, Transform(mounting.R, r), kind)
    world = tabi.World()
    robot = world.add_robot(robot)
    robot.place((0.3, -0.2, 2.0), (0.5, 0.5, -0.5, 0.5))
    sim = tabi.Simulator(world)
    sim.set_state(sim.model.initial(), (0.1, 0.2, -0.3, 0.3, -0.2, 0.5))
    sim.step()
    R = sim.robot(robot).pose.R @ mounting.R
    omega = sim.velocity(robot.base).angular
    assert np.linalg.norm(omega) == pytest.approx(np.sqrt(0.38), rel=1e-12)
    reading = {name: sim.sensor(name) for name in robot.sensors}
    centripetal = np.cross(omega, np.cross(omega, sim.robot(robot).pose.R @ r))
    assert reading["gyro"].values == pytest.approx(R.T @ omega, abs=1e-12)
    # the body turns by ω h within the step, over which the acceleration is a mean
    assert reading["accelerometer"].values == pytest.approx(R.T @ centripetal, abs=1e-3)
    assert np.linalg.norm(centripetal) > 0.05
    assert np.array_equal(reading["imu"].values[:3], reading["gyro"].values)
    assert np.array_equal(reading["imu"].values[3:], reading["accelerometer"].values)
    measured = from_quaternion(reading["orientation"].values).R
    assert measured == pytest.approx(R, abs=1e-12)
