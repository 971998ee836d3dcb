"""In a narrow window the controls are a bar below the scene, and a tap opens them."""

import pytest
from apps.pages import until
from apps.viewer.browsing import opened, played

from tabi.model.world import World
from tabi.simulation.simulator import Simulator

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def a_box():
    """A box on the ground: little to draw."""
    world = World()
    world.add_ground()
    world.add_box(size=(0.3, 0.3, 0.3), mass=2.0, position=(0.0, 0.0, 0.15), name="box")
    return Simulator(world)


@pytest.fixture(scope="module")
def live():
    with played(a_box) as live:
        yield live


def bottom(tab) -> float:
    """Where the scene ends, from the upper edge of the window [px]."""
    box = tab.locator("canvas").first.bounding_box()
    return box["y"] + box["height"]


# 590 is narrow for tabi, but not for viser
@pytest.mark.parametrize("width", [420, 590])
def test_a_narrow_window_has_a_bar_that_opens_on_tap_and_closes(browser, live, width):
    size = {"width": width, "height": 700}
    with opened(browser, live, meshes=False, viewport=size, has_touch=True) as tab:
        handle = tab.get_by_role("button", name="Controls")
        assert handle.get_attribute("aria-expanded") == "false"
        bar = handle.bounding_box()
        assert until(lambda: bottom(tab) <= bar["y"] + 1.0, 10)
        assert bottom(tab) > 0.9 * size["height"]
        assert (bar["x"], bar["width"]) == (0.0, width)
        pause = tab.locator("button", has_text="Pause").first
        assert not pause.is_visible()
        handle.tap()
        assert handle.get_attribute("aria-expanded") == "true"
        assert until(lambda: pause.is_visible(), 10)
        assert until(lambda: pause.bounding_box()["y"] < size["height"], 10)
        # a part of the scene stays in sight
        assert until(lambda: handle.bounding_box()["y"] > 0.2 * size["height"], 10)
        handle.tap()
        assert until(lambda: handle.bounding_box() == bar, 10)


def test_a_window_that_becomes_wide_has_the_panel_at_its_side_again(browser, live):
    size = {"width": 420, "height": 500}
    with opened(browser, live, meshes=False, viewport=size) as tab:
        handle = tab.get_by_role("button", name="Controls")
        assert handle.is_visible()
        tab.set_viewport_size({"width": 800, "height": 500})
        assert until(lambda: not handle.is_visible(), 10)
        assert until(lambda: bottom(tab) == pytest.approx(500.0, abs=1.0), 10)
        tab.set_viewport_size(size)
        assert until(lambda: handle.is_visible(), 10)
        assert until(lambda: handle.get_attribute("aria-expanded") == "false", 10)
