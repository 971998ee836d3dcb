"""Access to a page's server: which clients may connect, and which messages they may send.

A server on this machine is reachable by every page that its browser shows, also by hostile ones:
they can open a WebSocket to localhost, and give their own name an address of this machine. So every
handshake is looked at:

- the name in Host is one of this machine's, unless the server was opened to other
  machines, which then need the token of its address;
- a browser states in Origin which page sends: it has to be the server's own.

What comes through is looked at as well, message by message: of a kind that a page sends, with the
fields of that kind, numbers that are finite and not absurd, values that the control has room for,
and not more than a mouse and a keyboard can cause. Anything else is dropped, before any code of the
server sees it.
"""

from __future__ import annotations

import asyncio
import dataclasses
import hmac
import http
import math
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sized
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import msgspec
import viser
import websockets.asyncio.server as sockets
from viser import _messages as messages
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from tabi.apps.viewer import links
from tabi.apps.viewer.page_scripts import with_scripts

LOCAL = ("127.0.0.1", "localhost", "::1")
COOKIE = "tabi_token"
# whose pages may have this one in a frame, once it was shown in a notebook
NOTEBOOKS = "'self' http://127.0.0.1:* http://localhost:*"
# bytes of a message and of a requested picture, letters of a text
MAX_MESSAGE_BYTES, MAX_PICTURE_BYTES, MAX_TEXT_LENGTH = 1 << 16, 32 << 20, 4096
# messages a second, largest number, depth of nested values, pages at once
MAX_MESSAGE_RATE_HZ, MAX_NUMBER, MAX_NESTING, MAX_PAGES = 400, 1e7, 4, 64
# what a page sends by itself; not: files, and requests to show this server to the whole world
SPOKEN: tuple[type, ...] = (
    messages.GuiUpdateMessage,
    messages.ViewerCameraMessage,
    messages.SceneNodeDragMessage,
    messages.GetRenderResponseMessage,
)
# by name: all fields, and those without which a message is none
KINDS = {
    kind.__name__: (
        {field.name for field in dataclasses.fields(kind)},
        {
            field.name
            for field in dataclasses.fields(kind)
            if field.default is field.default_factory is dataclasses.MISSING
        },
    )
    for kind in SPOKEN
}
_opening = threading.Lock()


def is_local(host: str) -> bool:
    """Whether only this machine can reach a server at this address."""
    return host in LOCAL or host.startswith("127.")


def open_server(host: str, port: int, label: str = "tabi") -> tuple[viser.ViserServer, Gate]:
    """A viser server behind a gate; on anything but this machine its gate asks for a token."""
    gate = Gate(None if is_local(host) else secrets.token_urlsafe(16))
    serve, used = sockets.serve, []

    def gated(handler: Any, *where: Any, process_request: Any, **options: Any) -> Any:
        used.append(True)
        options |= {
            "max_size": MAX_PICTURE_BYTES,
            "create_connection": gate.connection,
            "open_timeout": 10,
        }
        return serve(handler, *where, process_request=gate.request(process_request), **options)

    # viser has no door for this: what it calls to listen is replaced while it starts, and only then
    with _opening:
        sockets.serve = cast(Any, gated)
        try:
            server = viser.ViserServer(host=host, port=port, label=label, verbose=False)
        finally:
            sockets.serve = serve
    if not used:
        server.stop()
        raise RuntimeError(
            "this version of viser listens in a way that tabi cannot guard; install viser 1.1"
        )
    gate.controls = server.gui._gui_input_handle_from_uuid
    gate.visitors = server._websock_server._live_connections
    return server, gate


