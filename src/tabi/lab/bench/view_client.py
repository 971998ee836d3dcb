"""A WebSocket client that counts what a page's server sends it, in a process of its own:
``python -m tabi.lab.bench.view_client PORT SECONDS``.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

import msgspec
import viser
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

PATIENCE = 20.0  # s until the first message
# camera of a browser: without its message the page is no client yet
CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": [1.0, 0.0, 0.0, 0.0],
    "position": [3.0, 0.0, 1.0],
    "fov": 0.6,
    "near": 0.01,
    "far": 1000.0,
    "image_height": 400,
    "image_width": 600,
    "look_at": [0.0, 0.0, 0.5],
    "up_direction": [0.0, 0.0, 1.0],
}


async def count(port: int, seconds: float, host: str = "127.0.0.1") -> dict[str, float]:
    """Messages and bytes a second over ``seconds``, and the longest wait between two [s];
    what a page gets at its start is not counted.
    """
    protocol = [Subprotocol(f"viser-v{viser.__version__}")]
    async with connect(
        f"ws://{host}:{port}",
        subprotocols=protocol,
        max_size=None,
        compression=None,
    ) as socket:
        await socket.send(msgspec.msgpack.encode(CAMERA))
        # the start: meshes, controls
        begin = time.monotonic()
        while time.monotonic() - begin < 1.0:
            await asyncio.wait_for(socket.recv(), PATIENCE)
        start = last = time.monotonic()
        messages, size, longest = 0, 0, 0.0
        while last - start < seconds:
            data = await asyncio.wait_for(socket.recv(), PATIENCE)
            now = time.monotonic()
            messages, size = messages + 1, size + len(data)
            longest, last = max(longest, now - last), now
    spent = last - start
    return {
        "messages_per_second": messages / spent,
        "bytes_per_second": size / spent,
        "longest_wait_s": longest,
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(count(int(sys.argv[1]), float(sys.argv[2])))))
