"""Player of a simulation: it runs in a thread of its own that keeps the pace of the clock,
or a multiple of it.

No thread waits for it, and it waits for none: buttons leave orders that it takes between steps; the
drawing thread requests a view, and finds the newest one. With the clock w and the speed s, the
simulated time that is due is

    t_due = t₀ + s (w − w₀)                                                                  (1)
and a simulation that falls behind by more than ``MAX_LAG_S`` lets the lost time go:
w₀ and t₀ are then set to now.
"""

from __future__ import annotations

import contextlib
import threading
import time as clock
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tabi._errors import ModelError, TabiError
from tabi.apps.viewer import steering
from tabi.apps.viewer.last_push import LastPush
from tabi.apps.viewer.steering import Sticks
from tabi.apps.viewer.tuning import Tuning
from tabi.apps.viewer.view import Observer, View
from tabi.interaction.mouse_spring import Hands, Spring
from tabi.jit import decorator
from tabi.model.world import World

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

# of the clock: seconds between two turns, how far to lag behind before time is let go,
# and how long a turn may last
TICK_S, MAX_LAG_S, MAX_TURN_S = 0.005, 0.1, 0.03
MIN_SPEED_FACTOR, MAX_SPEED_FACTOR = 0.1, 4.0
CERTIFICATE_PERIOD_S = 0.1

Order = Callable[["Simulator"], None]
Builder = Callable[[], "Simulator"]


