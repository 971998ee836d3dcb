"""HRP-2's sensors with their errors: what the simulation makes of them has the published size."""

import numpy as np
import pytest

import tabi
from tabi.robots import hrp2

# of a real HRP-2 at rest, 200 Hz: rad/s and m/s2
MEASURED = np.array([1.45e-3, 1.42e-3, 2.23e-3, 8.0e-3, 4.7e-3, 10.2e-3])


def test_sensors_are_exact_unless_asked():
    robot = hrp2()
    assert all(not np.any(s.each("noise")) and s.delay == 0 for s in robot.sensors.values())
    assert not any(s.kind == "encoder" for s in robot.sensors.values())


def test_readings_at_rest_scatter_as_those_of_the_real_robot_do():
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(hrp2(sensor_noise=True))
    sim = tabi.Simulator(world, seed=1)
    seen, counts = [], 2000 * np.array([robot.joint(n).motor.gear_ratio for n in robot.joint_names])

    def controller(time, measurement):
        seen.append((measurement.sensors["imu"], measurement.sensors["left_foot_force"]))
        # whole counts of the motors' encoders
        turns = measurement.position / (2 * np.pi) * counts
        assert np.abs(turns - np.rint(turns)).max() < 1e-6
        return tabi.Command(position=robot.half_sitting)

    sim.set_controller(robot, controller, rate=200.0)
    sim.run(3.0)
    imu, foot = (np.array(x)[100:] for x in zip(*seen, strict=True))
    # 500 samples: their scatter is known to 1/√1000, four times that here
    assert imu.std(axis=0) == pytest.approx(MEASURED, rel=0.13)
    assert np.degrees(imu.mean(axis=0)[:3]) == pytest.approx([0.5, -0.5, 0.5], abs=0.05)
    assert foot.std(axis=0) == pytest.approx([1.0, 1.0, 1.0, 0.05, 0.05, 0.05], rel=0.13)


def test_errors_go_with_bush_and_grippers():
    robot = hrp2(bush=True, grippers=True, sensor_noise=True)
    encoders = {s.body.joint.name for s in robot.sensors.values() if s.kind == "encoder"}
    assert encoders == set(robot.joint_names)
    assert len(encoders) == 32
