"""Bipeds for tests: HRP-2 on the ground, and a plain one: its joints are called anything,
its axes may be turned or point the other way.
"""

import numpy as np

import tabi
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import Transform, about, translation

SOLE = [(-0.05, -0.04), (0.15, -0.04), (0.15, 0.04), (-0.05, 0.04)]


def biped(
    thigh: float = 0.4,
    shank: float = 0.3,
    heading: float = 0.0,
    flipped: tuple[str, ...] = (),
    ahead: float = 0.02,
    **limits,
) -> Robot:
    """Joints hip_roll, hip, knee, ankle, ankle_roll of ``l_`` and ``r_``;
    the trunk's centre of mass lies ``ahead`` of its hips [m].

    Args:
        heading: where its front is, an angle from x [rad], with all of its frames as they were.
        flipped: joints whose axes point the other way.
            limits: joint=(lower, upper) without its side.
    """
    front, side = (about((0, 0, 1), heading).R @ np.array(v, float) for v in ((1, 0, 0), (0, 1, 0)))
    robot = Robot("biped")
    robot.add_body(
        "trunk",
        Joint("root", "floating"),
        None,
        Inertia(10.0, ahead * front + (0, 0, 0.3), 0.3 * np.eye(3)),
    )
    for name, sign in (("left", 1.0), ("right", -1.0)):
        parent = "trunk"
        chain = (
            ("hip_roll", front, 0.1 * sign * side),
            ("hip", side, (0, 0, 0)),
            ("knee", side, (0, 0, -thigh)),
        )
        chain += (("ankle", side, (0, 0, -shank)), ("ankle_roll", front, (0, 0, 0)))
        for part, axis, place in chain:
            joint = Joint(
                f"{name[0]}_{part}",
                "revolute",
                translation(place),
                tuple(-axis if part in flipped else axis),
            )
            joint.lower, joint.upper = limits.get(part, (-np.inf, np.inf))
            parent = robot.add_body(
                f"{name[0]}_{part}_link",
                joint,
                parent,
                Inertia(1.0, np.array([0, 0, -0.05]), 0.01 * np.eye(3)),
            )
        turned = Transform(about((0, 0, 1), heading).R)
        robot.add_foot(name, parent, SOLE, (0.0, 0.0, -0.06), turned.quaternion)
    return robot


def standing_hrp2() -> Robot:
    """HRP-2 with its soles at the height of the ground."""
    robot = tabi.robots.hrp2()
    robot.stand_on_ground()
    return robot


def hrp2_on_ground(friction: float = 0.8) -> tuple[tabi.World, Robot]:
    """A world in which HRP-2 stands on the ground, and the robot in it."""
    world = tabi.World()
    world.add_ground(friction=friction)
    robot = world.add_robot(tabi.robots.hrp2())
    robot.stand_on_ground()
    return world, robot
