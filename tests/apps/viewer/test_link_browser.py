"""A link in a browser: it is copied, opens the same again, and says what cannot be."""

import numpy as np
import pytest
from apps.pages import until
from apps.viewer.browsing import opened, played

from tabi.apps.viewer import catalogue

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture(scope="module")
def live():
    with played(catalogue.builder("bounce")) as live:
        yield live


def camera(tab):
    now = tab.evaluate("tabiCamera.now()")
    return np.array([*now["position"], *now["target"]])


def test_a_copied_link_opens_the_same_scene_camera_and_settings(browser, live):
    errors = []
    granted = {"permissions": ["clipboard-read", "clipboard-write"]}
    with opened(browser, live, meshes=False, said=errors, **granted) as tab:
        address = f"{live.page.address}/?scene=slide&speed=0.5&show=trails&camera=3,1,2,0.1,0,0.3"
        tab.goto(address)
        assert until(lambda: live._name == "slide" and not live.player.loading, 300)
        assert until(lambda: live.controls.speed.value == 0.5, 20)
        assert live.player.speed == 0.5
        assert live.controls.shown["trails"].value
        tab.wait_for_function("() => window.tabiCamera.ready()")
        aim = [3.0, 1.0, 2.0, 0.1, 0.0, 0.3]
        assert until(lambda: np.allclose(camera(tab), aim, atol=2e-3), 20)
        tab.locator("[data-tabi-link=slide]").dispatch_event("click")
        tab.locator("[data-tabi-message]").wait_for()
        link = tab.evaluate("navigator.clipboard.readText()")
        assert "scene=slide&speed=0.5&show=trails&camera=3%2C1%2C2%2C0.1%2C0%2C0.3" in link
        # away and back
        tab.goto(f"{live.page.address}/?scene=bounce")
        assert until(lambda: live._name == "bounce" and not live.player.loading, 300)
        tab.goto(link)
        assert until(lambda: live._name == "slide" and live.controls.speed.value == 0.5, 300)
        tab.wait_for_function("() => window.tabiCamera.ready()")
        assert until(lambda: np.allclose(camera(tab), aim, atol=2e-3), 20)
        assert errors == []


def test_a_link_to_a_scene_that_is_not_there_is_one_sentence_on_the_page(browser, live):
    errors = []
    with opened(browser, live, meshes=False, said=errors) as tab:
        before = live._name
        tab.goto(f"{live.page.address}/?scene=nowhere")
        message = tab.locator("[data-tabi-message]")
        message.wait_for()
        assert message.inner_text().startswith("There is no scene 'nowhere' in this session;")
        assert live._name == before
        message.get_by_role("button", name="Close").click()
        assert message.count() == 0
        assert errors == []
