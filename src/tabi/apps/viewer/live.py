"""The simulation behind the page, and the controls that drive it.

Three threads that never wait for each other: the simulation advances in chunks at the pace of the clock and leaves a copy of
what is seen; the page draws the newest copy thirty times a second; buttons leave orders that the simulation takes between chunks.
"""

from __future__ import annotations

import sys
import threading
import time as clock
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tabi._errors import TabiError
from tabi.model.body import Body
from tabi.model.robot import Robot
from tabi.model.world import World
from tabi.spatial.transform import Transform

if TYPE_CHECKING:
    from tabi.apps.viewer.page import Page
    from tabi.model.signals import Controller
    from tabi.simulation.simulator import Saved, Simulator

# simulated seconds at a time, and how far the simulation may lag behind the clock before it lets the lost time go
CHUNK, LAG = 0.02, 0.1
FRAMES = 30  # pictures a second
ARROW = 2e-3  # metres of an arrow per newton
DROP, PUSH, PUSHED = 0.2, 60.0, 0.1  # m, N, s


@dataclass(frozen=True, eq=False)
class View:
    """What is seen of one moment.

    Attributes:
        placements: X_WB of every body. forces: foot and tip of an arrow for each pressing contact, shape (n, 2, 3) [m].
        load: vertical force on the feet [N]. residual [m/s], force_residual [N], missed: of the certificate.
        factor: simulated seconds per second of the clock, over about the last second.
    """

    time: float
    placements: dict[Body, Transform]
    forces: np.ndarray
    load: float
    residual: float
    force_residual: float
    missed: int
    factor: float


Order = Callable[["Simulator"], None]


@dataclass
class Runner:
    """A simulation in a thread of its own.

    Attributes:
        playing: whether time goes on. fault: the sentence that stopped it, empty while all is well.
        view: the newest copy of what is seen; None until the kernels are there. started: when the thread began [s].
        sim, start_state: the simulator and its beginning, once it is there; for orders only.
    """

    world: World
    playing: bool = True
    fault: str = ""
    view: View | None = None
    started: float = 0.0
    orders: deque[Order] = field(default_factory=deque)
    sim: Simulator | None = None
    start_state: Saved | None = None
    _ended: threading.Event = field(default_factory=threading.Event)
    _laps: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=50))
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin; returns at once."""
        self.started = clock.monotonic()
        self._thread = threading.Thread(target=self._live, name="simulation", daemon=True)
        self._thread.start()

    def close(self, patience: float = 2.0) -> None:
        """End the thread after its chunk; one that compiles is left to the end of the process."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(patience)

    def order(self, *orders: Order) -> None:
        """Have something done to the simulator before its next chunk."""
        self.orders.extend(orders)

    def _live(self) -> None:
        self._guarded(self._prepare)
        tick = clock.monotonic()
        while not self._ended.wait(max(0.0, tick - clock.monotonic())):
            now = clock.monotonic()
            tick = tick + CHUNK if now - tick < LAG else now + CHUNK
            if self.sim is not None:
                self._guarded(self._turn)

    def _guarded(self, work: Callable[[], None]) -> None:
        """An error is shown and pauses; the page lives on, and Reset may help."""
        try:
            work()
        except TabiError as error:
            self.fault, self.playing = str(error), False
        except Exception as error:
            self.fault, self.playing = f"{type(error).__name__}: {error}", False

    def _prepare(self) -> None:
        """The first step compiles, on a simulator of its own: the page may have been posed anew when it is done."""
        from tabi.simulation.simulator import Simulator

        first = Simulator(self.world)
        first.step()
        self._look(first)
        sim = Simulator(self.world)
        self._laps.clear()
        self.start_state, self.sim = sim.save(), sim

    def _turn(self) -> None:
        sim, acted = self.sim, bool(self.orders)
        assert sim is not None
        while self.orders:
            self.orders.popleft()(sim)
        if self.playing:
            sim.run(CHUNK)
        else:
            self._laps.clear()
        if self.playing or acted:
            self.view = self._look(sim)

    def _look(self, sim: Simulator) -> View:
        if self._laps and sim.time < self._laps[-1][1]:
            # the simulation was set back
            self._laps.clear()
        self._laps.append((clock.monotonic(), sim.time))
        (t0, s0), (t1, s1) = self._laps[0], self._laps[-1]
        bodies = [body for robot in self.world.robots for body in robot.bodies] + list(self.world.objects)
        pressing = [c for c in sim.contacts if c.pressing]
        arrows = np.array([(c.point, c.point + ARROW * c.force) for c in pressing]).reshape(-1, 2, 3)
        feet = [foot for robot in self.world.robots for foot in robot.feet.values()]
        load = sum(float(sim.foot_wrench(foot).force[2]) for foot in feet)
        c = sim.certificate
        factor = (s1 - s0) / (t1 - t0) if t1 > t0 and s1 > s0 else 0.0
        return View(sim.time, {body: sim.pose(body) for body in bodies}, arrows, load, c.residual, c.force_residual, c.missed, factor)


