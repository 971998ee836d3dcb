"""Frames of a recording for pictures: selected rows with body poses, arrows of forces and marks."""

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
HUMANOID_ARROW_SCALE = 1.5e-3  # metres of an arrow per newton, for a humanoid's forces
WEIGHT_ARROW_LENGTH = 0.2  # m, for the median weight without a robot


def arrow_scale(robots: bool, weights: list[float] | Array) -> float:
    """Return metres of an arrow per newton, suitable for humanoids or for toys; weights: of the
    moving bodies [N].
    """
    median_weight = float(np.median(weights)) if np.size(weights) else 0.0
    return (
        HUMANOID_ARROW_SCALE
        if robots or not median_weight > 0
        else WEIGHT_ARROW_LENGTH / median_weight
    )


@dataclass(frozen=True, eq=False)
class Frames:
    """Frames of a run, with b moving bodies (0 is the world).

    Attributes:
        time: shape (n,) [s]. row: of the recording.
            position (n, b, 3) [m], quaternion (n, b, 4): w, x, y, z of each body.
        arrow_count: pressing contacts of each frame; point [m] and force on the upper body [N]:
            of all frames in turn, shape (k, 3). arrow: their scale [m/N].
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
    arrow: float = HUMANOID_ARROW_SCALE

    @property
    def along(self) -> Array:
        """Displacement of the first robot along the ground, and of a camera with it [m], shape (n,
        3); zero without one.
        """
        centre = (
            self.centre_of_mass[:, 0]
            if self.centre_of_mass.shape[1]
            else np.zeros((len(self.time), 3))
        )
        return (centre - centre[0]) * (1.0, 1.0, 0.0)

    def arrows(self, k: int) -> tuple[Array, Array]:
        """Return points and forces of one frame."""
        start = int(self.arrow_count[:k].sum())
        span = slice(start, start + int(self.arrow_count[k]))
        return self.point[span], self.force[span]


def rows(
    run: Recorded, rate: float | None = None, start: float | None = None, end: float | None = None
) -> NDArray[np.int64]:
    """Return rows between two times [s], about ``rate`` a second; default: all of them."""
    selected = np.flatnonzero(
        (run.time >= (-np.inf if start is None else start))
        & (run.time <= (np.inf if end is None else end))
    )
    if len(selected) == 0:
        first, last = (run.time[0], run.time[-1]) if len(run.time) else (0.0, 0.0)
        span = (
            f"{'the start' if start is None else f'{start:g}'} and "
            f"{'the end' if end is None else f'{end:g} s'}"
        )
        raise RecordingError(
            f"no row lies between {span}; the recording goes from {first:g} to {last:g} s in "
            f"{len(run.time)} rows"
        )
    if rate is not None and len(selected) > 1:
        between = float(np.median(np.abs(np.diff(run.time[selected])))) or run.dt
        thin = selected[:: max(1, round(1 / (rate * between)))]
        # always include the end
        selected = thin if thin[-1] == selected[-1] else np.append(thin, selected[-1])
    return selected


def frames(run: Recorded, selected: NDArray[np.int64]) -> Frames:
    """Return the frames of some rows, in their order."""
    world = run.world
    motion = tracks.motion(world, run.q[selected])
    index = contact_rows(run, selected)
    pressing = run.contacts["status"][index] > 0
    owner = np.repeat(np.arange(len(selected)), run.contact_count[selected])
    # the force on the upper body: the reaction would point into the ground
    side = np.where(run.contacts["normal"][index][pressing, 2:] < 0, -1.0, 1.0)
    origin, R = tracks.foot_frames(world, motion)
    # the centre of pressure of a lightly loaded foot is arbitrary
    flat = _near(run.feet["pressure"][selected], 0.0)
    centre = run.robots["centre_of_mass"][selected]
    pressure = np.moveaxis(origin, 0, 1) + np.einsum("fnij,nfj->nfi", R[..., :2], flat)
    return Frames(
        time=run.time[selected],
        row=selected,
        position=np.moveaxis(motion.position, 0, 1),
        quaternion=quaternions(np.moveaxis(motion.rotation, 0, 1)),
        arrow_count=np.bincount(owner[pressing], minlength=len(selected)),
        point=run.contacts["point"][index][pressing],
        force=side * run.contacts["force"][index][pressing],
        centre_of_mass=centre,
        zmp=_near(run.robots["zmp"][selected], centre),
        pressure=pressure,
        arrow=arrow_scale(
            bool(world.robot_names), world.body["mass"][1:] * float(np.linalg.norm(world.gravity))
        ),
    )


def _near(places: Array, centre: Any, reach: float = 10.0) -> Array:
    """Return positions within a distance [m] of another, NaN for the others."""
    return np.where((np.abs(places - centre) < reach).all(axis=-1, keepdims=True), places, np.nan)


def contact_rows(run: Recorded, selected: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the indices of the contacts of some rows among all contacts."""
    n, ends = run.contact_count[selected], np.cumsum(run.contact_count)[selected]
    return np.repeat(ends - np.cumsum(n), n) + np.arange(int(n.sum()))


def foot_events(run: Recorded, selected: NDArray[np.int64]) -> list[FootEvent]:
    """Return state changes of feet from the first to the last of some rows; all of them if these
    are the ends of the recording.
    """
    first, last = int(selected.min()), int(selected.max())
    low = float(run.time[first]) if first > 0 else -np.inf
    high = float(run.time[last]) if last < len(run.time) - 1 else np.inf
    # tolerance for rounding errors of the times of rows
    return [event for event in run.foot_events if low - 1e-9 <= event.time <= high + 1e-9]


def quaternions(R: Array) -> Array:
    """Return unit quaternions (w, x, y, z) of rotations, shape (…, 3, 3) → (…, 4), from their
    largest part each.
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


def bounds(drawn: Frames, pieces: list[Piece]) -> tuple[Array, float]:
    """Return centre [m] and radius [m] of the moving bodies at the start."""
    sizes = [
        float(np.linalg.norm(piece.vertices, axis=1).max(initial=0.0))
        for piece in pieces
        if piece.body
    ]
    places = drawn.position[0, 1:] if drawn.position.shape[1] > 1 else np.zeros((1, 3))
    centre = 0.5 * (places.min(axis=0) + places.max(axis=0)) - (0.0, 0.0, 0.04)
    spread = 0.5 * float(np.linalg.norm(np.ptp(places, axis=0)))
    return centre, min(max(0.2, spread + 0.5 * min(max(sizes, default=0.3), 2.0)), 50.0)


def whole(drawn: Frames, pieces: list[Piece]) -> tuple[Array, float]:
    """Return centre [m] and radius [m] of all moving bodies, in all frames, except those that move
    too far from the start.
    """
    centre, radius = bounds(drawn, pieces)
    size = np.zeros(drawn.position.shape[1])
    for piece in pieces:
        size[piece.body] = max(
            size[piece.body], float(np.linalg.norm(piece.vertices, axis=1).max(initial=0.0))
        )
    places = (drawn.position - drawn.along[:, None])[:, size > 0][:, 1 if size[0] > 0 else 0 :]
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
    """Simplify pieces to about ``most`` triangles in all: corners of larger ones are merged in
    cells that grow until it suffices.
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
    remaining = corners[(a != b) & (b != c) & (c != a)]
    # facets stay flat
    return Piece(
        piece.body,
        vertices[remaining].reshape(-1, 3).astype(np.float32),
        np.arange(3 * len(remaining), dtype=np.int32).reshape(-1, 3),
        piece.color,
    )
