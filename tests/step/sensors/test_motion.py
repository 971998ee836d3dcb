"""Forces across a joint by closed form: a bob on a rotor."""

import numpy as np
import pytest

import tabi
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.spatial import inertia

MASS, ARM, SPEED = 2.0, 0.3, 7.0


@pytest.mark.parametrize("reach", [0.0, 0.1])
def test_the_axle_of_a_rotor_is_pulled_outward_by_the_centripetal_force(reach):
    robot = Robot("rotor")
    robot.add_body("base", Joint("mount", "fixed"))
    bob = inertia.Inertia(MASS, (ARM, 0.0, 0.0), np.diag([1e-3, 1e-3, 1e-3]))
    robot.add_body("arm", Joint("turn", "continuous"), "base", bob)
    robot.add_sensor("axle", "force", "arm", (reach, 0.0, 0.0))
    world = tabi.World(gravity=(0.0, 0.0, 0.0))
    world.add_robot(robot)
    sim = tabi.Simulator(world)
    sim.set_joint("turn", 0.0, SPEED)
    sim.step()
    # at the angle that the step began with; without friction the speed stays
    felt = sim.sensor("axle")
    assert felt.force == pytest.approx([MASS * ARM * SPEED**2, 0.0, 0.0], abs=1e-9)
    # a pull along the arm has no moment
    assert felt.torque == pytest.approx([0.0, 0.0, 0.0], abs=1e-9)