class Live:
    """The simulation of a page: its controls, and the thread that draws.

    Args:
        page: shows the world; its poses become targets of the motors as soon as the simulation runs.
        say: where a line about the compilation goes besides the page.
    """

    def __init__(self, page: Page, say: Callable[[str], None] | None = None) -> None:
        self.page, self.runner, self.say = page, Runner(page.world), say or terminal
        gui = page.server.gui
        with gui.add_folder("simulation", order=-1.0):
            self.text = gui.add_markdown("")
            self.play = gui.add_button("Pause", disabled=True)
            self.buttons = {name: gui.add_button(name, disabled=True) for name in ("Step", "Reset", f"Drop from {DROP:g} m", f"Push {PUSH:g} N")}
            self.friction = gui.add_slider("ground friction", 0.0, 1.5, 0.01, self._ground_friction(), disabled=True)
            self.arrows_wanted = gui.add_checkbox("contact forces", True)
        self.arrows = page.server.scene.add_arrows(
            "/forces", np.zeros((1, 2, 3)), (214, 60, 40), shaft_radius=0.004, head_radius=0.010, head_length=0.025, visible=False
        )
        self._wrote = 0.0
        self._ended = threading.Event()
        self._controllers: dict[str, Controller] = {}
        self._connect()
        self._drawer = threading.Thread(target=self._draw, name="drawing", daemon=True)

    def start(self) -> None:
        """Begin to compile, then to simulate; returns at once."""
        self.runner.start()
        self._drawer.start()

    def close(self) -> None:
        """End both threads."""
        self._ended.set()
        self.runner.close()
        if self._drawer.is_alive():
            self._drawer.join(1.0)

    # ---- what the buttons do ----------------------------------------------------------------

    def _connect(self) -> None:
        step, reset, drop, push = self.buttons.values()
        self.play.on_click(lambda _: self._set_playing(not self.runner.playing))
        step.on_click(lambda _: self._single_step())
        reset.on_click(lambda _: self._order(self._reset))
        drop.on_click(lambda _: self._order(self._drop))
        push.on_click(lambda _: self._order(self._push))

        @self.friction.on_update
        def _(_: Any) -> None:
            self._order(lambda sim: set_friction(sim, self.friction.value))

    def _order(self, order: Order) -> None:
        self.runner.fault = ""
        self.runner.order(order)

    def _single_step(self) -> None:
        """Pause, and advance by one step."""
        self._set_playing(False)
        self._order(lambda sim: sim.step())

    def _set_playing(self, playing: bool) -> None:
        self.runner.fault, self.runner.playing = "", playing

    def _reset(self, sim: Simulator) -> None:
        """The start again; poses asked for since are forgotten."""
        assert self.runner.start_state is not None
        for robot in self.page.world.robots:
            if self._controllers.pop(robot.name, None):
                sim.set_controller(robot, self._hold(sim, robot))
        sim.restore(self.runner.start_state)

    def _drop(self, sim: Simulator) -> None:
        """The start again, with every floating base higher."""
        self._reset(sim)
        q = sim.state.q
        for robot in floating(self.page.world):
            q[sim.model.q_index(robot.name) + 2] += DROP
        sim.set_state(q)

    def _push(self, sim: Simulator) -> None:
        for robot in floating(self.page.world):
            sim.apply_force(trunk(robot), force=(PUSH, 0.0, 0.0), duration=PUSHED)

    def _pose(self, robot: Robot, pose: dict[str, float]) -> None:
        """A pose of the page, as a target half a second away from the last one."""
        from tabi.control import keyframes

        def order(sim: Simulator) -> None:
            last = self._controllers.get(robot.name) or self._hold(sim, robot)
            now: Any = last(sim.time, None).position  # type: ignore[arg-type]
            self._controllers[robot.name] = keyframes([(sim.time, now), (sim.time + 0.5, pose)])
            sim.set_controller(robot, self._controllers[robot.name])

        self._order(order)

    def _hold(self, sim: Simulator, robot: Robot) -> Controller:
        """Stay as at the start."""
        from tabi.control import hold

        assert self.runner.start_state is not None
        q, known = self.runner.start_state.q, sim.model.joint_names
        names = {name: f"{robot.name}/{name}" if f"{robot.name}/{name}" in known else name for name in robot.joint_names}
        single = {name: full for name, full in names.items() if robot.joint(name).q_count == 1 and robot.joint(name).mimic is None}
        return hold({name: float(q[sim.model.q_index(full)]) for name, full in single.items()})

    def _ground_friction(self) -> float:
        ground = [shape.material.friction for shape in self.page.world.fixed.shapes]
        return float(min(ground[0], 1.5)) if ground else 0.8

    # ---- what is drawn ----------------------------------------------------------------------

    def _draw(self) -> None:
        drawn: View | None = None
        second, ready = -1, False
        while not self._ended.wait(1 / FRAMES):
            view, elapsed = self.runner.view, clock.monotonic() - self.runner.started
            if self.runner.sim is None and not self.runner.fault:
                if int(elapsed) != second:
                    second = int(elapsed)
                    line = f"{'compiling the simulation, once, two to five minutes' if compiling() else 'loading the simulation'}: {second} s"
                    self._write(line)
                    self.say(line)
                continue
            if not ready:
                ready = True
                self.say(f"the simulation runs, after {elapsed:.0f} s\n" if not self.runner.fault else f"no simulation: {self.runner.fault}\n")
                self._enable()
            if view is not None and view is not drawn:
                self.page.scene.update(view.placements)
                self._draw_forces(view)
                drawn = view
            self._write(self._report(view))
            label = "Pause" if self.runner.playing else "Play"
            if self.play.label != label:
                self.play.label = label

    def _enable(self) -> None:
        """The page's poses are orders from now on."""
        if self.runner.sim is not None:
            self.page.pose = self._pose
            for control in (self.play, *self.buttons.values(), self.friction):
                control.disabled = False

    def _draw_forces(self, view: View) -> None:
        shown = self.arrows_wanted.value and len(view.forces) > 0
        with self.page.server.atomic():
            if shown:
                self.arrows.points = view.forces.astype(np.float32)
            if self.arrows.visible != shown:
                self.arrows.visible = shown

    def _report(self, view: View | None) -> str:
        """Five lines about the moment."""
        fault = f"**stopped:** {self.runner.fault}\n\n" if self.runner.fault else ""
        if view is None:
            return fault
        weight = sum(robot.mass for robot in self.page.world.robots) * float(np.linalg.norm(self.page.world.gravity))
        pace = f"{view.factor:.2f} × real time" if self.runner.playing else "paused"
        lines = [
            f"time **{view.time:.2f} s** · {pace}",
            f"on the feet **{view.load:.1f} N** (weight {weight:.1f} N)",
            f"certificate: {view.residual:.1e} m/s, {view.force_residual:.1e} N",
            f"steps that missed the tolerance: {view.missed}",
        ]
        return fault + "  \n".join(lines)

    def _write(self, text: str) -> None:
        """A browser gets a text when it has changed, and no more than ten a second."""
        now = clock.monotonic()
        if text != self.text.content and now - self._wrote > 0.1:
            self._wrote = now
            self.text.content = text


def set_friction(sim: Simulator, friction: float) -> None:
    """Friction between what does not move and everything else."""
    fixed = {shape.material.name for shape in sim.world.fixed.shapes}
    for a in fixed & set(sim.model.material_names):
        for b in sim.model.material_names:
            sim.model.set_pair(a, b, friction=friction)


def trunk(robot: Robot) -> Body:
    """What a push meets: the chest where there is one, else the base."""
    return next((body for body in robot.bodies if "chest" in body.name.lower()), robot.base)


def floating(world: World) -> list[Robot]:
    """The robots that can be lifted and pushed."""
    return [robot for robot in world.robots if robot.base.joint.kind == "floating"]


def compiling() -> bool:
    """Whether kernels were not in the cache."""
    from tabi._jit import first_run

    return first_run.depth > 0 or first_run.seconds > 0


def terminal(line: str) -> None:
    """A line of progress on a terminal, in place; in a log only the last one."""
    if sys.stdout.isatty():
        print(f"\r\033[K{line}", end="", flush=True)
    elif line.endswith("\n"):
        print(line, end="", flush=True)
