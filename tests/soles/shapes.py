"""Outlines that tests of soles share."""

import numpy as np

RECTANGLE = [(-0.1, -0.06), (0.13, -0.06), (0.13, 0.06), (-0.1, 0.06)]
# not convex
BOOT = [(0.0, 0.0), (0.2, 0.0), (0.2, 0.05), (0.08, 0.05), (0.08, 0.15), (0.0, 0.15)]


def disc(radius: float, corners: int) -> np.ndarray:
    turn = np.linspace(0.0, 2 * np.pi, corners, endpoint=False)
    return radius * np.column_stack([np.cos(turn), np.sin(turn)])
