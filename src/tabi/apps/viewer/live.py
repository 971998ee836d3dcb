"""A page that plays: the player's views drawn sixty times a second and more, the page's controls
and its mouse given to the player.

The thread that draws owns the page, the player's thread owns the simulation; neither waits for the
other.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time as clock
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import viser

from tabi.apps.viewer import catalogue, links, steering
from tabi.apps.viewer.controls import Controls, floating
from tabi.apps.viewer.drawing import FRAMES, HICCUP, TEXTS, Drawing
from tabi.apps.viewer.links import Links
from tabi.apps.viewer.page import Page
from tabi.apps.viewer.panels.markup import literal
from tabi.apps.viewer.panels.panel import Host, PagePanel
from tabi.apps.viewer.panels.registered import PANELS
from tabi.apps.viewer.panels.sensor_panel import SensorHistory, SensorPanel
from tabi.apps.viewer.player import Builder, Player, simulated
from tabi.apps.viewer.steering import SteeringHand
from tabi.apps.viewer.view import View
from tabi.model.lookup import qualified
from tabi.model.robot import Robot
from tabi.recording.sensor_history import labels_of

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

# how long one thread of Python may keep the others waiting [s]; its usual 5 ms are five steps late
TURN = 5e-4


class Live(Drawing[Controls]):
    """The simulation that a page shows.

    Args:
        page: shows the world; its poses become targets of the motors as soon as the simulation
            runs.
        say: where a line about the compilation goes besides the page.
        build: makes the simulator of the page's world, or of one just like it; default: motors hold
            it as it stands.
        name: of this scene in the list of all, to come back to. camera: from where to look at it,
            and what at [m].
    """

    def __init__(
        self,
        page: Page,
        say: Callable[[str], None] | None = None,
        build: Builder | None = None,
        name: str = "this one",
        camera: catalogue.Camera | None = None,
    ) -> None:
        super().__init__(page)
        self.player = Player(build or simulated(page.world))
        self.say = say or terminal
        self._ended = threading.Event()
        self._own_scene = (name, self.player.build, camera)
        self._scene, self._name, self._note, self._message = 0, name, "", ""
        self._linked: dict[str, str] = {}
        self.panels: dict[type[PagePanel], PagePanel] = {}
        self._builders: dict[str, Builder] = {name: self.player.build}
        self._add_contents()

        self.hand = SteeringHand(self.player.steer)
        page.gate.handlers[steering.PATH] = self.hand.hear
        self._followed_links: deque[dict[str, str]] = deque(maxlen=4)
        page.gate.handlers[links.PATH] = lambda request: links.hear(
            request, self.links, self._followed_links.append
        )

        # a page that is gone holds nothing, whatever its last message was
        @page.server.on_client_disconnect
        async def _(client: viser.ClientHandle) -> None:
            self.player.let_go(client.client_id)

        self._drawer = threading.Thread(target=self._draw, name="drawing", daemon=True)

    def start(self) -> None:
        """Begin to compile, then to simulate; returns at once."""
        sys.setswitchinterval(min(TURN, sys.getswitchinterval()))
        self.player.start()
        self._drawer.start()

    def close(self) -> None:
        """End both threads of the page."""
        self._ended.set()
        self.player.close()
        if self._drawer.is_alive():
            self._drawer.join(1.0)
        self._close_panels()

    def _close_panels(self) -> None:
        for panel in self.panels.values():
            panel.close()

    # ---- what the page does -----------------------------------------------------------------

    def _add_contents(self) -> None:
        """Controls, plots and drawings of the page's world."""
        server = self.page.server
        self._title = (
            "" if self._name == "this one" else f"*{literal(catalogue.title(self._name))}*"
        )
        scenes = [
            self._own_scene[0],
            *(name for name in catalogue.names() if name != self._own_scene[0]),
        ]
        self.controls = Controls(
            server, self.page.world, self.player, (scenes, self._name), self._pick
        )
        self.furnish()
        self.links = Links(self._name, scenes, *links.settings(self.controls))
        self.page.scene.on_pull(self._pull)

    def _open_link(self, query: dict[str, str]) -> None:
        """Show what a link asks for, its settings after its scene."""
        scene = query.get("scene", self._name)
        if scene != self._name:
            self._linked = query
            self._pick(scene)
        else:
            self.links.apply(query)

    def _pick(self, name: str) -> None:
        """Another scene; one that cannot be read leaves what is there."""
        if name == self._own_scene[0] or name in catalogue.names():
            self.player.open(self._builders.setdefault(name, catalogue.builder(name)))

    def _pull(
        self, owner: int, index: int, phase: str, point: Any, mouse: Any, strong: bool
    ) -> None:
        if phase == "end":
            self.player.let_go(owner)
            return
        if phase == "start":
            self.player.grab(owner, index, point, strong)
        self.player.drag(owner, mouse)

    def _pose(self, robot: Robot, pose: dict[str, float]) -> None:
        """A pose of the page, as a target half a second away from the last one."""
        from tabi.control import keyframes

        def order(sim: Simulator) -> None:
            # every simulator may have a world of its own
            driven = sim.world.robot(robot.name)
            rows = {
                name: sim.model.v_index(qualified(driven, name, sim.model.joint_names))
                for name in pose
            }
            now = {
                name: float(sim.data.command.motor["position"][row]) for name, row in rows.items()
            }
            sim.set_controller(driven, keyframes([(sim.time, now), (sim.time + 0.5, pose)]))

        self.player.fault = ""
        self.player.order(order)

    # ---- what is drawn ----------------------------------------------------------------------

    def _draw(self) -> None:
        drawn: View | None = None
        tick, second = clock.monotonic(), -1
        while not self._ended.wait(max(0.0, tick - clock.monotonic())):
            # a hiccup is made up for, a pause is not
            tick = tick + 1 / FRAMES if clock.monotonic() - tick < HICCUP else clock.monotonic()
            elapsed = clock.monotonic() - self.player.started
            if self.player.loading:
                if int(elapsed) != second:
                    second = int(elapsed)
                    line = f"{loading()}: {second} s"
                    self.controls.text.content = line
                    self.say(line)
                continue
            if second != -2:
                second = -2
                fault = self.player.fault
                self.say(
                    f"no simulation: {fault}\n"
                    if fault
                    else f"the simulation runs, after {elapsed:.0f} s\n"
                )
            if self.player.scenes != self._scene:
                self._show_new_scene()
            while self._followed_links:
                self._open_link(self._followed_links.popleft())
            view = self.player.view
            if view is not None and view is not drawn and self.player.scenes == self._scene:
                self.player.wanted.set()
                drawn = view if self._drawn(view) else drawn
            self._show_text(view)
            # a scene that is opened later is announced again
            second = -1 if self.player.loading else second

    def _show_new_scene(self) -> None:
        """The page is the simulation's from now on: its world, its feet, its poses."""
        sim = self.player.sim
        assert sim is not None
        first, self._scene = self._scene == 0, self.player.scenes
        self.player.wanted.set()
        self._note = limp(sim)
        if not first:
            self._name = next(
                name for name, build in self._builders.items() if build is self.player.build
            )
            self.page.show(
                sim.world,
                self._own_scene[2]
                if self._name == self._own_scene[0]
                else catalogue.camera(self._name),
            )
            self._add_contents()
        panel = SensorPanel(self.page.server, labels_of(sim.model), self.player.listen)
        self.sensors = SensorHistory(panel)
        self.page.pose = self._pose
        self._close_panels()
        host = Host(self.page.server, sim, self.player, self.hand)
        self.panels = {kind: kind.create(host) for kind in PANELS}
        for panel_ in self.panels.values():
            self.page.gate.handlers |= panel_.handlers()
        self._message = ""
        self.controls.enable()
        # a robot that walks leaves the picture
        walks = bool(self.player.view and self.player.view.walks)
        if walks or any(panel.follows for panel in self.panels.values()):
            self.controls.follow_it.value = True
        sliders, boxes = links.settings(self.controls)
        self.links = Links(self._name, self.links.scenes, sliders, boxes)
        if self._linked.get("scene") == self._name:
            self.links.apply(self._linked)
        self._linked = {}

    def _show_text(self, view: View | None) -> None:
        """Show the lines of the panel and its title, and buttons that follow."""
        self.controls.follow(bool(view is not None and view.fallen))
        self.hand.tend()
        while self.player.messages:
            self._message = self.player.messages.popleft()
            self.say(f"{self._message}\n")
        for panel in self.panels.values():
            panel.show(view)
        if not self.due("text", TEXTS):
            return
        state = (
            f"{self.player.factor:.2f}× of {self.player.speed:g}×"
            if self.player.playing
            else "stopped"
            if self.player.fault
            else "paused"
        )
        self.show_text(*self._report(view), state)

    def _report(self, view: View | None) -> tuple[str, str]:
        """A few lines about the moment, and more."""
        fault = f"**stopped:** {literal(self.player.fault)}\n\n" if self.player.fault else ""
        if view is None:
            return fault, ""
        playing = self.player.playing
        pace = f"{self.player.factor:.2f} × real time" if playing else "paused"
        notes = [line for line in (self._note, literal(self._message)) if line]
        lines = [*self.status(view, pace), *notes]
        details = [
            *([self._title] if self._title else []),
            f"asked for {self.player.speed:g} × real time",
            *self.details(view),
        ]
        return fault + "  \n".join(lines), "  \n".join(details)


def limp(sim: Simulator) -> str:
    """A sentence about robots that could fall whose motors have no gains,
    where no controller holds them; empty without any.
    """
    if sim.drivers or (sim.data.command.motor["kp"] > 0).any():
        return ""
    names = [literal(robot.name) for robot in floating(sim.world) if robot.joint_names]
    return (
        f"**no gains:** the file of {' and '.join(names)} has none, so its motors hold nothing"
        if names
        else ""
    )


def loading() -> str:
    """Return what the first step waits for."""
    from tabi.jit.progress import first_run

    if first_run.depth == 0 and first_run.seconds == 0:
        return "loading the simulation"
    left = first_run.left()
    soon = "" if left is None else f", about {left:.0f} s left"
    return f"compiling the simulation, once{soon or ', about half a minute'}"


def terminal(line: str) -> None:
    """A line of progress on a terminal, in place; in a log only the last one."""
    with contextlib.suppress(OSError):
        if sys.stdout.isatty():
            print(f"\r\033[K{line}", end="", flush=True)
        elif line.endswith("\n"):
            print(line, end="", flush=True)
