"""Robots of ``tabi bench foot``: soles of many corners, tables that jump on their legs, a plate."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tabi import scenes
from tabi.control import keyframes
from tabi.control.motions import Pose
from tabi.lab.validate.dense_soles import resole, sole
from tabi.model.controllers.signals import Command, Measurement
from tabi.model.joint import Joint, Motor
from tabi.model.lookup import joint_rows
from tabi.model.robot import Robot
from tabi.model.shape import HalfSpace
from tabi.model.world import World
from tabi.scenes.builder import Builder
from tabi.scenes.reader import Reader
from tabi.simulation.simulator import Simulator
from tabi.spatial import inertia
from tabi.spatial.transform import translation
from tabi.step.commands.driver import holding, write_command

Array = NDArray[np.float64]
# a plate that is a foot: kg, m
PLATE_MASS, PLATE_SIZE = 3.0, (0.24, 0.14, 0.04)
# of tables: trunk and leg [kg], length of a leg [m], how far it bends [m]
TRUNK, LEG, LEG_LENGTH, BEND = 20.0, 1.5, 0.4, 0.08
# joints of its legs: kind, axis, how far below the one before [m]; ankles above the ground [m]
ANKLE = 0.05
LEG_JOINTS = (
    ("hip_roll", "revolute", (1.0, 0.0, 0.0), 0.0),
    ("hip_pitch", "revolute", (0.0, 1.0, 0.0), 0.0),
    ("slide", "prismatic", (0.0, 0.0, 1.0), LEG_LENGTH - ANKLE),
    ("ankle_yaw", "revolute", (0.0, 0.0, 1.0), 0.0),
    ("ankle_pitch", "revolute", (0.0, 1.0, 0.0), 0.0),
    ("ankle_roll", "revolute", (1.0, 0.0, 0.0), 0.0),
)
# when a table is bent, pushes off and is stretched [s]; each leg a little later than the one before
TABLE_TIMES, LEG_DELAY_S = (0.4, 0.5, 0.62), 0.003


def jumping_hrp2(contact: str, corners: int | None = None) -> tuple[Simulator, Robot]:
    """Return the scene bend-and-jump with a contact law; default: its own soles."""
    scene = scenes.load("bend-and-jump", [f"simulation.contact={contact}"])
    builder = Builder(scene.contents, Reader())
    robot = builder.robots[0]
    if corners is not None:
        resole(robot, corners)
    return builder.simulator(), robot


def table(feet: int, corners: int) -> Robot:
    """A table on legs of six joints each, in two rows, with feet of so many corners; hips and
    ankles turn, the legs between them slide.
    """
    robot = Robot("table")
    robot.add_body(
        "top", Joint("root", "floating"), None, inertia.solid_box(TRUNK, (0.8, 0.5, 0.1))
    )
    for k in range(feet):
        x = np.linspace(-0.35, 0.35, feet // 2)[k // 2] if feet > 2 else 0.0
        place, parent = (x, 0.2 if k % 2 else -0.2, 0.0), robot.body("top")
        for name, kind, axis, down in LEG_JOINTS:
            joint = Joint(f"{name}{k}", kind, translation((*place[:2], place[2] - down)), axis)
            turns = kind == "revolute"
            joint.motor = Motor(kp=2e3 if turns else 3e4, kd=40.0 if turns else 600.0)
            part = inertia.solid_box(LEG / len(LEG_JOINTS), (0.05, 0.05, 0.1))
            parent = robot.add_body(f"{name}{k}_link", joint, parent, part)
            place = (0.0, 0.0, 0.0)
        # two feet alone have to be long
        polygon = sole(corners, 0.24 if feet > 2 else 0.4, 0.14)
        robot.add_foot(f"foot{k}", parent, polygon, (0.0, 0.0, -ANKLE))
    return robot


def jumping_table(contact: Any, feet: int, corners: int) -> tuple[Simulator, Robot]:
    """A table that bends its legs and jumps, from the ground."""
    world = World()
    world.add_ground(friction=0.8)
    robot = world.add_robot(table(feet, corners))
    robot.place((0.0, 0.0, LEG_LENGTH))
    sim = Simulator(world, contact=contact)
    moves = [
        keyframes(
            [(0.0, {f"slide{k}": 0.0})]
            + [
                (time + LEG_DELAY_S * k * (i > 0), {f"slide{k}": BEND if i < 2 else 0.0})
                for i, time in enumerate(TABLE_TIMES)
            ]
        )
        for k in range(feet)
    ]

    def controller(time: float, measurement: Measurement) -> Command:
        commands = [move(time, measurement) for move in moves]
        place: Any = {n: x for c in commands for n, x in cast("Pose", c.position).items()}
        speed: Any = {n: x for c in commands for n, x in cast("Pose", c.velocity).items()}
        return Command(place, speed)

    sim.set_controller(robot, controller)
    return sim, robot


def program(sim: Simulator, robot: Robot, steps: int) -> Array:
    """Return the motor commands of a robot's controller, which depends on the time alone, per step:
    position, velocity and effort, shape (steps, v_count, 3).
    """
    controller, rows = sim.drivers[robot.name].controller, joint_rows(sim.model, robot)
    motor = holding(sim.model, sim.state.q)
    seen = cast(Measurement, None)
    commands = np.zeros((steps, sim.model.v_count, 3))
    for k in range(steps):
        write_command(robot, rows, controller(k * sim.dt, seen), motor, k * sim.dt)
        commands[k] = np.column_stack([motor[name] for name in ("position", "velocity", "effort")])
    return commands


def plate(
    contact: Any, friction: float = 0.5, slope: float = 0.0, height: float = 0.0
) -> tuple[Simulator, Robot]:
    """A plate that is a foot, on the ground or on a slope [rad], or above it by a height [m]."""
    x, y, z = PLATE_SIZE
    robot = Robot("plate")
    solid = inertia.solid_box(PLATE_MASS, PLATE_SIZE)
    body = robot.add_body("plate", Joint("root", "floating"), None, solid)
    corners = [(-x / 2, -y / 2), (x / 2, -y / 2), (x / 2, y / 2), (-x / 2, y / 2)]
    robot.add_foot("sole", body, corners, (0.0, 0.0, -0.5 * z))
    world = World()
    turn = (np.cos(slope / 2), 0.0, np.sin(slope / 2), 0.0)
    if slope:
        world.add_fixed(HalfSpace(), (0, 0, 0), turn, friction=friction)
    else:
        world.add_ground(friction=friction)
    posed = world.add_robot(robot)
    above = 0.5 * z + height
    posed.place((np.sin(slope) * above, 0.0, np.cos(slope) * above), turn)
    return Simulator(world, contact=contact), posed
