"""Checks on the numbers of a world before anybody simulates it, and whether every joint moves
something.

The readers check too, but a world can be built and edited by hand.

A massless end, or a chain of them, has no inertia against its joint, and its acceleration would be
0/0. Each column is eliminated as the dynamics will do it, with plain matrices at one configuration
in general position; what is singular there is singular everywhere.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError
from tabi.model.arrays import FLOATING, PLANAR, PRISMATIC, REVOLUTE, WELDED, ModelArrays
from tabi.model.body import Body
from tabi.model.joint import Joint
from tabi.spatial.transform import about, cross_matrix

Array = NDArray[np.float64]
# of the earth [m/s²]
GRAVITY = (0.0, 0.0, -9.81)
AXIAL = ("revolute", "continuous", "prismatic", "planar")


# of any planet [m/s²]
MAX_GRAVITY = 1000.0


def checked_gravity(gravity: ArrayLike) -> Array:
    """Gravity as an array of its own, or an error."""
    try:
        g = np.array(gravity, float)
    except (TypeError, ValueError):
        raise ModelError(f"gravity is {gravity!r}; expected three finite numbers in m/s²") from None
    if g.shape != (3,) or not np.isfinite(g).all():
        raise ModelError(f"gravity is {gravity}; expected three finite numbers in m/s²")
    if np.linalg.norm(g) > MAX_GRAVITY:
        raise ModelError(
            f"gravity is {np.linalg.norm(g):g} m/s²; expected at most {MAX_GRAVITY:g}, on Earth "
            "(0, 0, -9.81)"
        )
    return g


def check_body(owner: str, body: Body, file: Path | None) -> None:
    """Refuse numbers that no body or joint can have."""
    owner_name, inertia, X = f"body {body.name!r} of {owner}", body.inertia, body.joint.placement
    vectors = {"centre of mass": inertia.centre, "position": X.p}
    matrices = {"tensor": inertia.tensor, "rotation": X.R}
    for what, array in (vectors | matrices).items():
        expected = (3,) if what in vectors else (3, 3)
        if np.shape(array) != expected:
            raise ModelError(
                f"{owner_name} has a {what} of shape {np.shape(array)}; expected {expected}",
                file,
                body.line,
            )
    if not np.isfinite(
        [inertia.mass, *inertia.centre, *inertia.tensor.ravel(), *X.p, *X.R.ravel()]
    ).all():
        raise ModelError(
            f"{owner_name} has a number that is not finite in its inertia or placement",
            file,
            body.line,
        )
    if inertia.mass < 0:
        raise ModelError(
            f"{owner_name} has mass {inertia.mass:g} kg; expected a number ≥ 0", file, body.line
        )
    # numbers typed with few digits are not meant to be wrong
    if np.abs(inertia.tensor - inertia.tensor.T).max() > 1e-6 * np.abs(inertia.tensor).max():
        raise ModelError(
            f"{owner_name} has a tensor {inertia.tensor.tolist()} that is not symmetric; "
            f"expected the tensor of inertia",
            file,
            body.line,
        )
    if np.abs(X.R @ X.R.T - np.eye(3)).max() > 1e-6 or np.linalg.det(X.R) < 0:
        raise ModelError(
            f"{owner_name} is placed by a matrix that is no rotation, {X.R.tolist()}; "
            f"expected orthonormal axes",
            file,
            body.line,
        )
    try:
        _check_joint(body.joint)
    except ModelError as problem:
        raise ModelError(
            f"joint {body.joint.name!r} of {owner} has {problem}", file, body.joint.line
        ) from None


def _check_joint(joint: Joint) -> None:
    if joint.kind in AXIAL and (
        np.shape(joint.axis) != (3,) or not 1e-12 < float(np.linalg.norm(joint.axis)) < np.inf
    ):
        raise ModelError(f"axis {list(joint.axis)}; expected a direction")
    bounds = {"velocity_limit": joint.velocity_limit, "effort_limit": joint.effort_limit}
    numbers = {
        name: getattr(joint, name) for name in ("armature", "damping", "friction", "stiffness")
    }
    free = {"rest": joint.rest}
    if joint.motor:
        bounds["motor's torque_limit"] = joint.motor.torque_limit
        bounds["motor's no_load_speed"] = joint.motor.no_load_speed
        numbers |= {
            f"motor's {name}": getattr(joint.motor, name) for name in ("rotor_inertia", "kp", "kd")
        }
        free["motor's gear_ratio"] = joint.motor.gear_ratio
    if joint.mimic:
        free |= {"mimic's ratio": joint.mimic.ratio, "mimic's offset": joint.mimic.offset}
    for name, value in (numbers | bounds | free).items():
        if not np.isfinite(value) and not (name in bounds and value == np.inf):
            raise ModelError(f"{name} {value:g}; expected a finite number")
        if name not in free and value < 0:
            raise ModelError(f"{name} {value:g}; expected a number ≥ 0")
    if joint.motor and joint.motor.no_load_speed < np.inf:
        if joint.motor.no_load_speed == 0:
            raise ModelError("motor's no_load_speed 0; expected a speed > 0")
        if joint.stall_effort == np.inf:
            raise ModelError(
                f"motor's no_load_speed {joint.motor.no_load_speed:g} without a torque_limit; "
                f"expected the torque at rest, from which it falls to none at that speed"
            )
    if not joint.lower <= joint.upper:
        raise ModelError(f"limits from {joint.lower:g} to {joint.upper:g}; expected lower ≤ upper")
    if joint.stiffness > 0 and joint.q_count != joint.v_count:
        raise ModelError(
            f"stiffness {joint.stiffness:g} but is {joint.kind}; "
            f"expected springs only on joints without quaternions"
        )
    if np.shape(joint.position) != (joint.q_count,) or not np.isfinite(joint.position).all():
        raise ModelError(
            f"position {np.asarray(joint.position).tolist()}; "
            f"expected {joint.q_count} finite numbers"
        )
    if joint.q_count != joint.v_count and abs(np.linalg.norm(joint.position[-4:]) - 1) > 1e-6:
        raise ModelError(
            f"position {np.asarray(joint.position).tolist()}; expected a quaternion (w, x, y, z) "
            f"of length 1 at its end"
        )


def first_without_inertia(arrays: ModelArrays) -> tuple[int, float] | None:
    """The degree of freedom nearest to the leaves whose articulated inertia is not positive,
    and that inertia.
    """
    body, dof = arrays.body, arrays.dof
    R, p, columns = _general_position(body)
    inertia = np.zeros((len(body), 6, 6))
    for i in range(1, len(body)):
        inertia[i] += _spatial(body[i], R[i], p[i])
    for i in range(len(body) - 1, 0, -1):
        I = inertia[i]
        for k in range(body["v_end"][i] - 1, body["v_start"][i] - 1, -1):
            S = columns[k]
            U = I @ S
            D = S @ U + dof["armature"][k]
            # against the size of the terms it is the difference of
            if not 1e-13 * (np.abs(S) @ np.abs(I) @ np.abs(S)) < D or not D > 0:
                return k, float(D)
            if not dof["prescribed"][k]:
                I = I - np.outer(U, U) / D
        if body["parent"][i]:
            inertia[body["parent"][i]] += I
    return None


def _general_position(body: NDArray[np.void]) -> tuple[Array, Array, Array]:
    """Rotations, positions and motion columns (angular, linear; about the world's origin) with
    every joint a little off zero.
    """
    n = len(body)
    R = np.tile(np.eye(3), (n, 1, 1))
    p = np.zeros((n, 3))
    columns = np.zeros((body["v_end"][-1], 6))
    for i in range(1, n):
        row, k = body[i], body["v_start"][i]
        parent, kind = row["parent"], row["kind"]
        axes = R[parent] @ row["rotation"].reshape(3, 3)
        p[i] = p[parent] + R[parent] @ row["offset"]
        # 0.6180…: turns that do not repeat from joint to joint
        angle = 0.4 * np.sin(1 + 0.618034 * i)
        turn = (
            about((0.36, 0.48, 0.8), angle).R
            if kind not in (REVOLUTE, PLANAR, PRISMATIC)
            else about((0, 0, 1), angle).R
        )
        shifts = {PRISMATIC: [2], PLANAR: [0, 1], FLOATING: [0, 1, 2]}.get(kind, [])
        turns = {PRISMATIC: [], PLANAR: [2], REVOLUTE: [2], WELDED: []}.get(kind, [0, 1, 2])
        if kind == PRISMATIC:
            p[i] += 0.1 * angle * axes[:, 2]
        for axis in shifts:
            columns[k, 3:] = axes[:, axis]
            k += 1
        for axis in turns:
            columns[k] = np.concatenate([axes[:, axis], np.cross(p[i], axes[:, axis])])
            k += 1
        R[i] = axes if kind in (PRISMATIC, WELDED) else axes @ turn
    return R, p, columns


def _spatial(row: np.void, R: Array, p: Array) -> Array:
    """Inertia of a body about the world's origin, 6×6."""
    tensor = np.zeros((3, 3))
    tensor[np.triu_indices(3)] = row["inertia"]
    tensor = tensor + np.triu(tensor, 1).T
    C = cross_matrix(p + R @ row["centre"])
    return np.block(
        [
            [R @ tensor @ R.T - row["mass"] * C @ C, row["mass"] * C],
            [-row["mass"] * C, row["mass"] * np.eye(3)],
        ]
    )
