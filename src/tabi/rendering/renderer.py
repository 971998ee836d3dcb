"""Renderer of triangles: colour, depth and segmentation pictures of a camera.

Planes are drawn first, then on each of them the shadows of moving bodies, then the triangles. A
shadow is the triangle projected along the rays of the sun s onto the plane through P with the
normal n:

    S(x) = x − s (n·(x − P)) / (n·s)                                                            (1)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.rendering.camera import Camera
from tabi.rendering.raster import BACKGROUND, FIRST_PLANE, fill, fill_plane
from tabi.rendering.shading import paint, shade
from tabi.rendering.triangles import Triangles

Array = NDArray[np.float64]
SUN = np.array([0.5, 0.25, 0.8]) / np.linalg.norm([0.5, 0.25, 0.8])
# of sky, ground, its shadow, lines, and lines in the shadow
TONES = np.array(
    [(244.0, 246, 249), (232, 235, 240), (190, 195, 206), (196, 202, 212), (160, 167, 181)]
)
# samples in the height of a pixel of a colour picture
OVERSAMPLING = 2
# a plane along the sun's rays has no shadows
LOWEST_SUN = 0.1


class Renderer:
    """Draws triangles; one picture at a time.

    Args:
        triangles: what there is.
    """

    def __init__(self, triangles: Triangles) -> None:
        self.triangles = triangles
        moving = triangles.moving
        self._shadows = (
            np.ascontiguousarray(triangles.corners[moving]),
            np.ascontiguousarray(triangles.body[moving]),
        )
        self._shades = np.zeros((len(triangles.body), 3), np.uint8)
        # nearest and what, of the last size
        self._buffers = np.zeros((0, 0)), np.zeros((0, 0), np.int32)

    def colour(
        self, R: Array, p: Array, camera: Camera, over: int = OVERSAMPLING
    ) -> NDArray[np.uint8]:
        """Return red, green and blue, 0 to 255, shape (height, width, 3).

        Args:
            R, p: of the moving bodies, the world first, shapes (b, 3, 3) and (b, 3) [m].
            over: samples in the height of a pixel, and in its width.
        """
        t, (width, height) = self.triangles, camera.size
        _, object_id = self._draw(R, p, camera, over, shadows=True)
        shade(t.colors, t.normals, t.body, np.ascontiguousarray(R), SUN, self._shades)
        pixels = np.empty((height, width, 3), np.uint8)
        paint(pixels, object_id, self._shades, self._grounds(camera, over), TONES, 0.5 * over)
        return pixels

    def depth(self, R: Array, p: Array, camera: Camera) -> NDArray[np.float32]:
        """Return the distance along the optical axis [m], inf for the background, shape (height,
        width).
        """
        nearest, _ = self._draw(R, p, camera)
        with np.errstate(divide="ignore"):
            return (1.0 / nearest).astype(np.float32)

    def segmentation(self, R: Array, p: Array, camera: Camera) -> NDArray[np.int32]:
        """Return the visible link, −1 for the background, shape (height, width)."""
        _, object_id = self._draw(R, p, camera)
        t = self.triangles
        # after the triangles the planes, the last first, and the background
        links = np.concatenate([t.link, t.plane_link[::-1], [-1]]).astype(np.int32)
        return links[
            np.where(
                object_id > BACKGROUND,
                object_id,
                np.where(object_id == BACKGROUND, -1, object_id // 2 - 1),
            )
        ]

    def _draw(
        self, R: Array, p: Array, camera: Camera, over: int = 1, shadows: bool = False
    ) -> tuple[Array, NDArray[np.int32]]:
        """Return inverse depth, and object number, of every sample; the next picture overwrites
        them.
        """
        t, shape = self.triangles, (over * camera.size[1], over * camera.size[0])
        if self._buffers[0].shape != shape:
            self._buffers = np.zeros(shape), np.zeros(shape, np.int32)
        nearest, object_id = self._buffers
        nearest[:], object_id[:] = 0.0, BACKGROUND
        lens = _lens(camera, over)
        for k, ground in enumerate(self._grounds(camera, over)):
            fill_plane(nearest, object_id, tuple(ground[2].tolist()), FIRST_PLANE - 2 * k)
        for k, (point, normal) in enumerate(t.planes if shadows else ()):
            if (fall := float(normal @ SUN)) > LOWEST_SUN:
                S = np.eye(3) - np.outer(SUN, normal) / fall
                on = np.einsum("ij,njk->nik", S, R), (p - point) @ S.T + point
                lit = FIRST_PLANE - 2 * k
                fill(nearest, object_id, *self._shadows, _poses(*on, camera), lens, lit, lit - 1)
        fill(
            nearest,
            object_id,
            t.corners,
            t.body,
            _poses(R, p, camera),
            lens,
            BACKGROUND,
            BACKGROUND,
        )
        return nearest, object_id

    def _grounds(self, camera: Camera, over: int) -> Array:
        """Return the coordinates of planes in the picture, for ``shading.paint``."""
        f, x0, y0 = _lens(camera, over)
        eye, axes = camera.pose.p, camera.pose.R * (1.0, 1.0, -1.0)
        # rays with a depth of 1, in the axes of the world: at the corner, per column and per row
        ray = np.array(
            [axes @ (-x0 / f, y0 / f, 1.0), axes @ (1.0 / f, 0.0, 0.0), axes @ (0.0, -1.0 / f, 0.0)]
        )
        grounds = np.zeros((len(self.triangles.planes), 3, 3))
        for k, (point, normal) in enumerate(self.triangles.planes):
            high = float(normal @ (eye - point))
            # invisible from below
            if high > 0:
                near = -(ray @ normal) / high
                x = np.cross((0.0, 1.0, 0.0) if abs(normal[1]) < 0.9 else (1.0, 0.0, 0.0), normal)
                x /= np.linalg.norm(x)
                for row, axis in enumerate((x, np.cross(normal, x))):
                    grounds[k, row] = float((eye - point) @ axis) * near + ray @ axis
                grounds[k, 2] = near
        return grounds


def _lens(camera: Camera, over: int) -> tuple[float, float, float]:
    """Return f, x₀ and y₀ in samples."""
    width, height = camera.size
    return over * camera.focus, 0.5 * over * width, 0.5 * over * height


def _poses(R: Array, p: Array, camera: Camera) -> Array:
    """Return poses of bodies in the camera's coordinates, right, up and ahead, shape (b, 12)."""
    axes = (camera.pose.R * (1.0, 1.0, -1.0)).T
    rotations = np.einsum("ij,njk->nik", axes, R).reshape(-1, 9)
    return np.ascontiguousarray(np.hstack([rotations, (p - camera.pose.p) @ axes.T]))
