"""Contacts: points, friction cones, and forces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tabi.apps.viewer.marks.batches import HEAD, Batch, ball, cone, head, shaft
from tabi.apps.viewer.marks.mark import Canvas, Checkbox, Mark
from tabi.apps.viewer.marks.palette import FORCE, SLIDES, STICKS
from tabi.apps.viewer.view import View

Array = NDArray[np.float64]
MAX_ARROW_LENGTH_M = 0.8
CONE = 0.06  # m, the height of a friction cone


class ContactMarks(Mark):
    """The marks of all contacts."""

    BOXES = (
        Checkbox("contact points", 10, "green where a point sticks, orange where it slides"),
        Checkbox("friction cones", 11, "a force inside its cone sticks, one on its side slides"),
        Checkbox("contact forces", 12),
    )

    def __init__(self, canvas: Canvas) -> None:
        server, self.arrow = canvas.server, canvas.arrow
        self.points = Batch(server, "points", ball(0.008), STICKS)
        self.cones = Batch(server, "cones", cone(), STICKS, opacity=0.42)
        self.shafts = Batch(server, "shafts", shaft(), FORCE)
        self.heads = Batch(server, "heads", head(), FORCE)

    @classmethod
    def create(cls, canvas: Canvas) -> Self:
        """See ``Mark``."""
        return cls(canvas)

    def draw_view(self, view: View, shown: Mapping[str, bool], ground: float) -> None:
        """See ``Mark``."""
        pressing = (view.normals * view.forces).sum(axis=1) > 0
        if not pressing.any():
            for marks in (self.points, self.cones, self.shafts, self.heads):
                marks.show(None)
            return
        # of action and reaction the one on the upper body: the other would point into the ground
        side = np.where(view.normals[pressing, 2:] < 0, -1.0, 1.0)
        points = view.points[pressing]
        normals = side * view.normals[pressing]
        forces = side * view.forces[pressing]
        colors = np.where(view.sliding[pressing, None], SLIDES, STICKS).astype(np.uint8)
        self.points.show(points if shown["contact points"] else None, colors=colors)
        friction = view.friction[pressing]
        # a cone as wide as a table is no cone one could read
        scales = np.column_stack(
            [CONE * np.minimum(friction, 1.5)] * 2 + [np.full(len(friction), CONE)]
        )
        self.cones.show(points if shown["friction cones"] else None, normals, scales, colors)
        self._draw_arrows(points, self.arrow * forces, shown["contact forces"])

    def _draw_arrows(self, points: Array, arrows: Array, on: bool) -> None:
        """Arrows from points; the head of a short one is half of it."""
        length = np.linalg.norm(arrows, axis=1)
        axes = arrows / np.maximum(length, 1e-12)[:, None]
        shown = np.minimum(length, MAX_ARROW_LENGTH_M)
        head = np.minimum(HEAD, 0.5 * shown)
        thin = np.minimum(1.0, head / HEAD)
        self.shafts.show(points if on else None, axes, np.column_stack([thin, thin, shown - head]))
        self.heads.show(
            points + axes * (shown - head)[:, None] if on else None,
            axes,
            np.column_stack([thin, thin, thin]),
        )
