"""What several tests of the page need: a server without a world, and a browser."""

import pytest
from apps.viewer.browsing import CHROMIUM, FLAGS

from tabi.apps.viewer.gate import open_server


@pytest.fixture(scope="module")
def server():
    """One that listens at a free port, for the tests of a file."""
    server, _ = open_server("127.0.0.1", 0)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no chromium on the path")
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()
