"""Look of a world: triangles of all visible shapes, one mesh per moving body and colour,
and planes without end.

Kept in recordings, so that they can be played where the robot's files are not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.formats.triangles import Mesh, joined, mesh_of, visible_shapes
from tabi.model.compiled import Link, Model
from tabi.model.lookup import link_of
from tabi.model.pad import Pad
from tabi.model.shape import HalfSpace, MeshFile, Shape
from tabi.model.world import World

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Piece:
    """Triangles of one colour on one moving body (0 is the world).

    Attributes:
        vertices: in the moving body's frame [m], shape (n, 3).
        triangles: outward, shape (m, 3).
        color: red, green, blue, opacity, 0 to 1.
    """

    body: int
    vertices: NDArray[np.float32]
    triangles: NDArray[np.int32]
    color: tuple[float, float, float, float]


@dataclass(frozen=True, eq=False)
class Look:
    """Meshes, and the planes that have no end:
    a point [m] and the unit normal of each, shape (k, 2, 3).

    Attributes:
        soft: of a world that is at hand, pieces of soft pads at rest, one each: the places among
            all pieces by the name of the link and the pad's identity.
    """

    pieces: list[Piece]
    planes: Array
    soft: dict[tuple[str, int], int] = field(default_factory=dict)


def visible(world: World, model: Model) -> list[tuple[Link, Shape]]:
    """Every shape that is drawn, with the link that it is fixed to; planes among them."""
    bodies = [
        world.fixed,
        *(body for robot in world.robots for body in robot.bodies),
        *world.objects,
    ]
    drawn = {
        body: shapes
        for robot in world.robots
        for body, shapes in visible_shapes(robot.bodies).items()
    }
    return [
        (link_of(world, model, body), shape)
        for body in bodies
        for shape in drawn.get(body, body.shapes)
        if isinstance(shape.geometry, HalfSpace)
        or (
            shape.visible
            and not (isinstance(shape.geometry, MeshFile) and not shape.geometry.file.is_file())
        )
    ]


def plane(link: Link, shape: Shape) -> tuple[Array, Array]:
    """A point [m] and the unit normal of a half-space, in the world."""
    X = link.placement @ shape.placement
    return X.p, X.R[:, 2]


def of(world: World, model: Model) -> Look:
    """Return the look of a simulation's world."""
    meshes_by_look: dict[tuple[int, tuple[float, ...], tuple[str, int] | None], list[Mesh]] = {}
    planes = []
    for link, shape in visible(world, model):
        if isinstance(shape.geometry, HalfSpace):
            planes.append(plane(link, shape))
            continue
        vertices, triangles = mesh_of(shape)
        color = tuple(float(c) for c in shape.color)
        pad = (link.name, id(shape.geometry)) if isinstance(shape.geometry, Pad) else None
        key = (link.body, color, pad)
        meshes_by_look.setdefault(key, []).append((link.placement @ vertices, triangles))
    pieces: list[Piece] = []
    for (body, color, _), meshes in meshes_by_look.items():
        vertices, triangles = joined(meshes)
        r, g, b, opacity = color
        pieces.append(
            Piece(body, vertices.astype(np.float32), triangles.astype(np.int32), (r, g, b, opacity))
        )
    soft = {pad: k for k, (*_, pad) in enumerate(meshes_by_look) if pad is not None}
    return Look(pieces, np.array(planes).reshape(-1, 2, 3), soft)


def write(group: Any, look: Look) -> None:
    """Into a group of an HDF5 file, packed."""
    packed: dict[str, Any] = {"compression": "gzip", "shuffle": True, "chunks": True}
    empty = [np.zeros((0, 3))]
    for name, kind in (("vertices", np.float32), ("triangles", np.int32)):
        data = np.concatenate([*empty, *(getattr(piece, name) for piece in look.pieces)]).astype(
            kind
        )
        group.create_dataset(name, data=data, **(packed if len(data) else {}))
    group["vertex_count"] = np.array([len(piece.vertices) for piece in look.pieces], np.int64)
    group["triangle_count"] = np.array([len(piece.triangles) for piece in look.pieces], np.int64)
    group["body"] = np.array([piece.body for piece in look.pieces], np.int64)
    group["color"] = np.array([piece.color for piece in look.pieces], float).reshape(-1, 4)
    group["planes"] = look.planes


def read(file: Any, at: str, body_count: int) -> Look:
    """From a file opened by ``hdf5.UntrustedFile``."""
    body = file.integers(f"{at}/body")
    color = np.clip(file.reals(f"{at}/color", (len(body), 4)), 0.0, 1.0)
    points = file.reals(f"{at}/vertices", (None, 3))
    corners = file.integers(f"{at}/triangles", (None, 3))
    counts = [file.integers(f"{at}/{name}_count", (len(body),)) for name in ("vertex", "triangle")]
    planes = file.reals(f"{at}/planes", (None, 2, 3))
    fits = all(
        (count >= 0).all() and count.sum() == len(part)
        for count, part in zip(counts, (points, corners), strict=True)
    )
    file.expect(
        fits and ((body >= 0) & (body < body_count)).all(), "its meshes do not fit its bodies"
    )
    file.expect(
        (abs(points) < 1e6).all() and (np.linalg.norm(planes[:, 1], axis=1) > 0.5).all(),
        "its meshes are absurd",
    )
    pieces, ends = [], [np.cumsum(count) for count in counts]
    for k in range(len(body)):
        vertices = points[ends[0][k] - counts[0][k] : ends[0][k]]
        triangles = corners[ends[1][k] - counts[1][k] : ends[1][k]]
        file.expect(
            ((triangles >= 0) & (triangles < len(vertices))).all(),
            "a triangle has a corner that is not there",
        )
        r, g, b, opacity = (float(c) for c in color[k])
        pieces.append(
            Piece(
                int(body[k]),
                vertices.astype(np.float32),
                triangles.astype(np.int32),
                (r, g, b, opacity),
            )
        )
    return Look(pieces, planes)
