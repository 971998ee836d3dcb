"""Steering of robots from a page: sticks and arrow keys in the browser, sent to the page's server.

viser's page has no sticks and reports no keys. So a script comes along with it
(``scripts/steering.js``) that finds the pads of the panel, and requests an address with the
deflections of the sticks, parts of the fastest from −1 to 1:

    /steer?robot=hrp2&page=…&number=7&forward=0.5&sideways=0&turn=-0.2

Every client that may see the page may ask, and only its own script can: another site's page cannot
set the header that goes with it. A hand that holds a stick reports it four times a second; one that
is silent for longer than ``RELEASE_TIMEOUT_S`` has let go, also where its browser went away.
"""

from __future__ import annotations

import http
import math
import threading
import time as clock
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from tabi.model.controllers.controller import with_method

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

PATH, HEADER = "/steer", ("X-Tabi", "steer")
# a hand without messages for this time has let go
RELEASE_TIMEOUT_S = 1.0


class Sticks(NamedTuple):
    """Deflections of sticks, parts of the fastest from −1 to 1; to the left is positive."""

    forward: float = 0.0
    sideways: float = 0.0
    turn: float = 0.0


REST = Sticks()


def steered_walkers(sim: Simulator) -> dict[str, Any]:
    """Controllers with a method ``steer``, by their robots' names; also inside of others."""
    inner = {name: with_method(driver.controller, "steer") for name, driver in sim.drivers.items()}
    return {name: walker for name, walker in inner.items() if walker is not None}


def steer(sim: Simulator, robot: str, sticks: Sticks) -> Any:
    """Let a robot walk as sticks say, and stop where they are let go.

    Returns:
        what its walker was limited to; None where there is no such robot, or it stops.
    """
    walker = steered_walkers(sim).get(robot)
    if walker is None:
        return None
    if sticks == REST:
        walker.stop()
        return None
    return walker.steer(*(part * most for part, most in zip(sticks, walker.fastest, strict=True)))


class SteeringHand:
    """Positions of the sticks of all pages.

    Args:
        act: called with a robot's name and the sticks whenever they are new.
    """

    def __init__(self, act: Callable[[str, Sticks], None]) -> None:
        self._act, self._lock = act, threading.Lock()
        self._numbers: dict[str, int] = {}
        # page that moves a robot, its last sticks and their time
        self._last_sticks: dict[str, tuple[str, Sticks, float]] = {}

    def hear(self, request: Request) -> Response:
        """Answer a request of a page."""
        query = parse_qs(urlsplit(request.path).query)
        try:
            robot, page = query["robot"][0][:128], query["page"][0][:32]
            number = int(query["number"][0][:12])
            sticks = Sticks(*(_part(query[name][0]) for name in Sticks._fields))
        except (KeyError, ValueError):
            return answer(http.HTTPStatus.BAD_REQUEST)
        if request.headers.get_all(HEADER[0]) != [HEADER[1]]:
            return answer(http.HTTPStatus.FORBIDDEN)
        self.say(robot, page, number, sticks)
        return answer(http.HTTPStatus.NO_CONTENT)

    def say(self, robot: str, page: str, number: int, sticks: Sticks) -> None:
        """Take the sticks of a page; messages older than its last one are late, and dropped."""
        with self._lock:
            if number <= self._numbers.get(page, -1):
                return
            # pages that are closed are forgotten in the end
            self._numbers = dict(list(self._numbers.items())[-64:]) | {page: number}
            before = self._last_sticks.get(robot)
            if sticks == REST:
                # a page that holds nothing does not stop the robot of another
                if before is None or before[0] != page:
                    return
                del self._last_sticks[robot]
            else:
                self._last_sticks[robot] = page, sticks, clock.monotonic()
            if before is None or before[1] != sticks:
                self._act(robot, sticks)

    def tend(self) -> None:
        """Let go for hands that are silent."""
        with self._lock:
            now = clock.monotonic()
            for robot in [
                r for r, (_, _, at) in self._last_sticks.items() if now - at > RELEASE_TIMEOUT_S
            ]:
                del self._last_sticks[robot]
                self._act(robot, REST)

    def let_go(self) -> None:
        """All hands, whatever they hold."""
        with self._lock:
            for robot in list(self._last_sticks):
                del self._last_sticks[robot]
                self._act(robot, REST)


def _part(text: str) -> float:
    value = float(text[:32])
    if not math.isfinite(value):
        raise ValueError(text)
    return min(max(value, -1.0), 1.0)


def answer(status: http.HTTPStatus) -> Response:
    """Return an answer without content."""
    headers = Headers({"Content-Length": "0", "Connection": "close"})
    return Response(status.value, status.phrase, headers, b"")
