"""HRP-2 fallen or falling: on feet, hands, knees, chest, back or side,
3 to 17 points on up to ten bodies.

A random tilted pose is bent until the lowest points of some links lie on the ground and none lies
below it: damped least squares on their heights, over the base's height and tilt and all joints.
Then it gets violent velocities.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from tabi import dynamics
from tabi.contact.bodies import BodyProblem
from tabi.lab.family import holding
from tabi.lab.family.articulated import Touch, assemble, on_ground
from tabi.lab.family.holding import EXPLICIT, IMPLICIT, LIMP, HoldingState
from tabi.lab.family.stances import standing_robot
from tabi.model.body import Body
from tabi.model.compiled import Model
from tabi.model.shape import Box, Capsule, Sphere
from tabi.spatial.transform import Transform, from_rpy

Floats = NDArray[np.float64]

MIN_POINTS, MAX_POINTS, BODIES = 3, 17, 10
BAND = 5e-3  # m: what is nearer to the ground touches it within the step
FLAT = 1e-3  # m: points of a link so little above its lowest are laid down with it
ITERATIONS = 40
DAMPING = 1e-5


class Skin:
    """The points of a robot's links that the ground may meet:
    corners of boxes, centres of the round ends with their radius.
    """

    def __init__(self, bodies: list[Body]) -> None:
        rows = [(b.name, *_points(b)) for b in bodies if b.collision_shapes()]
        self.names = [name for name, _, _ in rows]
        self.points = {name: points for name, points, _ in rows}
        self.radius = {name: radius for name, _, radius in rows}

    def touching(self, X: Transform, name: str) -> tuple[Floats, Floats]:
        """Points of a link that are lowest, in its frame, and their heights."""
        low = self.points[name] - self.radius[name][:, None] * X.R[2]
        return low, low @ X.R[2] + X.p[2]


def _points(body: Body) -> tuple[Floats, Floats]:
    points, radii = [], []
    for shape in body.collision_shapes():
        g = shape.geometry
        if isinstance(g, Box):
            local, radius = g.points(), 0.0
        elif isinstance(g, Capsule):
            local = np.array([(0.0, 0.0, g.length / 2), (0.0, 0.0, -g.length / 2)])
            radius = g.radius
        else:
            assert isinstance(g, Sphere)
            local, radius = np.zeros((1, 3)), g.radius
        points.append(shape.placement @ local)
        radii.append(np.full(len(local), radius))
    return np.concatenate(points), np.concatenate(radii)


@functools.cache
def skin() -> Skin:
    """Return the skin of the standing robot."""
    return Skin(standing_robot()[0].bodies)


def laid_down(model: Model, q: Floats, count: int) -> Floats:
    """The configuration bent until its ``count`` lowest links touch the ground, as far as they can,
    and none lies below it.
    """
    q, dof = q.copy(), model.arrays.dof
    heights = _lowest(model, q)
    q[2] -= min(heights.values())
    bodies = sorted(heights, key=heights.__getitem__)[:count]
    for iteration in range(ITERATIONS):
        if iteration == ITERATIONS // 2:
            # what could not come down by now stays up
            heights = _lowest(model, q)
            bodies = [name for name in bodies if abs(heights[name]) < BAND]
        A, z = _heights(model, q, bodies)
        if len(z) == 0 or np.abs(z).max() < 1e-7:
            break
        q = dynamics.integrate(model, q, _bend(q, A, z, dof["lower"][6:], dof["upper"][6:]), 1.0)
        q[7:] = np.clip(q[7:], dof["lower"][6:], dof["upper"][6:])
    q[2] -= min(_lowest(model, q).values())
    return q


def _lowest(model: Model, q: Floats) -> dict[str, float]:
    """Height of each link's lowest point."""
    return {
        name: float(skin().touching(dynamics.pose(model, q, name), name)[1].min())
        for name in skin().names
    }


