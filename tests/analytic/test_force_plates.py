"""Force plates under a squat against second differences of the centre of mass: they differ by a
term of first order in the step.
"""

import numpy as np
import pytest

import tabi

G = 9.81


def error(h: float) -> float:
    """RMS over half a second of a squat of F − m (g + second difference of the centre of mass) [N],
    along the vertical.
    """
    world = tabi.World()
    for name, y in (("left", 0.16), ("right", -0.16)):
        world.add_force_plate(name, (0.5, 0.3), (0.0, y, 0.0), resolution=0.0)
    robot = world.add_robot(tabi.robots.hrp2())
    robot.stand_on_ground()
    sim = tabi.Simulator(world, dt=h)
    sim.set_controller(robot, tabi.control.squat(robot, 0.1))
    sim.run(0.5)
    heights, forces = [], []
    for _ in range(round(0.5 / h)):
        sim.step()
        heights.append(tabi.dynamics.centre_of_mass(sim.model, sim.data.q)[2])
        forces.append(sum(sim.sensor(name).force[2] for name in ("left", "right")))
    # the force of the step from n to n + 1, and the difference about n
    acceleration = np.diff(heights, 2) / h**2
    return float(np.sqrt(np.mean((forces[2:] - robot.mass * (G + acceleration)) ** 2)))


@pytest.mark.slow
def test_plates_and_second_differences_agree_to_first_order():
    steps = np.array([2e-3, 1e-3, 5e-4])
    errors = [error(h) for h in steps]
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert 0.8 < slope < 1.3, errors
    # of a weight of 569 N
    assert errors[1] < 1.0
