"""Robots on rubber, with sensors that err."""

import pytest

import tabi
from tabi.lab.walking.rough_robots import DELAY, HRP2_HEIGHT, HRP2_MASS, plain_robot, rough_robot
from tabi.robots import hrp2_sensors
from tabi.walking import Biped


def test_the_numbers_of_hrp2_are_its_own():
    biped = Biped(tabi.robots.hrp2())
    assert biped.mass == pytest.approx(HRP2_MASS, abs=0.05)
    # to the millimetre, as it is told
    height = biped.centre[2] - biped.stance["left"].p[2]
    assert height == pytest.approx(HRP2_HEIGHT, abs=1e-3)


@pytest.mark.slow
def test_rubber_is_scaled_by_weight_times_height():
    assert rough_robot("hrp2").bush.rubber.stiffness == pytest.approx(500.0, rel=2e-3)
    g1 = plain_robot("g1")
    biped = Biped(g1)
    height = biped.centre[2] - min(X.p[2] for X in biped.stance.values())
    wanted = 500.0 * g1.mass * height / (HRP2_MASS * HRP2_HEIGHT)
    rubber = rough_robot("g1").bush.rubber
    assert rubber.stiffness == pytest.approx(wanted)
    assert rubber.damping / rubber.stiffness == pytest.approx(0.01)
    assert rubber.vertical_stiffness == pytest.approx(1e5 * g1.mass / HRP2_MASS)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hrp2", "hrp1s", "g1"])
def test_sensors_of_base_and_feet_err_and_are_late(name):
    robot = rough_robot(name)
    feet = [foot.body for foot in robot.feet.values()]
    read = [s for s in robot.sensors.values() if s.kind == "imu" or s.body in feet]
    imus = [s for s in read if s.kind == "imu"]
    forces = [s for s in read if s.kind == "force"]
    assert len(forces) == 2
    assert all(s.delay == DELAY for s in (*imus, *forces))
    assert tuple(imus[0].bias) == hrp2_sensors.IMU_BIAS
    share = robot.mass / HRP2_MASS
    assert forces[0].noise[0] == pytest.approx(share * hrp2_sensors.FORCE_NOISE[0])


def test_a_robot_that_is_not_there_is_named():
    with pytest.raises(tabi.ModelError, match="robot 'nobody' is neither hrp2, hrp1s, g1 nor a"):
        rough_robot("nobody")
