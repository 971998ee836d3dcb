"""Bipeds from anywhere, standing on the ground with what their files lack."""

from __future__ import annotations

import copy

import numpy as np

from tabi.model.feet import legs
from tabi.model.feet.limbs import add_limbs
from tabi.model.joint import Motor
from tabi.model.robot import Robot
from tabi.model.world import World
from tabi.robots.files import exclude_near
from tabi.robots.known import complete
from tabi.simulation.simulator import Simulator

# gains of motors without any, per kilogram of the robot [N·m/rad, N·m·s/rad]:
# like the legs of HRP-2
GAIN, DAMPING = 200.0, 8.0
# rotor [kg·m²] and gear of such a motor: a small one of HRP-2, 0.1 kg·m² at the joint
ROTOR, GEAR = 1e-5, 100.0


def stage(robot: Robot, friction: float = 0.8, limbs: bool = True) -> tuple[World, Robot]:
    """A biped standing on the ground with what its file may lack:
    soles (if it is known), gains, and shapes for its limbs.
    """
    robot = complete(copy.deepcopy(robot))
    legs.find(robot)
    for body in robot.bodies:
        body.shapes = [shape for shape in body.shapes if shape.collides]
        joint = body.joint
        if (
            body is not robot.base
            and joint.v_count == 1
            and joint.mimic is None
            and not (joint.motor and joint.motor.kp > 0)
        ):
            joint.motor = Motor(ROTOR, GEAR, kp=GAIN * robot.mass, kd=DAMPING * robot.mass)
    if limbs:
        # where no file says how thick limbs are, none can say that they touch each other
        limbs_added = [body.name for body in add_limbs(robot)]
        robot.excluded |= {
            frozenset((name, other.name))
            for name in limbs_added
            for other in robot.bodies
            if other.name != name
        }
    robot.stand_on_ground()
    exclude_near(robot)
    world = World()
    world.add_ground(friction=friction)
    robot = world.add_robot(robot)
    robot.stand_on_ground()
    return world, robot


def weigh(robot: Robot, seconds: float = 5.0) -> tuple[float, float]:
    """Weight [N] of a robot, and what the ground gives its feet after it has stood for a time [s],
    from the pose it starts in.
    """
    world, robot = stage(robot)
    sim = Simulator(world)
    sim.run(seconds)
    support = sum(float(sim.foot_wrench(foot).force[2]) for foot in robot.feet.values())
    return float(robot.mass * np.linalg.norm(world.gravity)), support
