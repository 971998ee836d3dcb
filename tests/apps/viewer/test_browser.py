"""The page in a real browser without a window:
it shows a moving robot, its buttons work, and Ctrl-drag pulls.
"""

import re
import time

import numpy as np
import pytest
from apps.pages import free_port, until
from apps.viewer.browsing import click, index_of, opened, pixel, played
from apps.viewer.steered import simulator

from tabi.apps.viewer import catalogue
from tabi.apps.viewer.live import Live
from tabi.apps.viewer.page import Page
from tabi.apps.viewer.panels.walk_panel import WalkPanel
from tabi.model.world import World
from tabi.simulation.simulator import Simulator

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture(scope="module")
def live():
    with played(catalogue.builder("standing")) as live:
        yield live


@pytest.fixture(scope="module")
def errors():
    """What the browser writes as errors."""
    return []


@pytest.fixture(scope="module")
def tab(browser, live, errors):
    with opened(browser, live, said=errors) as tab:
        yield tab


def press(live: Live, tab, keys: tuple[str, ...], body: str = "chest") -> int:
    """Take a body a bit above its origin and move the mouse to the right;
    the place of the body in a view.
    """
    index = index_of(live, body)
    x, y = pixel(live, tab, live.player.view.positions[index] + [0.0, 0.0, 0.1])
    tab.mouse.move(x, y)
    for key in keys:
        tab.keyboard.down(key)
    tab.mouse.down()
    for k in range(1, 8):
        tab.mouse.move(x + 8 * k, y)
        time.sleep(0.1)
    assert until(lambda: live.player.hands.springs, 20), f"nobody holds {body}"
    return index


def let_go(tab, keys: tuple[str, ...]) -> None:
    tab.mouse.up()
    for key in keys:
        tab.keyboard.up(key)


def test_page_shows_a_moving_robot_and_its_pace(live, tab):
    text = tab.inner_text("body")
    assert re.search(r"tabi · \d\.\d\d× of 1×", text)
    assert re.search(r"time \d+\.\d\d s · \d\.\d\d × real time\n", text)
    assert re.search(r"\d+ contacts · exact to \d\.\de", text)
    assert "hrp2 on both feet" in text
    # more of it, where it is asked for
    details = tab.get_by_text("asked for 1 ×")
    assert not details.is_visible()
    tab.get_by_text("details", exact=True).click()
    assert until(details.is_visible, 10)
    assert "on the feet" in tab.inner_text("body")
    assert live.page.gate.refused == 0
    # the robot is on the canvas: blue armour before a white sky
    from io import BytesIO

    image = pytest.importorskip("PIL.Image").open(BytesIO(tab.locator("canvas").first.screenshot()))
    r, g, b = (np.asarray(image.convert("RGB"), int)[..., k] for k in range(3))
    assert ((b > r + 40) & (b > g + 30) & (r < 80)).sum() > 100


def at_rest(live):
    """Whether the steps that were under way are done."""
    before = live.player.sim.time
    time.sleep(0.3)
    return live.player.sim.time == before


def test_buttons_of_the_page_pause_step_and_play(live, tab, request):
    # the tests after this one need a simulation that runs
    request.addfinalizer(lambda: live.player.play(True))
    click(tab, "Pause")
    assert until(lambda: not live.player.playing and at_rest(live), 20)
    before = live.player.sim.time
    click(tab, "Step")
    assert until(lambda: live.player.sim.time > before, 20)
    assert live.player.sim.time == pytest.approx(before + live.player.sim.dt)
    click(tab, "Play")
    assert until(lambda: live.player.playing and live.player.sim.time > before + 0.1, 20)
    assert live.page.gate.refused == 0


def steady(live: Live, spring) -> bool:
    """Whether half a second of the simulation leaves the force of a spring as it is."""
    time_before, before = live.player.sim.time, np.linalg.norm(spring.force)
    until(lambda: live.player.sim.time > time_before + 0.5, 30)
    return bool(abs(np.linalg.norm(spring.force) - before) < 0.01 * before)


