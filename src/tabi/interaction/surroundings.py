"""Points of a simulated world near a ball, by its collision functions with one more shape.

The ball is an additional row after the collision shapes of the model, with a fixed position; its
nearest points with each shape are the contact points of a sphere there. Bodies are where the
simulation has them now; soft pads are deformed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.collision import broad, detect
from tabi.collision.arrays import FIELD, PLANE, SPHERE, SURFACE, Collision, compile_collision
from tabi.collision.surfaces import points as surfaces
from tabi.collision.workspace import allocate, point_table
from tabi.dynamics import kinematics
from tabi.dynamics import workspace as dynamics_workspace
from tabi.jit import entry
from tabi.model.arrays import table

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]
MAX_POINTS = 64  # with one shape
NO_TURN = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Near:
    """Point of a shape near the ball.

    Attributes:
        body: moving body, 0 is the world. link: its name.
        point: on the shape [m]. normal: unit, from it to the ball. gap: to the ball's surface [m].
    """

    body: int
    link: str
    point: Array
    normal: Array
    gap: float


class Surroundings:
    """Points near a ball of some radius [m].

    Attributes:
        convex: whether all shapes are convex.
    """

    def __init__(self, sim: Simulator, radius: float) -> None:
        if not 0.0 < radius < np.inf:
            raise ModelError(f"the probe has a radius of {radius} m; expected a finite number > 0")
        model = sim.model
        self.sim, self.radius, self.model = sim, float(radius), model
        self._tables = _with_ball(compile_collision(model), self.radius)
        self._ball = len(model.shapes)
        self._memory, self._points = allocate(self._tables, MAX_POINTS), point_table(MAX_POINTS)
        pose = self._memory.pose
        self._centre, self._low = pose[self._ball]["position"], pose["low"][: self._ball]
        self._high = pose["high"][: self._ball]
        self._kinematics = dynamics_workspace.allocate(model)
        kinds = self._tables.shape["kind"][:-1]
        self._pads = set(np.flatnonzero(kinds == SURFACE).tolist())
        self._planes = kinds == PLANE
        self._bodies = self._tables.shape["body"].tolist()
        self.convex = not self._pads and not (kinds == FIELD).any()
        parts = [(p.shape, p.body, p.placement @ p.pad.nodes, p.pad.triangles) for p in model.pads]
        self._soft = surfaces.surfaces(parts, len(model.shapes) + 1)
        self._nodes, self._where = np.zeros((0, 3)), table(MAX_POINTS, surfaces.NODES)
        self._pair_points = self._place = self._positions = None

    def update(self) -> None:
        """Update the bodies to their poses in the simulation."""
        m, w, q = self.model.arrays, self._kinematics, np.array(self.sim.data.q)
        if self._positions is None:
            self._positions = entry(kinematics.positions, m, q, w)
            self._place = entry(broad.place, m, self._tables, w, 0.0, self._memory)
        self._positions(m, q, w)
        assert self._place is not None
        self._place(m, self._tables, w, 0.0, self._memory)
        if self._pads:
            self._update_pads()

    def _update_pads(self) -> None:
        body, soft = self._kinematics.body, self._soft
        self._nodes, U = np.array(soft.rest), self.sim.data.memory.sole
        for row in soft.row:
            span = slice(int(row["node"]), int(row["node_end"]))
            at = body[row["body"]]
            root = self.model.arrays.body["root"][row["body"]]
            X = at["rotation"].reshape(3, 3)
            self._nodes[span] = (soft.rest[span] + U[span]) @ X.T + at["position"]
            self._nodes[span] += body["origin"][root]

    def near(self, centre: Array, band: float) -> list[Near]:
        """Return all points closer than the band to the ball around a centre [m]."""
        self._centre[:] = centre
        if self._pads:
            row = self._memory.pose[self._ball]
            row["low"], row["high"] = centre - self.radius, centre + self.radius
        r = self.radius + band
        close = ((self._low < centre + r) & (self._high > centre - r)).all(axis=1) | self._planes
        points: list[Near] = []
        for k in np.flatnonzero(close).tolist():
            points += self._pair(k, band)
        return points

    def _pair(self, k: int, band: float) -> list[Near]:
        shapes, ball, points = (self._tables, self._memory), self._ball, self._points
        if k in self._pads:
            pads = (self._soft, self._nodes)
            count = surfaces.surface_points(*shapes, *pads, ball, k, band, points, self._where, 0)
        else:
            args = (*shapes, ball, k, band, NO_TURN, points, 0)
            if self._pair_points is None:
                self._pair_points = entry(detect.pair_points, *args)
            count = self._pair_points(*args)
        if count == 0:
            return []
        p = self._points[: min(count, MAX_POINTS)]
        gaps, normals = p["gap"].copy(), p["normal"].copy()
        points = p["position"] - 0.5 * gaps[:, None] * normals
        body, link = self._bodies[k], self.model.shapes[k].link
        return [
            Near(body, link, x, n, gap)
            for x, n, gap in zip(points, normals, gaps.tolist(), strict=True)
        ]


def _with_ball(tables: Collision, radius: float) -> Collision:
    """Return the tables with one more shape, a ball without a body."""
    shape, fixed = table(len(tables.shape) + 1, tables.shape.dtype), tables.fixed
    shape[:-1] = tables.shape
    ball = shape[-1]
    ball["kind"], ball["radius"], ball["reach"] = SPHERE, radius, radius
    ball["rotation"] = np.eye(3).ravel()
    ball["never"] = ball["never_end"] = len(tables.never)
    poses = table(len(shape), fixed.dtype)
    poses[:-1] = fixed
    poses[-1]["rotation"] = np.eye(3).ravel()
    return tables._replace(shape=shape, fixed=poses)