def _heights(model: Model, q: Floats, bodies: list[str]) -> tuple[Floats, Floats]:
    """Derivatives by the joints, and heights, of all points below the ground and of the
    lowest of chosen links.
    """
    rows, heights = [], []
    for name in skin().names:
        X = dynamics.pose(model, q, name)
        points, z = skin().touching(X, name)
        near = (z < 0) | ((z < z.min() + FLAT) & (name in bodies))
        if near.any():
            J, r = dynamics.point_jacobian(model, q, name), points[near] @ X.R.T
            # ż of a point: that of the origin, and (ω × r)_z
            rows.append(J[2] + np.outer(r[:, 1], J[3]) - np.outer(r[:, 0], J[4]))
            heights.append(z[near])
    return (
        (np.concatenate(rows), np.concatenate(heights))
        if rows
        else (np.zeros((0, model.v_count)), np.zeros(0))
    )


def _bend(q: Floats, A: Floats, z: Floats, lower: Floats, upper: Floats) -> Floats:
    """The least motion that brings the heights to zero;
    joints that would leave their limits stay.
    """
    free = np.ones(A.shape[1])
    # the base may rise and tilt, not slide or turn
    free[[0, 1, 5]] = 0.0
    step = np.zeros(len(free))
    for _ in range(4):
        B = A * free
        step = np.clip(-B.T @ np.linalg.solve(B @ B.T + DAMPING * np.eye(len(z)), z), -0.2, 0.2)
        goal = q[7:] + step[6:]
        out = ((goal < lower) | (goal > upper)) & (free[6:] > 0)
        if not out.any():
            break
        free[6:][out] = 0.0
    return step


def touches(model: Model, q: Floats) -> list[Touch]:
    """The lowest points, those within the band, at least MIN_POINTS and at most MAX_POINTS,
    on at most ten links.
    """
    candidates = []
    for name in skin().names:
        points, z = skin().touching(dynamics.pose(model, q, name), name)
        candidates += [(float(height), name, k, points[k]) for k, height in enumerate(z)]
    candidates.sort(key=lambda row: row[0])
    selected: list[Touch] = []
    for height, name, _, point in candidates:
        links = {t.link for t in selected}
        if len(selected) == MAX_POINTS or (height > BAND and len(selected) >= MIN_POINTS):
            break
        if name in links or len(links) < BODIES:
            selected.append(on_ground(name, point))
    # link by link, as a simulation would have them
    return sorted(selected, key=lambda t: skin().names.index(t.link))


def fall(rng: np.random.Generator, index: int) -> tuple[BodyProblem, Floats | None]:
    """A fall: limp, or held by its motors; half of them one step after the impact."""
    _, model = standing_robot()
    dof = model.arrays.dof
    q = model.initial()
    # forwards, backwards, sideways, on the knees
    tilt = ((0.0, 1.3), (0.0, -1.3), (1.3, 0.0), (-1.3, 0.3), (0.0, 0.5))[index % 5]
    X = from_rpy(
        [tilt[0] + 0.4 * rng.normal(), tilt[1] + 0.4 * rng.normal(), float(rng.uniform(-3, 3))]
    )
    q[:3], q[3:7] = (0.0, 0.0, 0.4), X.quaternion
    q[7:] = np.clip(q[7:] + 0.4 * rng.normal(size=len(q) - 7), dof["lower"][6:], dof["upper"][6:])
    q = laid_down(model, q, int(rng.integers(3, 12)))
    points = touches(model, q)
    v = rng.normal(size=model.v_count) * 10.0 ** rng.uniform(-1, 0.5)
    v[:3] = 10.0 ** rng.uniform(-1, 0.3) * rng.normal(size=3)
    # downwards, so that half of what touches meets the ground
    resting = assemble(
        model, q, np.zeros(model.v_count), np.eye(model.v_count), points, np.ones(len(points))
    )
    near = resting.problem.q[2::3] < 0.1
    v[2] -= np.median((resting.rows @ v)[2::3][near]) + rng.uniform(0.05, 2.0)
    links = list(dict.fromkeys(t.link for t in points))
    of_link = dict(zip(links, rng.uniform(0.1, 1.0, len(links)), strict=True))
    mu = np.array([of_link[t.link] for t in points])
    how = (LIMP, IMPLICIT, EXPLICIT)[index % 3]
    still, warm = np.zeros(model.v_count), None
    s = HoldingState(q, v, q.copy(), np.zeros(model.v_count))
    if index % 2:
        s, warm = holding.advance(model, s, holding.prepare(model, s, still, how, points, mu))
    return holding.prepare(model, s, still, how, points, mu).problem, warm
