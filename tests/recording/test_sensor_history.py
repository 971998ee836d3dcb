"""What the numbers of sensors are called, and which of them belong together."""

import numpy as np
import pytest

import tabi
from tabi.recording.sensor_history import labels, labels_of, parts


@pytest.fixture(scope="module")
def model():
    world = tabi.World()
    world.add_force_plate("plate")
    robot = world.add_robot(tabi.robots.hrp2())
    robot.add_sensor("knee", "encoder", "right_shank")
    robot.add_sensor("attitude", "orientation", "chest")
    robot.add_sensor("camera", "camera", "head")
    robot.set_sensor("left_foot_force", matrix=2.0 * np.eye(6))
    return world.compile()


def test_every_number_has_a_word_an_axis_and_a_unit(model):
    found = labels_of(model)
    assert found["imu"][:4] == [
        "gyro x [rad/s]",
        "gyro y [rad/s]",
        "gyro z [rad/s]",
        "accelerometer x [m/s²]",
    ]
    assert found["knee"] == ["position [rad]", "velocity [rad/s]"]
    assert found["attitude"] == [f"quaternion {axis}" for axis in "wxyz"]
    assert found["plate"][2] == "force z [N]"
    assert "camera" not in found
    assert "imu: gyro x [rad/s]" in labels(model)
    assert len(labels(model)) == sum(map(len, found.values()))


def test_raw_readings_have_no_unit(model):
    assert labels_of(model)["left_foot_force"][0] == "force x"


def test_parts_gather_the_axes_of_one_thing(model):
    force, torque = parts(labels_of(model)["plate"])
    assert (force.word, force.unit, force.title) == ("force", "N", "force [N]")
    assert (force.axes, force.columns) == (("x", "y", "z"), (0, 1, 2))
    assert (torque.unit, torque.columns) == ("N·m", (3, 4, 5))
    position, velocity = parts(labels_of(model)["knee"])
    assert (position.axes, position.columns) == (("",), (0,))
    assert velocity.title == "velocity [rad/s]"
    assert parts(["normal force [N]"])[0].word == "normal force"
