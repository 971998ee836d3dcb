"""A plate that is a foot: the simplest thing that stands."""

import numpy as np

import tabi
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.spatial import inertia

MASS, LENGTH, WIDTH, THICK = 3.0, 0.24, 0.14, 0.04
G = 9.81


def plate_world(friction=0.5, slope=0.0, polygon=None):
    """A plate of 3 kg, 24 cm by 14 cm by 4 cm, on the ground or on a slope [rad] about y."""
    robot = Robot("plate")
    body = robot.add_body(
        "plate", Joint("root", "floating"), None, inertia.solid_box(MASS, (LENGTH, WIDTH, THICK))
    )
    if polygon is None:
        x, y = 0.5 * LENGTH, 0.5 * WIDTH
        polygon = [(-x, -y), (x, -y), (x, y), (-x, y)]
    robot.add_foot("sole", body, polygon, position=(0.0, 0.0, -0.5 * THICK))
    world = tabi.World()
    if slope:
        turn = (np.cos(slope / 2), 0.0, np.sin(slope / 2), 0.0)
        world.add_fixed(tabi.model.shape.HalfSpace(), (0, 0, 0), turn, friction=friction)
    else:
        world.add_ground(friction=friction)
    placed = world.add_robot(robot)
    return world, placed


def on_plane(contact, friction=0.5, slope=0.0, height=0.0, polygon=None, **settings):
    """The plate at rest on its plane, or above it by a height [m]."""
    world, robot = plate_world(friction, slope, polygon)
    sim = tabi.Simulator(world, contact=contact, **settings)
    q = sim.state.q
    z = 0.5 * THICK + height
    q[:3], q[3:7] = (np.sin(slope) * z, 0.0, np.cos(slope) * z), (1.0, 0.0, 0.0, 0.0)
    q[3], q[5] = np.cos(slope / 2), np.sin(slope / 2)
    sim.set_state(q)
    return sim, robot


def standing(contact, motion="hold", friction=0.8, robot=None, **settings):
    """HRP-2 or another robot on the ground, in a motion."""
    world = tabi.World()
    world.add_ground(friction=friction)
    robot = world.add_robot(robot or tabi.robots.hrp2())
    robot.stand_on_ground()
    sim = tabi.Simulator(world, contact=contact, **settings)
    motions = {
        "hold": lambda: tabi.control.hold(robot.half_sitting),
        "squat": lambda: tabi.control.squat(robot, 0.2),
        "sway": lambda: tabi.control.sway(robot, 0.01),
        "lean": lambda: tabi.control.lean(robot, 0.3, 2.0),
    }
    sim.set_controller(robot, motions[motion]())
    return sim, robot
