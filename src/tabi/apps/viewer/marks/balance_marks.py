"""Balance: centres of pressure and mass, zero moment point, support, and the trail of the centre of
mass.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.apps.viewer.marks.batches import Batch, Lines, ball, disc, rings
from tabi.apps.viewer.marks.mark import Canvas, Checkbox, Mark
from tabi.apps.viewer.marks.palette import CENTRE, LIFT, PRESSURE, SUPPORT, ZMP
from tabi.apps.viewer.view import View
from tabi.model.body import convex_outline

Array = NDArray[np.float64]
TRAILS = 300  # points of a trail


class BalanceMarks(Mark):
    """The marks of what carries robots, and where their mass is."""

    BOXES = (
        Checkbox(
            "centre of pressure",
            30,
            "blue ball: where the load of a foot acts, in the outline of its sole",
        ),
        Checkbox("support polygon", 31, "light blue: around all points that carry the robot"),
        Checkbox("centre of mass", 32, "yellow ball inside the robot, plumbed down to the ground"),
        Checkbox(
            "zero moment point",
            33,
            "purple coin on the ground: where all contact forces together act",
        ),
        Checkbox("trails", 50, "yellow: where the centre of mass has been", shown=False),
    )

    def __init__(self, canvas: Canvas) -> None:
        server, self._feet = canvas.server, len(canvas.soles)
        self.pressure = Batch(server, "pressure", ball(0.014), PRESSURE)
        self.outline = Lines(server, "outline", PRESSURE, 0.004)
        self.support = Lines(server, "support", SUPPORT, 0.006)
        self.centre = Batch(server, "centre", ball(0.030), CENTRE)
        self.plumb = Lines(server, "plumb", CENTRE, 0.005)
        self.below = Batch(server, "below", disc(0.030), CENTRE)
        self.zmp = Batch(server, "zmp", disc(0.017), ZMP)
        self.trail = Lines(server, "trail", CENTRE, 0.005)
        self._past: deque[Array] = deque(maxlen=TRAILS)
        self._trailed = -1.0

    @classmethod
    def create(cls, canvas: Canvas) -> Self:
        """See ``Mark``."""
        return cls(canvas)

    def draw_view(self, view: View, shown: Mapping[str, bool], ground: float) -> None:
        """See ``Mark``."""
        self._remember(view, shown["trails"], ground)
        if len(view.centres):
            self._draw_balance(view, shown, ground)

    def _draw_balance(self, view: View, on: Mapping[str, bool], ground: float) -> None:
        lift = np.array([0.0, 0.0, LIFT])
        loaded = view.pressures[np.isfinite(view.pressures[:, 0])] + lift
        self.pressure.show(loaded if on["centre of pressure"] else None)
        self.outline.show(
            rings([corners + lift for corners in view.outlines])
            if on["centre of pressure"] and not (on["states of feet"] and self._feet)
            else None
        )
        hulls = [hull for points in view.supports if (hull := _hull(points)) is not None]
        self.support.show(
            rings([hull + 2 * lift for hull in hulls]) if on["support polygon"] else None
        )
        below = view.centres * (1.0, 1.0, 0.0) + (0.0, 0.0, ground + LIFT)
        seen = view.centres if on["centre of mass"] else None
        self.centre.show(seen)
        self.below.show(None if seen is None else below)
        self.plumb.show(None if seen is None else np.stack([view.centres, below], axis=1))
        self.zmp.show(
            view.zmp[np.isfinite(view.zmp[:, 0])] + 3 * lift if on["zero moment point"] else None
        )

    def _remember(self, view: View, on: bool, ground: float) -> None:
        """Store the path of the centres of mass on the ground; a new start clears it."""
        if view.time < self._trailed:
            self._past.clear()
        if (len(self._past) == 0 or view.time - self._trailed > 0.03) and len(view.centres):
            self._past.append(
                np.concatenate(
                    [view.centres, view.centres * (1.0, 1.0, 0.0) + (0.0, 0.0, ground + LIFT)]
                )
            )
            path = np.array(self._past) if on else np.zeros((0, 0, 3))
            self.trail.show(
                np.stack([path[:-1], path[1:]], axis=2).reshape(-1, 2, 3) if len(path) > 1 else None
            )
            self._trailed = view.time


def _hull(points: Array) -> Array | None:
    """The polygon that points span in the plane, at their mean height; None for a line or less."""
    if len(points) < 3:
        return None
    try:
        corners = convex_outline("support", points[:, :2])
    except ModelError:
        return None
    return np.column_stack([corners, np.full(len(corners), points[:, 2].mean())])
