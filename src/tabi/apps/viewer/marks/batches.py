"""Small meshes in many places, and lines: a few nodes of the page whose arrays are replaced as a
whole, so a hundred contacts cost as much as one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import viser
from numpy.typing import NDArray

from tabi.apps.viewer.marks.nodes import Node
from tabi.formats.triangles import Mesh, revolved

Array = NDArray[np.float64]
HEAD = 0.024  # m, of an arrow's head


class Batch:
    """Copies of one small mesh."""

    def __init__(
        self,
        server: viser.ViserServer,
        name: str,
        mesh: Mesh,
        color: tuple[int, int, int],
        opacity: float | None = None,
    ) -> None:
        self.count = 0
        self.handle = server.scene.add_batched_meshes_simple(
            f"/over/{name}",
            mesh[0].astype(np.float32),
            mesh[1].astype(np.uint32),
            batched_wxyzs=np.array([[1.0, 0.0, 0.0, 0.0]], np.float32),
            batched_positions=np.zeros((1, 3), np.float32),
            batched_scales=np.ones((1, 3), np.float32),
            batched_colors=color,
            opacity=opacity,
            side="front" if opacity is None else "double",
            lod="off",
            cast_shadow=False,
            receive_shadow=False,
            visible=False,
        )
        self.node = Node(self.handle)

    def show(
        self,
        points: Array | None,
        axes: Array | None = None,
        scales: Array | None = None,
        colors: NDArray[np.uint8] | None = None,
    ) -> None:
        """At these points, the z axis along ``axes``; nothing where there are none."""
        if points is None or len(points) == 0:
            self.handle.visible = False
            return
        # room for a few more is kept out of sight, as a browser makes new buffers whenever
        # the number changes
        n = len(points)
        room = -(-n // 16) * 16 if n > 1 else 1
        resized = room != self.count
        values: dict[str, NDArray[Any]] = {"batched_positions": padded(points, room)}
        if axes is not None or resized:
            values["batched_wxyzs"] = padded(
                np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)) if axes is None else tilts(axes), room
            )
        if scales is not None or resized or n != room:
            values["batched_scales"] = padded(np.ones((n, 3)) if scales is None else scales, room)
        if colors is not None:
            values["batched_colors"] = np.concatenate([colors, np.zeros((room - n, 3), np.uint8)])
        self.node.send(**values)
        self.count, self.handle.visible = room, True


class Lines:
    """Segments of one colour."""

    def __init__(
        self, server: viser.ViserServer, name: str, color: tuple[int, int, int], thickness: float
    ) -> None:
        none = np.zeros((1, 2, 3), np.float32)
        self.handle = server.scene.add_line_segments(
            f"/over/{name}", none, color, thickness=thickness, visible=False
        )
        self.node = Node(self.handle)

    def show(self, segments: Array | None) -> None:
        """These (n, 2, 3), or none."""
        if segments is not None and len(segments):
            self.node.send(points=segments.astype(np.float32))
        self.handle.visible = segments is not None and len(segments) > 0


def padded(rows: Array, count: int) -> NDArray[np.float32]:
    """Rows, and zeros behind them up to a count."""
    out = np.zeros((count, rows.shape[1]), np.float32)
    out[: len(rows)] = rows
    return out


def tilts(axes: Array) -> Array:
    """The smallest turns that take the z axis to unit vectors, as quaternions (w, x, y, z)."""
    q = np.column_stack([1 + axes[:, 2], -axes[:, 1], axes[:, 0], np.zeros(len(axes))])
    length = np.linalg.norm(q, axis=1, keepdims=True)
    return np.where(length > 1e-6, q / np.maximum(length, 1e-6), [0.0, 1.0, 0.0, 0.0])


def rings(polygons: list[Array]) -> Array:
    """Closed outlines as segments."""
    parts = [np.stack([corners, np.roll(corners, -1, axis=0)], axis=1) for corners in polygons]
    return np.concatenate(parts) if parts else np.zeros((0, 2, 3))


def ball(radius: float, rings: int = 8) -> Mesh:
    """Return the mesh of a sphere of a radius [m]."""
    return revolved(
        [
            (radius * float(np.cos(a)), radius * float(np.sin(a)))
            for a in np.linspace(-0.5 * np.pi, 0.5 * np.pi, rings + 1)
        ],
        14,
    )


def shaft() -> Mesh:
    """The stick of an arrow, one long."""
    return revolved([(0.0, 0.0), (0.004, 0.0), (0.004, 1.0)], 12)


def head() -> Mesh:
    """The tip of an arrow."""
    return revolved([(0.0, 0.0), (0.0095, 0.0), (0.0, HEAD)], 16)


def disc(radius: float) -> Mesh:
    """Return the mesh of a flat disc of a radius [m]."""
    return revolved([(0.0, 0.0), (radius, 0.0), (radius, 0.001), (0.0, 0.001)])


def cone() -> Mesh:
    """An open cone with its tip at the origin, one high and one wide."""
    return revolved([(0.0, 0.0), (1.0, 1.0)], 24)
