"""A recording as pictures need it: some rows of it, with places of bodies,
arrows of forces and marks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.recording import tracks
from tabi.recording.foot_history import FootEvent
from tabi.recording.look import Piece
from tabi.recording.recorded import Recorded, RecordingError

Array = NDArray[np.float64]
ARROW = 1.5e-3  # metres of an arrow per newton, of a humanoid's forces
WEIGHT = 0.2  # m of an arrow, for the weight of a usual thing where there is no robot


def arrow_scale(robots: bool, weights: list[float] | Array) -> float:
    """Metres of an arrow per newton, so that one can read a humanoid's forces, and those of toys;
    weights: of what moves [N].
    """
    usual = float(np.median(weights)) if np.size(weights) else 0.0
    return ARROW if robots or not usual > 0 else WEIGHT / usual


@dataclass(frozen=True, eq=False)
class Frames:
    """Moments of a run, b moving bodies (0 is the world).

    Attributes:
        time: shape (n,) [s]. row: of the recording.
            position (n, b, 3) [m], quaternion (n, b, 4): w, x, y, z of each body.
        arrow_count: pressing contacts of each moment; point [m] and force on the upper body [N]:
            of all moments in turn, shape (k, 3). arrow: their scale [m/N].
        centre_of_mass, zmp: of each robot (n, robots, 3) [m].
            pressure: its centre under each foot, in the world (n, feet, 3) [m]; NaN without load.
    """

    time: Array
    row: NDArray[np.int64]
    position: Array
    quaternion: Array
    arrow_count: NDArray[np.int64]
    point: Array
    force: Array
    centre_of_mass: Array
    zmp: Array
    pressure: Array
    arrow: float = ARROW

    @property
    def along(self) -> Array:
        """How far the first robot has gone along the ground, and a camera with it [m],
        shape (n, 3); nowhere without one.
        """
        centre = (
            self.centre_of_mass[:, 0]
            if self.centre_of_mass.shape[1]
            else np.zeros((len(self.time), 3))
        )
        return (centre - centre[0]) * (1.0, 1.0, 0.0)

    def arrows(self, k: int) -> tuple[Array, Array]:
        """Points and forces of one moment."""
        start = int(self.arrow_count[:k].sum())
        some = slice(start, start + int(self.arrow_count[k]))
        return self.point[some], self.force[some]


def rows(
    run: Recorded, rate: float | None = None, start: float | None = None, end: float | None = None
) -> NDArray[np.int64]:
    """Rows between two times [s], about ``rate`` a second; all of them unless given."""
    chosen = np.flatnonzero(
        (run.time >= (-np.inf if start is None else start))
        & (run.time <= (np.inf if end is None else end))
    )
    if len(chosen) == 0:
        first, last = (run.time[0], run.time[-1]) if len(run.time) else (0.0, 0.0)
        asked = (
            f"{'the start' if start is None else f'{start:g}'} and "
            f"{'the end' if end is None else f'{end:g} s'}"
        )
        raise RecordingError(
            f"no row lies between {asked}; the recording goes from {first:g} to {last:g} s in "
            f"{len(run.time)} rows"
        )
    if rate is not None and len(chosen) > 1:
        between = float(np.median(np.abs(np.diff(run.time[chosen])))) or run.dt
        thin = chosen[:: max(1, round(1 / (rate * between)))]
        # the end is worth seeing
        chosen = thin if thin[-1] == chosen[-1] else np.append(thin, chosen[-1])
    return chosen


def frames(run: Recorded, chosen: NDArray[np.int64]) -> Frames:
    """Everything that is drawn in some rows, in their order."""
    world = run.world
    moved = tracks.motion(world, run.q[chosen])
    index = contact_rows(run, chosen)
    pressing = run.contacts["status"][index] > 0
    owner = np.repeat(np.arange(len(chosen)), run.contact_count[chosen])
    # of action and reaction the one on the upper body: the other would point into the ground
    side = np.where(run.contacts["normal"][index][pressing, 2:] < 0, -1.0, 1.0)
    origin, R = tracks.foot_frames(world, moved)
    # a foot that hardly touches has its pressure anywhere
    flat = _near(run.feet["pressure"][chosen], 0.0)
    centre = run.robots["centre_of_mass"][chosen]
    pressure = np.moveaxis(origin, 0, 1) + np.einsum("fnij,nfj->nfi", R[..., :2], flat)
    return Frames(
        time=run.time[chosen],
        row=chosen,
        position=np.moveaxis(moved.position, 0, 1),
        quaternion=quaternions(np.moveaxis(moved.rotation, 0, 1)),
        arrow_count=np.bincount(owner[pressing], minlength=len(chosen)),
        point=run.contacts["point"][index][pressing],
        force=side * run.contacts["force"][index][pressing],
        centre_of_mass=centre,
        zmp=_near(run.robots["zmp"][chosen], centre),
        pressure=pressure,
        arrow=arrow_scale(
            bool(world.robot_names), world.body["mass"][1:] * float(np.linalg.norm(world.gravity))
        ),
    )


def _near(places: Array, centre: Any, reach: float = 10.0) -> Array:
    """Places within a reach [m] of another, NaN for the others."""
    return np.where((np.abs(places - centre) < reach).all(axis=-1, keepdims=True), places, np.nan)


def contact_rows(run: Recorded, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the contacts of some rows are among all contacts."""
    n, ends = run.contact_count[chosen], np.cumsum(run.contact_count)[chosen]
    return np.repeat(ends - np.cumsum(n), n) + np.arange(int(n.sum()))


