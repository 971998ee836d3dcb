"""A recording in the browser: the page draws it from its own meshes, with a time bar;
nothing is computed again.

All pages that watch see the same moment. One thread moves time and draws;
controls only leave wishes behind.
"""

from __future__ import annotations

import re
import threading
import time as clock
import webbrowser
from typing import Any

import numpy as np
import viser
from numpy.typing import NDArray

from tabi.apps.viewer.marks.foot_marks import FootMarks
from tabi.apps.viewer.marks.palette import CENTRE, FORCE, PRESSURE, ZMP
from tabi.apps.viewer.page import quiet, serve
from tabi.apps.viewer.panels.plots import SPAN_S
from tabi.apps.viewer.panels.sensor_panel import SensorPanel
from tabi.apps.viewer.panels.soft_panel import SoftPanel
from tabi.apps.viewer.scene import add_ground, light
from tabi.apps.viewer.soft_pad import SoftNow, SoftPad
from tabi.recording.recorded import Recorded
from tabi.reporting.frames import bounds, frames, rows, thinned
from tabi.reporting.soles import Soles, of_row
from tabi.spatial.transform import Transform, z_to

FRAMES = 30  # pictures a second
PLOTS, POINTS = 8, 300  # plots a second, and most readings in one
TRIANGLES = 400_000
# places for marks on the time bar; buttons that go to changes of feet
MARKS, BEFORE, AFTER = 100, "Change before", "Next change"
SPEEDS = {
    "× 0.05": 0.05,
    "× 0.1": 0.1,
    "× 0.25": 0.25,
    "× 0.5": 0.5,
    "× 1": 1.0,
    "× 2": 2.0,
    "× 4": 4.0,
}
# as in a page that simulates
COLORS = {"centre of mass": CENTRE, "zero moment point": ZMP, "centre of pressure": PRESSURE}


def show(
    run: Recorded, host: str = "127.0.0.1", port: int | None = None, open_browser: bool = True
) -> None:
    """Play a recording in the browser until Ctrl-C; arguments as of ``viewer.show``."""
    replay = Replay(run, host, port)
    print(f"The recording plays at {replay.address} (Ctrl-C ends it).", flush=True)
    if open_browser:
        webbrowser.open(replay.address)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        pass
    finally:
        replay.close()


