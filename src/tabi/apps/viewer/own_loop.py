"""A page that follows a simulator while its owner's own loop steps it.

Three threads meet here. The loop's thread steps; after some steps it is asked, by a callback of the
simulator, for a view, and does there what the page wants done to the simulation. The drawing thread
draws views and asks for the next one, only while a browser is open. The server's threads leave
orders. So views are made between two steps, and no view shows a state that is half written.
Where the loop does not step, the drawing thread looks itself, by ``Simulator.paused``.
"""

from __future__ import annotations

import atexit
import contextlib
import html
import sys
import threading
import time as clock
import webbrowser
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import viser

from tabi._errors import ModelError, TabiError
from tabi.apps.viewer.drawing import FRAMES, HICCUP, TEXTS, Drawing
from tabi.apps.viewer.pace import Pace
from tabi.apps.viewer.page import Page
from tabi.apps.viewer.panels.markup import literal
from tabi.apps.viewer.panels.sensor_panel import SensorHistory, SensorPanel
from tabi.apps.viewer.view import Observer, View
from tabi.apps.viewer.watching import WatchControls
from tabi.interaction.mouse_spring import Hands, Spring
from tabi.model.lookup import link_of
from tabi.recording.sensor_history import labels_of

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

LOCAL = "127.0.0.1"
# how long one thread of Python may keep the others waiting [s]; its usual 5 ms are a third of a
# picture
TURN = 5e-4
# wall-clock time between two certificates, until a loop without an answer to a request counts as
# standing, and as waiting in the panel's words
CERTIFICATE_PERIOD_S, STANDING_TIMEOUT_S, WAITING_TIMEOUT_S = 0.1, 0.05, 0.5
# wall-clock time between two calls of the loop, and steps between them at most
MIN_CALL_PERIOD_S, MAX_CALL_PERIOD_S, MAX_STEPS_PER_CALL = 1e-3, 4e-3, 64

Order = Callable[["Simulator"], None]
_open: list[LoopPage] = []


def show(
    sim: Simulator,
    port: int | None = None,
    host: str = LOCAL,
    real_time: bool = False,
    open_browser: bool = False,
) -> LoopPage:
    """Show a simulator in the browser while your own loop steps it; returns at once. Example:
    ``tabi.show`` in docs/viewer.md.

    The page follows at sixty pictures a second, also when a state is set between steps. A body that
    is dragged with Ctrl is pulled during the steps of the loop. A second call with the same
    simulator returns the page that is there, unless it names another port.

    Args:
        sim: stepped by you, as ``sim.step()`` or ``sim.run(…)``, in any one thread.
        port: 8080 or the next free one if not given; a port asked for that is in use is refused.
        host: address to serve at; by default only this machine sees the page. Any other one asks
            visitors for a token.
        real_time: hold the steps back, so that simulated time does not run ahead of the clock.
        open_browser: whether to open the page here.
    """
    from tabi.simulation.simulator import Simulator

    if not isinstance(sim, Simulator):
        raise ModelError(
            f"show was given {type(sim).__name__}; expected a Simulator, "
            "as in tabi.show(tabi.Simulator(world))"
        )
    if port is not None and (
        isinstance(port, bool) or not isinstance(port, int) or not 1 <= port <= 65535
    ):
        raise ModelError(f"port is {port!r}; expected a whole number from 1 to 65535")
    for page in _open:
        if page.sim is sim and port in (None, page.port):
            page.real_time = real_time
            return page
        if page.port == port:
            raise TabiError(
                f"port {port} already shows another simulator; "
                "close that page with page.close(), or choose another port"
            )
    page = LoopPage(sim, Page(sim.world, host, port, posed=False), real_time)
    print(f"The page is at {page.url}", flush=True)
    if open_browser:
        webbrowser.open(page.url)
    return page


