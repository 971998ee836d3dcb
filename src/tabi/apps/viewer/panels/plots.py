"""Live plots in the page: forces on the feet, their states, centre of pressure, certificate,
over the last seconds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np
import viser
from numpy.typing import NDArray
from viser import uplot

from tabi.apps.viewer.soft_pad import SoftNow
from tabi.apps.viewer.view import View
from tabi.recording.foot_words import SLIDES

SPAN_S, SAMPLE_PERIOD_S = 5.0, 0.05  # plotted time, and time between two samples
COLORS = ("#1a5cc4", "#c8283c", "#2ea067", "#e2841c", "#7b3fb5", "#606878")
DECADES = (-17.0, -5.0)  # the certificate's axis
MIN_RESIDUAL_M_S = 1e-16  # a certificate of zero is drawn as this


class Plots:
    """Four plots of one world, and three more of soft soles and pads.

    Args:
        feet: their names, as in a view. pads: those of soft soles and pads.
    """

    def __init__(
        self, server: viser.ViserServer, feet: list[str], pads: Sequence[str] = ()
    ) -> None:
        self.feet, self.pads = feet, list(pads)
        self._rows: deque[list[float]] = deque(maxlen=round(SPAN_S / SAMPLE_PERIOD_S))
        self._ends: dict[str, tuple[float, float]] = {}
        gui, states = server.gui, [name for foot in feet for name in (foot, f"{foot} slides")]
        with gui.add_folder("plots", order=50.0, expand_by_default=False):
            self.plots = [
                empty_plot(gui, "load of the feet [N]", feet, 1),
                empty_plot(
                    gui, "state: 0 none, 1 vertex, 2 edge, 3 face; dashed 1: slides", states, 2
                ),
                empty_plot(
                    gui,
                    "centre of pressure: forwards, sideways [mm]",
                    [f"{foot} {axis}" for foot in feet for axis in "xy"],
                    2,
                ),
                empty_plot(gui, "certificate: log₁₀ of the residual [m/s]", ["residual"], 1),
            ]
            if self.pads:
                turns = [f"{pad} {axis}" for pad in self.pads for axis in "xy"]
                self.plots += [
                    empty_plot(gui, "highest pressure of soft soles [kPa]", self.pads, 1),
                    empty_plot(gui, "sink of soft soles [mm]", self.pads, 1),
                    empty_plot(gui, "tilt of soft soles about x, y [mrad]", turns, 2),
                ]
        for plot in self.plots[: 0 if feet else 3]:
            plot.visible = False

    def take(self, view: View, read: Callable[[View], Sequence[SoftNow]] | None = None) -> None:
        """Add a moment, where one is due; a time before the last one starts again.

        Args:
            read: reads what soft soles and pads do in a view.
        """
        if self._rows and view.time < self._rows[-1][0]:
            self._rows.clear()
        if self._rows and view.time - self._rows[-1][0] < SAMPLE_PERIOD_S:
            return
        soft = read(view) if read is not None and self.pads else ()
        if len(soft) != len(self.pads):
            return
        pressure = 1e3 * view.pressures_in_foot.ravel()
        state = np.maximum(view.soles.states, 0)
        sliding = (state > SLIDES).astype(float)
        states = np.column_stack([state % SLIDES, sliding]).ravel()
        decades = float(np.log10(max(view.residual, MIN_RESIDUAL_M_S)))
        row = [np.array([view.time]), view.loads, states, pressure, np.array([decades])]
        row += [
            1e-3 * np.array([now.pressure.max() for now in soft]),
            1e3 * np.array([now.sink for now in soft]),
            1e3 * np.array([turn for now in soft for turn in now.tilt]),
        ]
        self._rows.append(np.concatenate(row).tolist())

    def draw(self) -> None:
        """Send the plots to the pages."""
        if len(self._rows) < 2:
            return
        table, n, pads = np.array(self._rows).T, len(self.feet), len(self.pads)
        widths = [n, 2 * n, 2 * n, 1, *((pads, pads, 2 * pads) if pads else ())]
        for plot, rows in zip(self.plots, np.split(table[1:], np.cumsum(widths)[:-1]), strict=True):
            if plot.visible:
                plot.data = (table[0], *rows)
                self._zoom(plot, DECADES if plot is self.plots[3] else around(rows))

    def _zoom(self, plot: viser.GuiUplotHandle, ends: tuple[float, float]) -> None:
        """Send the ends of the upright axis when they change: a browser then rebuilds the plot."""
        if self._ends.get(str(plot.title)) != ends:
            self._ends[str(plot.title)] = ends
            plot.scales = {
                "x": uplot.Scale(time=False, auto=True),
                "y": uplot.Scale(auto=False, range=ends),
            }


def around(rows: NDArray[np.float64], least: float = 1.0) -> tuple[float, float]:
    """Round numbers around zero and all values, ``least`` away or more, so that noise does not fill
    a plot.
    """
    values = rows[np.isfinite(rows)]
    low = -_round_up(-float(values.min(initial=0.0)), least)
    high = _round_up(float(values.max(initial=0.0)), least)
    return (low, high) if high > low else (0.0, least)


def _round_up(value: float, least: float) -> float:
    """The next of 1, 2, 5, 10, 20, …; of 0 itself."""
    if value <= 0:
        return 0.0
    decade = 10.0 ** np.floor(np.log10(max(value, least)))
    return float(next((n * decade for n in (1, 2, 5) if n * decade >= value), 10 * decade))


def empty_plot(
    gui: viser.GuiApi, title: str, names: list[str], per_color: int
) -> viser.GuiUplotHandle:
    """An empty plot with a line per name; the second of a pair is dashed."""
    lines = [
        uplot.Series(
            label=name,
            stroke=COLORS[k // per_color % len(COLORS)],
            width=2,
            dash=(4, 4) if k % per_color else None,  # ty: ignore[invalid-argument-type]
        )
        for k, name in enumerate(names)
    ]
    zero = np.zeros(2)
    return gui.add_uplot(
        (np.array([0.0, 1.0]), *(zero for _ in names or [""])),
        (uplot.Series(label="time [s]"), *(lines or [uplot.Series(label="")])),
        title=title,
        scales={"x": uplot.Scale(time=False, auto=True), "y": uplot.Scale(auto=True)},
        height=150,
        padding=(14, 10, 0, 0),
    )
