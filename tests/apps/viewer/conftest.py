"""What several tests of the page need: a server without a world."""

import pytest

from tabi.apps.viewer.gate import open_server


@pytest.fixture(scope="module")
def server():
    """One that listens at a free port, for the tests of a file."""
    server, _ = open_server("127.0.0.1", 0)
    yield server
    server.stop()
