"""Limbs for a robot whose file has none: capsules between its joints, to fall and lie on where
meshes are missing.

A link without collision shapes gets one capsule from its joint to each joint that it carries; a
link that carries none gets one to the far side of its centre of mass. They are as thick as their
mass is at the density of water, within limits.
"""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
from numpy.typing import NDArray

from tabi.model.body import Body
from tabi.model.robot import Robot
from tabi.model.shape import Capsule, Shape
from tabi.spatial.transform import Transform, z_to

Array = NDArray[np.float64]
# kg/m³; least length, least and greatest radius [m]
DENSITY, MIN_LENGTH_M, MIN_RADIUS_M, MAX_RADIUS_M = 1000.0, 0.03, 0.02, 0.1


def add_limbs(robot: Robot) -> list[Body]:
    """Give capsules to every link that has mass and no collision shape of its own;
    returns these links, and leaves a note.
    """
    carried = _moving_children(robot)
    with_capsules = []
    for body in robot.bodies:
        if body.inertia.mass <= 0 or body.collision_shapes():
            continue
        ends = carried.get(body) or [2 * body.inertia.centre]
        ends = [end for end in ends if np.linalg.norm(end) > MIN_LENGTH_M]
        # what the feet stand on is theirs alone
        if not ends or any(foot.body is body for foot in robot.feet.values()):
            continue
        body.shapes += [
            _capsule(end, body.inertia.mass / len(ends), f"{body.name} {k}")
            for k, end in enumerate(ends)
        ]
        with_capsules.append(body)
    if with_capsules:
        robot.notes.append(
            "stand-in: capsules between joints for the missing shapes of "
            f"{len(with_capsules)} links"
        )
    return with_capsules


def _moving_children(robot: Robot) -> dict[Body, list[Array]]:
    """Return the positions of the child joints of each body and of bodies fixed to it [m]."""
    places: dict[Body, list[Array]] = {}
    for body in robot.bodies[1:]:
        parent, X = body.parent, body.joint.placement
        if body.joint.kind == "fixed" or parent is None:
            continue
        while (
            parent.joint.kind == "fixed" and parent.parent is not None and parent.inertia.mass <= 0
        ):
            parent, X = parent.parent, parent.joint.placement @ X
        places.setdefault(parent, []).append(X.p)
    return places


def _capsule(end: Array, mass: float, name: str) -> Shape:
    """Return a capsule from the origin to ``end``, with its caps inside."""
    length = float(np.linalg.norm(end))
    radius = float(np.clip(sqrt(mass / (DENSITY * pi * length)), MIN_RADIUS_M, MAX_RADIUS_M))
    radius = min(radius, 0.45 * length)
    return Shape(Capsule(radius, length - 2 * radius), Transform(z_to(end), end / 2), name=name)