class Gate:
    """Check of handshakes and messages.

    Args:
        token: required of every client; None: only this machine may connect, and needs none.

    Attributes:
        controls: the page's inputs by their identities. visitors: clients that are connected.
            refused: how many messages were dropped.
            framed: whether pages of this machine, as notebooks are, may show the page in a frame.
            handlers: of requests of the page's own scripts, by their paths.
    """

    def __init__(self, token: str | None = None) -> None:
        self.token = token
        self.controls: Mapping[str, Any] = {}
        self.visitors: Sized = ()
        self.refused, self.framed = 0, False
        self.handlers: dict[str, Callable[[Request], Response]] = {}

    # ---- clients ----------------------------------------------------------------------------

    def request(
        self, inner: Callable[[Any, Request], Response | None]
    ) -> Callable[[Any, Request], Response | None]:
        """Return a handler of requests that passes only permitted clients to ``inner``."""

        def checked(connection: Any, request: Request) -> Response | None:
            refusal = self.refusal(request)
            if refusal:
                return _answer(http.HTTPStatus.FORBIDDEN, refusal)
            if len(self.visitors) >= MAX_PAGES:
                return _answer(
                    http.HTTPStatus.SERVICE_UNAVAILABLE,
                    f"{MAX_PAGES} pages are open already; close one",
                )
            handler = self.handlers.get(urlsplit(request.path).path)
            if handler is not None:
                return handler(request)
            if self.handlers and (away := links.elsewhere(request)) is not None:
                return away
            response = inner(connection, request)
            if response is not None:
                response = with_scripts(response)
                if self.framed:
                    response.headers["Content-Security-Policy"] = f"frame-ancestors {NOTEBOOKS}"
                else:
                    response.headers["X-Frame-Options"] = "DENY"
                response.headers["Referrer-Policy"] = "no-referrer"
                if self.token and response.status_code == 200:
                    # the page's own WebSocket carries it then; a link on another page does not
                    response.headers["Set-Cookie"] = (
                        f"{COOKIE}={self.token}; Path=/; HttpOnly; SameSite=Strict"
                    )
            return response

        return checked

    def refusal(self, request: Request) -> str:
        """Why a handshake is not for us; empty where it is."""
        host = _single_value(request.headers, "Host")
        origin = _single_value(request.headers, "Origin")
        if host is None or origin is None:
            return "one Host and at most one Origin are expected"
        if self.token is None and _name(host) not in LOCAL:
            return "this server is for its own machine; open it as http://localhost"
        if origin and urlsplit(origin).netloc.lower() != host.lower():
            return "another site's page may not talk to this server"
        if self.token is not None and not self._has_token(request):
            return "the token is missing or wrong; open the address that tabi printed"
        return ""

    def _has_token(self, request: Request) -> bool:
        tokens = parse_qs(urlsplit(request.path).query).get("token", [])
        for header in request.headers.get_all("Cookie"):
            tokens += [
                value
                for name, _, value in (part.strip().partition("=") for part in header.split(";"))
                if name == COOKIE
            ]
        return any(
            hmac.compare_digest(value.encode(), (self.token or "").encode()) for value in tokens
        )

    # ---- what -------------------------------------------------------------------------------

    def connection(self, *args: Any, **options: Any) -> sockets.ServerConnection:
        """A connection that hands on only what passes."""
        return _Guarded(self, *args, **options)

    def passes(self, raw: object) -> bool:
        """Whether a message may be read by the server."""
        if not isinstance(raw, bytes) or len(raw) > MAX_PICTURE_BYTES:
            return False
        try:
            message = msgspec.msgpack.decode(raw)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return False
        if not isinstance(message, dict):
            return False
        kind = message.pop("type", None)
        known, needed = KINDS.get(kind, (set(), {"?"})) if isinstance(kind, str) else (set(), {"?"})
        if not needed <= message.keys() <= known:
            return False
        if len(raw) > MAX_MESSAGE_BYTES and kind != messages.GetRenderResponseMessage.__name__:
            return False
        return (
            self._sound(message)
            and _shaped(kind, message)
            and (kind != "GuiUpdateMessage" or self._fits(message))
        )

    def _sound(self, value: object, depth: int = 0) -> bool:
        """Numbers finite and not absurd, texts short, nothing too deep."""
        if isinstance(value, bool) or value is None:
            return True
        if isinstance(value, int | float):
            return math.isfinite(value) and abs(value) <= MAX_NUMBER
        if isinstance(value, str):
            return len(value) <= MAX_TEXT_LENGTH
        if isinstance(value, bytes):
            return depth == 1
        if depth >= MAX_NESTING or not isinstance(value, dict | list) or len(value) > 64:
            return False
        if isinstance(value, dict):
            return all(
                isinstance(name, str) and self._sound(inner, depth + 1)
                for name, inner in value.items()
            )
        return all(self._sound(inner, depth + 1) for inner in value)

    def _fits(self, message: dict[str, Any]) -> bool:
        """Whether a control that people use may be set to this:
        its value, and nothing else of it.
        """
        control = self.controls.get(message["uuid"])
        updates = message["updates"]
        if (
            control is None
            or set(updates) != {"value"}
            or getattr(control, "disabled", False)
            or not getattr(control, "visible", True)
        ):
            return False
        value, now = updates["value"], control.value
        if isinstance(control, viser.GuiSliderHandle):
            return _is_number(value) and control.min <= value <= control.max
        if isinstance(control, viser.GuiDropdownHandle | viser.GuiButtonGroupHandle):
            return value in control.options
        if isinstance(now, bool):
            return isinstance(value, bool)
        return (
            isinstance(value, str)
            if isinstance(now, str)
            else _is_number(now) and _is_number(value)
        )


