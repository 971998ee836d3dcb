"""Closed forms of jointed bodies in contact:
feet, an ankle, a piston, and a four-bar linkage whose loop contacts close.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, sin

import numpy as np

from tabi.control import hold
from tabi.lab.closed_forms.case import EXACT, Check, G, Register, order
from tabi.model.body import Body
from tabi.model.controllers.signals import Command, Measurement
from tabi.model.joint import Joint, Motor
from tabi.model.robot import Robot
from tabi.model.shape import Box, Shape, Sphere
from tabi.model.world import World
from tabi.simulation.simulator import Simulator
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import translation

CASES = Register()


@CASES.case("two feet share the weight by the lever rule", "N = g (m_leg + M (d/2 ± x)/d)")
def two_feet() -> Iterator[Check]:
    """A trunk of 10 kg on two hinged legs 0.3 m apart;
    each foot is two balls, one behind the other.
    """
    small = Inertia(0.5, np.zeros(3), 1e-3 * np.eye(3))
    for off in (0.0, 0.06, -0.1):
        robot = Robot("walker")
        robot.add_body(
            "trunk",
            Joint("root", "floating"),
            None,
            Inertia(10.0, np.array([0.0, off, 0.2]), 0.2 * np.eye(3)),
        )
        for side, y in (("left", 0.15), ("right", -0.15)):
            balls = [
                Shape(Sphere(0.05), translation((x, 0, -0.45)), name=f"{side}{x}")
                for x in (-0.1, 0.1)
            ]
            hip = Joint(
                f"{side}_hip",
                "revolute",
                translation((0, y, 0)),
                axis=(0, 1, 0),
                motor=Motor(kp=2e3, kd=50.0),
            )
            robot.add_body(f"{side}_leg", hip, "trunk", small, balls)
        world = World()
        world.add_ground()
        robot = world.add_robot(robot)
        robot.place((0, 0, 0.5))
        sim = Simulator(world)
        sim.set_controller(robot, hold({}))
        sim.run(0.5)
        left = sum(c.force[2] for c in sim.contacts if c.body_a.name.endswith("left_leg"))
        yield Check(
            f"left foot, centre of mass {abs(100 * off):g} cm to the "
            f"{'left' if off >= 0 else 'right'}",
            G * (0.5 + 10.0 * (0.15 + off) / 0.3),
            left,
            0.01,
            "N",
        )


@CASES.case(
    "on one foot the ankle carries the weight times its lever", "k q = m g (x cos q + z sin q)"
)
def heron() -> Iterator[Check]:
    """8 kg, 4 cm ahead of an ankle of 10⁴ N·m/rad."""
    ahead, mass, foot, kp = 0.04, 8.0, 1.0, 1e4
    robot = Robot("heron")
    sole = Shape(Box((0.3, 0.2, 0.1)), translation((0, 0, -0.05)), name="sole")
    robot.add_body(
        "foot",
        Joint("root", "floating"),
        None,
        Inertia(foot, np.array([0, 0, -0.05]), 0.01 * np.eye(3)),
        [sole],
    )
    ankle = Joint("ankle", "revolute", axis=(0, 1, 0), motor=Motor(kp=kp, kd=200.0))
    robot.add_body("body", ankle, "foot", Inertia(mass, np.array([ahead, 0, 0.6]), 0.1 * np.eye(3)))
    robot.add_foot(
        "foot",
        "foot",
        [(-0.15, -0.1), (0.15, -0.1), (0.15, 0.1), (-0.15, 0.1)],
        position=(0, 0, -0.1),
    )
    world = World()
    world.add_ground()
    robot = world.add_robot(robot)
    robot.place((0, 0, 0.1))
    sim, seen = Simulator(world), []

    def controller(time: float, measurement: Measurement) -> Command:
        seen.append(measurement)
        return Command(position=0.0, velocity=0.0)

    sim.set_controller(robot, controller)
    sim.run(1.0)
    q = 0.0
    for _ in range(50):
        q = mass * G * (ahead * cos(q) + 0.6 * sin(q)) / kp
    lever = ahead * cos(q) + 0.6 * sin(q)
    yield Check("angle it sags to", q, seen[-1].position[0], 1e-6, "rad")
    yield Check("torque of the ankle", -mass * G * lever, seen[-1].effort[0], 1e-3, "N·m")
    pressure = sim.centre_of_pressure(robot.feet["foot"])
    yield Check(
        "centre of pressure",
        mass * lever / (mass + foot),
        np.nan if pressure is None else pressure[0],
        1e-5,
        "m",
    )


@CASES.case(
    "a piston pushes a block along the floor", "a = (F − μ m g)/(m + m_p), between them F − m_p a"
)
def piston() -> Iterator[Check]:
    """20 N on 2 kg, μ = 0.4, a piston of 1.5 kg."""
    force, mass, rod, mu = 20.0, 2.0, 1.5, 0.4
    robot = Robot("press")
    robot.add_body("stand", Joint("stand", "fixed"))
    tip = Shape(Sphere(0.05), name="tip")
    robot.add_body(
        "piston",
        Joint("slide", "prismatic", translation((-0.25, 0, 0.1)), axis=(1, 0, 0)),
        "stand",
        Inertia(rod),
        [tip],
    )
    world = World()
    world.add_ground(friction=mu)
    box = world.add_box((0.4, 0.4, 0.2), mass, friction=mu, position=(0, 0, 0.1))
    robot = world.add_robot(robot)
    world.set_pair("box", robot.body("piston").shapes[0].material.name, friction=0.0)
    a = (force - mu * mass * G) / (mass + rod)

    def pushed(dt: float) -> Simulator:
        sim = Simulator(world, dt=dt)
        sim.set_controller(robot, lambda time, measurement: Command(effort=force))
        sim.run(0.4)
        return sim

    sim = pushed(1e-3)
    yield Check("speed after 0.4 s", a * 0.4, sim.velocity(box).linear[0], 10 * EXACT)
    between = abs(sum(c.force[0] for c in sim.contacts if abs(c.normal[0]) > 0.9))
    yield Check("force between them", force - rod * a, between, 1e-4 * (force - rod * a), "N")
    yield order(lambda dt: abs(pushed(dt).position(box)[0] - a * 0.4**2 / 2))


LENGTH, BALL, LEG, PLANK = 0.5, 0.05, 1.0, 4.0


def linkage(angle: float) -> tuple[World, Body]:
    """A plank on the round tops of two legs that are hinged to the ground 1 m apart:
    friction closes a parallelogram.
    """
    world = World()
    robot = Robot("legs")
    robot.add_body("base", Joint("base", "fixed"))
    rod = Inertia(
        LEG, np.array([0, 0, LENGTH / 2]), LEG * LENGTH**2 / 12 * np.diag([1.0, 1.0, 1e-3])
    )
    for side, x in (("left", -0.5), ("right", 0.5)):
        for part, y in (("front", -0.1), ("back", 0.1)):
            ball = Shape(Sphere(BALL), translation((0, 0, LENGTH)), name=f"{side}_{part}")
            hinge = Joint(f"{side}_{part}", "revolute", translation((x, y, 0)), axis=(0, 1, 0))
            robot.add_body(f"{side}_{part}_leg", hinge, "base", rod, [ball])
    robot.set_pose({body.joint.name: angle for body in robot.bodies[1:]})
    top = LENGTH * cos(angle) + BALL
    plank = world.add_box(
        (1.6, 0.4, 0.1),
        PLANK,
        friction=1.0,
        position=(LENGTH * sin(angle), 0, top + 0.05),
        name="plank",
    )
    world.add_robot(robot)
    return world, plank


@CASES.case(
    "a four-bar linkage closed by friction",
    "½ I(q) q̇² = (M + 2m) g l (cos q₀ − cos q), I = M (l² + 2lr cos q + r²) + 4/3 m l²",
)
def four_bar() -> Iterator[Check]:
    """A plank of 4 kg on the balls of four legs of 1 kg, let go at 0.2 rad:
    it swings without turning.
    """
    start = 0.2

    def inertia(q: float) -> float:
        return PLANK * (LENGTH**2 + 2 * LENGTH * BALL * cos(q) + BALL**2) + 4 / 3 * LEG * LENGTH**2

    world, plank = linkage(start)

    def swung(dt: float, t: float) -> tuple[Simulator, float, float]:
        sim = Simulator(world, dt=dt)
        sim.run(t)
        k = sim.model.v_index("left_front")
        return sim, float(sim.state.q[sim.model.q_index("left_front")]), float(sim.state.v[k])

    weight = (PLANK + 2 * LEG) * G * LENGTH
    _, _, speed = swung(1e-3, 1e-3)
    yield Check(
        "q̈ at the start", weight * sin(start) / inertia(start), speed / 1e-3, 1e-4, "rad/s²"
    )
    sim, q, speed = swung(1e-3, 0.25)
    energy = weight * (cos(start) - cos(q))
    yield Check(
        "kinetic energy after 0.25 s", energy, 0.5 * inertia(q) * speed**2, 0.01 * energy, "J"
    )
    yield Check("turn of the plank", 0.0, float(np.arcsin(sim.pose(plank).R[2, 0])), 1e-5, "rad")

    def energy_error(dt: float) -> float:
        _, q, speed = swung(dt, 0.25)
        return abs(0.5 * inertia(q) * speed**2 - weight * (cos(start) - cos(q)))

    yield order(energy_error, "order in h of the energy's error")
