"""Several browsers show one simulation; one that is closed and opened again finds it going on."""

import pytest
from apps.pages import until
from apps.viewer.browsing import click, opened, played

from tabi.apps.viewer import catalogue

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture(scope="module")
def live():
    with played(catalogue.builder("bounce")) as live:
        yield live


def test_two_browsers_show_the_same_both_act_and_are_told_so(browser, live):
    said = "2 browsers show this; all of them may act"
    with opened(browser, live, meshes=False) as first:
        assert said not in first.inner_text("body")
        with opened(browser, live, meshes=False) as second:
            for tab in (first, second):
                assert until(lambda tab=tab: said in tab.inner_text("body"), 20)
            click(second, "Pause")
            assert until(lambda: not live.player.playing, 20)
            first.get_by_role("button", name="Play", exact=True).wait_for()
            click(first, "Play")
            assert until(lambda: live.player.playing, 20)
        assert until(lambda: said not in first.inner_text("body"), 20)


def test_a_browser_that_is_closed_and_opened_again_finds_the_session_going_on(browser, live):
    with opened(browser, live, meshes=False):
        before = live.player.sim
    assert until(lambda: not live.page.server.get_clients(), 20)
    closed = live.player.view.time
    assert until(lambda: live.player.sim.time > closed + 0.5, 30)
    with opened(browser, live, meshes=False) as tab:
        assert live.player.sim is before
        assert live.player.fault == ""
        assert until(lambda: "time " in tab.inner_text("body"), 20)
