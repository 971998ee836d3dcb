"""Connection over a socket: lines of text at first, then messages of one size."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable

from tabi.control.processes.messages import MAX_LINES_SIZE


class LostError(Exception):
    """The other end has closed; the text states how, without a subject: "closed its connection"."""


class Connection:
    """One end of a connection. Timeouts ``wait`` are in seconds of wall time; 0 does not wait.

    Attributes:
        message: the last complete received message.
    """

    def __init__(self, connected: socket.socket) -> None:
        self._socket, self._wait = connected, connected.gettimeout()
        self.message = bytearray()
        self._view, self._filled = memoryview(self.message), 0
        # start of a message received with the last line, and unsent rest of a message
        self._early, self._unsent = b"", b""

    def close(self) -> None:
        """Close the connection; a second call does nothing."""
        self._socket.close()

    def expect(self, size: int) -> None:
        """Set the size of all following messages [bytes]."""
        self.message = bytearray(size)
        self._view, self._filled = memoryview(self.message), len(self._early)
        self.message[: self._filled], self._early = self._early, b""

    def send_lines(self, lines: Iterable[str], wait: float | None) -> None:
        """Send lines of text, followed by an empty line."""
        self._set(wait)
        try:
            self._socket.sendall(("\n".join(lines) + "\n\n").encode())
        except OSError as e:
            raise _lost(e) from None

    def receive_lines(self, wait: float | None) -> list[str] | None:
        """Receive lines of text up to an empty one; None after the timeout."""
        received, end = b"", None if wait is None else time.monotonic() + wait
        while b"\n\n" not in received:
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                return None
            self._set(left)
            try:
                part = self._socket.recv(65536)
            except (BlockingIOError, TimeoutError):
                return None
            except OSError as e:
                raise _lost(e) from None
            received += part
            if not part or len(received) > MAX_LINES_SIZE:
                raise LostError("closed its connection before the empty line that ends its lines")
        text, _, self._early = received.partition(b"\n\n")
        return text.decode(errors="replace").split("\n")

    def send(self, message: bytearray, wait: float | None) -> bool:
        """A message. Without waiting: False where there is no room for it, or for the rest of the
        one before.
        """
        if self._wait != wait:
            self._set(wait)
        try:
            if wait != 0.0:
                self._socket.sendall(message)
                return True
            if self._unsent:
                self._unsent = self._unsent[self._socket.send(self._unsent) :]
                if self._unsent:
                    return False
            sent = self._socket.send(message)
        except BlockingIOError:
            return False
        except TimeoutError:
            raise LostError(f"did not read what it was sent within {wait:g} s") from None
        except OSError as e:
            raise _lost(e) from None
        if sent < len(message):
            self._unsent = bytes(message[sent:])
        return True

    def receive(self, wait: float | None) -> bool:
        """Receive a message; return whether it was complete within the timeout; it stays in
        ``message`` until the next one.
        """
        size, end = len(self.message), None
        if self._wait != wait:
            self._set(wait)
        while True:
            try:
                got = self._socket.recv_into(self._view[self._filled :])
            except (BlockingIOError, TimeoutError):
                return False
            except OSError as e:
                raise _lost(e) from None
            self._filled += got
            if self._filled == size:
                self._filled = 0
                return True
            if not got:
                raise LostError(
                    f"closed its connection within a message, after {self._filled} of {size} bytes"
                    if self._filled
                    else "closed its connection"
                )
            # the rest has to arrive within the same timeout
            if wait:
                end = time.monotonic() + wait if end is None else end
                self._set(max(end - time.monotonic(), 1e-6))

    def _set(self, wait: float | None) -> None:
        self._socket.settimeout(wait)
        self._wait = wait


def _lost(e: OSError) -> LostError:
    return LostError(f"closed its connection ({e.strerror or e})")
