"""Poses of robots with closed loops: joints without motors are moved to close the bonds.

A pose names some joints. Rods and springs of a loop follow: of all positions x
of those joints, by the method of Levenberg and Marquardt,

    min ‖e(x)‖²,   e: how far the places of the bonds are apart, and turned times LEVER         (1)
First with the joints that the pose does not name; where these cannot close the loops, with all in
the loops that have no motor.

Reference: Nocedal and Wright (2006), Numerical Optimization, sec. 10.3.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tabi.model.body import Body, Closure
from tabi.spatial.transform import Transform, from_quaternion

if TYPE_CHECKING:
    from tabi.model.kinematic_tree import KinematicTree

Array = NDArray[np.float64]
Positions = dict[Body, Array]
# m: what a turn of a radian counts as; bonds that are open by less are closed
LEVER, CLOSED_TOLERANCE = 0.1, 1e-10
# step of differences [rad or m], and how many steps of the search there are at most
NUDGE, MAX_ITERATIONS = 1e-7, 200


def close(robot: KinematicTree, positions: Positions, named: Collection[str]) -> Positions:
    """Positions of all joints with which the robot's bonds are closed, or as nearly as its joints
    can; as they are given where nothing is open.

    Args:
        named: joints that stay where they are if the others can close the loops.
    """
    best, least = positions, _size(robot, positions)
    if not robot.bonds or least < CLOSED_TOLERANCE:
        return positions
    inside = in_loops(robot)
    unnamed = [body for body in inside if body.joint.name not in named and not body.joint.motor]
    passive = [body for body in inside if not body.joint.motor]
    for bodies in (unnamed, passive):
        result = _search(robot, positions, bodies)
        size = _size(robot, result)
        if size < least:
            best, least = result, size
        if least < CLOSED_TOLERANCE:
            break
    return best


def in_loops(robot: KinematicTree) -> list[Body]:
    """Bodies whose joints move the ends of some bond against each other."""
    return [body for body in robot.bodies if any(_moves(body, bond) for bond in robot.bonds)]


def _moves(body: Body, bond: Closure) -> bool:
    """Whether the joint of a body moves one end of a bond against the other."""
    if body.joint.v_count == 0 or body.joint.kind == "floating":
        return False
    paths = []
    for end in (bond.a, bond.b):
        path: list[Body] = []
        while end is not None:
            path.append(end)
            end = end.parent
        paths.append(path)
    return (body in paths[0]) != (body in paths[1])


def _error(robot: KinematicTree, positions: Positions) -> Array:
    """Return e of (1) [m]."""
    X, parts = robot.placements(positions), []
    for bond in robot.bonds:
        A = X[bond.a] @ bond.place_a
        B = bond.place_b if bond.b is None else X[bond.b] @ bond.place_b
        parts.append(A.p - B.p)
        if bond.kind == "hinge":
            parts.append(LEVER * np.cross(B.R[:, 2], A.R[:, 2]))
        elif bond.kind == "weld":
            R = A.R @ B.R.T
            parts.append(
                0.5 * LEVER * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
            )
    return np.concatenate(parts) if parts else np.zeros(0)


def _size(robot: KinematicTree, positions: Positions) -> float:
    return float(np.abs(_error(robot, positions)).max(initial=0.0))


def _displaced(positions: Positions, bodies: list[Body], x: Array) -> Positions:
    """Positions with a small motion of some joints, which stop at the ends of their travel."""
    out, at = dict(positions), 0
    for body in bodies:
        joint, q = body.joint, positions[body]
        d = x[at : at + joint.v_count]
        at += joint.v_count
        if joint.kind == "spherical":
            turn = from_quaternion([1.0, *(0.5 * d)])
            out[body] = Transform(from_quaternion(q).R @ turn.R, np.zeros(3)).quaternion
        else:
            low, high = min(joint.lower, float(q[0])), max(joint.upper, float(q[0]))
            out[body] = np.clip(q + d, low, high)
    return out


def _search(robot: KinematicTree, positions: Positions, bodies: list[Body]) -> Positions:
    """The nearest positions that (1) finds by moving some bodies' joints."""
    count, damping = sum(body.joint.v_count for body in bodies), 1e-3
    error = _error(robot, positions)
    for _ in range(MAX_ITERATIONS if count else 0):
        J = np.empty((len(error), count))
        for k in range(count):
            near = _displaced(positions, bodies, NUDGE * np.eye(count)[k])
            J[:, k] = (_error(robot, near) - error) / NUDGE
        step = np.linalg.solve(J.T @ J + damping * np.eye(count), -J.T @ error)
        trial = _displaced(positions, bodies, np.asarray(step, np.float64))
        new = _error(robot, trial)
        if new @ new < error @ error:
            positions, error, damping = trial, new, max(0.1 * damping, 1e-12)
        else:
            damping *= 10.0
        if np.abs(error).max() < 0.1 * CLOSED_TOLERANCE or damping > 1e6:
            break
    return positions