class Replay:
    """A page that plays a recording.

    Attributes:
        address: what to type into the browser. row: what is shown, a row of the recording.
        facts: what is known of the run. bar, play, speed, loop: the controls.
    """

    def __init__(self, run: Recorded, host: str = "127.0.0.1", port: int | None = None) -> None:
        self.run, self.rows = run, rows(run)
        self.row, self.playing, self._now = 0, False, float(run.time[0])
        self.server, _, self.address = serve(host, port)
        self._bodies: dict[int, viser.FrameHandle] = {}
        self._turn, self._ended = threading.Lock(), threading.Event()
        self._scene()
        self._controls()
        self._draw()
        self._thread = threading.Thread(target=self._live, name="replay", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the server of the page."""
        self._ended.set()
        self._thread.join(2.0)
        with quiet():
            self.server.stop()

    def go(self, row: int) -> None:
        """Show a row, the first or the last where it lies beyond."""
        with self._turn:
            self.row = int(np.clip(row, 0, len(self.run.time) - 1))
            self._now = float(self.run.time[self.row])

    def set_playing(self, playing: bool) -> None:
        """Play or pause; at the end play starts again."""
        if playing and self.row == len(self.run.time) - 1:
            self.go(0)
        self.playing = playing

    def advance(self, seconds: float) -> None:
        """Let time pass in the recording [s];
        at its end it stops, or starts again where a loop is requested.
        """
        time, last = self.run.time, len(self.run.time) - 1
        with self._turn:
            self._now += seconds
            while self.row < last and time[self.row + 1] <= self._now:
                self.row += 1
                # a run that was set back goes on from there, in files of earlier versions
                if time[self.row] < time[self.row - 1]:
                    self._now = float(time[self.row])
        if self.row == last:
            self.go(0) if self.loop.value else self.set_playing(False)

    # ---- what is drawn ----------------------------------------------------------------------

    def _scene(self) -> None:
        world, look = self.run.world, self.run.look
        scene = self.server.scene
        light(self.server)
        for k, (point, normal) in enumerate(look.planes):
            add_ground(self.server, f"/world/ground{k}", point, _turn_to(normal))
        soft = {pad.piece for pad in self.run.pads.values()}
        for k, piece in enumerate(thinned(look.pieces, TRIANGLES)):
            if piece.body not in self._bodies:
                self._bodies[piece.body] = scene.add_frame(f"/body{piece.body}", show_axes=False)
            if k in soft:
                continue
            opacity = piece.color[3] if piece.color[3] < 1 else None
            scene.add_mesh_simple(
                f"/body{piece.body}/mesh{k}",
                piece.vertices,
                piece.triangles,
                color=piece.color[:3],
                opacity=opacity,
            )
        look_arrows: dict[str, Any] = {
            "shaft_radius": 0.004,
            "head_radius": 0.010,
            "head_length": 0.025,
        }
        self.arrows = scene.add_arrows(
            "/forces", np.zeros((1, 2, 3)), FORCE, visible=False, **look_arrows
        )
        counts = (len(world.robot_names), len(world.robot_names), len(world.feet.names))
        self._marks = [
            [
                scene.add_icosphere(
                    f"/{name.replace(' ', '_')}{k}",
                    0.022 if name == "centre of mass" else 0.012,
                    color=color,
                )
                for k in range(count)
            ]
            for (name, color), count in zip(COLORS.items(), counts, strict=True)
        ]
        self.pads = self._add_pads()
        bare = [name not in self.run.pads for name in world.feet.names]
        self.feet = FootMarks(self.server, world.feet.outlines, bare)
        centre, radius = bounds(frames(self.run, self.rows[:1]), look.pieces)
        camera = self.server.initial_camera
        camera.fov = np.radians(35.0)
        camera.position = centre + 3.4 * radius * np.array([0.80, 0.56, 0.21])
        camera.look_at = centre

    def _add_pads(self) -> list[SoftPad]:
        """Soft soles and pads, under the frames of their bodies."""
        return [
            SoftPad(
                self.server,
                plain(name),
                f"/body{pad.body}/pad{k}",
                Transform(pad.rotation, pad.position),
                (pad.nodes, pad.triangles),
                (pad.skin, pad.skin_triangles),
            )
            for k, (name, pad) in enumerate(self.run.pads.items())
        ]

    def _controls(self) -> None:
        gui, run = self.server.gui, self.run
        gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(26, 51, 133))
        gui.main_panel.dock_right()
        worst = run.summary
        names = ", ".join(plain(name) for name in run.world.robot_names)
        self.facts = gui.add_markdown(
            f"**{names or 'recording'}** · {plain(run.created)} · tabi {plain(run.version)}  \n"
            + (f"{run.episode_name} · " if run.episode_name else "")
            + f"ended: {plain(run.episodes[run.episode].ended if run.episodes else '')}  \n"
            f"{worst['rows']} rows over {worst['seconds']:.3f} s, "
            f"worst residual {worst['residual']:.1e} m/s, "
            f"{worst['missed']} steps did not converge"
        )
        self.text = gui.add_markdown("")
        low, high = float(run.time.min()), float(run.time.max())
        # a tail of digits would not fit into the number's field
        between = (
            round(float(np.median(np.abs(np.diff(run.time)))), 6) if len(run.time) > 1 else 0.0
        )
        high = max(high, low + run.dt)
        self.bar = gui.add_slider(
            "time [s]",
            low,
            high,
            between or run.dt,
            float(run.time[0]),
            marks=self._marks_of_events(low, high),
            hint="marks: changes of what a foot stands on" if run.foot_events else None,
        )
        self.last_event = gui.add_markdown("", visible=bool(run.foot_events))
        self.jump = gui.add_button_group(
            "feet", (BEFORE, AFTER), visible=bool(run.foot_events), hint="to the change of a foot"
        )
        self.play = gui.add_button("Play")
        self.back, self.forth = gui.add_button("Step back"), gui.add_button("Step forth")
        self.speed = gui.add_dropdown("speed", list(SPEEDS), initial_value="× 1")
        self.loop = gui.add_checkbox("loop", True)
        names = ("contact forces", *COLORS, "states of feet")
        self.shown = {name: gui.add_checkbox(name, True) for name in names}
        self.sensors = SensorPanel(self.server, run.sensor_labels)
        self.soft = SoftPanel(self.server, self.pads, order=None)
        highest = [float(pad.pressure.max(initial=0.0)) for pad in run.pads.values()]
        self._highest = max(highest, default=0.0)
        self.play.on_click(lambda _: self.set_playing(not self.playing))
        self.back.on_click(lambda _: self._step(-1))
        self.forth.on_click(lambda _: self._step(1))
        self.jump.on_click(lambda _: self._jump(self.jump.value == AFTER))

        @self.bar.on_update
        def _(event: viser.GuiEvent) -> None:
            # one that the page itself moves has no browser behind it
            if event.client is not None:
                self.playing = False
                self.go(int(np.argmin(np.abs(self.run.time - self.bar.value))))

    def _marks_of_events(self, low: float, high: float) -> tuple[float, ...]:
        """Return times of the changes of feet, as marks of the time bar: those that are distinct,
        and not without end.
        """
        cells = np.array([event.time for event in self.run.foot_events], float)
        cells = np.round((np.clip(cells, low, high) - low) / (high - low) * MARKS)
        return tuple(low + float(cell) / MARKS * (high - low) for cell in np.unique(cells))

    def _jump(self, forth: bool) -> None:
        """To the first row that shows the next change of a foot, or the one before."""
        self.playing = False
        rows = [self._row_after(event.time) for event in self.run.foot_events]
        matches = [row for row in rows if (row > self.row if forth else row < self.row)]
        if matches:
            self.go(min(matches) if forth else max(matches))

    def _row_after(self, time: float) -> int:
        """The first row at a time or after it; the last one where there is none."""
        late = np.flatnonzero(self.run.time >= time - 1e-9)
        return int(late[0]) if len(late) else len(self.run.time) - 1

    def _step(self, by: int) -> None:
        self.playing = False
        self.go(self.row + by)

    def _live(self) -> None:
        drawn: Any = None
        last, plotted, shown = clock.monotonic(), 0.0, (-1, "")
        while not self._ended.wait(1 / FRAMES):
            now = clock.monotonic()
            passed, last = now - last, now
            if self.playing:
                self.advance(min(passed, 0.2) * SPEEDS[self.speed.value])
            state = (self.row, self.soft.drawn_as, *(box.value for box in self.shown.values()))
            if state != drawn:
                drawn = state
                self._draw()
            if not self.playing or now - plotted > 1 / PLOTS:
                plotted, shown = now, self._show_sensor(shown)
                self.soft.show_picture()
            label = "Pause" if self.playing else "Play"
            if self.play.label != label:
                self.play.label = label

    def _draw(self) -> None:
        row = self.row
        pictures = frames(self.run, np.array([row]))
        points, forces = pictures.arrows(0)
        wanted = [box.value for box in self.shown.values()]
        with self.server.atomic():
            for body, frame in self._bodies.items():
                frame.position, frame.wxyz = (
                    pictures.position[0, body],
                    pictures.quaternion[0, body],
                )
            if wanted[0] and len(points):
                self.arrows.points = np.stack(
                    [points, points + pictures.arrow * forces], axis=1
                ).astype(np.float32)
            self.arrows.visible = bool(wanted[0] and len(points))
            places = (pictures.centre_of_mass[0], pictures.zmp[0], pictures.pressure[0])
            for handles, at, on in zip(self._marks, places, wanted[1:-1], strict=True):
                for handle, place in zip(handles, at, strict=True):
                    handle.visible = bool(on and np.isfinite(place).all())
                    if handle.visible:
                        handle.position = place
            self.feet.draw(self._soles(row), wanted[-1])
            self.soft.draw(self._pads(row), float(self.run.time[row]), self._highest)
            self.bar.value = float(self.run.time[row])
            load = self.run.feet["wrench"][row, :, 2].sum()
            self.text.content = (
                f"time **{self.run.time[row]:.3f} s** · on the feet **{load:.1f} N** · residual "
                f"{self.run.certificate['residual'][row]:.1e} m/s"
            )
            self.last_event.content = self._event_text(float(self.run.time[row]))

    def _show_sensor(self, shown: tuple[int, str]) -> tuple[int, str]:
        """Show readings of the selected sensor in the seconds before the row that is shown; return
        what is shown now, a row and a name; nothing is sent if that is unchanged.
        """
        row, name = self.row, self.sensors.selected
        if (row, name) != shown:
            selected = before(self.run.time, row)
            values = self.run.sensors.get(name, np.zeros((len(self.run.time), 0)))
            self.sensors.show(name, self.run.time[selected], values[selected])
        return row, name

    def _pads(self, row: int) -> list[SoftNow]:
        """Soft soles and pads in a row."""
        return [
            SoftNow(pad.displacement[row], pad.force[row], pad.pressure[row], pad.nodes)
            for pad in self.run.pads.values()
        ]

    def _soles(self, row: int) -> Soles:
        return of_row(self.run, row, self.run.motion(slice(row, row + 1)))

    def _event_text(self, time: float) -> str:
        """Format the last change of a foot so far, and how many there are."""
        events = self.run.foot_events
        past = [event for event in events if event.time <= time + 1e-9]
        last = past[-1] if past else None
        event_text = (
            f": {plain(last.foot)} {last.before} → **{last.after}** at {last.time:.3f} s"
            if last
            else ""
        )
        return f"change of a foot {len(past)} of {len(events)}{event_text}"


def before(time: NDArray[np.float64], row: int) -> NDArray[np.int64]:
    """Rows of the last seconds before a row and itself, not without end; those of a run that was
    set back from there on.
    """
    back = np.flatnonzero(np.diff(time[: row + 1]) < 0)
    start = int(back[-1]) + 1 if len(back) else 0
    start += int(np.searchsorted(time[start : row + 1], time[row] - SPAN_S))
    return np.arange(row, start - 1, -max(1, -(-(row - start) // POINTS)))[::-1]


def plain(words: str) -> str:
    """Words from a file as the page may show them: no markup, and not without end."""
    return re.sub(r"[^\w .,:+-]", "·", words)[:80]


def _turn_to(normal: Any) -> np.ndarray:
    """The quaternion that turns z to a normal."""
    return Transform(z_to(np.asarray(normal) / np.linalg.norm(normal))).quaternion