def foot_events(run: Recorded, chosen: NDArray[np.int64]) -> list[FootEvent]:
    """Changes of feet from the first to the last of some rows; all of them where these are the
    ends of the recording.
    """
    first, last = int(chosen.min()), int(chosen.max())
    low = float(run.time[first]) if first > 0 else -np.inf
    high = float(run.time[last]) if last < len(run.time) - 1 else np.inf
    # times of rows have the dust of their sums
    return [event for event in run.foot_events if low - 1e-9 <= event.time <= high + 1e-9]


def quaternions(R: Array) -> Array:
    """Unit quaternions (w, x, y, z) of rotations, shape (…, 3, 3) → (…, 4),
    from their largest part each.
    """
    xx, yy, zz = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    squares = np.stack(
        [1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz], axis=-1
    )
    a, b, c = R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]
    d, e, f = R[..., 0, 1] + R[..., 1, 0], R[..., 0, 2] + R[..., 2, 0], R[..., 1, 2] + R[..., 2, 1]
    rows = [
        [squares[..., 0], a, b, c],
        [a, squares[..., 1], d, e],
        [b, d, squares[..., 2], f],
        [c, e, f, squares[..., 3]],
    ]
    table = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    best = np.argmax(squares, axis=-1)[..., None, None]
    q = np.take_along_axis(table, best, axis=-2)[..., 0, :]
    q = q / np.maximum(np.linalg.norm(q, axis=-1, keepdims=True), 1e-300)
    return np.where(q[..., :1] < 0, -q, q)


def bounds(found: Frames, pieces: list[Piece]) -> tuple[Array, float]:
    """Centre [m] and radius [m] of what is worth looking at at the start: the moving bodies."""
    sizes = [
        float(np.linalg.norm(piece.vertices, axis=1).max(initial=0.0))
        for piece in pieces
        if piece.body
    ]
    places = found.position[0, 1:] if found.position.shape[1] > 1 else np.zeros((1, 3))
    centre = 0.5 * (places.min(axis=0) + places.max(axis=0)) - (0.0, 0.0, 0.04)
    spread = 0.5 * float(np.linalg.norm(np.ptp(places, axis=0)))
    return centre, min(max(0.2, spread + 0.5 * min(max(sizes, default=0.3), 2.0)), 50.0)


def whole(found: Frames, pieces: list[Piece]) -> tuple[Array, float]:
    """Centre [m] and radius [m] of all that moves, in all frames,
    unless it goes too far from where it began.
    """
    centre, radius = bounds(found, pieces)
    size = np.zeros(found.position.shape[1])
    for piece in pieces:
        size[piece.body] = max(
            size[piece.body], float(np.linalg.norm(piece.vertices, axis=1).max(initial=0.0))
        )
    places = (found.position - found.along[:, None])[:, size > 0][:, 1 if size[0] > 0 else 0 :]
    reach = size[1:][size[1:] > 0][:, None]
    near = np.linalg.norm(places - centre, axis=2, keepdims=True) < 5 * radius
    if not near.any():
        return centre, radius
    low = np.where(near, places - reach, np.inf).min(axis=(0, 1))
    high = np.where(near, places + reach, -np.inf).max(axis=(0, 1))
    # a picture is wider than high
    half = 0.5 * max(float(high[2] - low[2]), 0.75 * float(np.linalg.norm(high[:2] - low[:2])))
    return 0.5 * (low + high), min(max(0.1, half / 0.78), 50.0)


def thinned(pieces: list[Piece], most: int) -> list[Piece]:
    """Pieces of together about ``most`` triangles:
    corners of larger ones fall together in cells that grow until it is enough.
    """
    total = sum(len(piece.triangles) for piece in pieces)
    if total <= most:
        return pieces
    cell = 0.002
    while True:
        smaller = [_clustered(piece, cell) for piece in pieces]
        if sum(len(piece.triangles) for piece in smaller) <= most or cell > 10.0:
            return smaller
        cell *= 1.5


def _clustered(piece: Piece, cell: float) -> Piece:
    if len(piece.triangles) < 200:
        return piece
    _, place = np.unique(
        np.floor(piece.vertices / cell).astype(np.int64), axis=0, return_inverse=True
    )
    place = place.ravel()
    weight = np.bincount(place)
    vertices = np.stack(
        [np.bincount(place, piece.vertices[:, k]) / weight for k in range(3)], axis=1
    )
    corners = place[piece.triangles]
    a, b, c = corners.T
    kept = corners[(a != b) & (b != c) & (c != a)]
    # facets stay flat, as they were
    return Piece(
        piece.body,
        vertices[kept].reshape(-1, 3).astype(np.float32),
        np.arange(3 * len(kept), dtype=np.int32).reshape(-1, 3),
        piece.color,
    )
