"""The panel Walk: it is there for robots that can be steered, and a robot that fell stands up."""

import http.client

import pytest
from apps.pages import free_port, until
from apps.viewer.steered import simulator, world_of_one

import tabi
from tabi.apps.viewer.live import Live
from tabi.apps.viewer.marks.steered_marks import SteeredMarks
from tabi.apps.viewer.page import Page
from tabi.apps.viewer.panels.walk_panel import WalkPanel, speeds, sticks


@pytest.fixture(scope="module")
def live():
    said = []
    page = Page(simulator().world, port=free_port())
    live = Live(page, said.append, build=simulator)
    live.said = said
    live.start()
    assert until(lambda: live.player.sim is not None or live.player.fault, 600)
    assert until(lambda: WalkPanel in live.panels, 20)
    yield live
    live.close()
    page.close()


def walker(live):
    return live.player.sim.drivers["hrp2"].controller.controller


def click(control) -> None:
    for callback in control._impl.update_cb:
        callback(None)


def say(live, number, forward) -> int:
    one = http.client.HTTPConnection("127.0.0.1", live.page.server.get_port(), timeout=10)
    query = f"robot=hrp2&page=test&number={number}&forward={forward}&sideways=0&turn=0"
    one.request("GET", f"/steer?{query}", headers={"X-Tabi": "steer"})
    return one.getresponse().status


def text(live) -> str:
    return live.panels[WalkPanel].texts["hrp2"].content


@pytest.mark.slow
def test_sticks_reach_the_walker_and_letting_go_stops_it(live):
    assert until(lambda: "**stands** · 0 steps" in text(live), 10)
    assert live.controls.follow_it.value
    assert say(live, 1, 0.5) == 204
    assert until(lambda: walker(live).told == [(0.15, 0.0, 0.0)], 10)
    assert until(lambda: "0.15\u00a0m/s ahead" in text(live), 10)
    # nobody says more, so the hand is gone
    assert until(lambda: walker(live).stopped == 1, 10)
    assert until(lambda: "**stands**" in text(live), 10)
    click(live.panels[WalkPanel].stops["hrp2"])
    assert until(lambda: walker(live).stopped == 2, 10)


@pytest.mark.slow
def test_a_robot_that_fell_stands_up_again_with_its_controller_anew(live):
    assert not live.controls.stand.visible
    live.player.order(lambda sim: sim.apply_force("chest", force=(300.0, 0, 0), duration=0.4))
    assert until(lambda: live.controls.stand.visible, 30)
    assert "has fallen" in text(live) or until(lambda: "has fallen" in text(live), 5)
    before = walker(live).resets
    live.player.order(lambda sim: sim.run(1.0))
    click(live.controls.stand)
    assert until(lambda: not live.controls.stand.visible, 20)
    assert walker(live).resets == before + 1
    assert any(line.startswith("hrp2 stands again at x ") for line in live.said)
    assert until(lambda: "hrp2 stands again" in live.controls.text.content, 10)
    assert until(lambda: "last push: **300 N** forwards" in text(live), 10)
    # its marks are where it is
    moved = live.player.observer.relocations["hrp2"]
    assert moved.p[0] > 0.3
    assert until(lambda: live.overlay.of(SteeredMarks)._marks[0].relocation is moved, 10)
    assert live.player.fault == ""


@pytest.mark.slow
def test_a_world_without_a_steered_robot_has_no_panel():
    world, robot = world_of_one()

    def build():
        sim = tabi.Simulator(world)
        sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
        return sim

    page = Page(world, port=free_port())
    live = Live(page, lambda line: None, build=build)
    live.start()
    try:
        assert until(lambda: WalkPanel in live.panels, 600)
        assert live.panels[WalkPanel].texts == {}
        assert not live.controls.follow_it.value
    finally:
        live.close()
        page.close()


def test_speeds_in_words():
    assert speeds(0.2, 0.0, 0.0) == ["0.20\u00a0m/s ahead"]
    assert speeds(-0.2, -0.1, 0.35) == [
        "0.20\u00a0m/s back",
        "0.10\u00a0m/s to the right",
        "20\u00a0°/s left turn",
    ]
    assert speeds(0.0, 0.0, 0.0) == ["on the spot"]


def test_names_of_robots_are_no_markup():
    html = sticks('a"><script>', (0.3, 0.1, 0.5))
    assert "<script>" not in html
    assert 'data-tabi-steer="a&quot;&gt;&lt;script&gt;"' in html
