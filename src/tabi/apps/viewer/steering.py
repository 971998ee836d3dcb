"""Steering of robots from a page: sticks and arrow keys in the browser, told to the page's server.

viser's page has no sticks and tells no keys. So a script comes along with it (``steering.js``) that
finds the pads of the panel, and asks for an address with how far the sticks are out, parts of the
fastest from −1 to 1:

    /steer?robot=hrp2&page=…&number=7&forward=0.5&sideways=0&turn=-0.2

Whoever may see the page may ask, and only its own script can: another site's page cannot set the
header that goes with it. A hand that holds a stick says so four times a second; one that is silent
for longer than ``SILENT`` has let go, also where its browser went away.
"""

from __future__ import annotations

import gzip
import http
import math
import threading
import time as clock
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from tabi.model.controllers.controller import with_method

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

PATH, HEADER = "/steer", ("X-Tabi", "steer")
# s after which a hand that says nothing has let go
SILENT = 1.0
SCRIPT = Path(__file__).with_name("steering.js")


class Sticks(NamedTuple):
    """How far sticks are out, parts of the fastest from −1 to 1; to the left is positive."""

    forward: float = 0.0
    sideways: float = 0.0
    turn: float = 0.0


REST = Sticks()


def steered_walkers(sim: Simulator) -> dict[str, Any]:
    """Controllers with a method ``steer``, by their robots' names; also inside of others."""
    found = {name: with_method(driver.controller, "steer") for name, driver in sim.drivers.items()}
    return {name: walker for name, walker in found.items() if walker is not None}


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
    """What hands on sticks say, of all pages.

    Args:
        act: called with a robot's name and the sticks whenever they are new.
    """

    def __init__(self, act: Callable[[str, Sticks], None]) -> None:
        self._act, self._lock = act, threading.Lock()
        self._numbers: dict[str, int] = {}
        # who moves a robot, what they said last and when
        self._held: dict[str, tuple[str, Sticks, float]] = {}

    def hear(self, request: Request) -> Response:
        """Answer to what a page says."""
        said = parse_qs(urlsplit(request.path).query)
        try:
            robot, page = said["robot"][0][:128], said["page"][0][:32]
            number = int(said["number"][0][:12])
            sticks = Sticks(*(_part(said[name][0]) for name in Sticks._fields))
        except (KeyError, ValueError):
            return answer(http.HTTPStatus.BAD_REQUEST)
        if request.headers.get_all(HEADER[0]) != [HEADER[1]]:
            return answer(http.HTTPStatus.FORBIDDEN)
        self.say(robot, page, number, sticks)
        return answer(http.HTTPStatus.NO_CONTENT)

    def say(self, robot: str, page: str, number: int, sticks: Sticks) -> None:
        """A page has said something; what is older than its last words is late, and dropped."""
        with self._lock:
            if number <= self._numbers.get(page, -1):
                return
            # pages that are closed are forgotten in the end
            self._numbers = dict(list(self._numbers.items())[-64:]) | {page: number}
            before = self._held.get(robot)
            if sticks == REST:
                # who holds nothing does not stop another one
                if before is None or before[0] != page:
                    return
                del self._held[robot]
            else:
                self._held[robot] = page, sticks, clock.monotonic()
            if before is None or before[1] != sticks:
                self._act(robot, sticks)

    def tend(self) -> None:
        """Let go for hands that are silent."""
        with self._lock:
            now = clock.monotonic()
            for robot in [r for r, (_, _, at) in self._held.items() if now - at > SILENT]:
                del self._held[robot]
                self._act(robot, REST)

    def let_go(self) -> None:
        """All hands, whatever they hold."""
        with self._lock:
            for robot in list(self._held):
                del self._held[robot]
                self._act(robot, REST)


def _part(text: str) -> float:
    value = float(text[:32])
    if not math.isfinite(value):
        raise ValueError(text)
    return min(max(value, -1.0), 1.0)


def answer(status: http.HTTPStatus) -> Response:
    """Without words."""
    headers = Headers({"Content-Length": "0", "Connection": "close"})
    return Response(status.value, status.phrase, headers, b"")


_made: dict[bytes, bytes] = {}


def with_script(response: Response) -> Response:
    """A page that brings the script of the sticks along; anything else as it is."""
    headers = response.headers
    if response.status_code != 200 or not headers.get("Content-Type", "").startswith("text/html"):
        return response
    body = bytes(response.body or b"")
    if body not in _made:
        packed = headers.get("Content-Encoding") == "gzip"
        page = gzip.decompress(body) if packed else body
        tag = b"<script>" + SCRIPT.read_bytes() + b"</script></head>"
        page = page.replace(b"</head>", tag, 1)
        _made[body] = gzip.compress(page) if packed else page
    del headers["Content-Length"]
    headers["Content-Length"] = str(len(_made[body]))
    return Response(response.status_code, response.reason_phrase, headers, _made[body])
