"""Feet with soles of many corners, within the outlines of their own."""

from __future__ import annotations

from math import pi

import numpy as np
from numpy.typing import NDArray

from tabi.model.robot import Robot

Array = NDArray[np.float64]


def sole(corners: int, length: float, width: float) -> Array:
    """A convex polygon between a rectangle and an ellipse, |x/a|⁴ + |y/b|⁴ = 1 [m]."""
    angle = 2 * pi * (np.arange(corners) + 0.5) / corners
    x, y = np.cos(angle), np.sin(angle)
    shape = np.sqrt(np.abs([x, y])) * np.sign([x, y])
    return 0.5 * (np.array([[length], [width]]) * shape).T


def resole(robot: Robot, corners: int) -> None:
    """Give the feet of a robot soles of so many corners, within their own outlines."""
    for name, foot in list(robot.feet.items()):
        low, high = foot.polygon.min(axis=0), foot.polygon.max(axis=0)
        polygon = sole(corners, *(high - low)) + 0.5 * (low + high)
        foot.body.shapes[:] = [shape for shape in foot.body.shapes if not shape.collides]
        robot.add_foot(name, foot.body, polygon, foot.placement.p, foot.placement.quaternion)
