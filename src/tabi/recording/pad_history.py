"""Soft soles and pads in a recording: of each its face, where it sits, and the
displacements of its nodes and the forces on them in every row.

Files of worlds without pads have nothing of this. Vectors are in the pad's own frame, with seven
digits; forces are kept beside displacements, as they hang on velocities too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.model.compiled import Model
from tabi.model.pad import Pad
from tabi.recording import pad_tracks
from tabi.recording.hdf5 import UntrustedFile, write_texts
from tabi.recording.look import Look

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
NAMES, MOVING = "pads/names", ("displacement", "force")
POINTS, CORNERS = ("nodes", "skin"), ("triangles", "skin_triangles")


@dataclass(frozen=True, eq=False)
class RecordedPad:
    """A soft sole or pad of a recording; vectors in its own frame, rows as ``time``.

    Attributes:
        name: of its foot, or of its shape. body: the moving body that it is glued to.
        rotation (3, 3), position (3,) [m]: its frame in that of the moving body.
        piece: what ``look`` shows of it at rest, by its place among the pieces; −1 where nothing.
        nodes (k, 3) [m], triangles: its ground face. skin, skin_triangles: all of its surface.
        displacement (n, k, 3) [m], force (n, k, 3) [N]: of the nodes, and on them.
    """

    name: str
    body: int
    rotation: Array
    position: Array
    piece: int
    nodes: Array
    triangles: Indices
    skin: Array
    skin_triangles: Indices
    displacement: Array
    force: Array

    @cached_property
    def areas(self) -> Array:
        """Share of each node in the face [m²], shape (k,)."""
        return pad_tracks.areas(self.nodes, self.triangles)

    @cached_property
    def pressure(self) -> Array:
        """At each node [Pa], shape (n, k)."""
        return self.force[:, :, 2] / self.areas

    @cached_property
    def _planes(self) -> Array:
        return pad_tracks.planes(self.nodes, self.displacement, self.force)

    @property
    def sink(self) -> Array:
        """Indentation under the centre of pressure [m], shape (n,)."""
        return self._planes[:, 0]

    @property
    def tilt(self) -> Array:
        """Rotation of its body about x and y by the indentation [rad], shape (n, 2)."""
        return pad_tracks.tilts(self._planes)

    @property
    def centre_of_pressure(self) -> Array:
        """x and y [m], shape (n, 2); NaN where nothing presses."""
        return pad_tracks.centres(self.nodes, self.force)


@dataclass(frozen=True, eq=False)
class PadColumns:
    """A pad while it is recorded: its number and name, what it is, the moving body, its frame
    there, its piece of the look, and its rows among all nodes.
    """

    number: int
    name: str
    pad: Pad
    body: int
    rotation: Array
    position: Array
    piece: int
    rows: slice


def of(model: Model, look: Look) -> list[PadColumns]:
    """All pads of a model."""
    return [
        PadColumns(
            k,
            pad.name,
            pad.pad,
            pad.body,
            pad.placement.R,
            pad.placement.p,
            look.soft.get((pad.link, id(pad.pad)), -1),
            pad.rows,
        )
        for k, pad in enumerate(model.pads)
    ]


def prepare(file: Any, pads: Sequence[PadColumns]) -> list[tuple[str, int]]:
    """Write what stays the same of pads; names of the columns to come, and their nodes."""
    if not pads:
        return []
    write_texts(file, NAMES, [column.name for column in pads])
    for column in pads:
        group, pad = file.create_group(f"pads/{column.number}"), column.pad
        skin = (pad.nodes, pad.triangles) if pad.skin is None else (pad.skin, pad.skin_triangles)
        group["nodes"], group["triangles"] = pad.nodes, pad.triangles
        group["skin"], group["skin_triangles"] = skin
        group["rotation"], group["position"] = column.rotation, column.position
        group["place"] = np.array([column.body, column.piece], np.int64)
    return [
        (f"pads/{column.number}/{part}", len(column.pad.nodes))
        for column in pads
        for part in MOVING
    ]


def taken(data: Any) -> tuple[Array, Array]:
    """Displacements of all nodes after the last step, and before it."""
    return data.memory.sole.copy(), data.outcome.sole_before.copy()


def columns(
    pads: Sequence[PadColumns], rows: Sequence[tuple[Array, Array]], dt: float
) -> dict[str, NDArray[np.float32]]:
    """Return the datasets of rows that were taken."""
    datasets = {}
    for pad in pads:
        U, before = (np.array(part)[:, pad.rows] @ pad.rotation for part in zip(*rows, strict=True))
        force = pad_tracks.forces(pad.pad, U, (U - before) / dt)
        for part, values in zip(MOVING, (U, force), strict=True):
            datasets[f"pads/{pad.number}/{part}"] = values.astype(np.float32)
    return datasets


def length(file: UntrustedFile) -> list[str]:
    """The columns, where there are pads."""
    count = len(file.texts(NAMES)) if file.has(NAMES) else 0
    return [f"pads/{k}/{part}" for k in range(count) for part in MOVING]


def read(file: UntrustedFile, rows: range, bodies: int, pieces: int) -> dict[str, RecordedPad]:
    """Pads of some rows by name, in a world of so many moving bodies and pieces of its look."""
    names = file.texts(NAMES) if file.has(NAMES) else []
    file.expect(len(set(names)) == len(names), "two pads have one name")
    return {name: _read(file, k, name, rows, (bodies, pieces)) for k, name in enumerate(names)}


def _read(
    file: UntrustedFile, k: int, name: str, rows: range, most: tuple[int, int]
) -> RecordedPad:
    at = f"pads/{k}"
    points = {part: file.reals(f"{at}/{part}", (None, 3)) for part in POINTS}
    corners = {part: file.integers(f"{at}/{part}", (None, 3)) for part in CORNERS}
    for corner, whose in zip(corners.values(), points.values(), strict=True):
        file.expect(
            ((corner >= 0) & (corner < len(whose))).all(), "a pad has a corner that is not there"
        )
    count = len(points["nodes"])
    file.expect(
        count >= 3 and len(points["skin"]) >= count and len(corners["triangles"]),
        "a pad has no face",
    )
    file.expect(
        (np.bincount(corners["triangles"].ravel(), minlength=count) > 0).all()
        and (pad_tracks.areas(points["nodes"], corners["triangles"]) > 0.0).all(),
        "a node of a pad has no part of its face",
    )
    R, place = file.reals(f"{at}/rotation", (3, 3)), file.integers(f"{at}/place", (2,))
    file.expect(np.allclose(R @ R.T, np.eye(3), atol=1e-3), "the frame of a pad is none")
    file.expect(
        0 <= place[0] < most[0] and -1 <= place[1] < most[1], "a pad is on no body of the world"
    )
    moving = {part: file.reals(f"{at}/{part}", (None, count, 3), rows=rows) for part in MOVING}
    position = file.reals(f"{at}/position", (3,))
    where = (int(place[0]), R, position, int(place[1]))
    parts: dict[str, Any] = {**points, **corners, **moving}
    return RecordedPad(name, *where, **parts)