class LoopPage(Drawing["LoopControls"]):
    """The page of a simulator that its owner steps; made by ``tabi.show``. Example: ``tabi.show``
    in docs/viewer.md.

    Attributes:
        sim: what it shows. url: what to type into the browser. port: of the url.
    """

    def __init__(self, sim: Simulator, page: Page, real_time: bool = False) -> None:
        super().__init__(page)
        self.sim, self.url, self.port = sim, page.address, page.server.get_port()
        self._observer, self._hands, self._pace = Observer(sim), Hands(), Pace()
        self._orders: deque[Order] = deque(maxlen=1000)
        self._real_time, self._selected_sensor, self._fault = real_time, "", ""
        self._wanted, self._request_time, self._called, self._certificate_time = (
            False,
            0.0,
            0.0,
            0.0,
        )
        self._laps: deque[tuple[float, float]] = deque(maxlen=FRAMES)
        self._ended = threading.Event()
        self._add_contents()
        self._view: View | None = None
        self._seen: tuple[int, bytes, bytes] | None = None
        # a loop that goes on in another thread shows itself
        with sim.paused() as paused:
            if paused:
                self._view, self._seen = self._warm(), self._state()
        self._switch = sys.getswitchinterval()
        sys.setswitchinterval(min(TURN, self._switch))
        self._scheduled = sim.every(1, self._after, self._stopped)
        self._drawer = threading.Thread(target=self._live, name="drawing", daemon=True)
        self._drawer.start()
        _open.append(self)
        atexit.register(self.close)

    def close(self) -> None:
        """Close the page; the loop continues without it. Do nothing if it is closed."""
        if self._ended.is_set():
            return
        self._ended.set()
        atexit.unregister(self.close)
        self._scheduled.cancel()
        self._hands.springs.clear()
        self._orders.clear()
        if threading.current_thread() is not self._drawer:
            self._drawer.join(1.0)
        self.page.close()
        _open.remove(self)
        if not _open:
            sys.setswitchinterval(self._switch)

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._ended.is_set()

    @property
    def real_time(self) -> bool:
        """Whether steps are held back, so that simulated time does not run ahead of the clock."""
        return self._real_time

    @real_time.setter
    def real_time(self, on: bool) -> None:
        """Hold steps back from now on, or no more."""
        self._real_time = bool(on)
        self._pace.rest()
        self._scheduled.steps = 1
        if self.controls.real_time.value != self._real_time:
            self.controls.real_time.value = self._real_time

    def wait_for_viewer(self, timeout: float | None = None) -> bool:
        """Wait until a browser has opened the page; False where none has after so many seconds."""
        end = None if timeout is None else clock.monotonic() + timeout
        while not self.page.server.get_clients():
            left = 0.05 if end is None else min(0.05, end - clock.monotonic())
            if left <= 0 or self._ended.wait(left):
                return False
        return True

    def __enter__(self) -> LoopPage:
        return self

    def __exit__(self, *fault: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<page of {self.sim!r} at {self.url}{', closed' if self.closed else ''}>"

    def _repr_html_(self) -> str:
        """In a notebook: the page itself, in a frame."""
        if self.closed:
            return html.escape(repr(self))
        self.page.gate.framed = True
        url = html.escape(self.url, quote=True)
        return (
            f'<iframe src="{url}" width="100%" height="600" style="border: 0"></iframe>'
            f'<div><a href="{url}" target="_blank">{url}</a></div>'
        )

    # ---- in the thread of the loop ----------------------------------------------------------

    def _after(self, data: Any) -> None:
        """After some steps: what the page wants done, and a view where one is wanted."""
        self._fault = ""
        if self._orders or self._hands.springs or self._wanted:
            self._serve()
        if self._real_time:
            self._pace.wait(data.time, data.dt)
        now = clock.monotonic()
        gap, self._called, steps = now - self._called, now, self._scheduled.steps
        if self._hands.springs or self._real_time:
            steps = 1
        elif gap < MIN_CALL_PERIOD_S:
            steps = min(2 * steps, MAX_STEPS_PER_CALL)
        elif gap > MAX_CALL_PERIOD_S:
            steps = max(steps // 2, 1)
        self._scheduled.steps = steps

    def _serve(self, pull: bool = True) -> None:
        # a fault of the page must not stop the simulation of the user
        try:
            self._execute_orders()
            if pull:
                self._hands.pull()
            if self._wanted:
                self._look()
        except Exception as fault:
            self._hands.springs.clear()
            self._wanted, self._fault = False, f"{type(fault).__name__}: {fault}"

    def _execute_orders(self) -> None:
        while self._orders:
            self._orders.popleft()(self.sim)

    def _look(self) -> None:
        self._wanted, now = False, clock.monotonic()
        is_due = now - self._certificate_time > CERTIFICATE_PERIOD_S
        self._certificate_time = now if is_due else self._certificate_time
        self._view = self._observer.look(is_due, self._hands.bands(), self._selected_sensor)
        self._seen = self._state()

    def _state(self) -> tuple[int, bytes, bytes]:
        """Return what distinguishes one moment from another."""
        data = self.sim.data
        return data.steps, data.q.tobytes(), data.v.tobytes()

    def _stopped(self) -> None:
        """The loop ended with an error; it stands in the panel until the next step."""
        fault = sys.exc_info()[1]
        self._fault = (
            "interrupted"
            if isinstance(fault, KeyboardInterrupt)
            else str(fault)
            if isinstance(fault, TabiError)
            else f"{type(fault).__name__}: {fault}"
        )
        self._hands.springs.clear()
        self._scheduled.steps = 1

    # ---- in the thread that draws -----------------------------------------------------------

    def _live(self) -> None:
        drawn: View | None = None
        tick = clock.monotonic()
        while not self._ended.wait(max(0.0, tick - clock.monotonic())):
            now = clock.monotonic()
            # a hiccup is made up for, a pause is not
            tick = tick + 1 / FRAMES if now - tick < HICCUP else now
            view = self._view
            if view is not None and view is not drawn and self._drawn(view):
                drawn = view
                self._laps.append((now, view.time))
            if not self.page.server.get_clients():
                # no page is open, so no view is requested
                self._wanted = False
                continue
            if not self._wanted:
                self._wanted, self._request_time = True, now
            elif now - self._request_time > STANDING_TIMEOUT_S:
                self._look_aside()
            if view is not None and self.due("text", TEXTS):
                self.show_text(*self._report(view))

    def _look_aside(self) -> None:
        """Look at a simulator that is not being stepped."""
        with self.sim.paused() as paused:
            if not paused or self._ended.is_set():
                return
            if self._orders or self._state() != self._seen:
                self._scheduled.steps = 1
                self._serve(pull=False)
                self._wanted, self._request_time = True, clock.monotonic()

    def _report(self, view: View) -> tuple[str, str, str]:
        """The lines of the panel, more of them, and the words of its title."""
        now = clock.monotonic()
        recent = [lap for lap in self._laps if now - lap[0] < 1.0]
        stands = not recent or now - recent[-1][0] > WAITING_TIMEOUT_S
        if stands or len(recent) < 2 or recent[-1][1] < recent[0][1]:
            pace = state = "waits for the next step"
        else:
            (w0, t0), (w1, t1) = recent[0], recent[-1]
            state = f"{(t1 - t0) / max(w1 - w0, 1e-6):.2f}×"
            pace = state.replace("×", " × real time")
        fault = f"**stopped:** {literal(self._fault)}\n\n" if self._fault else ""
        text, details = "  \n".join(self.status(view, pace)), "  \n".join(self.details(view))
        return fault + text, details, "stopped" if self._fault else state

    # ---- at the start -----------------------------------------------------------------------

    def _add_contents(self) -> None:
        server = self.page.server
        self.controls = LoopControls(server, self.page.world, self._real_time, self._set_pace)
        self.furnish()
        self.sensors = SensorHistory(SensorPanel(server, labels_of(self.sim.model), self._listen))
        self.page.scene.on_pull(self._pull)

        # a page that is gone holds nothing, whatever its last message was
        @server.on_client_disconnect
        async def _(client: viser.ClientHandle) -> None:
            self._order(lambda sim: self._hands.release(client.client_id))

    def _warm(self) -> View:
        """The first view; the loop should not wait for a compiler at the first pull."""
        sim = self.sim
        for body in self._observer.bodies:
            if link_of(sim.world, sim.model, body).body:
                Spring(sim, body, sim.position(body)).band()
                break
        return self._observer.look()

    # ---- in the server's threads ------------------------------------------------------------

    def _order(self, order: Order) -> None:
        self._orders.append(order)
        # soon: after the next step
        self._scheduled.steps = 1

    def _listen(self, sensor: str) -> None:
        self._selected_sensor = sensor
        self._order(lambda sim: None)

    def _set_pace(self, on: bool) -> None:
        if on != self._real_time:
            self.real_time = on

    def _pull(
        self, owner: int, index: int, phase: str, point: Any, mouse: Any, strong: bool
    ) -> None:
        def take(sim: Simulator) -> None:
            # what cannot be held is not, and the run goes on
            with contextlib.suppress(ModelError, IndexError):
                self._hands.take(owner, Spring(sim, self._observer.bodies[index], point, strong))

        if phase == "end":
            self._order(lambda sim: self._hands.release(owner))
            return
        if phase == "start":
            self._order(take)
        self._order(lambda sim: self._hands.move(owner, mouse))


class LoopControls(WatchControls):
    """The controls of a page whose owner steps. Example: ``tabi.show`` in docs/viewer.md.

    Attributes:
        real_time: whether steps are held back.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        world: Any,
        real_time: bool,
        pace: Callable[[bool], None],
    ) -> None:
        super().__init__(server, world)
        gui = server.gui
        with gui.add_folder("simulation", order=-1.0):
            self.add_text(gui)
            hint = "hold the steps back, so that simulated time does not run ahead of the clock"
            self.real_time = gui.add_checkbox("real time", real_time, hint=hint)
            self.add_camera(gui)
        self.add_drawing(gui)
        self.real_time.on_update(lambda _: pace(self.real_time.value))
