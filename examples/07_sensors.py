"""Sensors with noise and delay, and an estimator that finds the base from them alone."""

import numpy as np

import tabi

world = tabi.World()
world.add_ground(friction=0.8)
robot = world.add_robot(tabi.robots.hrp2(sensor_noise=True))
robot.set_sensor("imu", rate=200.0, delay=0.005)
robot.stand_on_ground()
estimator = tabi.control.Estimator(robot)
hold = tabi.control.hold(robot.half_sitting)
sim = tabi.Simulator(world, seed=7)
errors = []


def controller(time: float, measurement: tabi.Measurement) -> tabi.Command:
    state = estimator(time, measurement)
    errors.append(np.linalg.norm(state.base.p - sim.pose(robot.base).p))
    return hold(time, measurement)


sim.set_controller(robot, controller, rate=200)
sim.apply_force("chest", force=(60.0, 0.0, 0.0), duration=0.1)
sim.run(2.0)
print(f"left foot reads {sim.sensor('left_foot_force').force.round(1)} N")
print(f"the truth is    {sim.sensor('left_foot_force', truth=True).force.round(1)} N")
print(
    f"the base is found within {1e3 * max(errors):.1f} mm, on average {1e3 * np.mean(errors):.1f}"
)
