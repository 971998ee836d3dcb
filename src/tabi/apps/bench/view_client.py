"""A WebSocket client that counts what a page's server sends it, in a process of its own:
``python -m tabi.apps.bench.view_client PORT SECONDS``.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

import viser
from websockets.asyncio.client import connect

PATIENCE = 20.0  # s until the first message


async def count(port: int, seconds: float, host: str = "127.0.0.1") -> dict[str, float]:
    """Messages and bytes a second over ``seconds``, and the longest wait between two [s];
    what a page gets at its start is not counted.
    """
    protocol = [f"viser-v{viser.__version__}"]
    async with connect(
        f"ws://{host}:{port}",
        subprotocols=protocol,  # type: ignore[arg-type]
        max_size=None,
        compression=None,
    ) as socket:
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
