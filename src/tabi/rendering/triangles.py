"""Triangles of a world or of a recording, each with its body, link and colour, and infinite
planes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabi.formats.triangles import mesh_of
from tabi.model.compiled import Model
from tabi.model.shape import HalfSpace
from tabi.model.world import World
from tabi.recording.look import Look, plane, visible

Array = NDArray[np.float64]
# corners of triangles (n, 3, 3) in the frame of a moving body, the body, the link, the colour
Part = tuple[Array, int, int, tuple[float, ...]]


@dataclass(frozen=True, eq=False)
class Triangles:
    """Triangles on moving bodies (0 is the world), n of them, and k fixed planes.

    Attributes:
        corners: outward, in the frame of the moving body [m], shape (n, 3, 3).
        normals: unit vectors, in the same frame, shape (n, 3).
        body, link: of each triangle, shape (n,). colors: red, green, blue, 0 to 1, shape (n, 3).
        planes: a point [m] and the unit normal of each, shape (k, 2, 3). plane_link: shape (k,).
    """

    corners: NDArray[np.float32]
    normals: NDArray[np.float32]
    body: NDArray[np.int32]
    link: NDArray[np.int32]
    colors: NDArray[np.float32]
    planes: Array
    plane_link: NDArray[np.int32]

    @property
    def moving(self) -> NDArray[np.bool_]:
        """Triangles of bodies that can move."""
        return self.body > 0


def of_world(world: World, model: Model) -> Triangles:
    """Return the triangles of a world; links are indices in ``model.links``."""
    place = {name: k for k, name in enumerate(model.links)}
    parts: list[Part] = []
    planes, owners = [], []
    for link, shape in visible(world, model):
        if isinstance(shape.geometry, HalfSpace):
            planes.append(plane(link, shape))
            owners.append(place[link.name])
            continue
        vertices, triangles = mesh_of(shape)
        corners = (link.placement @ vertices)[triangles]
        parts.append((corners, link.body, place[link.name], shape.color))
    return _merged(parts, np.array(planes).reshape(-1, 2, 3), owners)


def of_look(look: Look) -> Triangles:
    """Return the triangles of a recording; links are its moving bodies."""
    parts: list[Part] = [
        (np.asarray(piece.vertices[piece.triangles], float), piece.body, piece.body, piece.color)
        for piece in look.pieces
    ]
    return _merged(parts, look.planes, [0] * len(look.planes))


def _merged(parts: Iterable[Part], planes: Array, owners: list[int]) -> Triangles:
    """Return all visible parts as one table."""
    drawn = [part for part in parts if len(part[0]) and part[3][3] > 0]
    corners = np.concatenate([np.zeros((0, 3, 3)), *(part[0] for part in drawn)])
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-18)
    counts = [len(part[0]) for part in drawn]
    colors = np.array([part[3][:3] for part in drawn], np.float32).reshape(-1, 3)
    return Triangles(
        corners.astype(np.float32),
        normals.astype(np.float32),
        np.repeat(np.array([part[1] for part in drawn], np.int32), counts),
        np.repeat(np.array([part[2] for part in drawn], np.int32), counts),
        np.repeat(colors, counts, axis=0),
        planes,
        np.array(owners, np.int32),
    )
