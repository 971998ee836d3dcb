"""The panel *Record* of a page: a button that begins and ends a recording (.h5), and the name of
its file.

The file is written into the folder that tabi was started in, under the time of the day, and never
over another one: no page can choose a place on the disk. A recording ends by the button, with
Reset, with another scene, or after ``MAX_TIME_S``.
"""

from __future__ import annotations

import time as clock
from pathlib import Path
from typing import TYPE_CHECKING, Self

import viser

from tabi._errors import TabiError
from tabi.apps.viewer.panels.markup import literal
from tabi.apps.viewer.panels.panel import Host, PagePanel
from tabi.apps.viewer.player import Player
from tabi.apps.viewer.view import View
from tabi.reporting.outputs import check_writable

if TYPE_CHECKING:
    from tabi.recording.writer import RecordingWriter
    from tabi.simulation.simulator import Simulator

# longest recording, and simulated time between two of its rows
MAX_TIME_S, ROW_PERIOD_S = 600.0, 0.01
BEGIN, END = "Record", "Stop recording"


class RecordPanel(PagePanel):
    """A button, and a line about the recording.

    Attributes:
        button: begins and ends. text: what is recorded, or was. folder: of the files.
    """

    def __init__(
        self, server: viser.ViserServer, player: Player, folder: Path | None = None
    ) -> None:
        self._player, self.folder = player, Path.cwd() if folder is None else folder
        self._writer: RecordingWriter | None = None
        self._sim: Simulator | None = None
        self._start, self._words = 0.0, ""
        with server.gui.add_folder("record", order=-0.3):
            self.button = server.gui.add_button(
                BEGIN,
                hint="writes the simulation into a file (.h5) of the folder that tabi was started "
                f"in, for at most {MAX_TIME_S / 60:g} simulated minutes; tabi replay plays it",
            )
            self.text = server.gui.add_markdown("")
        self.button.on_click(lambda _: player.order(self._toggle))

    @classmethod
    def create(cls, host: Host) -> Self:
        """See ``PagePanel``."""
        return cls(host.server, host.player)

    # ---- in the player's thread ---------------------------------------------------------------

    def _toggle(self, sim: Simulator) -> None:
        if self._writer is not None:
            self._finish()
            return
        try:
            path = self._file()
            check_writable(path)
            every = max(1, round(ROW_PERIOD_S / sim.dt))
            self._writer = sim.record(path, rate=1.0 / (every * sim.dt))
        except (TabiError, OSError) as refusal:
            self._words = f"not recorded: {literal(str(refusal))}"
            return
        self._sim, self._start = sim, sim.time

    def _file(self) -> Path:
        """Return a name that is free."""
        stamp = clock.strftime("%Y-%m-%d-%H%M%S")
        names = (f"tabi-{stamp}{tail}.h5" for tail in ("", *(f"-{k}" for k in range(2, 100))))
        return next(path for name in names if not (path := self.folder / name).exists())

    def _finish(self, reason: str = "") -> None:
        writer, sim = self._writer, self._sim
        if writer is None or sim is None:
            return
        self._writer = None
        try:
            writer.close()
        except (TabiError, OSError) as fault:
            self._words = f"the recording ended: {literal(str(fault))}"
            return
        lasted = f"{sim.time - self._start:.1f} s"
        self._words = f"wrote **{literal(writer.path.name)}**, {lasted}{reason}"

    # ---- in the drawing thread ----------------------------------------------------------------

    def show(self, view: View | None) -> None:
        """Show what is recorded; end what is over."""
        writer = self._writer
        if writer is not None and self._player.sim is not self._sim:
            self._finish(", until the reset")
        elif writer is not None and view is not None:
            self._words = (
                f"recording **{literal(writer.path.name)}**, {view.time - self._start:.1f} s"
            )
            if view.time - self._start > MAX_TIME_S:
                self._player.order(
                    lambda sim: self._finish(f", the longest that is recorded ({MAX_TIME_S:g} s)")
                )
        label = BEGIN if self._writer is None else END
        if self.button.label != label:
            self.button.label = label
        if self.text.content != self._words:
            self.text.content = self._words

    def close(self) -> None:
        """End a recording, as another scene comes."""
        self._finish()
