"""What tests of pages need: patience, a port, and the words of a browser."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

import msgspec
import viser
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tabi.lab.bench.view_client import CAMERA

PROTOCOL = [f"viser-v{viser.__version__}"]
DRAG = {
    "type": "SceneNodeDragMessage",
    "phase": "start",
    "name": "/box/mesh0",
    "instance_index": None,
    "start_position": [0.0, 0.0, 0.1],
    "start_screen_pos": [0.5, 0.5],
    "end_position": [0.1, 0.0, 0.2],
    "end_screen_pos": [0.6, 0.5],
    "button": "left",
    "modifier": "cmd/ctrl",
    "owner": "",
}
pack = msgspec.msgpack.encode


def talk(port: int, host: str = "127.0.0.1", path: str = "", **options):
    return connect(
        f"ws://{host}:{port}/{path}",
        subprotocols=PROTOCOL,
        compression=None,
        max_size=None,
        open_timeout=10,
        close_timeout=0.2,
        **options,
    )


def until(condition, seconds: float = 10.0) -> bool:
    """Whether something becomes true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def free_port() -> int:
    """One that nobody listens on."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def visiting(page) -> Iterator:
    """A browser that has opened a ``LoopPage``, and reads whatever comes."""
    with talk(page.port) as socket:
        socket.send(pack(CAMERA))

        def read() -> None:
            with contextlib.suppress(ConnectionClosed, OSError):
                while True:
                    socket.recv()

        threading.Thread(target=read, daemon=True).start()
        assert page.wait_for_viewer(30)
        yield socket
