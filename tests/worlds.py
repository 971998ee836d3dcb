"""Random robots and states for tests: trees of every kind of joint, seeded."""

from pathlib import Path

import numpy as np
from lxml import etree

import tabi
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import from_quaternion

KINDS = (
    "revolute",
    "prismatic",
    "spherical",
    "planar",
    "floating",
    "revolute",
    "continuous",
    "fixed",
)


def random_inertia(rng) -> Inertia:
    """The inertia of a cloud of point masses: physical by construction."""
    points = rng.normal(size=(8, 3)) * 0.2 + rng.normal(size=3) * 0.1
    masses = rng.uniform(0.1, 1.0, 8)
    total = Inertia()
    for point, mass in zip(points, masses, strict=True):
        total = total + Inertia(mass, point, np.zeros((3, 3)))
    return total


def random_robot(
    seed: int, bodies: int = 12, base: str = "floating", kinds=KINDS, armature: bool = True
) -> Robot:
    """A random tree; its planar joints have normal z, as Pinocchio's have."""
    rng = np.random.default_rng(seed)
    robot = Robot(f"random{seed}")
    robot.add_body("base", Joint("base_joint", base), None, random_inertia(rng))
    for i in range(1, bodies):
        kind = kinds[rng.integers(len(kinds))]
        axis = (0.0, 0.0, 1.0) if kind == "planar" else tuple(rng.normal(size=3))
        added = (
            float(rng.uniform(0, 0.2))
            if armature and kind in ("revolute", "continuous", "prismatic")
            else 0.0
        )
        joint = Joint(
            f"joint{i}",
            kind,
            from_quaternion(rng.normal(size=4), rng.normal(size=3) * 0.3),
            axis,
            armature=added,
        )
        robot.add_body(
            f"body{i}", joint, robot.bodies[rng.integers(len(robot.bodies))], random_inertia(rng)
        )
    return robot


def random_state(model, rng, speed: float = 1.0):
    """A configuration anywhere on the manifold, and a velocity."""
    q = tabi.dynamics.integrate(model, model.neutral(), rng.normal(size=model.v_count), 1.0)
    return q, speed * rng.normal(size=model.v_count)


def without_shapes(urdf: Path, folder: Path) -> Path:
    """A copy of a robot's file that names no meshes: reading those takes most of the time."""
    tree = etree.parse(urdf)
    for shape in list(tree.iter("visual", "collision")):
        shape.getparent().remove(shape)
    folder.mkdir(exist_ok=True)
    tree.write(folder / urdf.name)
    return folder / urdf.name


def free_of_mimic(robot: Robot) -> Robot:
    """The robot with every joint on its own, as Pinocchio's aba sees it."""
    for body in robot.bodies:
        body.joint.mimic = None
    return robot


def relative(a, b) -> float:
    """‖a − b‖ / ‖b‖."""
    return float(np.linalg.norm(np.asarray(a) - b) / np.linalg.norm(b))
