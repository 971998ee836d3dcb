"""Pictures of a recording: its world by ``tabi.rendering``, and over it arrows of forces and marks.

Drawn at twice the size, and halved: edges are smooth.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from tabi.recording import tracks
from tabi.recording.look import Look
from tabi.rendering.camera import Camera, around
from tabi.rendering.renderer import Renderer
from tabi.rendering.triangles import of_look
from tabi.reporting.frames import Frames, bounds, thinned

Array = NDArray[np.float64]
TRIANGLES = 60_000
FORCE, MARKS = (214, 60, 40), ((242, 178, 26), (26, 90, 217), (26, 158, 90))
OVER = 2
# pixels beyond which nothing is drawn
FAR = 1e5


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
        self.found, self.size = found, size
        few = Look(thinned(look.pieces, TRIANGLES), look.planes)
        self._renderer = Renderer(of_look(few))
        self._centre, self._radius = view or bounds(found, look.pieces)

    def picture(self, k: int) -> Image.Image:
        """One frame."""
        found, big = self.found, (OVER * self.size[0], OVER * self.size[1])
        eye = around(self._centre + found.along[k], 2.9 * self._radius, big)
        R, p = tracks.rotations(found.quaternion[k]), found.position[k]
        image = Image.fromarray(self._renderer.colour(R, p, eye, over=1))
        self._arrows(ImageDraw.Draw(image), eye, k)
        return image.resize(self.size, Image.Resampling.LANCZOS)

    def _arrows(self, canvas: Any, eye: Camera, k: int) -> None:
        points, forces = self.found.arrows(k)
        for start, end in zip(
            eye.project(points)[0], eye.project(points + self.found.arrow * forces)[0], strict=True
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
                (x, y), r = eye.project(p)[0], 3.0 * OVER
                if max(abs(x), abs(y)) < FAR:
                    canvas.ellipse(
                        (x - r, y - r, x + r, y + r), fill=color, outline=(255, 255, 255)
                    )
