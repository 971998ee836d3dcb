"""Driver of Haply Inverse3, through the Haply Inverse service: messages as in ``haply_messages``.

The service answers each message once. A force is written and the answer is read at the next
reading, so that the driver never waits for it:

    read    the latest received answer; its time is that at which its message was sent, before the
            device was sampled
    write   a force, sent at once; several may be in transit
A reading is therefore a period old. An answer that has not arrived within 50 ms is a timeout: the
connection is closed, and the service, like the device, releases the force when messages stop.

Only the service of this machine is trusted without a token: another address needs one, which is
sent as ``Authorization: Bearer`` for the proxy in front of it.

Reference: docs.haply.co, Inverse SDK 3.5 (``ws://localhost:10001``, ``GET /version``).
"""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import re
import socket
import time
from collections import deque
from collections.abc import Callable
from urllib.parse import urlsplit

import numpy as np
from websockets.client import ClientProtocol
from websockets.exceptions import WebSocketException
from websockets.frames import Frame as WireFrame
from websockets.frames import Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from tabi._errors import ModelError
from tabi.interaction.devices import haply_messages as messages
from tabi.interaction.devices.protocol import Array, DeviceError, DeviceInfo, HandReading

ADDRESS = "ws://localhost:10001"
# timeouts for the service to open, to answer, and to read the last message [s]; waiting time of a
# reading, and of its sleeps [s]
OPEN_TIMEOUT_S, ANSWER_TIMEOUT_S, CLOSE_TIMEOUT_S, READ_WAIT_S, SLEEP_TIME_S = (
    0.5,
    0.05,
    0.02,
    2e-4,
    4e-5,
)
MAX_MESSAGE_SIZE = 1 << 20
VERSIONS = ((3, 1), (4, 0))


