"""Pictures of a recording: its world by ``tabi.rendering``, with arrows of forces and marks.

They are drawn at twice the size, and reduced: edges are smooth.
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
MAX_TRIANGLES = 60_000
FORCE, MARKS = (214, 60, 40), ((242, 178, 26), (26, 90, 217), (26, 158, 90))
OVERSAMPLING = 2
# pixels beyond which nothing is drawn
MAX_PIXEL = 1e5


class Painter:
    """Painter of the frames of a recording.

    Args:
        look: the meshes. drawn: the frames. size: width and height of a picture in pixels.
        view: centre [m] and radius [m] of the view; default: the moving bodies of the first frame.
    """

    def __init__(
        self,
        look: Look,
        drawn: Frames,
        size: tuple[int, int] = (640, 480),
        view: tuple[Array, float] | None = None,
    ) -> None:
        self.drawn, self.size = drawn, size
        few = Look(thinned(look.pieces, MAX_TRIANGLES), look.planes)
        self._renderer = Renderer(of_look(few))
        self._centre, self._radius = view or bounds(drawn, look.pieces)

    def picture(self, k: int) -> Image.Image:
        """Return the picture of one frame."""
        drawn, big = self.drawn, (OVERSAMPLING * self.size[0], OVERSAMPLING * self.size[1])
        eye = around(self._centre + drawn.along[k], 2.9 * self._radius, big)
        R, p = tracks.rotations(drawn.quaternion[k]), drawn.position[k]
        image = Image.fromarray(self._renderer.colour(R, p, eye, over=1))
        self._arrows(ImageDraw.Draw(image), eye, k)
        return image.resize(self.size, Image.Resampling.LANCZOS)

    def _arrows(self, canvas: Any, eye: Camera, k: int) -> None:
        points, forces = self.drawn.arrows(k)
        for start, end in zip(
            eye.project(points)[0], eye.project(points + self.drawn.arrow * forces)[0], strict=True
        ):
            along = end - start
            long = float(np.linalg.norm(along))
            if not 2 <= long < MAX_PIXEL:
                continue
            head = min(6.0 * OVERSAMPLING, long) * along / long
            across = 0.4 * np.array([-head[1], head[0]])
            canvas.line([tuple(start), tuple(end - head)], fill=FORCE, width=2 * OVERSAMPLING)
            canvas.polygon(
                [tuple(end), tuple(end - head + across), tuple(end - head - across)], fill=FORCE
            )
        for places, color in zip(
            (self.drawn.centre_of_mass, self.drawn.zmp, self.drawn.pressure), MARKS, strict=True
        ):
            for p in places[k][np.isfinite(places[k]).all(axis=1)]:
                (x, y), r = eye.project(p)[0], 3.0 * OVERSAMPLING
                if max(abs(x), abs(y)) < MAX_PIXEL:
                    canvas.ellipse(
                        (x - r, y - r, x + r, y + r), fill=color, outline=(255, 255, 255)
                    )
