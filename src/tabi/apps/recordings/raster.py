"""Pictures of a recording without a graphics card:
of all triangles that cover a pixel the nearest one is seen, each in one shade.

A point x of the world is seen at f (x·right, x·up) / (−x·back), x from the eye; a triangle is lit
by the sky, by how far its normal points up, and by the sun. Shadows are the triangles themselves
along the sun's rays on the ground. Drawn at twice the size, and halved: edges are smooth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from tabi._jit import kernel
from tabi.apps.recordings.frames import Frames, bounds, thinned
from tabi.recording import tracks
from tabi.recording.look import Look

Array = NDArray[np.float64]
TRIANGLES = 60_000
SUN = np.array([0.5, 0.25, 0.8]) / np.linalg.norm([0.5, 0.25, 0.8])
FLOOR, SHADE, LINE, FORCE = (232, 235, 240), (190, 195, 206), (206, 211, 219), (214, 60, 40)
MARKS = ((242, 178, 26), (26, 90, 217), (26, 158, 90))
OVER = 2
# pixels beyond which nothing is drawn
FAR = 1e5


@dataclass(frozen=True, eq=False)
class Camera:
    """An eye [m], the axes it sees by, shape (3, 3):
    right, up, back, and its focal length in pixels.
    """

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


def camera(
    target: Array,
    distance: float,
    size: tuple[int, int],
    azimuth: float = 35.0,
    elevation: float = 12.0,
) -> Camera:
    """One that looks at a target [m] from a distance [m], angles in degrees."""
    a, e = np.radians([azimuth, elevation])
    back = np.array([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)])
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    axes = np.array([right, np.cross(back, right), back])
    return Camera(target + distance * back, axes, 0.5 * size[1] / np.tan(np.radians(17.5)), size)


@kernel
def fill(pixels, nearest, flat, depth, shades):
    """Triangles into a picture, shape (height, width, 3), where they are nearer than what is there.

    Args:
        nearest: one over the distance of what is there, shape (height, width).
            flat: corners in pixels (n, 3, 2).
        depth: how far they are (n, 3). shades: colours (n, 3).
    """
    height, width = nearest.shape
    for i in range(flat.shape[0]):
        ax, ay = flat[i, 0, 0], flat[i, 0, 1]
        bx, by = flat[i, 1, 0], flat[i, 1, 1]
        cx, cy = flat[i, 2, 0], flat[i, 2, 1]
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        # pixels whose middle is inside the triangle's box
        left = max(0.0, math.ceil(min(ax, bx, cx) - 0.5))
        right = min(1.0 * width, math.ceil(max(ax, bx, cx) - 0.5))
        low = max(0.0, math.ceil(min(ay, by, cy) - 0.5))
        high = min(1.0 * height, math.ceil(max(ay, by, cy) - 0.5))
        # nothing of it, or not a number
        if area == 0.0 or not (left < right and low < high):
            continue
        # one over the distance is linear in the picture,
        # as are the weights u and w of the second and third corner
        here = 1.0 / depth[i, 0]
        rise = 1.0 / depth[i, 1] - 1.0 / depth[i, 0]
        other = 1.0 / depth[i, 2] - 1.0 / depth[i, 0]
        for row in range(int(low), int(high)):
            y = row + 0.5 - ay
            for column in range(int(left), int(right)):
                x = column + 0.5 - ax
                u = (x * (cy - ay) - y * (cx - ax)) / area
                w = (y * (bx - ax) - x * (by - ay)) / area
                near = here + u * rise + w * other
                if u >= 0.0 and w >= 0.0 and u + w <= 1.0 and near > nearest[row, column]:
                    nearest[row, column] = near
                    for c in range(3):
                        pixels[row, column, c] = shades[i, c]


class Painter:
    """Draws the frames of a recording.

    Args:
        look: the meshes. found: the frames. size: width and height of a picture in pixels.
        view: centre [m] and radius [m] of what is looked at;
            the moving bodies of the first frame unless given.
    """

    def __init__(
        self,
        look: Look,
        found: Frames,
        size: tuple[int, int] = (640, 480),
        view: tuple[Array, float] | None = None,
    ) -> None:
        self.found, self.size, self.planes = found, size, look.planes
        pieces = [
            piece
            for piece in thinned(look.pieces, TRIANGLES)
            if len(piece.triangles) and piece.color[3] > 0
        ]
        starts = np.cumsum([0] + [len(piece.vertices) for piece in pieces])
        self._vertices = np.concatenate([np.zeros((0, 3)), *(piece.vertices for piece in pieces)])
        self._owner = np.concatenate(
            [np.zeros(0, np.int64), *(np.full(len(piece.vertices), piece.body) for piece in pieces)]
        )
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
        for point, normal in self.planes:
            self._grid(ImageDraw.Draw(image), eye, point, normal, target)
        pixels = np.array(image)
        for point, normal in self.planes:
            self._shadow(pixels, eye, vertices, point, normal)
        self._solids(pixels, eye, vertices)
        image = Image.fromarray(pixels)
        self._arrows(ImageDraw.Draw(image), eye, k)
        return image.resize(self.size, Image.Resampling.LANCZOS)

    def _solids(self, pixels: NDArray[np.uint8], eye: Camera, vertices: Array) -> None:
        corners = vertices[self._triangles]
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
        flat, depth = eye.seen(corners)
        front = (np.einsum("ni,ni->n", normal, eye.eye - corners[:, 0]) > 0) & (
            depth.min(axis=1) > 0.01
        )
        light = 0.45 + 0.09 * (1 + normal[:, 2:]) + 0.5 * np.maximum(normal @ SUN, 0.0)[:, None]
        shades = np.clip(255 * self._colors * light, 0, 255).astype(np.uint8)
        fill(pixels, np.zeros(pixels.shape[:2]), flat[front], depth[front], shades[front])

    def _shadow(
        self, pixels: NDArray[np.uint8], eye: Camera, vertices: Array, point: Array, normal: Array
    ) -> None:
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
        kept = (
            (np.abs(flat).max(axis=(1, 2)) < FAR)
            & (np.cross(a, b) @ normal > 0)
            & (depth.min(axis=1) > 0.01)
            & (high[moving] > -0.01).all(axis=1)
        )
        shades = np.tile(np.array(SHADE, np.uint8), (int(kept.sum()), 1))
        fill(pixels, np.zeros(pixels.shape[:2]), flat[kept], depth[kept], shades)

    def _grid(self, canvas: Any, eye: Camera, point: Array, normal: Array, target: Array) -> None:
        """Lines half a metre apart around what is looked at."""
        x = np.cross((0.0, 1.0, 0.0) if abs(normal[1]) < 0.9 else (1.0, 0.0, 0.0), normal)
        x /= np.linalg.norm(x)
        y, cell, count = np.cross(normal, x), 0.5, 16
        around = [round(float((target - point) @ axis) / cell) for axis in (x, y)]
        for k in range(-count, count + 1):
            for (i, a), (j, b) in (((0, x), (1, y)), ((1, y), (0, x))):
                ends = np.array(
                    [
                        point + cell * ((around[i] + k) * a + (around[j] + s) * b)
                        for s in np.linspace(-count, count, 2 * count + 1)
                    ]
                )
                flat, depth = eye.seen(ends)
                shown = flat[depth > 0.05]
                if len(shown) > 1:
                    canvas.line([tuple(p) for p in shown.tolist()], fill=LINE, width=OVER)

    def _arrows(self, canvas: Any, eye: Camera, k: int) -> None:
        points, forces = self.found.arrows(k)
        for start, end in zip(
            eye.seen(points)[0], eye.seen(points + self.found.arrow * forces)[0], strict=True
        ):
            along = end - start
            long = float(np.linalg.norm(along))
            if not 2 <= long < FAR:
                continue
            head = min(6.0 * OVER, long) * along / long
            across = 0.4 * np.array([-head[1], head[0]])
            canvas.line([tuple(start), tuple(end - head)], fill=FORCE, width=2 * OVER)
            canvas.polygon(
                [tuple(end), tuple(end - head + across), tuple(end - head - across)], fill=FORCE
            )
        for places, color in zip(
            (self.found.centre_of_mass, self.found.zmp, self.found.pressure), MARKS, strict=True
        ):
            for p in places[k][np.isfinite(places[k]).all(axis=1)]:
                (x, y), r = eye.seen(p)[0], 3.0 * OVER
                if max(abs(x), abs(y)) < FAR:
                    canvas.ellipse(
                        (x - r, y - r, x + r, y + r), fill=color, outline=(255, 255, 255)
                    )
