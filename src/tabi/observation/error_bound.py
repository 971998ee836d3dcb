"""What errors of velocities mean for forces.

Contacts that move by e_k [m/s] where they should not belong to forces that are off by δF:

    W δλ = δu,   δF = A δλ / h,   |δF| ≤ Σ_k ‖(A W⁺)_k‖ e_k / h                                 (1)
with W = J Ω Jᵀ over the points that press, and A what adds up their forces on a body. A W⁺ is a
mass with its levers: a force is the less certain, the heavier what stands on it, the shorter the
step, and the longer the levers. All points count as sticking, where a velocity changes a force
most. (1) is of first order: of points that go on pressing.
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
# pressing points of one group beyond which W would be too large
MOST = 300
# of W's largest eigenvalue: what is smaller belongs to forces that move nothing
SMALL = 1e-10


class ErrorBound(NamedTuple):
    """How far a step's forces can be from the exact ones.

    Attributes:
        force: the net force of contacts on a body, the largest [N].
        pressure: the centre of pressure of each foot that bears a load [mm].
    """

    force: float
    pressure: dict[str, float]


class JudgedStep(NamedTuple):
    """What the bounds of a step follow from.

    Attributes:
        error: backward error of each three rows [m/s]. dt: the step [s].
        feet: body of the problem, and normal of the sole, of each foot with contacts.
    """

    problem: BodyProblem
    impulse: Array
    error: Array
    dt: float
    feet: dict[str, tuple[int, Array]]


def judged(data: Data, p: BodyProblem, impulse: Array, error: Array) -> JudgedStep:
    """Of a simulation's last step."""
    number = {int(data.problem_body[i]): i for i in range(len(p.start) - 1)}
    feet = {
        name: (number[foot.body], data.frame(foot)[0].R[:, 2])
        for name, foot in data.model.feet.items()
        if foot.body in number
    }
    return JudgedStep(p, impulse, error, data.dt, feet)


def error_bound(step: JudgedStep) -> ErrorBound | None:
    """Bounds of (1); None with more than MOST pressing points in a group."""
    p, error = step.problem, step.error
    presses = (step.impulse.reshape(-1, 3) != 0).any(axis=1) | (error != 0)
    rows = np.flatnonzero(presses)
    W = sparse(p)[np.repeat(presses, 3)][:, np.repeat(presses, 3)]
    if not np.isfinite(W.data).all():
        return ErrorBound(np.nan, {})
    _, group = connected_components(W, directed=False)
    worst, pressure = 0.0, {}
    for g in range(group.max(initial=-1) + 1):
        own = rows[group[::3] == g]
        if len(own) > MOST:
            return None
        block = W[group == g][:, group == g].toarray()
        inverse = np.linalg.pinv(0.5 * (block + block.T), rcond=SMALL, hermitian=True)
        bodies = {int(b) for side in ("a", "b") for b in p.contact[side][own] if b >= 0}
        for body in bodies:
            bound = _amplified(_force(p, own, body), inverse, error[own]) / step.dt
            worst = float(np.maximum(worst, bound))
        for name, (body, normal) in step.feet.items():
            shift = _shift(step, own, body, normal, inverse) if body in bodies else None
            pressure |= {} if shift is None else {name: shift}
    return ErrorBound(worst, pressure)


def _amplified(A: Array, inverse: Array, error: Array) -> float:
    """Σ_k ‖(A W⁺)_k‖ e_k of (1)."""
    blocks = (A @ inverse).reshape(len(A), -1, 3).transpose(1, 0, 2)
    return float(np.linalg.norm(blocks, 2, axis=(1, 2)) @ error)


def _signs(p: BodyProblem, rows: NDArray[np.int64], body: int) -> Array:
    """How each row's force acts on a body: 1, −1 or 0."""
    c = p.contact[rows]
    return (c["a"] == body).astype(float) - (c["b"] == body)


def _force(p: BodyProblem, rows: NDArray[np.int64], body: int) -> Array:
    """A: from impulses of rows to the sum on a body, shape (3, 3n)."""
    c = p.contact[rows]
    signs = _signs(p, rows, body) * (c["angular"] == 0)
    return np.hstack(list(signs[:, None, None] * _frames(p, rows)))


def _frames(p: BodyProblem, rows: NDArray[np.int64]) -> Array:
    """Eᵀ of each row."""
    return p.contact["frame"][rows].reshape(-1, 3, 3).transpose(0, 2, 1)


def _shift(
    step: JudgedStep, rows: NDArray[np.int64], body: int, normal: Array, inverse: Array
) -> float | None:
    """How far moments about the centre of pressure can move it [mm]; None where the load itself is
    lost in its error.
    """
    p, signs, frames = step.problem, _signs(step.problem, rows, body), _frames(step.problem, rows)
    c, moves = p.contact[rows], p.contact["angular"][rows] == 0
    arm = np.where((c["a"] == body)[:, None], c["arm_a"], c["arm_b"])
    impulse = np.einsum("nij,nj->ni", frames, step.impulse.reshape(-1, 3)[rows])
    load = signs * moves * (impulse @ normal)
    total, errors = float(load.sum()), step.error[rows]
    if not total > _amplified(normal[None] @ _force(p, rows, body), inverse, errors):
        return None
    arm = arm - load @ arm / total
    across = np.eye(3) - np.outer(normal, normal)
    turns = [
        sign * across @ (cross_matrix(r) if linear else np.eye(3)) @ E
        for sign, r, linear, E in zip(signs, arm, moves, frames, strict=True)
    ]
    return 1e3 * _amplified(np.hstack(turns), inverse, errors) / total
