"""Pictures of triangles by a camera: colour, depth and segmentation.

Planes first, then on each of them the shadows of what moves, then the triangles. A shadow is the
triangle itself, moved along the rays of the sun s onto the plane through P with the normal n:

    S(x) = x − s (n·(x − P)) / (n·s)                                                            (1)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi.rendering.camera import Camera
from tabi.rendering.raster import NOTHING, PLANES, fill, fill_plane
from tabi.rendering.shading import paint, shade
from tabi.rendering.triangles import Triangles

Array = NDArray[np.float64]
SUN = np.array([0.5, 0.25, 0.8]) / np.linalg.norm([0.5, 0.25, 0.8])
# of sky, ground, its shadow, lines, and lines in the shadow
TONES = np.array(
    [(244.0, 246, 249), (232, 235, 240), (190, 195, 206), (196, 202, 212), (160, 167, 181)]
)
# samples in the height of a pixel of a colour picture
OVER = 2
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

    def colour(self, R: Array, p: Array, camera: Camera, over: int = OVER) -> NDArray[np.uint8]:
        """Red, green and blue, 0 to 255, shape (height, width, 3).

        Args:
            R, p: of the moving bodies, the world first, shapes (b, 3, 3) and (b, 3) [m].
            over: samples in the height of a pixel, and in its width.
        """
        t, (width, height) = self.triangles, camera.size
        _, what = self._draw(R, p, camera, over, shadows=True)
        shade(t.colors, t.normals, t.body, np.ascontiguousarray(R), SUN, self._shades)
        pixels = np.empty((height, width, 3), np.uint8)
        paint(pixels, what, self._shades, self._grounds(camera, over), TONES, 0.5 * over)
        return pixels

    def depth(self, R: Array, p: Array, camera: Camera) -> NDArray[np.float32]:
        """Distance along the optical axis [m], inf where nothing is, shape (height, width)."""
        nearest, _ = self._draw(R, p, camera)
        with np.errstate(divide="ignore"):
            return (1.0 / nearest).astype(np.float32)

    def segmentation(self, R: Array, p: Array, camera: Camera) -> NDArray[np.int32]:
        """Link of what is seen, −1 where nothing is, shape (height, width)."""
        _, what = self._draw(R, p, camera)
        t = self.triangles
        # behind the triangles the planes, the last first, and nothing
        links = np.concatenate([t.link, t.plane_link[::-1], [-1]]).astype(np.int32)
        return links[np.where(what > NOTHING, what, np.where(what == NOTHING, -1, what // 2 - 1))]

    def _draw(
        self, R: Array, p: Array, camera: Camera, over: int = 1, shadows: bool = False
    ) -> tuple[Array, NDArray[np.int32]]:
        """One over the depth, and the number of what is seen, of every sample; they are drawn over
        by the next picture.
        """
        t, shape = self.triangles, (over * camera.size[1], over * camera.size[0])
        if self._buffers[0].shape != shape:
            self._buffers = np.zeros(shape), np.zeros(shape, np.int32)
        nearest, what = self._buffers
        nearest[:], what[:] = 0.0, NOTHING
        lens = _lens(camera, over)
        for k, ground in enumerate(self._grounds(camera, over)):
            fill_plane(nearest, what, tuple(ground[2].tolist()), PLANES - 2 * k)
        for k, (point, normal) in enumerate(t.planes if shadows else ()):
            if (fall := float(normal @ SUN)) > LOWEST_SUN:
                S = np.eye(3) - np.outer(SUN, normal) / fall
                on = np.einsum("ij,njk->nik", S, R), (p - point) @ S.T + point
                lit = PLANES - 2 * k
                fill(nearest, what, *self._shadows, _poses(*on, camera), lens, lit, lit - 1)
        fill(nearest, what, t.corners, t.body, _poses(R, p, camera), lens, NOTHING, NOTHING)
        return nearest, what

    def _grounds(self, camera: Camera, over: int) -> Array:
        """How planes are seen, as ``shading.paint`` takes it."""
        f, x0, y0 = _lens(camera, over)
        eye, axes = camera.pose.p, camera.pose.R * (1.0, 1.0, -1.0)
        # rays with a depth of 1, in the axes of the world: at the corner, per column and per row
        ray = np.array(
            [axes @ (-x0 / f, y0 / f, 1.0), axes @ (1.0 / f, 0.0, 0.0), axes @ (0.0, -1.0 / f, 0.0)]
        )
        found = np.zeros((len(self.triangles.planes), 3, 3))
        for k, (point, normal) in enumerate(self.triangles.planes):
            high = float(normal @ (eye - point))
            # from below it is not seen
            if high > 0:
                near = -(ray @ normal) / high
                x = np.cross((0.0, 1.0, 0.0) if abs(normal[1]) < 0.9 else (1.0, 0.0, 0.0), normal)
                x /= np.linalg.norm(x)
                for row, axis in enumerate((x, np.cross(normal, x))):
                    found[k, row] = float((eye - point) @ axis) * near + ray @ axis
                found[k, 2] = near
        return found


def _lens(camera: Camera, over: int) -> tuple[float, float, float]:
    """f, x₀ and y₀ in samples."""
    width, height = camera.size
    return over * camera.focus, 0.5 * over * width, 0.5 * over * height


def _poses(R: Array, p: Array, camera: Camera) -> Array:
    """The camera's coordinates, right, up and ahead, of bodies, shape (b, 12)."""
    axes = (camera.pose.R * (1.0, 1.0, -1.0)).T
    turned = np.einsum("ij,njk->nik", axes, R).reshape(-1, 9)
    return np.ascontiguousarray(np.hstack([turned, (p - camera.pose.p) @ axes.T]))
