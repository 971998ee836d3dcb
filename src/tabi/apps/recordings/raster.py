"""Pictures of a recording without a graphics card: of all triangles that cover a pixel the nearest one is seen, each in one shade.

A point x of the world is seen at f (x·right, x·up) / (−x·back), x from the eye; a triangle is lit by the sky, by how far its normal points up,
and by the sun. Shadows are the triangles themselves along the sun's rays on the ground. Drawn at twice the size, and halved: edges are smooth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from tabi.apps.recordings.frames import Frames, bounds, thinned
from tabi.simulation import tracks
from tabi.simulation.look import Look

Array = NDArray[np.float64]
TRIANGLES = 60_000
SUN = np.array([0.5, 0.25, 0.8]) / np.linalg.norm([0.5, 0.25, 0.8])
FLOOR, SHADE, LINE, FORCE = (232, 235, 240), (190, 195, 206), (206, 211, 219), (214, 60, 40)
MARKS = ((242, 178, 26), (26, 90, 217), (26, 158, 90))
OVER = 2
PAIRS = 200_000
# pixels beyond which nothing is drawn
FAR = 1e5


@dataclass(frozen=True, eq=False)
class Camera:
    """An eye [m], the axes it sees by, shape (3, 3): right, up, back, and its focal length in pixels."""

    eye: Array
    axes: Array
    focus: float
    size: tuple[int, int]

    def seen(self, points: Array) -> tuple[Array, Array]:
        """Pixels, shape (…, 2), and distance along the view [m]."""
        x = (points - self.eye) @ self.axes.T
        depth = np.maximum(-x[..., 2:], 1e-3)
        middle = 0.5 * np.array(self.size)
        return middle + self.focus * x[..., :2] / depth * (1, -1), -x[..., 2]


def camera(target: Array, distance: float, size: tuple[int, int], azimuth: float = 35.0, elevation: float = 12.0) -> Camera:
    """One that looks at a target [m] from a distance [m], angles in degrees."""
    a, e = np.radians([azimuth, elevation])
    back = np.array([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)])
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    axes = np.array([right, np.cross(back, right), back])
    return Camera(target + distance * back, axes, 0.5 * size[1] / np.tan(np.radians(17.5)), size)


def fill(pixels: NDArray[np.uint8], flat: Array, depth: Array, shades: NDArray[np.uint8]) -> None:
    """Triangles into a picture, shape (height, width, 3): corners in pixels (n, 3, 2), how far they are (n, 3), colours (n, 3)."""
    height, width = pixels.shape[:2]
    nearest, picture = np.zeros(height * width), pixels.reshape(-1, 3)
    low = np.clip(np.ceil(flat.min(axis=1) - 0.5), 0, (width, height)).astype(np.int64)
    size = np.maximum(np.clip(np.ceil(flat.max(axis=1) - 0.5), 0, (width, height)).astype(np.int64) - low, 0)
    count = size[:, 0] * size[:, 1]
    # weights of the second and third corner, and one over the distance, are linear in the picture: value, and change along x and y
    (a, b, c), across = flat.transpose(1, 0, 2), np.array([1.0, -1.0])
    area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    area = np.where(area == 0, np.inf, area)[:, None]
    second, third = (c - a)[:, ::-1] * across / area, -(b - a)[:, ::-1] * across / area
    inverse = 1 / depth
    rise = second * (inverse[:, 1] - inverse[:, 0])[:, None] + third * (inverse[:, 2] - inverse[:, 0])[:, None]
    table = np.column_stack([second, third, rise, inverse[:, 0], low + 0.5 - a])
    # so many triangles at a time that their boxes have about PAIRS pixels
    ends = np.searchsorted(np.cumsum(count), np.arange(PAIRS, count.sum() + PAIRS, PAIRS), side="right")
    for start, end in zip([0, *ends], [*ends, len(count)], strict=True):
        some = np.repeat(np.arange(start, end), count[start:end])
        place = np.arange(len(some)) - np.repeat(np.cumsum(count[start:end]) - count[start:end], count[start:end])
        row, column = np.divmod(place, np.maximum(size[some, 0], 1))
        bx, by, cx, cy, nx, ny, n, x, y = table[some].T
        x, y = x + column, y + row
        u, w, near = bx * x + by * y, cx * x + cy * y, n + nx * x + ny * y
        at = (low[some, 1] + row) * width + low[some, 0] + column
        seen = np.flatnonzero((u >= 0) & (w >= 0) & (u + w <= 1) & (near > nearest[at]))
        # the nearest last: of several values for one place NumPy keeps the last
        seen = seen[np.argsort(near[seen], kind="stable")]
        nearest[at[seen]], picture[at[seen]] = near[seen], shades[some[seen]]


class Painter:
    """Draws the frames of a recording.

    Args:
        look: the meshes. found: the frames. size: width and height of a picture in pixels.
        view: centre [m] and radius [m] of what is looked at; the moving bodies of the first frame unless given.
    """

    def __init__(self, look: Look, found: Frames, size: tuple[int, int] = (640, 480), view: tuple[Array, float] | None = None) -> None:
        self.found, self.size, self.planes = found, size, look.planes
        pieces = [piece for piece in thinned(look.pieces, TRIANGLES) if len(piece.triangles) and piece.color[3] > 0]
        starts = np.cumsum([0] + [len(piece.vertices) for piece in pieces])
        self._vertices = np.concatenate([np.zeros((0, 3)), *(piece.vertices for piece in pieces)])
        self._owner = np.concatenate([np.zeros(0, np.int64), *(np.full(len(piece.vertices), piece.body) for piece in pieces)])
        corners = [piece.triangles + start for piece, start in zip(pieces, starts, strict=False)]
        self._triangles = np.concatenate([np.zeros((0, 3), np.int64), *corners]).astype(np.int64)
        colors = [np.tile(piece.color[:3], (len(piece.triangles), 1)) for piece in pieces]
        self._colors = np.concatenate([np.zeros((0, 3)), *colors])
        self._centre, self._radius = view or bounds(found, look.pieces)

    def picture(self, k: int) -> Image.Image:
        """One frame."""
        found, big = self.found, (OVER * self.size[0], OVER * self.size[1])
        target = self._centre + found.along[k]
        eye = camera(target, 2.9 * self._radius, big)
        R = tracks.rotations(found.quaternion[k])[self._owner]
        vertices = np.einsum("nij,nj->ni", R, self._vertices) + found.position[k][self._owner]
        image = Image.new("RGB", big, FLOOR)
        canvas = ImageDraw.Draw(image)
        for point, normal in self.planes:
            self._grid(canvas, eye, point, normal, target)
            self._shadow(canvas, eye, vertices, point, normal)
        image = self._solids(image, eye, vertices)
        self._arrows(ImageDraw.Draw(image), eye, k)
        return image.resize(self.size, Image.Resampling.LANCZOS)

    def _solids(self, image: Image.Image, eye: Camera, vertices: Array) -> Image.Image:
        corners = vertices[self._triangles]
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
        flat, depth = eye.seen(corners)
        front = (np.einsum("ni,ni->n", normal, eye.eye - corners[:, 0]) > 0) & (depth.min(axis=1) > 0.01)
        light = 0.45 + 0.09 * (1 + normal[:, 2:]) + 0.5 * np.maximum(normal @ SUN, 0.0)[:, None]
        shades = np.clip(255 * self._colors * light, 0, 255).astype(np.uint8)
        pixels = np.array(image)
        fill(pixels, flat[front], depth[front], shades[front])
        return Image.fromarray(pixels)

    def _shadow(self, canvas: Any, eye: Camera, vertices: Array, point: Array, normal: Array) -> None:
        fall = normal @ SUN
        if fall < 0.1:
            return
        high = (vertices - point) @ normal
        ground = vertices - np.outer(high / fall, SUN)
        moving = self._triangles[self._owner[self._triangles[:, 0]] > 0]
        corners = ground[moving]
        flat, depth = eye.seen(corners)
        a, b = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        # one of the two sides of a closed body casts all of its shadow
        kept = (np.abs(flat).max(axis=(1, 2)) < FAR) & (np.cross(a, b) @ normal > 0) & (depth.min(axis=1) > 0.01) & (high[moving] > -0.01).all(axis=1)
        for points in flat[kept].reshape(-1, 6).tolist():
            canvas.polygon(points, fill=SHADE, outline=SHADE)

    def _grid(self, canvas: Any, eye: Camera, point: Array, normal: Array, target: Array) -> None:
        """Lines half a metre apart around what is looked at."""
        x = np.cross((0.0, 1.0, 0.0) if abs(normal[1]) < 0.9 else (1.0, 0.0, 0.0), normal)
        x /= np.linalg.norm(x)
        y, cell, count = np.cross(normal, x), 0.5, 16
        around = [round(float((target - point) @ axis) / cell) for axis in (x, y)]
        for k in range(-count, count + 1):
            for (i, a), (j, b) in (((0, x), (1, y)), ((1, y), (0, x))):
                ends = np.array([point + cell * ((around[i] + k) * a + (around[j] + s) * b) for s in np.linspace(-count, count, 2 * count + 1)])
                flat, depth = eye.seen(ends)
                shown = flat[depth > 0.05]
                if len(shown) > 1:
                    canvas.line([tuple(p) for p in shown.tolist()], fill=LINE, width=OVER)

    def _arrows(self, canvas: Any, eye: Camera, k: int) -> None:
        points, forces = self.found.arrows(k)
        for start, end in zip(eye.seen(points)[0], eye.seen(points + self.found.arrow * forces)[0], strict=True):
            along = end - start
            long = float(np.linalg.norm(along))
            if not 2 <= long < FAR:
                continue
            head = min(6.0 * OVER, long) * along / long
            across = 0.4 * np.array([-head[1], head[0]])
            canvas.line([tuple(start), tuple(end - head)], fill=FORCE, width=2 * OVER)
            canvas.polygon([tuple(end), tuple(end - head + across), tuple(end - head - across)], fill=FORCE)
        for places, color in zip((self.found.centre_of_mass, self.found.zmp, self.found.pressure), MARKS, strict=True):
            for p in places[k][np.isfinite(places[k]).all(axis=1)]:
                (x, y), r = eye.seen(p)[0], 3.0 * OVER
                if max(abs(x), abs(y)) < FAR:
                    canvas.ellipse((x - r, y - r, x + r, y + r), fill=color, outline=(255, 255, 255))
