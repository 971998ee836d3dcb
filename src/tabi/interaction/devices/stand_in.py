"""Stand-in for the Haply service, with a simulated handle: for users without a device.

A mass m is held by a hand, a spring k and a damper c to a position x_h(t), with the commanded force
f,

    m ẍ = f + k (x_h − x) + c (ẋ_h − ẋ)                                                         (1)
per axis. With u = (f + k x_h + c ẋ_h)/m held over a step h = 0.1 ms, (1) is linear and one step is
exact: (x, ẋ, u) ← exp(A h) (x, ẋ, u), A = [0 1 0; −k/m −c/m 1; 0 0 0]. Time is wall time, updated
at each message. The hand is sampled once per millisecond and moves at constant velocity in between.

A force ends after 20 ms, as in a device whose messages stop, or with the connection that wrote it.

Reference: Van Loan, Computing integrals involving the matrix exponential (1978), for a held input.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import http
import logging
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import websockets.asyncio.server as sockets
from scipy.linalg import expm
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from tabi._errors import ModelError, TabiError
from tabi.interaction.devices import haply_messages as messages
from tabi.interaction.devices.priority import raise_priority
from tabi.interaction.devices.scripted import ScriptedHand

# step, period of the hand's samples, timeout of a force [s]
STEP, SAMPLE_PERIOD_S, FORCE_TIMEOUT_S = 1e-4, 1e-3, 0.02
# longest time to catch up with [s]
MAX_CATCH_UP_S = 2.0
# limits of the force [N], and of the workspace [m]
MAX_FORCE, MAX_POSITION = 10.0, 0.25
MASSES = (0.05, 0.5)
VERSION = "3.5.0.0"


class SimulatedHandle:
    """Simulated handle, the mass of (1).

    Args:
        mass: of the handle [kg]. stiffness, damping: of the hand [N/m], [N·s/m].
        hand: target of the hand; default: at rest in the middle.
        start: time of its clock at the start [s].

    Attributes:
        position, velocity: of the handle. force: on it now.
        time: up to which it was integrated.
    """

    def __init__(
        self,
        mass: float = 0.1,
        stiffness: float = 100.0,
        damping: float = 4.0,
        hand: ScriptedHand | None = None,
        start: float = 0.0,
    ) -> None:
        if not MASSES[0] <= mass <= MASSES[1]:
            raise ModelError(
                f"the stand-in's handle has a mass of {mass:g} kg; expected {MASSES[0]:g} to "
                f"{MASSES[1]:g} kg"
            )
        for name, value in (("stiffness", stiffness), ("damping", damping)):
            if not 0.0 <= value <= 1e4:
                raise ModelError(
                    f"the {name} of the stand-in's hand is {value:g}; expected 0 to 1e4 in N, m, s"
                )
        self.mass, self.stiffness, self.damping, self.hand = mass, stiffness, damping, hand
        a = np.array([[0.0, 1.0, 0.0], [-stiffness / mass, -damping / mass, 1.0], [0.0, 0.0, 0.0]])
        (self._xx, self._xv, self._xu), (self._vx, self._vv, self._vu) = expm(STEP * a)[:2].tolist()
        self._start, self._steps = start, 0
        self._until = -math.inf
        self.force = [0.0, 0.0, 0.0]
        place = [0.0, 0.0, 0.0] if hand is None else hand.at(0.0).position.tolist()
        self.position, self.velocity = place, [0.0, 0.0, 0.0]

    @property
    def time(self) -> float:
        """Time up to which it was integrated [s]."""
        return self._start + STEP * self._steps

    @property
    def grip(self) -> tuple[list[float], tuple[bool, ...]] | None:
        """Orientation and pressed buttons of its script; None if it has neither."""
        if self.hand is None:
            return None
        wanted = self.hand.at(STEP * self._steps)
        if not (self.hand.turns or wanted.buttons):
            return None
        return wanted.quaternion.tolist(), wanted.buttons

    def push(self, force: Sequence[float], now: float) -> None:
        """Apply a force from now on, until its timeout."""
        self.advance(now)
        size = math.hypot(*force)
        scale = 1.0 if size <= MAX_FORCE else MAX_FORCE / size
        self.force = [scale * f for f in force]
        self._until = now + FORCE_TIMEOUT_S

    def release(self, now: float) -> None:
        """Release the force from now on."""
        self.advance(now)
        self.force, self._until = [0.0, 0.0, 0.0], -math.inf

    def advance(self, now: float) -> None:
        """Integrate up to a time; a force may time out before."""
        # after a long pause it continues from its last state
        self._start += max(now - self.time - MAX_CATCH_UP_S, 0.0)
        if self._until < now and any(self.force):
            self._integrate(self._until)
            self.force = [0.0, 0.0, 0.0]
        self._integrate(now)

    def _integrate(self, end: float) -> None:
        last, chunk = int((end - self._start) / STEP + 1e-6), round(SAMPLE_PERIOD_S / STEP)
        while self._steps < last:
            count = min(chunk - self._steps % chunk, last - self._steps)
            self._chunk(count)
            self._steps += count

    def _chunk(self, count: int) -> None:
        if self.hand is None:
            place, motion = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        else:
            wanted = self.hand.at(STEP * self._steps)
            place, motion = wanted.position.tolist(), wanted.velocity.tolist()
        k, c, m = self.stiffness, self.damping, self.mass
        xx, xv, xu, vx, vv, vu = self._xx, self._xv, self._xu, self._vx, self._vv, self._vu
        for i in range(3):
            x, v = self.position[i], self.velocity[i]
            u = (self.force[i] + k * place[i] + c * motion[i]) / m
            rise = k * motion[i] * STEP / m
            # the middle of each step
            u += 0.5 * rise
            for _ in range(count):
                x, v = xx * x + xv * v + xu * u, vx * x + vv * v + vu * u
                u += rise
            if not abs(x) <= MAX_POSITION:
                x, v = math.copysign(MAX_POSITION, x), 0.0
            self.position[i], self.velocity[i] = x, v


class StandIn:
    """Service of the stand-in: connections, and the handle that they share.

    Attributes:
        port: of the service, once it listens.
    """

    def __init__(
        self,
        handle: SimulatedHandle,
        device_id: str = "TABI",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.handle, self.device_id, self.clock = handle, device_id, clock
        self.port, self._sessions = 0, 0
        self._writer: object = None

    async def serve(self, port: int, ready: Callable[[int], None], end: asyncio.Event) -> None:
        """Listen on this machine until the end."""
        settings: dict[str, Any] = {
            "compression": None,
            "process_request": _request,
            "ping_interval": None,
        }
        async with sockets.serve(self._talk, "127.0.0.1", port, **settings) as server:
            self.port = next(iter(server.sockets)).getsockname()[1]
            ready(self.port)
            while not end.is_set():
                self.handle.advance(self.clock())
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(end.wait(), 0.05)

    async def _talk(self, link: sockets.ServerConnection) -> None:
        self._sessions += 1
        session = self._sessions
        try:
            await link.send(self._update(session, full=True), text=True)
            async for raw in link:
                now = self.clock()
                for device_id, force in messages.parse_order(raw):
                    if device_id == self.device_id:
                        self.handle.push(force, now)
                        self._writer = link
                await link.send(self._update(session, full=False), text=True)
        except ConnectionClosed:
            pass
        finally:
            if self._writer is link:
                self.handle.release(self.clock())

    def _update(self, session: int, full: bool) -> bytes:
        handle = self.handle
        handle.advance(self.clock())
        vectors = {
            "cursor_position": handle.position,
            "cursor_velocity": handle.velocity,
            "current_cursor_force": handle.force,
        }
        return messages.update_message(self.device_id, session, vectors, full, handle.grip)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a stand-in until it is interrupted."""
    parser = argparse.ArgumentParser(
        prog="stand-in", description="A simulated haptic device that speaks as Haply's does."
    )
    parser.add_argument("--port", type=int, default=10001, help="0: any that is free")
    parser.add_argument("--mass", type=float, default=0.1, help="of the handle [kg]")
    parser.add_argument("--stiffness", type=float, default=100.0, help="of the hand [N/m]")
    parser.add_argument("--damping", type=float, default=4.0, help="of the hand [N·s/m]")
    parser.add_argument("--hand", help="a file of where the hand wants to be, *.hand.csv")
    parser.add_argument("--repeat", action="store_true", help="start the hand over when it ends")
    parser.add_argument(
        "--until-end-of-input", action="store_true", help="end when standard input does"
    )
    options = parser.parse_args(arguments)
    try:
        hand = options.hand and ScriptedHand.load(
            options.hand, "repeat" if options.repeat else "stay"
        )
        handle = SimulatedHandle(
            *(options.mass, options.stiffness, options.damping, hand or None, time.monotonic())
        )
        # like a real device, independent of the machine's load
        raise_priority()
        asyncio.run(_run(StandIn(handle), options.port, options.until_end_of_input))
    except (TabiError, OSError, OverflowError) as e:
        print(f"stand-in: {e}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0


async def _run(service: StandIn, port: int, piped: bool) -> None:
    end = asyncio.Event()
    # aborted connections are not logged
    logging.getLogger("websockets").setLevel(logging.CRITICAL)

    def ready(port: int) -> None:
        print(f"a stand-in for a haptic device listens at ws://127.0.0.1:{port}", flush=True)

    if piped:

        def look() -> None:
            if not os.read(sys.stdin.fileno(), 1):
                end.set()

        asyncio.get_running_loop().add_reader(sys.stdin.fileno(), look)
    await service.serve(port, ready, end)


def _request(link: sockets.ServerConnection, request: Request) -> Response | None:
    """Answer requests of the version; reject connections of web pages."""
    if request.path == "/version":
        body = f'{{"project_name": "tabi-stand-in", "project_version": "{VERSION}"}}'.encode()
        headers = Headers({"Content-Type": "application/json", "Content-Length": str(len(body))})
        headers["Connection"] = "close"
        return Response(http.HTTPStatus.OK.value, "OK", headers, body)
    if request.headers.get("Origin"):
        return link.respond(http.HTTPStatus.FORBIDDEN, "pages of a browser may not push a hand\n")
    return None


if __name__ == "__main__":
    sys.exit(main())
