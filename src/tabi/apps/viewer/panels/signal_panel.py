"""The panel *signals* of a page: names of what can be plotted, and the plots of those that were
clicked: joints, motors, centre of mass, zero moment point, loads, contacts, certificate, objects.

The names are buttons of one text (a control of viser for each would make the page slow). A script
(``scripts/signal.js``) requests ``/signal?name=…`` when one is clicked; a second click removes the
plot. Values are taken from the views that are drawn, so a plot costs the simulation nothing.
"""

from __future__ import annotations

import http
import time as clock
from collections import deque
from collections.abc import Callable, Mapping
from html import escape
from typing import TYPE_CHECKING, Self
from urllib.parse import parse_qs, urlsplit

import numpy as np
import viser
from viser import uplot
from websockets.http11 import Request, Response

from tabi.apps.viewer.panels.panel import Host, PagePanel
from tabi.apps.viewer.panels.plots import SPAN_S, around, empty_plot
from tabi.apps.viewer.steering import answer
from tabi.apps.viewer.view import View
from tabi.model.lookup import qualified

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

PATH, HEADER = "/signal", ("X-Tabi", "signal")
# plots at once; time between two samples, and between two drawings; smallest height of a plot
MAX_PLOTS, SAMPLE_PERIOD_S, DRAW_PERIOD_S, MIN_HEIGHT = 6, 0.02, 0.2, 1e-6
Reader = Callable[[View], float]
LOOK = (
    "font:inherit;font-size:11px;margin:1px;padding:1px 5px;cursor:pointer;border-radius:8px;"
    "border:1px solid rgba(128,128,128,.5);color:inherit;background:"
)


class SignalPanel(PagePanel):
    """A folder with names, and a plot for each that was clicked.

    Attributes:
        groups: readers by their titles, with units, and by their names. plots: by "title: name".
    """

    def __init__(self, server: viser.ViserServer, sim: Simulator) -> None:
        self._server, self.groups = server, signals(sim)
        self.plots: dict[str, viser.GuiUplotHandle] = {}
        self._rows: dict[str, deque[tuple[float, float]]] = {}
        self._ends: dict[str, tuple[float, float]] = {}
        self._clicked: deque[str] = deque(maxlen=20)
        self._drawn = 0.0
        self.folder = server.gui.add_folder("signals", order=49.5, expand_by_default=False)
        with self.folder:
            self.names = server.gui.add_html(self._html())

    @classmethod
    def create(cls, host: Host) -> Self:
        """See ``PagePanel``."""
        return cls(host.server, host.sim)

    def handlers(self) -> dict[str, Callable[[Request], Response]]:
        """See ``PagePanel``."""
        return {PATH: self.hear}

    def hear(self, request: Request) -> Response:
        """Take a click on a name."""
        if request.headers.get_all(HEADER[0]) != [HEADER[1]]:
            return answer(http.HTTPStatus.FORBIDDEN)
        name = parse_qs(urlsplit(request.path).query).get("name", [""])[0]
        if self._reader(name) is None:
            return answer(http.HTTPStatus.NOT_FOUND)
        self._clicked.append(name)
        return answer(http.HTTPStatus.NO_CONTENT)

    def show(self, view: View | None) -> None:
        """Add a moment to the plots, and draw them where it is time."""
        while self._clicked:
            self._toggle(self._clicked.popleft())
        if view is None or not self.plots:
            return
        for name, rows in self._rows.items():
            if rows and view.time < rows[-1][0]:
                rows.clear()
            reader = self._reader(name)
            if reader is not None and (
                not rows or view.time - rows[-1][0] >= SAMPLE_PERIOD_S - 1e-9
            ):
                rows.append((view.time, reader(view)))
        if clock.monotonic() - self._drawn >= DRAW_PERIOD_S:
            self._drawn = clock.monotonic()
            self._draw()

    def _draw(self) -> None:
        for name, plot in self.plots.items():
            if len(self._rows[name]) < 2:
                continue
            times, values = np.array(self._rows[name]).T
            plot.data = (times, values)
            if (ends := around(values, MIN_HEIGHT)) != self._ends.get(name):
                self._ends[name] = ends
                plot.scales = {
                    "x": uplot.Scale(time=False, auto=True),
                    "y": uplot.Scale(auto=False, range=ends),
                }

    def _toggle(self, name: str) -> None:
        """Add the plot of a signal, or remove it; the oldest makes room."""
        if name in self.plots:
            self._remove(name)
        else:
            if len(self.plots) == MAX_PLOTS:
                self._remove(next(iter(self.plots)))
            with self.folder:
                self.plots[name] = empty_plot(self._server.gui, name, [name], 1)
            self._rows[name] = deque(maxlen=round(SPAN_S / SAMPLE_PERIOD_S))
        self.names.content = self._html()

    def _remove(self, name: str) -> None:
        self.plots.pop(name).remove()
        self._ends.pop(name, None)
        del self._rows[name]

    def _reader(self, name: str) -> Reader | None:
        title, _, signal = name.partition(": ")
        return self.groups.get(title, {}).get(signal)

    def _html(self) -> str:
        """Return the names, folded by what they are; those with a plot are coloured."""
        parts = []
        for title, readers in self.groups.items():
            plotted = [name for name in readers if f"{title}: {name}" in self.plots]
            names = "".join(_button(title, name, name in plotted) for name in readers)
            parts.append(
                f"<details {'open' if plotted else ''}><summary style='cursor:pointer'>"
                f"{escape(title)}</summary>{names}</details>"
            )
        return f'<div style="padding:4px 12px;font-size:12px">{"".join(parts)}</div>'


