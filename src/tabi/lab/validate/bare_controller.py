"""A controller of a process of its own that needs nothing but Python: it sways about the pose that
it finds. ``python bare_controller.py``, with the address in TABI_ADDRESS or as its argument.
"""

from __future__ import annotations

import math
import os
import socket
import struct
import sys

HEADER = struct.Struct("<4sHHIIQd")
# of the swaying targets: amplitude [rad] and rate [rad/s]
SWAY, RATE = 1e-3, 20.0


def target(start: float, time: float) -> float:
    """Return the target of a joint that began at ``start`` [rad] at a time [s]."""
    return start + SWAY * math.sin(RATE * time)


def connected(address: str) -> socket.socket:
    """A socket to "127.0.0.1:port" (TCP), or to a path (Unix)."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdecimal() and "/" not in address:
        link = socket.create_connection((host, int(port)))
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return link
    link = socket.socket(socket.AF_UNIX)
    link.connect(address)
    return link


def run(address: str) -> None:
    """Answer measurements until the simulator closes the connection."""
    link = connected(address)
    text = b""
    while not text.endswith(b"\n\n"):
        text += link.recv(1)
    words = [line.split() for line in text.decode().splitlines() if line]
    count = sum(int(word[1]) for word in words if word[0] == "joint")
    size = next(int(word[1]) for word in words if word[0] == "measurement")
    link.sendall(b"tabi-controller 1\n\n")
    positions, start = struct.Struct(f"<{count}d"), ()
    while len(message := link.recv(size, socket.MSG_WAITALL)) == size:
        *_, begins, sequence, time = HEADER.unpack_from(message)
        if begins:
            start = positions.unpack_from(message, HEADER.size)
        command = positions.pack(*(target(x, time) for x in start))
        head = HEADER.pack(b"TABI", 1, 2, HEADER.size + 5 * len(command), 1, sequence, time)
        link.sendall(head + command + bytes(4 * len(command)))


if __name__ == "__main__":
    run(sys.argv[1] if len(sys.argv) > 1 else os.environ["TABI_ADDRESS"])
