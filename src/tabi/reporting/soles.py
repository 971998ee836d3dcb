"""Contact part of a sole, for drawing: its face, an edge of it, or a corner.

The contact points have a convex hull in the plane of the sole. A face is all of it; an edge is its
side nearest to the pressure point, and a vertex its nearest corner.
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
# largest gap of a contact point of a recording [m]
MAX_CONTACT_GAP = 1e-4


@dataclass(frozen=True, eq=False)
class Soles:
    """Soles of all feet at one time.

    Attributes:
        positions (f, 3) [m], rotations (f, 3, 3): X_WF.
        states: index in ``foot_words.STATES``, negative if not recorded.
        margins (f,): distance of the pressure point from the sole's edge [m], NaN without a load.
        lit: corners of the contact part in the plane of each foot [m], shape (k, 2): one point,
            two ends of an edge, a polygon; none in the air.
    """

    positions: Array
    rotations: Array
    states: NDArray[np.int64]
    margins: Array
    lit: list[Array]


def lit(state: int, points: Array, pressure: Array, sole: Array) -> Array:
    """Return the contact part of a sole, in its plane [m].

    Args:
        state: of the foot. points: of contact, shape (n, 2). pressure: its pressure point.
        sole: its outline, for a face with load between its points.
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
    """Return the corners of the convex hull; of points on a line its ends."""
    if len(points) > 2:
        try:
            return convex_outline("sole", points)
        except ModelError:
            pass
    along = points[np.argmax(np.linalg.norm(points - points[0], axis=1))] - points[0]
    at = points @ along
    return points[[int(np.argmin(at)), int(np.argmax(at))]]


def _nearest_side(hull: Array, point: Array) -> Array:
    """Return the side of a polygon nearest to a point, its ends (2, 2)."""
    ends = np.roll(hull, -1, axis=0)
    along = ends - hull
    size = np.maximum((along * along).sum(axis=1), 1e-18)
    part = np.clip(((point - hull) * along).sum(axis=1) / size, 0.0, 1.0)
    far = np.linalg.norm(hull + part[:, None] * along - point, axis=1)
    k = int(np.argmin(far))
    return np.array([hull[k], ends[k]])


def of_row(run: Recorded, row: int, motion: tracks.Motion) -> Soles:
    """Return the soles in a row of a recording; ``motion``: of this row alone."""
    world = run.world
    origin, R = tracks.foot_frames(world, motion)
    contacts = run.contacts_at(row)
    a, b = (world.link[contacts[side]] for side in ("body_a", "body_b"))
    near = contacts["gap"] < MAX_CONTACT_GAP
    states, lit_corners = run.feet["state"][row].astype(np.int64), []
    for k, body in enumerate(world.feet.body):
        touching = near & ((a == body) | (b == body))
        points = ((contacts["point"][touching] - origin[k, 0]) @ R[k, 0])[:, :2]
        pressure = run.feet["pressure"][row, k]
        lit_corners.append(lit(int(states[k]), points, pressure, world.feet.outlines[k]))
    return Soles(origin[:, 0], R[:, 0], states, run.feet["margin"][row], lit_corners)