def _button(title: str, name: str, pressed: bool) -> str:
    color = "#cfdcff" if pressed else "none"
    return (
        f'<button data-tabi-signal="{escape(f"{title}: {name}", quote=True)}" '
        f'aria-pressed="{str(pressed).lower()}" style="{LOOK}{color}">{escape(name)}</button>'
    )


def signals(sim: Simulator) -> dict[str, dict[str, Reader]]:
    """Return readers of all that a view has, by titles with units and by names."""
    groups: dict[str, Mapping[str, Reader]] = {
        "simulation": {
            "contacts": lambda view: float(len(view.points)),
            "load of the feet [N]": lambda view: view.load,
            "residual [m/s]": lambda view: view.residual,
            "force residual [N]": lambda view: view.force_residual,
        }
    }
    axes = [(axis, k) for k, axis in enumerate("xyz")]
    robots = [(robot.name, r) for r, robot in enumerate(sim.world.robots)]
    groups["centre of mass [m]"] = {
        f"{name} {axis}": lambda view, r=r, k=k: float(view.centres[r, k])
        for name, r in robots
        for axis, k in axes
    }
    groups["zero moment point [m]"] = {
        f"{name} {axis}": lambda view, r=r, k=k: float(view.zmp[r, k])
        for name, r in robots
        for axis, k in axes[:2]
    }
    groups |= _of_joints(sim)
    first = sum(len(robot.bodies) for robot in sim.world.robots)
    groups["position of objects [m]"] = {
        f"{body.name} {axis}": lambda view, row=first + b, k=k: float(view.positions[row, k])
        for b, body in enumerate(sim.world.objects)
        for axis, k in axes
    }
    return {title: dict(readers) for title, readers in groups.items() if readers}


def _of_joints(sim: Simulator) -> dict[str, Mapping[str, Reader]]:
    """Return readers of joints with one coordinate: positions, velocities, torques of motors."""
    places = [
        (qualified(robot, name, sim.model.joint_names), robot.joint(name).kind == "prismatic")
        for robot in sim.world.robots
        for name in robot.joint_names
        if robot.joint(name).q_count == 1
    ]
    groups: dict[str, Mapping[str, Reader]] = {}
    for slides, length, effort in ((False, "rad", "N·m"), (True, "m", "N")):
        names = [name for name, prismatic in places if prismatic is slides]
        q = {name: sim.model.q_index(name) for name in names}
        v = {name: sim.model.v_index(name) for name in names}
        of = f"joints [{length}" if not slides else f"sliding joints [{length}"
        groups[f"{of}]"] = {n: lambda view, i=i: float(view.q[i]) for n, i in q.items()}
        groups[f"{of}/s]"] = {n: lambda view, i=i: float(view.v[i]) for n, i in v.items()}
        groups[f"motors [{effort}]"] = {
            n: lambda view, i=i: float(view.effort[i]) for n, i in v.items()
        }
    return groups
