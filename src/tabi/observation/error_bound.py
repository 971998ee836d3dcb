"""Bounds of the errors of forces, from the backward errors of velocities.

Backward errors e_k [m/s] of contacts correspond to errors δF of forces:

    W δλ = δu,   δF = A δλ / h,   |δF| ≤ Σ_k ‖(A W⁺)_k‖ e_k / h                                 (1)
with W = J Ω Jᵀ over the points that press, and A the sum of their forces on a body. A W⁺ is a
mass with its levers: the bound grows with the mass that rests on the contacts, with shorter steps
and longer levers. All points count as sticking, where a velocity changes a force most. (1) is of
first order: for points that continue to press.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from tabi.contact.bodies import BodyProblem
from tabi.contact.matrix_form import sparse
from tabi.spatial.transform import cross_matrix
from tabi.step.data import Data

Array = NDArray[np.float64]
# largest number of pressing points in one group, as W grows with its square
MAX_PRESSING_POINTS = 300
# share of W's largest eigenvalue below which eigenvalues belong to forces that move nothing
RANK_TOLERANCE = 1e-10


class ErrorBound(NamedTuple):
    """Bounds of the errors of a step's forces.

    Attributes:
        force: of the net contact force on a body, the largest [N].
        pressure: of the centre of pressure of each loaded foot [mm].
    """

    force: float
    pressure: dict[str, float]


class StepErrors(NamedTuple):
    """Problem, impulses and backward errors of a step, from which the bounds follow.

    Attributes:
        error: backward error of each three rows [m/s]. dt: the step [s].
        feet: body of the problem, and normal of the sole, of each foot with contacts.
    """

    problem: BodyProblem
    impulse: Array
    error: Array
    dt: float
    feet: dict[str, tuple[int, Array]]


def step_errors(data: Data, p: BodyProblem, impulse: Array, error: Array) -> StepErrors:
    """Return problem, impulses and errors of a simulation's last step."""
    number = {int(data.problem_body[i]): i for i in range(len(p.start) - 1)}
    feet = {
        name: (number[foot.body], data.frame(foot)[0].R[:, 2])
        for name, foot in data.model.feet.items()
        if foot.body in number
    }
    return StepErrors(p, impulse, error, data.dt, feet)


def error_bound(step: StepErrors) -> ErrorBound | None:
    """Return the bounds by (1); None with more than MAX_PRESSING_POINTS in a group."""
    p, error = step.problem, step.error
    presses = (step.impulse.reshape(-1, 3) != 0).any(axis=1) | (error != 0)
    rows = np.flatnonzero(presses)
    W = sparse(p)[np.repeat(presses, 3)][:, np.repeat(presses, 3)]
    if not np.isfinite(W.data).all():
        return ErrorBound(np.nan, {})
    _, group = connected_components(W, directed=False)
    worst, pressure = 0.0, {}
    for g in range(group.max(initial=-1) + 1):
        group_rows = rows[group[::3] == g]
        if len(group_rows) > MAX_PRESSING_POINTS:
            return None
        block = W[group == g][:, group == g].toarray()
        inverse = np.linalg.pinv(0.5 * (block + block.T), rcond=RANK_TOLERANCE, hermitian=True)
        bodies = {int(b) for side in ("a", "b") for b in p.contact[side][group_rows] if b >= 0}
        for body in bodies:
            bound = (
                _force_bound(_sum_matrix(p, group_rows, body), inverse, error[group_rows]) / step.dt
            )
            worst = float(np.maximum(worst, bound))
        for name, (body, normal) in step.feet.items():
            shift = (
                _pressure_bound(step, group_rows, body, normal, inverse) if body in bodies else None
            )
            pressure |= {} if shift is None else {name: shift}
    return ErrorBound(worst, pressure)


def _force_bound(A: Array, inverse: Array, error: Array) -> float:
    """Return Σ_k ‖(A W⁺)_k‖ e_k of (1)."""
    blocks = (A @ inverse).reshape(len(A), -1, 3).transpose(1, 0, 2)
    return float(np.linalg.norm(blocks, 2, axis=(1, 2)) @ error)


def _signs(p: BodyProblem, rows: NDArray[np.int64], body: int) -> Array:
    """Return the sign of each row's force on a body: 1, −1 or 0."""
    c = p.contact[rows]
    return (c["a"] == body).astype(float) - (c["b"] == body)


def _sum_matrix(p: BodyProblem, rows: NDArray[np.int64], body: int) -> Array:
    """Return A, from impulses of rows to their sum on a body, shape (3, 3n)."""
    c = p.contact[rows]
    signs = _signs(p, rows, body) * (c["angular"] == 0)
    return np.hstack(list(signs[:, None, None] * _frames(p, rows)))


def _frames(p: BodyProblem, rows: NDArray[np.int64]) -> Array:
    """Return Eᵀ of each row."""
    return p.contact["frame"][rows].reshape(-1, 3, 3).transpose(0, 2, 1)


def _pressure_bound(
    step: StepErrors, rows: NDArray[np.int64], body: int, normal: Array, inverse: Array
) -> float | None:
    """Return the bound of the shift of the centre of pressure by moments [mm]; None if the load is
    smaller than its own error.
    """
    p, signs, frames = step.problem, _signs(step.problem, rows, body), _frames(step.problem, rows)
    c, moves = p.contact[rows], p.contact["angular"][rows] == 0
    arm = np.where((c["a"] == body)[:, None], c["arm_a"], c["arm_b"])
    impulse = np.einsum("nij,nj->ni", frames, step.impulse.reshape(-1, 3)[rows])
    load = signs * moves * (impulse @ normal)
    total, errors = float(load.sum()), step.error[rows]
    if not total > _force_bound(normal[None] @ _sum_matrix(p, rows, body), inverse, errors):
        return None
    arm = arm - load @ arm / total
    across = np.eye(3) - np.outer(normal, normal)
    turns = [
        sign * across @ (cross_matrix(r) if linear else np.eye(3)) @ E
        for sign, r, linear, E in zip(signs, arm, moves, frames, strict=True)
    ]
    return 1e3 * _force_bound(np.hstack(turns), inverse, errors) / total
