"""On a touch screen a finger that rests pulls, one that moves turns the view, and so do two."""

import time

import numpy as np
import pytest
from apps.pages import until
from apps.viewer.browsing import opened, pixel, played

from tabi.model.world import World
from tabi.simulation.simulator import Simulator

pytestmark = [pytest.mark.slow, pytest.mark.browser]
WINDOW = {"viewport": {"width": 420, "height": 600}, "has_touch": True}


def a_box():
    """A box on slippery ground."""
    world = World()
    world.add_ground(friction=0.1)
    world.add_box(size=(0.4, 0.4, 0.4), mass=2.0, position=(0.0, 0.0, 0.2), name="box")
    return Simulator(world)


@pytest.fixture(scope="module")
def live():
    with played(a_box) as live:
        yield live


@pytest.fixture(scope="module")
def errors():
    """What the browser writes as errors."""
    return []


@pytest.fixture(scope="module")
def tab(browser, live, errors):
    with opened(browser, live, said=errors, **WINDOW) as tab:
        yield tab


@pytest.fixture
def touch(tab):
    """Says where fingers are: "touchStart", then places [px]."""
    session = tab.context.new_cdp_session(tab)

    def touch(kind: str, *places) -> None:
        points = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(places)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        time.sleep(0.05)

    return touch


def seen(tab):
    """Position and target of the camera [m]."""
    now = tab.evaluate("tabiCamera.now()")
    return np.array(now["position"]), np.array(now["target"])


def test_a_finger_that_rests_on_a_body_pulls_it(live, tab, touch, errors):
    start, camera = live.player.view.positions[0].copy(), seen(tab)
    x, y = pixel(live, tab, np.add(start, (0.0, 0.0, 0.1)))
    touch("touchStart", (x, y))
    assert until(lambda: tab.locator("[data-tabi-ring]").count() == 1, 5)
    assert not live.player.hands.springs
    for k in range(1, 11):
        touch("touchMove", (x + 8 * k, y))
    assert until(lambda: live.player.hands.springs, 10)
    spring = next(iter(live.player.hands.springs.values()))
    assert spring.body.name == "box"
    assert until(lambda: np.linalg.norm(spring.mouse - start) > 0.1, 10)
    touch("touchEnd")
    assert until(lambda: not live.player.hands.springs, 10)
    assert tab.locator("[data-tabi-ring]").count() == 0
    # the view stayed as it was
    assert np.allclose(seen(tab), camera, atol=1e-6)
    assert errors == []
    assert live.page.gate.refused == 0


def drag(touch, places, by) -> None:
    """Put fingers down and move them at once."""
    places, by = np.array(places, float), np.array(by, float)
    touch("touchStart", *places)
    for k in range(1, 9):
        touch("touchMove", *(places + 10 * k * by))
    touch("touchEnd")


def drag_until(done, touch, places, by) -> bool:
    """Drag again until something is seen: a busy machine may bring a finger's first motion late, as
    if it had rested.
    """
    for _ in range(5):
        drag(touch, places, by)
        if until(done, 4):
            return True
    return False


def test_one_finger_that_moves_at_once_and_two_turn_the_view(live, tab, touch):
    box = tab.locator("canvas").first.bounding_box()
    # beside the body
    middle = np.array([box["x"] + 0.4 * box["width"], box["y"] + 0.15 * box["height"]])
    for fingers in ([middle], [np.subtract(middle, (40, 0)), np.add(middle, (40, 0))]):
        position, target = seen(tab)
        moved = lambda p=position: np.linalg.norm(seen(tab)[0] - p) > 0.1  # noqa: E731
        assert drag_until(moved, touch, fingers, [[1, 0]] * len(fingers))
        after, where = seen(tab)
        # around what it looks at, from as far away
        assert np.allclose(where, target, atol=1e-6)
        far = np.linalg.norm(position - target)
        assert np.linalg.norm(after - where) == pytest.approx(far, rel=0.02)
    assert not live.player.hands.springs


def test_two_fingers_that_part_come_closer(live, tab, touch):
    box = tab.locator("canvas").first.bounding_box()
    middle = np.array([box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"]])
    position, target = seen(tab)
    far = np.linalg.norm(position - target)
    fingers = [np.subtract(middle, (30, 0)), np.add(middle, (30, 0))]
    closer = lambda: np.linalg.norm(seen(tab)[0] - seen(tab)[1]) < 0.9 * far  # noqa: E731
    assert drag_until(closer, touch, fingers, [[-1, 0], [1, 0]])
    assert np.allclose(seen(tab)[1], target, atol=1e-6)
    assert not live.player.hands.springs
