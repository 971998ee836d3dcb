"""Scripts that come along with viser's page, each a file of the folder ``scripts``.

viser's page is one file, built elsewhere, and offers no place for scripts. The gate puts these into
its head, where they run before viser's own: sticks and arrow keys (``steering.js``), the bar of
narrow windows (``narrow.js``), and so on; the first lines of each say what it does.
"""

from __future__ import annotations

import gzip
from pathlib import Path

from websockets.http11 import Response

FOLDER = Path(__file__).with_name("scripts")
_made: dict[bytes, bytes] = {}


def with_scripts(response: Response) -> Response:
    """A page that brings the scripts along; anything else as it is."""
    headers = response.headers
    if response.status_code != 200 or not headers.get("Content-Type", "").startswith("text/html"):
        return response
    body = bytes(response.body or b"")
    if body not in _made:
        packed = headers.get("Content-Encoding") == "gzip"
        page = gzip.decompress(body) if packed else body
        page = page.replace(b"</head>", tags() + b"</head>", 1)
        _made[body] = gzip.compress(page) if packed else page
    del headers["Content-Length"]
    headers["Content-Length"] = str(len(_made[body]))
    return Response(response.status_code, response.reason_phrase, headers, _made[body])


def tags() -> bytes:
    """Return all scripts as they stand in a page, in the order of their names."""
    files = sorted(FOLDER.glob("*.js"))
    return b"".join(b"<script>" + file.read_bytes() + b"</script>" for file in files)
