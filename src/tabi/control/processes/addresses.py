"""Addresses of controllers: a path (Unix socket) or ``localhost:port`` (TCP).

Windows has TCP only. The default address is then a free port, passed in ``TABI_ADDRESS``.
"""

from __future__ import annotations

import os
import socket
import stat
import time
from pathlib import Path

from tabi._errors import ModelError, SimulationError

# environment variable with the address for a started program
VARIABLE = "TABI_ADDRESS"
LOCAL = ("localhost", "127.0.0.1")
# length of a path on Linux [bytes]: 108 with the zero at its end
MAX_PATH_SIZE = 107


def has_unix_sockets() -> bool:
    """Check whether this system has sockets with a path."""
    return hasattr(socket, "AF_UNIX")


def listen(address: str | Path) -> tuple[socket.socket, str]:
    """Open a socket that waits for controllers; return it and its address: port 0 becomes a free
    one.
    """
    where = _parsed(address)
    listener = _socket(where)
    try:
        if isinstance(where, str):
            _remove_stale(where)
        else:
            # option of Windows, where SO_REUSEADDR would let a second program take the port
            option = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
            listener.setsockopt(socket.SOL_SOCKET, option, 1)
        listener.bind(where)
        listener.listen(1)
    except OSError as e:
        listener.close()
        raise ModelError(
            f"controllers cannot connect to {str(address)!r}: {e.strerror or e}; choose another "
            "address, or end the program that uses it"
        ) from None
    if isinstance(where, tuple):
        return listener, f"{LOCAL[1]}:{listener.getsockname()[1]}"
    return listener, where


def connect(address: str | Path | None = None, wait: float = 20.0) -> socket.socket:
    """Connect to the simulator at an address; default: that in ``TABI_ADDRESS``.

    Args:
        wait: timeout for the simulator to start [s].
    """
    address = os.environ.get(VARIABLE, "") if address is None else address
    if not str(address):
        raise ModelError(
            f"a controller has no address; expected a path, 'localhost:port', or the "
            f"environment variable {VARIABLE}"
        )
    where, end = _parsed(address), time.monotonic() + wait
    while True:
        connection = _socket(where)
        try:
            connection.connect(where)
        except OSError as e:
            connection.close()
            if time.monotonic() >= end:
                raise SimulationError(
                    f"no simulator answers at {str(address)!r} within {wait:g} s ({e.strerror}); "
                    "start it first, with the same address"
                ) from None
            time.sleep(0.01)
        else:
            return without_delay(connection)


def without_delay(connection: socket.socket) -> socket.socket:
    """Return the socket with small messages sent at once."""
    if connection.family == socket.AF_INET:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _socket(where: str | tuple[str, int]) -> socket.socket:
    """Return a socket of the family of an address."""
    return socket.socket(socket.AF_UNIX if isinstance(where, str) else socket.AF_INET)


def _parsed(address: str | Path) -> str | tuple[str, int]:
    """Return a path, or host and port."""
    text = str(address)
    host, colon, port = text.rpartition(":")
    if isinstance(address, Path) or not colon or "/" in text or "\\" in text:
        if not has_unix_sockets():
            raise ModelError(
                f"address {text!r} is a path, and this system has no Unix sockets; expected "
                "'localhost:port', or 'localhost:0' for a free port"
            )
        if not text or len(os.fsencode(text)) > MAX_PATH_SIZE:
            raise ModelError(
                f"address {text!r} has {len(os.fsencode(text))} bytes; expected a path of 1 to "
                f"{MAX_PATH_SIZE}, for example '/tmp/robot'"
            )
        return text
    if host not in LOCAL or not port.isdecimal() or int(port) > 65535:
        raise ModelError(
            f"address {text!r} is not on this machine; expected a path or 'localhost:port', with "
            "a port from 0 to 65535"
        )
    return LOCAL[1], int(port)


def _remove_stale(path: str) -> None:
    """Remove a stale socket of an ended program; reject an address in use."""
    try:
        kind = os.stat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(kind):
        raise ModelError(f"address {path!r} is an existing file or folder; expected a free name")
    with socket.socket(socket.AF_UNIX) as trial:
        trial.settimeout(1.0)
        try:
            trial.connect(path)
        except ConnectionRefusedError:
            os.unlink(path)
            return
        except OSError:
            pass
    raise ModelError(
        f"address {path!r} is in use by another simulator; choose another, or end that one"
    )
