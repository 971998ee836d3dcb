"""Where a controller and its robot meet: a path (Unix socket) or ``localhost:port`` (TCP).

Windows has TCP only. An address of one's own is then a free port, told by ``TABI_ADDRESS``.
"""

from __future__ import annotations

import os
import socket
import stat
import time
from pathlib import Path

from tabi._errors import ModelError, SimulationError

# where a program that is started finds the address
VARIABLE = "TABI_ADDRESS"
LOCAL = ("localhost", "127.0.0.1")
# of a path, on Linux: 108 bytes with the zero at their end
LONGEST = 107


def paths() -> bool:
    """Whether this system has sockets with a path."""
    return hasattr(socket, "AF_UNIX")


def listen(address: str | Path) -> tuple[socket.socket, str]:
    """A socket that waits for controllers, and its address: port 0 becomes a free one."""
    where = _parsed(address)
    found = _socket(where)
    try:
        if isinstance(where, str):
            _clear(where)
        else:
            # Windows' own: there the other one would let a second program take the port
            option = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
            found.setsockopt(socket.SOL_SOCKET, option, 1)
        found.bind(where)
        found.listen(1)
    except OSError as e:
        found.close()
        raise ModelError(
            f"controllers cannot connect to {str(address)!r}: {e.strerror or e}; choose another "
            "address, or end the program that uses it"
        ) from None
    if isinstance(where, tuple):
        return found, f"{LOCAL[1]}:{found.getsockname()[1]}"
    return found, where


def connect(address: str | Path | None = None, wait: float = 20.0) -> socket.socket:
    """A socket to the simulator at an address; of ``TABI_ADDRESS`` unless given.

    Args:
        wait: for a simulator that is not there yet [s].
    """
    address = os.environ.get(VARIABLE, "") if address is None else address
    if not str(address):
        raise ModelError(
            f"a controller was given no address; expected a path, 'localhost:port', or the "
            f"environment variable {VARIABLE}"
        )
    where, end = _parsed(address), time.monotonic() + wait
    while True:
        found = _socket(where)
        try:
            found.connect(where)
        except OSError as e:
            found.close()
            if time.monotonic() >= end:
                raise SimulationError(
                    f"no simulator answers at {str(address)!r} within {wait:g} s ({e.strerror}); "
                    "start it first, with the same address"
                ) from None
            time.sleep(0.01)
        else:
            return quick(found)


def quick(found: socket.socket) -> socket.socket:
    """A socket that sends small messages at once."""
    if found.family == socket.AF_INET:
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return found


def _socket(where: str | tuple[str, int]) -> socket.socket:
    """A socket of the kind that an address has."""
    return socket.socket(socket.AF_UNIX if isinstance(where, str) else socket.AF_INET)


def _parsed(address: str | Path) -> str | tuple[str, int]:
    """A path, or host and port."""
    text = str(address)
    host, colon, port = text.rpartition(":")
    if isinstance(address, Path) or not colon or "/" in text or "\\" in text:
        if not paths():
            raise ModelError(
                f"address {text!r} is a path, and this system has no Unix sockets; expected "
                "'localhost:port', or 'localhost:0' for a port that is free"
            )
        if not text or len(os.fsencode(text)) > LONGEST:
            raise ModelError(
                f"address {text!r} has {len(os.fsencode(text))} bytes; expected a path of 1 to "
                f"{LONGEST}, for example '/tmp/robot'"
            )
        return text
    if host not in LOCAL or not port.isdecimal() or int(port) > 65535:
        raise ModelError(
            f"address {text!r} is none of this machine; expected a path or 'localhost:port', with "
            "a port from 0 to 65535"
        )
    return LOCAL[1], int(port)


def _clear(path: str) -> None:
    """Remove a socket that a program left behind; refuse what is in use."""
    try:
        kind = os.stat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(kind):
        raise ModelError(
            f"address {path!r} is a file or a folder already; expected a name that is free"
        )
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