class HaplyDevice:
    """Driver for a Haply Inverse3.

    Args:
        address: of the service. device_id: of the device, if there are several.
        token: for a service on another machine.
        clock: function that returns the time [s].
    """

    def __init__(
        self,
        address: str = ADDRESS,
        device_id: str | None = None,
        token: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        host, port = _parse_address(address, token)
        self.clock, self.closed = clock, False
        _check_version(host, port, token)
        self._link = _Link(host, port, token)
        try:
            frame = messages.parse_frame(self._link.first())
            self.device_id = messages.choose(frame, device_id)
            self._session = frame.session_id
            self._reading = messages.reading(frame, self.device_id, clock())
        except DeviceError:
            self._link.close()
            raise
        self._sent: deque[float] = deque()
        self._send(messages.first_message(self.device_id))
        # a conservative limit of its force; approximate workspace
        self.info = DeviceInfo(
            f"Haply Inverse3 {self.device_id}",
            force_limit=5.0,
            lower=(-0.15, -0.25, 0.0),
            upper=(0.15, 0.0, 0.3),
        )

    def read(self) -> HandReading:
        """Return the reading of the hand from the latest answer."""
        self._check_open()
        if not self._sent:
            self._send(messages.probe_message(self.device_id))
        raw, sent = None, 0.0
        while self._sent:
            try:
                answers = self._link.receive()
            except DeviceError:
                self.close()
                raise
            if not answers:
                break
            for answer in answers:
                if not self._sent:
                    raise self._failure(
                        "sent more answers than it got messages; restart the service"
                    )
                raw, sent = answer, self._sent.popleft()
        if raw is not None:
            self._use_answer(raw, sent)
        waited = self.clock() - self._sent[0] if self._sent else 0.0
        if waited > ANSWER_TIMEOUT_S:
            raise self._failure(
                f"has not answered for {1e3 * waited:.0f} ms; expected "
                f"at most {1e3 * ANSWER_TIMEOUT_S:g} ms: is this machine too busy?"
            )
        return self._reading

    def write(self, force: Array, torque: Array) -> None:
        """Push the hand with a force; the device gives no torque."""
        self._check_open()
        if not np.all(np.isfinite(force)):
            self._send(messages.force_message(self.device_id, (0.0, 0.0, 0.0)))
            raise DeviceError(f"{self.info.name} got the force {force}; expected finite newtons")
        size = float(np.sqrt(force @ force))
        if size > self.info.force_limit:
            force = force * (self.info.force_limit / size)
        self._send(messages.force_message(self.device_id, force))

    def close(self) -> None:
        """Release the force, and close the connection."""
        if self.closed:
            return
        self.closed = True
        with contextlib.suppress(DeviceError):
            self._link.send(messages.force_message(self.device_id, (0.0, 0.0, 0.0)))
        self._link.close()

    def _use_answer(self, raw: bytes, sent: float) -> None:
        try:
            frame = messages.parse_frame(raw)
            if frame.session_id != self._session:
                raise DeviceError(
                    f"the Haply service answers for session {frame.session_id}; expected "
                    f"{self._session}: restart the service"
                )
            self._reading = messages.reading(frame, self.device_id, sent)
        except DeviceError:
            self.close()
            raise

    def _send(self, message: bytes) -> None:
        now = self.clock()
        try:
            self._link.send(message)
        except DeviceError:
            self.close()
            raise
        self._sent.append(now)

    def _check_open(self) -> None:
        if self.closed:
            raise DeviceError(f"{self.info.name} was closed; open it again")

    def _failure(self, how: str) -> DeviceError:
        """Close the device and return its error."""
        self.close()
        return DeviceError(f"the Haply service {how}")


class _Link:
    """WebSocket for one thread, without waiting."""

    def __init__(self, host: str, port: int, token: str | None) -> None:
        shown = f"[{host}]" if ":" in host else host
        self.where = f"ws://{shown}:{port}"
        try:
            self._socket = socket.create_connection((host, port), OPEN_TIMEOUT_S)
        except OSError as e:
            raise service_missing(self.where, e) from None
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._protocol = ClientProtocol(parse_uri(self.where), max_size=MAX_MESSAGE_SIZE)
        self._parts: list[bytes] = []
        self._messages: deque[bytes] = deque()
        request = self._protocol.connect()
        if token is not None:
            request.headers["Authorization"] = f"Bearer {token}"
        self._protocol.send_request(request)
        end = time.monotonic() + OPEN_TIMEOUT_S
        try:
            self._flush()
            while self._protocol.state is State.CONNECTING and time.monotonic() < end:
                self._pull()
        except DeviceError:
            if self._protocol.handshake_exc is None:
                self.close()
                raise
        if self._protocol.state is not State.OPEN:
            self.close()
            why = self._protocol.handshake_exc or f"no handshake within {OPEN_TIMEOUT_S:g} s"
            raise DeviceError(
                f"the program at {self.where} is not a Haply Inverse service: {why}; expected "
                "the service of version 3.1 to 3.x, by default on port 10001"
            )
        self._socket.setblocking(False)

    def first(self) -> bytes:
        """Return the inventory of the service."""
        end = time.monotonic() + OPEN_TIMEOUT_S
        while not self._messages:
            if time.monotonic() > end:
                raise DeviceError(
                    f"the service at {self.where} sent no inventory within {OPEN_TIMEOUT_S:g} s; "
                    "expected that of a Haply Inverse service 3.1 to 3.x"
                )
            self._pull()
        return self._messages.popleft()

    def receive(self) -> list[bytes]:
        """Return all received messages; wait shortly if there are none."""
        if not self._messages:
            self._pull()
        received = list(self._messages)
        self._messages.clear()
        return received

    def send(self, message: bytes) -> None:
        """Send a message at once."""
        try:
            self._protocol.send_text(message)
        except WebSocketException as e:
            raise self._lost(e) from None
        self._flush()

    def close(self) -> None:
        """Close the connection; wait shortly for the other side to read the last message."""
        end = time.monotonic() + CLOSE_TIMEOUT_S
        with contextlib.suppress(DeviceError, WebSocketException, OSError):
            if self._protocol.state is State.OPEN:
                self._protocol.send_close(1000)
                self._flush()
            self._socket.shutdown(socket.SHUT_WR)
            # closing a socket with unread data discards its sent data
            self._socket.settimeout(CLOSE_TIMEOUT_S)
            while self._socket.recv(1 << 16) and time.monotonic() < end:
                pass
        self._socket.close()

    def _pull(self) -> None:
        """Receive the available data."""
        end = time.monotonic() + READ_WAIT_S
        while True:
            try:
                data = self._socket.recv(1 << 16)
                break
            except TimeoutError:
                return
            except BlockingIOError:
                # the timeout of a socket is rounded up to whole milliseconds
                if time.monotonic() >= end:
                    return
                time.sleep(SLEEP_TIME_S)
            except OSError as e:
                raise self._lost(e) from None
        if data:
            self._protocol.receive_data(data)
        else:
            self._protocol.receive_eof()
        for event in self._protocol.events_received():
            if isinstance(event, WireFrame):
                self._frame(event)
        self._flush()
        if not data or self._protocol.state in (State.CLOSING, State.CLOSED):
            raise self._lost(self._protocol.parser_exc or "the connection was closed")

    def _frame(self, frame: WireFrame) -> None:
        if frame.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            self._parts.append(bytes(frame.data))
            if frame.fin:
                self._messages.append(b"".join(self._parts))
                self._parts = []

    def _flush(self) -> None:
        try:
            for data in self._protocol.data_to_send():
                if data:
                    self._socket.sendall(data)
        except OSError as e:
            raise self._lost(e) from None

    def _lost(self, why: object) -> DeviceError:
        return DeviceError(f"the Haply service at {self.where} is gone: {why}")


def service_missing(where: str, why: object) -> DeviceError:
    """Return the error for a service that does not listen."""
    return DeviceError(
        f"no Haply Inverse service listens at {where}: {why}; install and open the Haply Hub, or "
        "start haply-inverse-service, or use the device 'stand-in'"
    )


def _parse_address(address: str, token: str | None) -> tuple[str, int]:
    """Return host and port of an address."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port or 10001
    except ValueError:
        parts, host, port = None, None, 0
    if parts is None or parts.scheme != "ws" or not host or parts.path not in ("", "/"):
        raise ModelError(
            f"the address of a Haply service is {address!r}; expected 'ws://host:port', as "
            f"{ADDRESS!r}"
        )
    if token is None and not _is_local(host):
        raise ModelError(
            f"the Haply service at {host} is on another machine, and no token is set; pass one, "
            "or use a tunnel to this machine's localhost"
        )
    return host, port


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check_version(host: str, port: int, token: str | None) -> None:
    """Reject a service of another version; without a version its messages are checked."""
    link = http.client.HTTPConnection(host, port, timeout=OPEN_TIMEOUT_S)
    try:
        link.request(
            "GET", "/version", headers={"Authorization": f"Bearer {token}"} if token else {}
        )
        text = link.getresponse().read(1 << 14).decode("utf-8", "replace")
    except ConnectionRefusedError as e:
        raise service_missing(f"ws://{host}:{port}", e) from None
    except (OSError, http.client.HTTPException):
        return
    finally:
        link.close()
    match = re.search(r'"project_version"\s*:\s*"(\d{1,4})\.(\d{1,4})[^"]*"', text)
    if match:
        version = int(match[1]), int(match[2])
        if not VERSIONS[0] <= version < VERSIONS[1]:
            raise DeviceError(
                f"the Haply service at ws://{host}:{port} has version {version[0]}.{version[1]}; "
                "expected 3.1 to 3.x: update it in the Haply Hub"
            )
