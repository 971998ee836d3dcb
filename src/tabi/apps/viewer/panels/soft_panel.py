"""The folder of a page about soft soles and pads: how much larger they are drawn, what the colours
are, and the pressure on the outline of each, as one looks down on one's own feet.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import viser

from tabi.apps.viewer.panels.markup import literal
from tabi.apps.viewer.soft_pad import SoftNow, SoftPad
from tabi.reporting.pressure_scale import PAPER, FaceRaster, Pixels, colors, top

# how many times as large displacements are drawn: the largest that fits into this part of the pad
FACTORS, ROOM = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0), 0.75
PIXEL, QUALITY = 2e-3, 92  # m, and of the picture's packing
# pads in the picture, pixels between them, pixels of the scale
MAX_PADS, GAP, BAR = 4, 8, 10


class SoftPanel:
    """The folder, and all pads of the page; nothing where a world has none.

    Attributes:
        factor: how many times as large displacements are drawn. text: what the colours mean.
        picture: of the pressures. highest: the end of the scale [Pa].
    """

    def __init__(
        self, server: viser.ViserServer, pads: Sequence[SoftPad], order: float | None = 0.5
    ) -> None:
        self.pads, self.highest, self._most, self._time = pads, top(0.0), 0.0, -np.inf
        self._now: Sequence[SoftNow] = ()
        self._is_set_by_user, self._far = False, 0.0
        if not pads:
            return
        self._rasters = [FaceRaster(pad.nodes, pad.triangles, PIXEL) for pad in pads[:MAX_PADS]]
        with server.gui.add_folder("soft soles", order=order):
            self.text = server.gui.add_markdown("")
            self.picture = server.gui.add_image(self._paint(), format="jpeg", jpeg_quality=QUALITY)
            hint = (
                "how many times as large as they are displacements are drawn; as many as fit into "
                "the pads, until it is moved"
            )
            ends = FACTORS[0], FACTORS[-1]
            self.factor = server.gui.add_slider(
                "deformation [×]", *ends, 1.0, ends[1], marks=FACTORS, hint=hint
            )

        @self.factor.on_update
        def _(event: viser.GuiEvent) -> None:
            # one that the page itself moves has no browser behind it
            self._is_set_by_user = self._is_set_by_user or event.client is not None

    @property
    def drawn_as(self) -> float:
        """Factor by which displacements are drawn larger."""
        return float(self.factor.value) if self.pads else 1.0

    def draw(self, now: Sequence[SoftNow], time: float, highest: float | None = None) -> None:
        """Pads at a moment [s]; the scale ends at the highest pressure so far, or as specified
        [Pa].
        """
        if not now or len(now) != len(self.pads):
            return
        most = max(float(pad_view.pressure.max()) for pad_view in now)
        far = max(
            float(np.abs(pad_view.displacement).max()) / pad.thickness
            for pad, pad_view in zip(self.pads, now, strict=True)
        )
        back = time < self._time
        self._most, self._far = (
            (most, far) if back else (max(self._most, most), max(self._far, far))
        )
        self._time, self._now = time, now
        self._fit()
        self.highest = top(self._most if highest is None else highest)
        self.refresh()

    def refresh(self) -> None:
        """Draw the last moment as it should be drawn now; nothing is sent where that is no news."""
        for pad, pad_view in zip(self.pads, self._now, strict=False):
            pad.draw(pad_view.displacement, pad_view.pressure, self.drawn_as, self.highest)

    def _fit(self) -> None:
        """Move the slider to what fits, if the user did not set it."""
        fits = max((factor for factor in FACTORS if factor * self._far <= ROOM), default=FACTORS[0])
        if not self._is_set_by_user and self.factor.value != fits:
            self.factor.value = fits

    def show_picture(self) -> None:
        """Send the words and the picture of what was drawn last."""
        if not self._now:
            return
        lines = [
            f"pressure from 0 (dark) to **{1e-3 * self.highest:g} kPa** (yellow); "
            f"drawn {self.drawn_as:g} × as deformed as they are"
        ]
        for pad, now in list(zip(self.pads, self._now, strict=True))[:MAX_PADS]:
            lines.append(
                f"{literal(pad.name)}: **{1e-3 * max(float(now.pressure.max()), 0.0):.0f} kPa**, "
                f"sinks {1e3 * now.sink + 0.0:.2f} mm"
            )
        words = "  \n".join(lines)
        if words != self.text.content:
            self.text.content = words
            self.picture.image = self._paint()

    def _paint(self) -> Pixels:
        """The pads beside each other, the last first: a left foot stands to the left of the right
        one; then the scale.
        """
        height = max(raster.shape[0] for raster in self._rasters)
        parts: list[Pixels] = []
        for k in self._order():
            raster = self._rasters[k]
            pressure = self._now[k].pressure if self._now else np.zeros(len(self.pads[k].nodes))
            picture = raster.picture(pressure, self.highest)
            parts += [_padded(picture, height), _paper(height, GAP)]
        bar = colors(np.linspace(1.0, 0.0, height))[:, None].repeat(BAR, axis=1)
        # a browser would make a small picture larger by smearing it
        return np.concatenate([*parts, bar], axis=1).repeat(2, axis=0).repeat(2, axis=1)

    def _order(self) -> list[int]:
        """Return the indices of the pads, those of left feet first."""
        return sorted(range(len(self._rasters)), key=lambda k: "left" not in self.pads[k].name)


def _paper(height: int, width: int) -> Pixels:
    return np.full((height, width, 3), PAPER, np.uint8)


def _padded(pixels: Pixels, height: int) -> Pixels:
    return np.concatenate([pixels, _paper(height - len(pixels), pixels.shape[1])]).astype(np.uint8)
