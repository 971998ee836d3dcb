"""Views drawn in a page: bodies, what lies over them, plots, the selected sensor, and the lines of
the panel. Knows no simulator: it draws what a view contains.
"""

from __future__ import annotations

import time as clock
from typing import Generic, TypeVar

import numpy as np

from tabi.apps.viewer.marks.overlay import Overlay
from tabi.apps.viewer.page import Page
from tabi.apps.viewer.panels.markup import literal, unbroken
from tabi.apps.viewer.panels.plots import Plots
from tabi.apps.viewer.panels.sensor_panel import SensorHistory
from tabi.apps.viewer.panels.soft_panel import SoftPanel
from tabi.apps.viewer.soft_pad import SoftNow, soft_of
from tabi.apps.viewer.status import status
from tabi.apps.viewer.view import View, feet_of
from tabi.apps.viewer.watching import WatchControls
from tabi.recording.foot_words import name_of

# a second; a busy machine swallows some pictures, and sixty are to arrive
FRAMES, TEXTS, PLOTS = 64, 8, 5
PADS = 20  # and of these soft soles, which are new meshes each time
LASTING_KEYS = ("text", "plots", "pads")
HICCUP = 0.1  # s
FEET = 8  # that the panel has lines for
MIN_BAND_LENGTH_M = 0.01  # m of a rubber band from which on bodies do not hide it
ControlsT = TypeVar("ControlsT", bound=WatchControls)


class Drawing(Generic[ControlsT]):
    """Drawing of views in a page.

    Attributes:
        page: where. controls: of the page. overlay, plots, soft: of its world.
        sensors: of the simulation, from when it is there.
    """

    controls: ControlsT

    def __init__(self, page: Page) -> None:
        self.page = page
        self.sensors: SensorHistory | None = None
        self._written: dict[str, float] = {}
        self._late: View | None = None

    def furnish(self) -> None:
        """Plots and drawings of the page's world, after its controls."""
        server, feet = self.page.server, feet_of(self.page.world)
        self._soft, self._late = soft_of(self.page.world), None
        names = [shape.name for shape in self._soft]
        self.plots = Plots(server, list(feet), names)
        self.soft = SoftPanel(server, self.page.scene.pads)
        soles = [foot.polygon for foot in feet.values()]
        bare = [name not in names for name in feet]
        self.overlay = Overlay(server, self.controls.arrow, soles, bare)

    def _drawn(self, view: View) -> bool:
        """Draw a picture; False where it has to be drawn once more."""
        try:
            self.draw(view)
        except RuntimeError as fault:
            # the server is woken from this thread without a lock; once in a while they meet there
            if "mutated during iteration" not in str(fault):
                raise
            return False
        return True

    def draw(self, view: View) -> None:
        """Draw the picture of one view."""
        self.overlay.shown = {name: box.value for name, box in self.controls.shown.items()}
        self._late = view
        with self.page.server.atomic():
            if self.due("pads", PADS):
                self._draw_pads()
            # what pulls is never hidden behind bodies
            pulls = any(np.linalg.norm(b.target - b.point) > MIN_BAND_LENGTH_M for b in view.bands)
            through = self.overlay.shown["see through bodies"] or pulls
            self.page.scene.see_through(through)
            self.page.scene.pull_plainly(self.overlay.shown["drag pulls"])
            self.page.scene.move(view.positions, view.rotations)
            self.overlay.draw(view, self.page.world.ground_height)
            self._follow(view)
        self.plots.take(view, self._pads)
        if self.sensors is not None:
            self.sensors.take(view.time, view.selected_sensor)
        if self.due("plots", PLOTS):
            self.plots.draw()
            self.soft.show_picture()
            if self.sensors is not None:
                self.sensors.draw()

    def _pads(self, view: View) -> list[SoftNow]:
        """Return where soft soles and pads press; empty for the view of another world."""
        if len(view.pads) != len(self._soft):
            return []
        return [shape.read(seen) for shape, seen in zip(self._soft, view.pads, strict=True)]

    def _draw_pads(self) -> None:
        """Draw soft soles and pads of the last view, if they are not drawn yet."""
        view, self._late = self._late, None
        if view is not None:
            self.soft.draw(self._pads(view), view.time)
        else:
            self.soft.refresh()

    def _follow(self, view: View) -> None:
        """Cameras go along with the first robot, or with what moves, over the ground."""
        where = view.centres[0] if len(view.centres) else view.positions.mean(axis=0)
        self.page.scene.follow(where if self.controls.follow_it.value else None)

    def status(self, view: View, pace: str) -> list[str]:
        """Return the three lines of the panel about a moment, and one about other pages."""
        robots = [robot.name for robot in self.page.world.robots]
        pages = len(self.page.server.get_clients())
        rest = [f"{pages} browsers show this; all of them may act"] if pages > 1 else []
        return [*status(view, pace, robots, self.plots.feet), *rest]

    def details(self, view: View) -> list[str]:
        """Return more lines about a moment: load, feet, certificate, and how to pull."""
        weight = sum(robot.mass for robot in self.page.world.robots) * float(
            np.linalg.norm(self.page.world.gravity)
        )
        carried = (
            [f"on the feet **{view.load:.1f} N** (weight {weight:.1f} N)"]
            if len(view.loads)
            else []
        )
        return [
            *carried,
            *feet_lines(self.plots.feet, view),
            "certificate: exact to "
            + unbroken(f"{view.residual:.1e} m/s")
            + ", "
            + unbroken(f"{view.force_residual:.1e} N"),
            f"steps that did not converge: {view.missed}",
            *(f"**walk not finished**: {literal(w.reason)}" for w in view.walks if w.reason),
            "pull: **Ctrl-drag** a body, with Shift × 10; or let a finger rest on it, then drag",
        ]

    def show_text(self, text: str, details: str, state: str) -> None:
        """Send the lines of the panel and its title where they are new."""
        # what was left out of the last picture, where no other follows
        self._draw_pads()
        if text != self.controls.text.content:
            self.controls.text.content = text
        if details != self.controls.details.content:
            self.controls.details.content = details
        if self._written.get(state) is None:
            self._written = {k: v for k, v in self._written.items() if k in LASTING_KEYS} | {
                state: 0.0
            }
            self.page.server.gui.set_panel_label(f"tabi · {state}")

    def due(self, what: str, rate: float) -> bool:
        """Whether something is to be done again at a rate [Hz]."""
        now = clock.monotonic()
        if now - self._written.get(what, -1.0) < 1 / rate:
            return False
        self._written[what] = now
        return True


def feet_lines(names: list[str], view: View) -> list[str]:
    """The state of each foot, and how far its pressure point is from the edge of the sole; some of
    them where there are many.
    """
    lines = []
    # a view of the next scene may come before its controls do
    for k, name in enumerate(names[: min(FEET, len(view.soles.states))]):
        # rounded, and no zero with a sign
        margin = round(1e3 * float(view.soles.margins[k]), 1) + 0.0
        far = f", {unbroken(f'{margin:.1f} mm')} to its edge" if margin == margin else ""
        lines.append(f"{literal(name)} foot: **{name_of(int(view.soles.states[k]))}**{far}")
    return lines