def test_ctrl_drag_pulls_with_the_force_shown_and_release_ends_it(live, tab, errors):
    start = live.player.view.positions[index_of(live, "chest")].copy()
    index = press(live, tab, ("Control",))
    spring = next(iter(live.player.hands.springs.values()))
    assert spring.body.name == "chest"
    # at rest against the motors after a while, however fast this machine simulates and draws
    assert until(lambda: np.linalg.norm(spring.force) > 20.0 and steady(live, spring), 60)
    force, direction = np.linalg.norm(spring.force), spring.mouse - start
    assert force == pytest.approx(
        spring.stiffness * np.linalg.norm(spring.target - spring.band().point), rel=0.05
    )
    # the chest follows the mouse
    moved = live.player.view.positions[index] - start
    assert moved @ direction / np.linalg.norm(direction) > 1e-3
    assert until(
        lambda: (
            float(live.overlay.newtons.removesuffix(" N"))
            == pytest.approx(np.linalg.norm(spring.force), abs=1.0)
        )
    )

    def shown() -> float:
        text = re.search(r"pull: (\d+\.\d)\sN", tab.inner_text("body"))
        return float(text[1]) if text else np.nan

    # the text is a fraction of a second older
    assert until(lambda: shown() == pytest.approx(np.linalg.norm(spring.force), rel=0.05), 20)
    let_go(tab, ("Control",))
    assert until(
        lambda: (
            not live.player.hands.springs
            and live.player.view.bands == ()
            and live.overlay.newtons == ""
        ),
        20,
    )
    assert live.player.fault == ""
    assert errors == []


def test_shift_makes_the_spring_ten_times_as_stiff(live, tab):
    press(live, tab, ("Control", "Shift"))
    spring = next(iter(live.player.hands.springs.values()))
    assert spring.stiffness == pytest.approx(3000.0)
    let_go(tab, ("Control", "Shift"))
    assert until(lambda: not live.player.hands.springs, 20)


def test_shift_in_the_middle_of_a_pull_makes_it_stronger(live, tab):
    press(live, tab, ("Control",))
    assert next(iter(live.player.hands.springs.values())).stiffness == pytest.approx(300.0)
    assert until(lambda: live.player.view.bands, 10)
    x, y = pixel(live, tab, live.player.view.bands[0].target)
    tab.keyboard.down("Shift")
    for k in range(6):
        tab.mouse.move(x + k, y)
        time.sleep(0.1)
    assert until(
        lambda: (
            [spring.stiffness for spring in live.player.hands.springs.values()]
            == [pytest.approx(3000.0)]
        ),
        10,
    )
    let_go(tab, ("Control", "Shift"))
    assert until(lambda: not live.player.hands.springs, 20)


def test_closing_the_window_lets_go(live, tab):
    press(live, tab, ("Control",))
    assert live.player.view.bands or until(lambda: live.player.view.bands, 10)
    tab.close()
    assert until(lambda: not live.player.hands.springs, 20)
    assert until(lambda: live.player.view.bands == (), 20)
    assert live.player.fault == ""


def test_drag_takes_the_very_one_of_bodies_that_look_alike(browser):
    def build():
        world = World()
        world.add_ground(friction=0.2)
        for k in range(3):
            world.add_box(
                size=(0.25, 0.25, 0.25), mass=2.0, position=(0.0, 0.5 * k, 0.125), name=f"box{k}"
            )
        return Simulator(world)

    with played(build) as live, opened(browser, live) as tab:
        start = live.player.view.positions.copy()
        press(live, tab, ("Control",), "box1")
        assert next(iter(live.player.hands.springs.values())).body.name == "box1"
        assert until(lambda: np.linalg.norm(live.player.view.positions[1] - start[1]) > 0.02, 20)
        let_go(tab, ("Control",))
        assert np.allclose(live.player.view.positions[[0, 2]], start[[0, 2]], atol=1e-3)


def test_page_for_other_machines_opens_with_its_token_only(browser):
    world = World()
    world.add_box(size=(0.2, 0.2, 0.2), mass=1.0)
    page = Page(world, host="0.0.0.0", port=free_port())
    address = f"http://127.0.0.1:{page.server.get_port()}/"
    context = browser.new_context(viewport={"width": 300, "height": 200})
    try:
        tab = context.new_page()
        tab.goto(address)
        assert "the token is missing or wrong" in tab.inner_text("body")
        # the page's WebSocket gets in by the cookie that came with the page
        tab.goto(f"{address}?token={page.gate.token}")
        assert until(lambda: page.server.get_clients(), 60)
    finally:
        context.close()
        page.close()


@pytest.fixture(scope="module")
def pushed():
    with played(catalogue.builder("push")) as live:
        yield live


