"""On what part of its sole a foot stands, for drawing: its face, an edge of it, or a corner.

The points that touch have a convex hull in the plane of the sole. A face is all of it; an edge is
the side of it that the pressure point is nearest to, and a vertex such a corner.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.model.body import convex_outline
from tabi.recording import tracks
from tabi.recording.foot_words import EDGE, NONE, SLIDES, VERTEX
from tabi.recording.recorded import Recorded

Array = NDArray[np.float64]
# points of a recording with a smaller gap touch [m]
CLOSE = 1e-4


@dataclass(frozen=True, eq=False)
class Soles:
    """All feet at one moment.

    Attributes:
        positions (f, 3) [m], rotations (f, 3, 3): X_WF.
        states: places in ``foot_words.STATES``, less than 0 where it is not told.
        margins (f,): distance of the pressure point from the sole's edge [m], NaN without a load.
        lit: corners, in the plane of each foot, of what it stands on [m], shape (k, 2): one point,
            two ends of an edge, a polygon; none in the air.
    """

    positions: Array
    rotations: Array
    states: NDArray[np.int64]
    margins: Array
    lit: list[Array]


def lit(state: int, points: Array, pressure: Array, sole: Array) -> Array:
    """What a foot stands on, in its plane [m].

    Args:
        state: of the foot. points: that touch, shape (n, 2). pressure: its pressure point.
        sole: the outline of it, for a face that bears between its points.
    """
    contact = state % SLIDES if state > NONE else NONE
    if contact == NONE:
        return np.zeros((0, 2))
    hull = _hull(points) if len(points) else sole
    if contact == VERTEX:
        return hull[[int(np.argmin(np.linalg.norm(hull - pressure, axis=1)))]]
    if contact == EDGE:
        return _nearest_side(hull, pressure)
    return hull if len(hull) > 2 else sole


def _hull(points: Array) -> Array:
    """Corners of the convex hull; of points on a line its ends."""
    if len(points) > 2:
        try:
            return convex_outline("sole", points)
        except ModelError:
            pass
    along = points[np.argmax(np.linalg.norm(points - points[0], axis=1))] - points[0]
    at = points @ along
    return points[[int(np.argmin(at)), int(np.argmax(at))]]


def _nearest_side(hull: Array, point: Array) -> Array:
    """The side of a polygon that a point is nearest to, its ends (2, 2)."""
    ends = np.roll(hull, -1, axis=0)
    along = ends - hull
    size = np.maximum((along * along).sum(axis=1), 1e-18)
    part = np.clip(((point - hull) * along).sum(axis=1) / size, 0.0, 1.0)
    far = np.linalg.norm(hull + part[:, None] * along - point, axis=1)
    k = int(np.argmin(far))
    return np.array([hull[k], ends[k]])


def of_row(run: Recorded, row: int, moved: tracks.Motion) -> Soles:
    """The feet in a row of a recording; ``moved``: of this row alone."""
    world = run.world
    origin, R = tracks.foot_frames(world, moved)
    contacts = run.contacts_at(row)
    a, b = (world.link[contacts[side]] for side in ("body_a", "body_b"))
    near = contacts["gap"] < CLOSE
    states, found = run.feet["state"][row].astype(np.int64), []
    for k, body in enumerate(world.feet.body):
        own = near & ((a == body) | (b == body))
        points = ((contacts["point"][own] - origin[k, 0]) @ R[k, 0])[:, :2]
        pressure = run.feet["pressure"][row, k]
        found.append(lit(int(states[k]), points, pressure, world.feet.outlines[k]))
    return Soles(origin[:, 0], R[:, 0], states, run.feet["margin"][row], found)
