"""``tabi bench view`` measures, in short."""

import asyncio
import contextlib
import threading
from functools import partial

import pytest
from apps.pages import free_port, until
from websockets.exceptions import ConnectionClosed

from tabi.apps.viewer.page import Page
from tabi.lab.bench import view, view_client
from tabi.model.world import World


def test_picture_of_forty_bodies_is_measured():
    frame = view.forty(frames=5)
    assert set(frame) == {"look_ms", "draw_ms"}
    assert 0 < frame["look_ms"] < 100
    assert 0 < frame["draw_ms"] < 100


def test_a_client_is_known_to_the_page_while_it_counts():
    page = Page(World(), port=free_port())
    port = page.server.get_port()

    def count():
        with contextlib.suppress(ConnectionClosed):
            asyncio.run(view_client.count(port, 0.1))

    threading.Thread(target=count, daemon=True).start()
    try:
        assert until(page.server.get_clients, 20)
    finally:
        page.close()


@pytest.mark.slow
@pytest.mark.process
def test_page_with_a_client_is_measured_and_told(monkeypatch):
    monkeypatch.setattr(view, "hiccups", partial(view.hiccups, 0.2))
    assert view_client.PATIENCE > 1
    result = view.ViewBench(seconds=1.0, scenes=view.SCENES[:1]).run()
    played = result["scenes"][view.SCENES[0]]
    assert played["fault"] == ""
    assert played["bodies"] == 31
    assert played["contacts"] == 8
    assert played["client"]["messages_per_second"] > 1
    assert played["real_time_factor"] > 0
    told = view.ViewBench().text(result)
    assert "× real time" in told
    assert "messages/s" in told