def test_camera_follows_the_robot_and_returns_to_where_it_began(browser, pushed):
    live = pushed
    with opened(browser, live, meshes=False) as tab:
        camera = max(live.page.server.get_clients().items())[1].camera
        start, centre = np.array(camera.look_at), live.player.view.centres[0]
        live.controls.follow_it.value = True
        # over the ground to the robot; the height stays
        assert until(lambda: np.allclose(camera.look_at[:2], centre[:2], atol=0.02), 20)
        assert camera.look_at[2] == pytest.approx(start[2], abs=1e-3)
        live.controls.follow_it.value = False
        time.sleep(0.2)
        camera.position = np.add(camera.position, (0.5, 0.0, 0.0))
        time.sleep(0.5)
        click(tab, "Reset view")
        assert until(lambda: np.allclose(camera.look_at, start, atol=1e-3), 20)
        assert live.page.gate.refused == 0


def test_a_page_that_is_opened_later_or_looks_again_finds_who_is_followed(browser, pushed):
    live, way = pushed, (3.0, -3.0, 2.0)
    live.page.scene.look_from((4.0, -2.0, 2.5), (1.0, 1.0, 0.5))
    live.controls.follow_it.value = True
    with opened(browser, live, meshes=False) as tab:
        camera = max(live.page.server.get_clients().items())[1].camera

        def looks():
            centre = live.player.view.centres[0]
            there = np.allclose(camera.look_at[:2], centre[:2], atol=0.02)
            return there and np.allclose(camera.position - camera.look_at, way, atol=1e-3)

        assert until(looks, 20)
        camera.position = np.add(camera.position, (0.5, 0.4, 0.0))
        assert until(lambda: not looks(), 20)
        click(tab, "Reset view")
        assert until(looks, 20)


def test_the_view_that_a_user_turned_is_kept_while_the_camera_follows(browser, pushed):
    live = pushed
    live.controls.follow_it.value = True
    with opened(browser, live, meshes=False) as tab:

        def offset():
            now = tab.evaluate("tabiCamera.now()")
            return np.subtract(now["position"], now["target"])

        def looks():
            centre = live.player.view.centres[0]
            return np.allclose(tab.evaluate("tabiCamera.now().target")[:2], centre[:2], atol=0.02)

        assert until(looks, 20)
        start = offset()
        tab.mouse.move(200, 100)
        tab.mouse.down()
        for k in range(8):
            tab.mouse.move(200 + 10 * k, 100)
            time.sleep(0.05)
        tab.mouse.up()
        assert until(lambda: np.linalg.norm(offset() - start) > 0.3, 10)
        turned = offset()
        click(tab, "Reset")
        live.player.order(live.controls._push)
        time.sleep(1.0)
        assert until(looks, 20)
        assert np.allclose(offset(), turned, atol=1e-3)
    live.controls.follow_it.value = False


def test_arrow_keys_and_sticks_steer_and_leave_the_view_alone(browser):
    with played(simulator) as live, opened(browser, live, meshes=False) as tab:
        assert until(lambda: WalkPanel in live.panels, 20)
        live.controls.follow_it.value = False
        walker = live.player.sim.drivers["hrp2"].controller.controller
        camera = max(live.page.server.get_clients().items())[1].camera
        start = np.array(camera.position)
        tab.keyboard.down("ArrowUp")
        assert until(lambda: walker.told[-1:] == [(pytest.approx(0.21), 0.0, 0.0)], 20)
        tab.keyboard.down("ArrowLeft")
        assert until(lambda: walker.told[-1].turn == pytest.approx(0.35), 20)
        tab.keyboard.down("Shift")
        assert until(lambda: walker.told[-1][1:] == (pytest.approx(0.105), 0.0), 20)
        for key in ("Shift", "ArrowLeft", "ArrowUp"):
            tab.keyboard.up(key)
        assert until(lambda: walker.stopped == 1, 20)
        assert np.allclose(camera.position, start, atol=1e-3)
        pad = tab.locator("[data-tabi-pad=turn]")
        pad.scroll_into_view_if_needed()
        box = pad.bounding_box()
        x, y = box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"]
        tab.mouse.move(x, y)
        tab.mouse.down()
        tab.mouse.move(x + 0.5 * box["width"], y)
        # all the way to the right
        assert until(lambda: walker.told[-1] == (0.0, 0.0, pytest.approx(-0.5)), 20)
        tab.mouse.up()
        assert until(lambda: walker.stopped == 2, 20)
        assert live.page.gate.refused == 0
