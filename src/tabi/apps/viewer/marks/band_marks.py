"""Rubber bands that pull, with their force in newtons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np

from tabi.apps.viewer.marks.batches import Batch, Lines, ball
from tabi.apps.viewer.marks.mark import Canvas, Mark
from tabi.apps.viewer.marks.palette import BAND
from tabi.apps.viewer.view import View


class BandMarks(Mark):
    """The marks of all that pulls, always shown."""

    def __init__(self, canvas: Canvas) -> None:
        self.band = Lines(canvas.server, "band", BAND, 0.008)
        self.knob = Batch(canvas.server, "knob", ball(0.018), BAND)
        self._label = canvas.server.scene.add_label(
            "/over/newtons", "", visible=False, anchor="bottom-center", font_screen_scale=1.3
        )

    @classmethod
    def create(cls, canvas: Canvas) -> Self:
        """See ``Mark``."""
        return cls(canvas)

    @property
    def newtons(self) -> str:
        """The force shown at the rubber band; empty where none pulls."""
        return self._label.text if self._label.visible else ""

    def draw_view(self, view: View, shown: Mapping[str, bool], ground: float) -> None:
        """See ``Mark``."""
        if not view.bands and not self._label.visible:
            return
        self.band.show(
            np.array([(band.point, band.target) for band in view.bands]).reshape(-1, 2, 3)
        )
        self.knob.show(np.array([band.target for band in view.bands]).reshape(-1, 3))
        if view.bands:
            self._label.text = " · ".join(
                f"{np.linalg.norm(band.force):.0f} N" for band in view.bands
            )
            self._label.position = view.bands[-1].target + np.array([0.0, 0.0, 0.05])
        self._label.visible = bool(view.bands)
