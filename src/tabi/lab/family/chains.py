"""Arms bolted to the world, with few joints:
trees whose Ω is singular, touching walls, each other and a loose box.

An arm of k joints can move its links in k ways, while each of them has six numbers in Ω. To have a
solution whatever the friction, a problem needs a motion that opens all its contacts, steeper than
the cones are wide; so a motion d is drawn first, and every normal is laid near the relative
velocity w of its two points under d:

    n ∝ w/‖w‖ + t,   t ⊥ w,   ‖t‖ < 1/μ                                                      (1)
The arms come from there: they move along −d.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import tabi
from tabi import dynamics
from tabi.contact.bodies import BodyProblem
from tabi.lab.family.articulated import Touch, assemble, on_ground
from tabi.lab.family.case import STEP
from tabi.model.compiled import Model
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.spatial import inertia
from tabi.spatial.transform import translation

Floats = NDArray[np.float64]

LENGTH, RADIUS = 0.3, 0.04  # m, of a link
BOX = np.array([0.3, 0.2, 0.2])  # m


def arm(name: str, joints: int, place: Floats, rng: np.random.Generator) -> Robot:
    """A chain of capsules, each on a hinge at the end of the one before;
    the first one on the world.
    """
    robot = Robot(name)
    robot.add_body(f"{name} base", Joint(f"{name} bolt", "fixed", translation(place)))
    for k in range(joints):
        axis = rng.normal(size=3)
        joint = Joint(
            f"{name} hinge {k}",
            "revolute",
            translation((0.0, 0.0, LENGTH if k else 0.0)),
            list(axis / np.linalg.norm(axis)),
        )
        joint.position = rng.uniform(-1, 1, 1)
        mass = inertia.solid_capsule(float(rng.uniform(0.5, 5.0)), RADIUS, LENGTH).transformed(
            translation((0.0, 0.0, LENGTH / 2))
        )
        robot.add_body(
            f"{name} link {k}", joint, f"{name} link {k - 1}" if k else f"{name} base", mass
        )
    return robot


def cell(rng: np.random.Generator) -> tuple[Model, list[str]]:
    """One to four arms around a box on the ground, and the names of their links."""
    world, links = tabi.World(), []
    for k in range(int(rng.integers(1, 5))):
        joints = int(rng.integers(1, 5))
        angle = 2 * np.pi * k / 4
        world.add_robot(
            arm(f"arm {k}", joints, np.array([0.6 * np.cos(angle), 0.6 * np.sin(angle), 0.5]), rng)
        )
        links += [f"arm {k} link {j}" for j in range(joints)]
    world.add_box(
        (float(BOX[0]), float(BOX[1]), float(BOX[2])),
        mass=float(rng.uniform(1, 20)),
        position=(0.0, 0.0, BOX[2] / 2),
        name="box",
    )
    return world.compile(), links


def chain(rng: np.random.Generator, index: int) -> BodyProblem:
    """Arms that push: each link against a wall, a link of any arm, or the box;
    one in two with the box on the ground.
    """
    model, links = cell(rng)
    q, mu = model.initial(), float(rng.uniform(0.1, 1.0))
    out = rng.normal(size=model.v_count)
    out[model.v_index("box") :] = (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    touches = (
        [on_ground("box", BOX / 2 * (x, y, -1)) for x in (-1, 1) for y in (-1, 1)]
        if index % 2
        else []
    )
    partners = [None, None, *links, "box"]
    for _ in range(int(rng.integers(1, 4 * len(links)))):
        touch = _touch(
            model,
            q,
            out,
            links[rng.integers(len(links))],
            partners[rng.integers(len(partners))],
            mu,
            rng,
        )
        if touch is not None:
            touches.append(touch)
    if not touches:
        touches = [on_ground("box", BOX / 2 * (-1, -1, -1))]
    v = 10.0 ** rng.uniform(-2, 0) * (0.3 * rng.normal(size=model.v_count) - out)
    still = np.zeros(model.v_count)
    tau = dynamics.inverse_dynamics(model, q, still, still) + 5.0 * rng.normal(size=model.v_count)
    tau[model.v_index("box") :] = 0.0
    free = v + STEP * dynamics.forward_dynamics(model, q, v, tau)
    return assemble(
        model,
        q,
        free,
        np.linalg.inv(dynamics.mass_matrix(model, q)),
        touches,
        np.full(len(touches), mu),
    ).problem


def _touch(
    model: Model,
    q: Floats,
    out: Floats,
    link: str,
    other: str | None,
    mu: float,
    rng: np.random.Generator,
) -> Touch | None:
    """A contact of a link at any place of its surface, by (1);
    None where ``out`` hardly parts the two.
    """
    angle = rng.uniform(0, 2 * np.pi)
    point = np.array([RADIUS * np.cos(angle), RADIUS * np.sin(angle), rng.uniform(0, LENGTH)])
    X = dynamics.pose(model, q, link)
    place = X @ point
    parting = _velocity(model, q, out, link, place) - (
        0.0 if other is None else _velocity(model, q, out, other, place)
    )
    speed = np.linalg.norm(parting)
    if other == link or speed < 0.05:
        return None
    tilt = np.cross(parting / speed, rng.normal(size=3))
    tilt *= rng.uniform(0.1, 0.8) / mu / np.linalg.norm(tilt)
    normal = parting / speed + tilt
    gap = 10.0 ** rng.uniform(-8, -5) * rng.normal() * normal / np.linalg.norm(normal)
    there = (
        place - gap if other is None else dynamics.pose(model, q, other).inverse() @ (place - gap)
    )
    return Touch(link, point, normal, other, there)


def _velocity(model: Model, q: Floats, v: Floats, link: str, place: Floats) -> Floats:
    """Velocity of the link's point at a place of the world."""
    twist = dynamics.velocity(model, q, v, link)
    return twist.linear + np.cross(twist.angular, place - dynamics.pose(model, q, link).p)
