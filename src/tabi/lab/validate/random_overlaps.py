"""Random worlds whose bodies start up to 2 cm inside each other.

Six kinds in turn: free bodies, trees that float, trees on a fixed base, trees with joints whose
motion is prescribed, closed loops, and bodies with soft pads. Trees have dry friction and ends of
travel in their joints, which some of them start at.
"""

from __future__ import annotations

import numpy as np

from tabi.lab.validate.closed_chains import random_chain
from tabi.lab.validate.random_worlds import (
    random_friction,
    random_geometry,
    random_mass,
    random_quaternion,
    random_tree,
    solid_of,
)
from tabi.model.robot import Robot
from tabi.model.shape import Box
from tabi.model.world import World
from tabi.soles import Layer
from tabi.spatial import inertia
from tabi.spatial.transform import from_quaternion

FREE, FLOATING, FIXED, PRESCRIBED, LOOP, PAD = (
    "free",
    "floating",
    "fixed",
    "prescribed",
    "loop",
    "pad",
)
KINDS = (FREE, FLOATING, FIXED, PRESCRIBED, LOOP, PAD)
MAX_DEPTH = 0.02  # m


def random_overlap(seed: int) -> tuple[World, str]:
    """The world of a seed, and its kind."""
    rng = np.random.default_rng([seed, 83])
    world, kind, depth = World(), KINDS[seed % len(KINDS)], float(rng.uniform(5e-4, MAX_DEPTH))
    world.add_ground(friction=random_friction(rng))
    if kind == FREE:
        _add_stack(world, rng, int(rng.integers(1, 5)), -depth)
    elif kind == PAD:
        _add_padded(world, rng, depth)
    elif kind == LOOP:
        robot = random_chain(12 * int(rng.integers(1000)) + 1)[0]
        _sink(world, robot, rng, depth, is_rotated=False)
    else:
        robot = random_tree("tree", rng, "floating" if kind == FLOATING else "fixed")
        _limit(robot, rng, kind == PRESCRIBED)
        top = _sink(world, robot, rng, depth, is_rotated=True)
        if rng.random() < 0.5:
            _add_stack(world, rng, 1, top - depth)
    return world, kind


def _sink(
    world: World, robot: Robot, rng: np.random.Generator, depth: float, is_rotated: bool
) -> float:
    """Add a robot, its lowest point so deep in the ground; returns how high it reaches [m]."""
    quaternion = random_quaternion(rng) if is_rotated else (1.0, 0.0, 0.0, 0.0)
    robot.place((0.0, 0.0, 0.0), quaternion)
    low, high = robot.extent((0.0, 0.0, -1.0)), robot.extent((0.0, 0.0, 1.0))
    robot.place((0.0, 0.0, low - depth), quaternion)
    world.add_robot(robot)
    return high + low - depth


def _limit(robot: Robot, rng: np.random.Generator, prescribed: bool) -> None:
    """Ends of travel and dry friction instead of motors and springs; some joints start at an end,
    and some are prescribed to stay where they are.
    """
    for body in robot.bodies[1:]:
        joint = body.joint
        joint.motor, joint.stiffness = None, 0.0
        joint.friction = float(rng.choice([0.0, 0.1, 2.0]))
        joint.prescribed = prescribed and bool(rng.random() < 0.5)
        if joint.v_count == 1:
            size = 0.05 if joint.kind == "prismatic" else 1.0
            joint.lower = -size * float(rng.choice([0.0, rng.random()]))
            joint.upper = size * float(rng.choice([0.0, rng.random()]))


def _add_stack(world: World, rng: np.random.Generator, count: int, height: float) -> None:
    """Free bodies one above the other, each a little inside the one below; the first one begins
    at a height [m].
    """
    for k in range(count):
        geometry, quaternion = random_geometry(rng), random_quaternion(rng)
        body = world.add_object(
            geometry,
            solid_of(geometry, random_mass(rng)),
            quaternion=quaternion,
            friction=random_friction(rng),
            name=f"thing{k}",
        )
        up = from_quaternion(quaternion).R.T @ (0.0, 0.0, 1.0)
        low, high = (body.shapes[0].support(d) for d in (-up, up))
        body.joint.position[:3] = (*rng.uniform(-0.02, 0.02, 2), height + low)
        height += low + high - float(rng.uniform(0.0, MAX_DEPTH))


def _add_padded(world: World, rng: np.random.Generator, depth: float) -> None:
    """A box on a soft pad, in the ground or in a box below it."""
    low = -depth
    if rng.random() < 0.5:
        world.add_box((0.4, 0.4, 0.1), 20.0, position=(0.0, 0.0, 0.05), name="bench")
        low += 0.1
    size = rng.uniform(0.08, 0.25, 3)
    mass = random_mass(rng)
    thickness = float(rng.uniform(0.005, 0.03))
    layer = Layer(
        thickness, float(10 ** rng.uniform(5.5, 7.0)), 0.4, viscosity=float(rng.choice([0.0, 0.01]))
    )
    body = world.add_object(
        Box(tuple(size)),
        inertia.solid_box(mass, size),
        (0.0, 0.0, low + thickness + 0.5 * size[2]),
        name="block",
    )
    body.add_pad("-z", [layer], element_size=0.04)
