"""Contact problems of trees of bodies: links that touch the ground, other things that stand,
or each other.

    Ω_ij = J_i M⁻¹ J_jᵀ,   q = E (ẋ_a − ẋ_b) + (0, 0, gap/h)                                 (1)
J_i: the twist of a link, angular first, about its own origin.
Ω is dense within a tree and singular where a tree's links have more directions than its joints.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabi import dynamics
from tabi.contact import bodies
from tabi.contact.bodies import BodyProblem
from tabi.lab.family.case import STEP
from tabi.lab.family.rigid import frames
from tabi.model.compiled import Model
from tabi.spatial.transform import Transform, cross_matrix

Floats = NDArray[np.float64]


class Touch(NamedTuple):
    """Contact of a link: a point in its frame [m], the normal towards it in the world,
    and what it touches.

    Attributes:
        other: the other link, None for what stands still.
            place: the point in the other link's frame, or in the world [m].
    """

    link: str
    point: Floats
    normal: Floats
    other: str | None = None
    place: Floats | None = None


class Assembly(NamedTuple):
    """The problem in the space of bodies, and J over the joints' velocities,
    shape (3n, v_count).
    """

    problem: BodyProblem
    rows: Floats


def on_ground(link: str, point: Floats) -> Touch:
    """A point of a link that the ground, z = 0, meets."""
    return Touch(link, point, np.array([0.0, 0.0, 1.0]))


def assemble(
    model: Model,
    q: Floats,
    velocity: Floats,
    inverse: NDArray[np.floating],
    touches: list[Touch],
    mu: Floats,
    h: float = STEP,
) -> Assembly:
    """Assemble the problem (1).

    Args:
        velocity: of the joints at the end of a step without contacts, shape (v_count,).
        inverse: M⁻¹, or that of M with what is held implicitly.
        touches: contacts; against what stands still the gap is the height of the point over the
            plane through ``place``, or the ground's.
    """
    links = list(dict.fromkeys(name for t in touches for name in (t.link, t.other) if name))
    number = {name: i for i, name in enumerate(links)}
    J = {name: dynamics.point_jacobian(model, q, name)[[3, 4, 5, 0, 1, 2]] for name in links}
    X = {name: dynamics.pose(model, q, name) for name in links}
    frame = frames(np.array([t.normal for t in touches]))
    matrix, arms, gaps = _kinematics(touches, frame, X, J)
    free = matrix @ velocity
    free[2::3] += gaps / h
    start, column, omega = _coupling(model, links, J, inverse)
    ends = np.array(
        [(number[t.link], number[t.other] if t.other else -1) for t in touches], np.int64
    )
    friction = np.broadcast_to(np.asarray(mu, float), len(touches)).copy()
    p = bodies.problem(
        a=ends[:, 0],
        b=ends[:, 1],
        frame=frame,
        arm_a=arms[0],
        arm_b=arms[1],
        start=start,
        column=column,
        omega=omega,
        q=free,
        mu=friction,
    )
    return Assembly(p, matrix)


def _kinematics(
    touches: list[Touch], frame: Floats, X: dict[str, Transform], J: dict[str, Floats]
) -> tuple[Floats, Floats, Floats]:
    """J of the contacts over the joints' velocities, arms from the links' origins, and gaps [m]."""
    rows, arms, gaps = [], np.zeros((2, len(touches), 3)), np.zeros(len(touches))
    for k, t in enumerate(touches):
        arms[0, k] = X[t.link].R @ t.point
        row, there = _point(arms[0, k], J[t.link]), np.zeros(3)
        if t.other is not None and t.place is not None:
            arms[1, k] = X[t.other].R @ t.place
            row, there = row - _point(arms[1, k], J[t.other]), X[t.other].p + arms[1, k]
        elif t.place is not None:
            there = t.place
        gaps[k] = frame[k, 6:] @ (X[t.link].p + arms[0, k] - there)
        rows.append(frame[k].reshape(3, 3) @ row)
    return np.vstack(rows), arms, gaps


def _point(arm: Floats, J: Floats) -> Floats:
    """Velocity of a point of a link per joint velocity, in the world's axes."""
    return np.hstack([-cross_matrix(arm), np.eye(3)]) @ J


def _coupling(
    model: Model, links: list[str], J: dict[str, Floats], inverse: NDArray[np.floating]
) -> tuple[NDArray, NDArray, Floats]:
    """Ω by rows of links; only links of one tree have a block."""
    root = [int(model.arrays.body["root"][model.link(name).body]) for name in links]
    start, column, omega = [0], [], []
    for i, a in enumerate(links):
        for j, b in enumerate(links):
            if root[i] == root[j]:
                column.append(j)
                omega.append(J[a] @ inverse @ J[b].T)
        start.append(len(column))
    return np.array(start), np.array(column), np.array(omega)
