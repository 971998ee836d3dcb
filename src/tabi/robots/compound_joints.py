"""Links across hinges whose axes meet: a hip, a shoulder or a wrist is one joint, in two or three
hinges.

Links across one joint never collide; around a hip of three hinges the hulls of pelvis and thigh
touch where the real parts have room for each other, so near to the axes that no torque could part
them. So two or three hinges in a row whose axes pass a point within MAX_AXIS_DISTANCE of the
robot's size count as one joint.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import product

import numpy as np
from numpy.typing import NDArray

from tabi.model.body import Body
from tabi.model.kinematic_tree import KinematicTree

# how far from their point the axes may pass, as a share of the robot's size: 5 cm of 1.5 m
MAX_AXIS_DISTANCE = 1 / 30
MAX_HINGES = 3

Array = NDArray[np.float64]


def pairs_across(robot: KinematicTree) -> set[frozenset[str]]:
    """Names of the bodies on both sides of each such joint."""
    X = robot.placements(robot.at_zero())
    places = np.array([X[body].p for body in robot.bodies])
    within = MAX_AXIS_DISTANCE * float(np.ptp(places, axis=0).max())
    # bodies that are fixed to each other are one link, known by its first body
    link: dict[Body, Body] = {}
    members: dict[Body, list[str]] = defaultdict(list)
    for body in robot.bodies:
        fixed = body.parent is not None and body.joint.kind == "fixed"
        link[body] = link[body.parent] if fixed and body.parent else body
        members[link[body]].append(body.name)
    pairs: set[frozenset[str]] = set()
    for last in members:
        body, points, axes = last, [], []
        while body.parent is not None and body.joint.kind in ("revolute", "continuous"):
            points.append(X[body].p)
            axes.append(X[body].R @ np.asarray(body.joint.axis, float))
            body = link[body.parent]
            if len(axes) > MAX_HINGES or not _meet(np.array(points), np.array(axes), within):
                break
            if len(axes) > 1:
                names = product(members[last], members[body])
                pairs |= {frozenset(pair) for pair in names}
    return pairs


def _meet(points: Array, axes: Array, within: float) -> bool:
    """Whether lines through points pass so near to the point that is nearest to all of them."""
    across = np.eye(3) - np.einsum("ki,kj->kij", axes, axes)
    # a little towards their middle, as parallel lines have no nearest point
    A = across.sum(axis=0) + 1e-9 * np.eye(3)
    b = np.einsum("kij,kj->i", across, points) + 1e-9 * points.mean(axis=0)
    apart = np.einsum("kij,kj->ki", across, np.linalg.solve(A, b) - points)
    return bool(np.linalg.norm(apart, axis=1).max() <= within)
