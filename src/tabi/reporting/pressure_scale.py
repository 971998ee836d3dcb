"""Colour scale of pressures, and pictures of a pad's face.

Dark rubber has no load; loaded rubber is blue, green, and yellow: lighter is always more, also for
colour-blind readers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Pixels = NDArray[np.uint8]
# shares of the end of the scale, and their colours
STEPS = (0.0, 0.01, 0.33, 0.67, 1.0)
SCALE = ((41, 43, 48), (62, 80, 160), (33, 145, 140), (94, 201, 98), (253, 231, 37))
# ends of scales, relative to a power of ten
ENDS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0)
MIN_SCALE_END = 1e3  # Pa
PAPER = (255, 255, 255)


def colors(part: Array) -> Pixels:
    """Return red, green and blue of shares of the scale, 0 to 1, shape (…, 3)."""
    at = np.clip(part, 0.0, 1.0)
    channels = [np.interp(at, STEPS, channel) for channel in np.array(SCALE, float).T]
    return np.round(np.stack(channels, axis=-1)).astype(np.uint8)


def top(highest: float) -> float:
    """Return the end of the scale [Pa] for a highest pressure: the next round number."""
    highest = max(highest, MIN_SCALE_END)
    decade = 10.0 ** np.floor(np.log10(highest))
    return float(next((n * decade for n in ENDS if n * decade >= highest), 10 * decade))


class FaceRaster:
    """Raster of a pad's face from above: x upwards and y to the left, as seen by the robot.

    Args:
        nodes: [m], shape (n, 3). triangles: shape (m, 3). pixel: its size [m].
    """

    def __init__(self, nodes: Array, triangles: NDArray[np.int64], pixel: float) -> None:
        plane = nodes[:, :2]
        low, high = plane.min(axis=0), plane.max(axis=0)
        height, width = np.maximum(np.ceil((high - low) / pixel).astype(int), 1)
        x, y = (
            high[0] - pixel * (np.arange(height) + 0.5),
            high[1] - pixel * (np.arange(width) + 0.5),
        )
        self.corners = np.zeros((height, width, 3), np.int64)
        self.weights = np.full((height, width, 3), np.nan)
        for corners in triangles:
            a, b, c = plane[corners]
            (ux, uy), (vx, vy) = b - a, c - a
            size = ux * vy - uy * vx
            # a vertical triangle is invisible from above
            if abs(size) < 1e-15:
                continue
            px, py = x[:, None] - a[0], y[None, :] - a[1]
            s, t = (px * vy - py * vx) / size, (ux * py - uy * px) / size
            inside = (s >= -1e-9) & (t >= -1e-9) & (s + t <= 1.0 + 1e-9)
            self.corners[inside] = corners
            self.weights[inside] = np.stack([1.0 - s - t, s, t], axis=-1)[inside]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of pixels."""
        return self.corners.shape[:2]

    def values(self, at_nodes: Array) -> Array:
        """Return interpolated values of the nodes; NaN outside of the face."""
        return (at_nodes[self.corners] * self.weights).sum(axis=-1)

    def picture(self, pressure: Array, highest: float) -> Pixels:
        """Return a picture of pressures at the nodes [Pa], with colours that end at ``highest``."""
        values = self.values(pressure)
        there = np.isfinite(values)
        return np.where(there[..., None], colors(np.where(there, values, 0.0) / highest), PAPER)
