"""Whether every joint moves something: a check on the numbers of a world before anybody simulates it.

A massless end, or a chain of them, has no inertia against its joint, and its acceleration would be 0/0. Each column
is eliminated as the dynamics will do it, with plain matrices at one configuration in general position; what is
singular there is singular everywhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.model.arrays import FLOATING, PLANAR, PRISMATIC, REVOLUTE, ModelArrays
from tabi.spatial.transform import about, cross_matrix

Array = NDArray[np.float64]


def first_without_inertia(arrays: ModelArrays) -> tuple[int, float] | None:
    """The degree of freedom nearest to the leaves whose articulated inertia is not positive, and that inertia."""
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
    """Rotations, positions and motion columns (angular, linear; about the world's origin) with every joint a little off zero."""
    n = len(body)
    R, p, columns = np.tile(np.eye(3), (n, 1, 1)), np.zeros((n, 3)), np.zeros((body["v_end"][-1], 6))
    for i in range(1, n):
        row, k = body[i], body["v_start"][i]
        parent, kind = row["parent"], row["kind"]
        axes = R[parent] @ row["rotation"].reshape(3, 3)
        p[i] = p[parent] + R[parent] @ row["offset"]
        # 0.6180…: turns that do not repeat from joint to joint
        angle = 0.4 * np.sin(1 + 0.618034 * i)
        turn = about((0.36, 0.48, 0.8), angle).R if kind not in (REVOLUTE, PLANAR, PRISMATIC) else about((0, 0, 1), angle).R
        shifts = {PRISMATIC: [2], PLANAR: [0, 1], FLOATING: [0, 1, 2]}.get(kind, [])
        turns = {PRISMATIC: [], PLANAR: [2], REVOLUTE: [2]}.get(kind, [0, 1, 2])
        if kind == PRISMATIC:
            p[i] += 0.1 * angle * axes[:, 2]
        for axis in shifts:
            columns[k, 3:] = axes[:, axis]
            k += 1
        for axis in turns:
            columns[k] = np.concatenate([axes[:, axis], np.cross(p[i], axes[:, axis])])
            k += 1
        R[i] = axes if kind == PRISMATIC else axes @ turn
    return R, p, columns


def _spatial(row: np.void, R: Array, p: Array) -> Array:
    """Inertia of a body about the world's origin, 6×6."""
    tensor = np.zeros((3, 3))
    tensor[np.triu_indices(3)] = row["inertia"]
    tensor = tensor + np.triu(tensor, 1).T
    C = cross_matrix(p + R @ row["centre"])
    return np.block([[R @ tensor @ R.T - row["mass"] * C @ C, row["mass"] * C], [-row["mass"] * C, row["mass"] * np.eye(3)]])