class _Guarded(sockets.ServerConnection):
    """A connection with a gate in it, that reads no faster than people act."""

    def __init__(self, gate: Gate, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._gate, self._second, self._count = gate, 0, 0

    async def recv(self, decode: bool | None = None) -> Any:
        """The next message that passes."""
        while True:
            raw = await super().recv(decode)
            second = int(time.monotonic())
            self._second, self._count = second, self._count + 1 if second == self._second else 1
            if self._count > MAX_MESSAGE_RATE_HZ:
                # unread bytes pile up at the sender, not here
                await asyncio.sleep(second + 1 - time.monotonic())
            if self._gate.passes(raw):
                return raw
            self._gate.refused += 1
            # dropping is quick: others have to have their turn in between
            await asyncio.sleep(0)


def _shaped(kind: str, message: dict[str, Any]) -> bool:
    """Whether fields that the server does arithmetic with, or looks up, are what they should be."""
    texts = {
        "GuiUpdateMessage": ("uuid",),
        "SceneNodeDragMessage": ("name", "phase", "button"),
        "GetRenderResponseMessage": ("render_uuid",),
    }
    if not all(isinstance(message.get(field), str) for field in texts.get(kind, ())):
        return False
    if kind == "GuiUpdateMessage":
        return isinstance(message.get("updates"), dict)
    if kind == "SceneNodeDragMessage":
        sizes = {"start_position": 3, "end_position": 3, "start_screen_pos": 2, "end_screen_pos": 2}
        phase = message["phase"] in ("start", "update", "end")
        button = message["button"] in ("left", "middle", "right")
        which = message.get("instance_index")
        copy = which is None or (
            isinstance(which, int) and not isinstance(which, bool) and which >= 0
        )
        return (
            phase
            and button
            and copy
            and all(_is_row(message.get(field), size) for field, size in sizes.items())
        )
    if kind == "ViewerCameraMessage":
        sizes = {"wxyz": 4, "position": 3, "look_at": 3, "up_direction": 3}
        numbers = ("fov", "near", "far", "image_height", "image_width")
        rows = all(_is_row(message.get(field), size) for field, size in sizes.items())
        return rows and all(_is_number(message.get(field)) for field in numbers)
    return True


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_row(value: object, size: int) -> bool:
    return isinstance(value, list) and len(value) == size and all(map(_is_number, value))


def _single_value(headers: Headers, name: str) -> str | None:
    """Return the only value of a header, empty without one; None where there are several."""
    values = headers.get_all(name)
    return None if len(values) > 1 else values[0] if values else ""


def _name(host: str) -> str:
    """The name in a Host header, without the port."""
    return (
        host.rpartition("]")[0].lstrip("[").lower()
        if host.startswith("[")
        else host.partition(":")[0].lower()
    )


def _answer(status: http.HTTPStatus, text: str) -> Response:
    body = f"tabi: {text}\n".encode()
    headers = Headers(
        {
            "Content-Type": "text/plain; charset=utf-8",
            "Content-Length": str(len(body)),
            "Connection": "close",
        }
    )
    return Response(status.value, status.phrase, headers, body)
