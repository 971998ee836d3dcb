"""Readings (``tabi.observation.readings``): names for numbers, and what a controller sees."""

import numpy as np
import pytest
from bipeds import hrp2_on_ground

import tabi
from tabi.observation.readings import Reading


def standing():
    """HRP-2 on the ground after a moment."""
    world, robot = hrp2_on_ground()
    sim = tabi.Simulator(world)
    sim.run(0.05)
    return sim, robot


def test_a_reading_has_its_parts_by_name_and_says_what_it_has_not():
    sim, robot = standing()
    reading = sim.sensor("left_foot_force")
    assert isinstance(reading, Reading)
    assert np.array_equal(np.concatenate([reading.force, reading.torque]), reading.values)
    # the sensor is at the sole: its pressure point is the foot's, but for the foot's own weight
    load, inside = reading.force[2], sim.centre_of_pressure("left")
    assert load == pytest.approx(sim.foot_wrench("left").force[2], rel=0.1)
    assert np.abs(reading.centre_of_pressure - inside).max() < 0.01
    with pytest.raises(AttributeError, match="no 'gyro'; it has force, torque, values and time"):
        reading.gyro  # noqa: B018
    assert sim.sensor(robot.sensors["imu"]).gyro.shape == (3,)


def test_a_measurement_holds_all_sensors_of_its_robot_and_is_kept():
    sim, robot = standing()
    kept = sim.measure(robot)
    before = {name: values.copy() for name, values in kept.sensors.items()}
    assert set(before) == set(robot.sensors)
    assert np.array_equal(before["imu"], sim.sensor("imu").values)
    sim.apply_force(robot.base, (50.0, 0.0, 0.0), duration=0.01)
    sim.run(0.01)
    assert all(np.array_equal(kept.sensors[name], values) for name, values in before.items())
    assert not np.array_equal(sim.measure(robot).sensors["imu"], before["imu"])
    with pytest.raises(tabi.ModelError, match="sensor 'imo' not found in hrp2"):
        kept.sensors["imo"]


def test_sensors_of_two_robots_keep_their_names_in_measurements():
    world = tabi.World()
    world.add_ground()
    first = world.add_robot(tabi.robots.hrp2(), "first")
    second = world.add_robot(tabi.robots.hrp2(), "second")
    for robot, y in ((first, 0.0), (second, 2.0)):
        robot.stand_on_ground()
        x, _, z = robot.base.joint.position[:3]
        robot.place((x, y, z))
    sim = tabi.Simulator(world)
    sim.apply_force("second/chest", (0.0, 80.0, 0.0), duration=0.02)
    sim.run(0.01)
    still, moved = (sim.measure(robot).sensors["imu"] for robot in (first, second))
    assert np.array_equal(moved, sim.sensor("second/imu").values)
    assert abs(moved[4]) > 10 * abs(still[4])
    with pytest.raises(tabi.ModelError, match="sensor 'imu' not found in the world"):
        sim.sensor("imu")


def test_cameras_cannot_be_read():
    world = tabi.World()
    robot = tabi.robots.hrp2()
    robot.add_sensor("eye", "camera", "chest")
    world.add_robot(robot)
    sim = tabi.Simulator(world)
    with pytest.raises(tabi.ModelError, match="sensor 'eye' of kind 'camera' cannot be read"):
        sim.sensor("eye")
    with pytest.raises(tabi.ModelError, match="sensor 'left' not found in the world"):
        sim.sensor("left")
