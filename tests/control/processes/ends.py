"""Both ends of a connection, for tests: a robot, and controllers in threads and by hand."""

import contextlib
import socket
import struct
import threading

import numpy as np
from bipeds import hrp2_on_ground

import tabi
from tabi.control.processes import addresses

HEADER = struct.Struct("<4sHHIIQd")


def standing():
    """HRP-2 on the ground, and its simulator."""
    world, robot = hrp2_on_ground()
    return robot, tabi.Simulator(world)


@contextlib.contextmanager
def serving(controller, address):
    """A controller in a thread, which ends with its simulator's connection."""
    answered = []
    thread = threading.Thread(
        target=lambda: answered.append(tabi.control.serve(controller, address)), daemon=True
    )
    thread.start()
    yield answered
    thread.join(20)
    assert not thread.is_alive()


class ByHand:
    """A controller that a test plays, message by message."""

    def __init__(self, address, lines="tabi-controller 1\n\n"):
        self.socket = addresses.connect(address)
        self.socket.settimeout(20)
        self.socket.sendall(lines.encode())
        self.text = ""

    def hear(self):
        """Lines, to the empty one."""
        while "\n\n" not in self.text:
            self.text += self.socket.recv(1).decode()
        self.sizes = {
            line.split()[0]: int(line.split()[1])
            for line in self.text.split("\n")
            if line.startswith(("measurement", "command"))
        }
        return self.text.split("\n")

    def measurement(self):
        """Header and numbers of a measurement."""
        size = self.sizes["measurement"]
        raw = self.socket.recv(size, socket.MSG_WAITALL)
        assert len(raw) == size
        return HEADER.unpack_from(raw), np.frombuffer(raw, "<f8", offset=32)

    def command(self, sequence, given=0, values=None, cut=None, **header):
        """Send a command."""
        size = self.sizes["command"]
        told = {"magic": b"TABI", "version": 1, "kind": 2, "size": size} | header
        numbers = np.zeros((size - 32) // 8) if values is None else np.ravel(values)
        raw = HEADER.pack(*told.values(), given, sequence, 0.0) + numbers.astype("<f8").tobytes()
        self.socket.sendall(raw[:cut])

    def close(self):
        self.socket.close()


@contextlib.contextmanager
def played(address, play, lines="tabi-controller 1\n\n"):
    """A controller in a thread that does what ``play`` says."""
    failed = []

    def run():
        try:
            client = ByHand(address, lines)
            client.hear()
            play(client)
            client.close()
        except Exception as e:
            failed.append(e)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    yield
    thread.join(20)
    assert not thread.is_alive()
    assert failed == []
