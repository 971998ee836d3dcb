"""Reading of a sensor in the page: one of them is selected, its values are shown with their units,
and are plotted over the last seconds.

Only the selected one is measured: sensors without a reader cost a simulation nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import viser
from numpy.typing import NDArray
from viser import uplot

from tabi.apps.viewer.marks.palette import PRESSURE
from tabi.apps.viewer.panels.markup import unbroken
from tabi.apps.viewer.panels.plots import SPAN_S, around, empty_plot
from tabi.apps.viewer.view import SensorView
from tabi.recording.sensor_history import Quantity, parts

Array = NDArray[np.float64]
NO_SENSOR = "none"
# time between two samples; digits behind the point of a unit, and of the rest
SAMPLE_PERIOD_S, DIGITS, DEFAULT_DIGITS = 0.02, {"N": 1, "N·m": 2, "m/s²": 3}, 4
# smallest height of a plot, in its own unit; radius of the mark on a plate
MIN_PLOT_HEIGHT, MARK_RADIUS_M = 1e-3, 0.015


class SensorPanel:
    """A choice of sensors, values and plots of one.

    Args:
        labels: of every sensor that measures, what its numbers are, "force x [N]".
        pick: called with the sensor that was chosen, "" for none.

    Attributes:
        choice: the drop-down. text: the values. plots: one for each part of the reading.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        labels: Mapping[str, Sequence[str]],
        pick: Callable[[str], None] = lambda name: None,
    ) -> None:
        self._server, self._shown = server, ""
        self._parts = {name: parts(label) for name, label in labels.items()}
        self.plots: list[viser.GuiUplotHandle] = []
        self._ends: list[tuple[float, float]] = []
        gui = server.gui
        self.folder = gui.add_folder(
            "sensors", order=49.0, expand_by_default=False, visible=bool(labels)
        )
        with self.folder:
            hint = "whose values are shown; a sensor is measured only while it is shown"
            self.choice = gui.add_dropdown(
                "sensor", (NO_SENSOR, *self._parts), initial_value=NO_SENSOR, hint=hint
            )
            self.text = gui.add_markdown("")
        self.mark = server.scene.add_icosphere(
            "/over/plate", MARK_RADIUS_M, color=PRESSURE, visible=False
        )
        self.choice.on_update(lambda _: pick(self.selected))

    @property
    def selected(self) -> str:
        """Name of the sensor to show, "" for none."""
        return "" if self.choice.value == NO_SENSOR else self.choice.value

    def show(
        self,
        name: str,
        times: Array,
        values: Array,
        pressure: tuple[Array, Array] | None = None,
    ) -> None:
        """Readings of a sensor, the last one now.

        Args:
            name: of it; "" clears the panel. times, values: shapes (n,) and (n, width).
            pressure: centre of pressure of a force plate, in its plane and in the world [m].
        """
        if name != self._shown:
            self._select(name)
        self.mark.visible = pressure is not None
        if pressure is not None:
            self.mark.position = pressure[1]
        if not len(times) or name not in self._parts:
            return
        self.text.content = words(self._parts[name], values[-1], pressure and pressure[0])
        if len(times) < 2:
            return
        for k, (plot, part) in enumerate(zip(self.plots, self._parts[name], strict=True)):
            rows = values[:, part.columns].T
            plot.data = (times, *rows)
            # a browser rebuilds a plot when its scales change
            if (ends := around(rows, MIN_PLOT_HEIGHT)) != self._ends[k]:
                self._ends[k] = ends
                plot.scales = {
                    "x": uplot.Scale(time=False, auto=True),
                    "y": uplot.Scale(auto=False, range=ends),
                }

    def _select(self, name: str) -> None:
        """Replace the plots by those of another sensor."""
        for plot in self.plots:
            plot.remove()
        self._shown, self.text.content = name, ""
        parts_ = self._parts.get(name, [])
        with self.folder:
            self.plots = [
                empty_plot(
                    self._server.gui,
                    part.title,
                    [axis or part.word for axis in part.axes],
                    1,
                )
                for part in parts_
            ]
        self._ends = [(0.0, 0.0)] * len(parts_)


class SensorHistory:
    """Readings of the selected sensor of a simulation in the last seconds, for its panel."""

    def __init__(self, panel: SensorPanel) -> None:
        self.panel = panel
        self._rows: deque[tuple[float, Array]] = deque(maxlen=round(SPAN_S / SAMPLE_PERIOD_S))
        self._reading: SensorView | None = None

    def take(self, time: float, reading: SensorView | None) -> None:
        """Add a moment; another sensor, or a time before the last one, starts again."""
        before, self._reading = self._reading, reading
        if reading is None or before is None or reading.name != before.name:
            self._rows.clear()
        if self._rows and time < self._rows[-1][0]:
            self._rows.clear()
        if reading is not None and not (
            self._rows and time - self._rows[-1][0] < SAMPLE_PERIOD_S - 1e-9
        ):
            self._rows.append((time, reading.values))

    def draw(self) -> None:
        """Send the readings to the pages."""
        reading = self._reading
        if reading is None:
            self.panel.show("", np.zeros(0), np.zeros((0, 0)))
            return
        times = np.array([time for time, _ in self._rows])
        values = np.array([values for _, values in self._rows])
        self.panel.show(reading.name, times, values, reading.pressure)


def words(quantities: Sequence[Quantity], values: Array, pressure: Array | None = None) -> str:
    """Format a line for each part of a reading; the centre of pressure is in metres."""
    lines = []
    for part in quantities:
        digits = DIGITS.get(part.unit, DEFAULT_DIGITS)
        numbers = [
            # rounded, and no zero with a sign
            f"{axis} **{round(float(values[c]), digits) + 0.0:.{digits}f}**".strip()
            for c, axis in zip(part.columns, part.axes, strict=True)
        ]
        lines.append(f"{part.word}: {unbroken(' '.join([*numbers, part.unit]).strip())}")
    if pressure is not None:
        x, y = (f"{1e3 * float(p):.1f}" for p in pressure)
        lines.append("centre of pressure: " + unbroken(f"x **{x}** y **{y}** mm"))
    return "  \n".join(lines)