@dataclass
class Player:
    """A simulation that is played.

    Attributes:
        build: makes the simulator, at the start and again at every reset.
        playing: whether time goes on. speed: requested simulated seconds per second.
        fault: the sentence that stopped it, empty while all is well.
        view: the newest that was looked at; None until the kernels are there.
            wanted: set by the drawing thread, to have the next one.
        sim, observer: of the simulation, once it is there; for orders only.
            scenes: how many were opened.
        hands: the springs of the mouse. tuning: what sliders have set.
            factor: simulated seconds per second, over about the last.
        selected_sensor: the sensor in every view, by its name in the model; empty for none.
        pushed: the last push of each robot, by name. messages: sentences about robots that were
            put back on their feet, to be shown.
        limited: what walkers were limited to that are steered, by robot.
    """

    build: Builder
    playing: bool = True
    speed: float = 1.0
    fault: str = ""
    view: View | None = None
    started: float = 0.0
    sim: Simulator | None = None
    observer: Observer | None = None
    scenes: int = 0
    tuning: Tuning = field(default_factory=Tuning)
    hands: Hands = field(default_factory=Hands)
    factor: float = 0.0
    selected_sensor: str = ""
    pushed: dict[str, LastPush] = field(default_factory=dict)
    messages: deque[str] = field(default_factory=lambda: deque(maxlen=20))
    limited: dict[str, Any] = field(default_factory=dict)
    wanted: threading.Event = field(default_factory=threading.Event)
    orders: deque[Order] = field(default_factory=lambda: deque(maxlen=1000))
    _next: Builder | None = None
    _anchor: tuple[float, float] | None = None
    _late: float = 0.0
    _certificate_time: float = 0.0
    _ended: threading.Event = field(default_factory=threading.Event)
    _laps: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=200))
    _thread: threading.Thread | None = None

    # ---- from other threads -----------------------------------------------------------------

    def start(self) -> None:
        """Begin; returns at once."""
        self.started, self._next = clock.monotonic(), self.build
        self._thread = threading.Thread(target=self._live, name="simulation", daemon=True)
        self._thread.start()

    def close(self, patience: float = 2.0) -> None:
        """End the thread after its turn; one that compiles is left to the end of the process."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(patience)

    def order(self, order: Order) -> None:
        """Have something done to the simulator before its next step."""
        self.orders.append(order)

    def open(self, build: Builder) -> None:
        """Play something else from now on."""
        self.started, self._next = clock.monotonic(), build

    def play(self, playing: bool) -> None:
        """Let time go on, or not."""
        self.fault, self.playing = "", playing

    def set_speed(self, speed: float) -> None:
        """Simulated seconds per second to ask for."""
        self.speed = min(max(float(speed), MIN_SPEED_FACTOR), MAX_SPEED_FACTOR)
        self.order(lambda sim: self._rest())

    def step(self) -> None:
        """Pause, and advance by one step."""
        self.play(False)
        self.order(lambda sim: self._advance(1))

    def reset(self, changed: Order | None = None) -> None:
        """The start again, changed in some way."""
        self.fault = ""
        self.order(lambda sim: self._begin(self.build(), changed))

    def tune(self, tuning: Tuning) -> None:
        """Set what sliders set, now and after every reset."""
        self.tuning = tuning
        self.order(lambda sim: tuning.apply(sim))

    def listen(self, sensor: str) -> None:
        """Have a sensor in every view, by its name in the model; none for an empty name."""
        self.selected_sensor = sensor
        # also while paused
        self.order(lambda sim: None)

    def grab(self, owner: int, index: int, point: tuple[float, float, float], strong: bool) -> None:
        """Hold a point [m] of the body with this index in the view."""

        def take(sim: Simulator) -> None:
            assert self.observer is not None
            # what cannot be held is not, and the run goes on
            with contextlib.suppress(ModelError, IndexError):
                self.hands.take(owner, Spring(sim, self.observer.bodies[index], point, strong))

        self.order(take)

    def drag(self, owner: int, mouse: tuple[float, float, float]) -> None:
        """Their mouse has moved [m]."""
        self.order(lambda sim: self.hands.move(owner, mouse))

    def let_go(self, owner: int) -> None:
        """They let go, or went away."""
        self.order(lambda sim: self.hands.release(owner))

    def steer(self, robot: str, sticks: Sticks) -> None:
        """Apply the sticks of a robot, or release it."""

        def act(sim: Simulator) -> None:
            self.limited[robot] = steering.steer(sim, robot, sticks)

        self.order(act)

    def stand_up(self) -> None:
        """Put every robot that fell back on its feet."""
        self.fault = ""

        def stand(sim: Simulator) -> None:
            assert self.observer is not None
            for name in self.observer.fallen():
                self.hands.springs.clear()
                try:
                    stood = sim.stand_up(sim.world.robot(name), release=True)
                except ModelError as refused:
                    self.messages.append(str(refused))
                    continue
                self.observer.relocations[name] = stood.moved
                self.limited.pop(name, None)
                self.messages.append(str(stood))
            self._rest()

        self.order(stand)

    def take_lateness(self) -> float:
        """Return the largest lateness of a step [s] since the last call."""
        late, self._late = self._late, 0.0
        return late

    @property
    def loading(self) -> bool:
        """Whether a simulation is being built or compiled."""
        return self._next is not None

    # ---- in its own thread ------------------------------------------------------------------

    def _live(self) -> None:
        tick = clock.monotonic()
        while not self._ended.wait(max(0.0, tick - clock.monotonic())):
            tick = max(tick + TICK_S, clock.monotonic())
            if (build := self._next) is not None:
                self._guarded(lambda build=build: self._prepare(build))
                # another one may have been asked for in the meantime
                if self._next is build:
                    self._next = None
            elif self.sim is not None:
                self._guarded(self._turn)

    def _guarded(self, work: Callable[[], None]) -> None:
        """An error is shown and pauses; the page lives on, and Reset may help."""
        try:
            work()
        except TabiError as error:
            self.fault, self.playing = str(error), False
        except Exception as error:
            self.fault, self.playing = f"{type(error).__name__}: {error}", False
        if self.fault:
            self.hands.springs.clear()

    def _prepare(self, build: Builder) -> None:
        """The first step compiles, on a simulator of its own:
        the page may have been posed again when it is done.
        """
        first = build()
        # a hand too, so that no pull of the mouse waits for a compiler
        moving = [body for body in Observer(first).bodies if first.names.link(body).body]
        if moving:
            Spring(first, moving[0], first.position(moving[0])).pull()
        first.step()
        decorator.complete_cached()
        # and a sensor, likewise
        measured = [name for name, site in first.model.sensors.items() if site.measures]
        Observer(first).look(sensor=next(iter(measured), None))
        if self._next is not build:
            return
        if self.build is not build:
            self.build, self.tuning, self.selected_sensor = build, Tuning(), ""
        self.fault, self.playing = "", True
        self._begin(build())
        self.scenes += 1

    def _begin(self, sim: Simulator, changed: Order | None = None) -> None:
        self.hands.springs.clear()
        self.tuning.apply(sim)
        if changed is not None:
            changed(sim)
        observer = Observer(sim)
        self.pushed = {robot.name: LastPush(sim, robot) for robot in sim.world.robots}
        self.limited.clear()
        self.view = observer.look(sensor=self.selected_sensor)
        self.sim, self.observer = sim, observer
        self._rest()

    def _rest(self) -> None:
        """Count the pace from here."""
        self._anchor = None
        self._laps.clear()

    def _turn(self) -> None:
        acted = bool(self.orders)
        while self.orders:
            order = self.orders.popleft()
            assert self.sim is not None
            order(self.sim)
        if self.playing:
            self._catch_up()
        else:
            self._rest()
        if acted or (self.playing and self.wanted.is_set()):
            self._look()

    def _catch_up(self) -> None:
        """All steps that are due by (1), or as many as a turn has time for."""
        sim, now = self.sim, clock.monotonic()
        assert sim is not None
        if self._anchor is None:
            self._anchor = (now, sim.time)
        w0, t0 = self._anchor
        # what comes due during the turn is for the next one
        due = int((t0 + self.speed * (now - w0) - sim.time) / sim.dt + 1e-6)
        while due > 0 and clock.monotonic() - now < MAX_TURN_S:
            self._advance(min(due, 20))
            self._update_pushes()
            due -= 20
            self._late = max(self._late, self._behind(w0, t0))
        if self._behind(w0, t0) > MAX_LAG_S:
            self._anchor = None
        self._laps.append((clock.monotonic(), sim.time))
        (a, s), (b, t) = self._laps[0], self._laps[-1]
        self.factor = (t - s) / (b - a) if b > a else 0.0

    def _behind(self, w0: float, t0: float) -> float:
        """Return how long ago by the clock the last step was due [s]."""
        assert self.sim is not None
        return clock.monotonic() - w0 - (self.sim.time - t0) / self.speed

    def _advance(self, count: int) -> None:
        assert self.sim is not None
        if not self.hands.springs:
            self.sim.run(count * self.sim.dt)
            return
        for _ in range(count):
            self.hands.pull()
            self.sim.step()

    def _update_pushes(self) -> None:
        """Update the last push on each robot."""
        assert self.sim is not None
        walkers = steering.steered_walkers(self.sim)
        for name, push in self.pushed.items():
            push.update(self.sim, walkers.get(name))

    def _look(self) -> None:
        assert self.observer is not None
        self.wanted.clear()
        now = clock.monotonic()
        is_due = now - self._certificate_time > CERTIFICATE_PERIOD_S or not self.playing
        if is_due:
            self._certificate_time = now
        self.view = self.observer.look(is_due, self.hands.bands(), self.selected_sensor)


def simulated(world: World) -> Builder:
    """A world as it stands when the player builds it, with every motor holding its joint."""
    from tabi.simulation.simulator import Simulator

    return lambda: Simulator(world)
