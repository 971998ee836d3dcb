"""The simulation behind the page, without a browser: it starts by itself, keeps the clock's pace and obeys its buttons."""

import socket
import time

import numpy as np
import pytest

from tabi.apps.viewer import live as live_page
from tabi.apps.viewer.live import Live, Runner, set_friction, trunk
from tabi.apps.viewer.page import Page
from tabi.model.world import World
from tabi.robots import hrp2

G = 9.81


def until(condition, seconds: float) -> bool:
    """Whether something becomes true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@pytest.fixture(scope="module")
def live():
    world = World()
    world.add_ground()
    world.add_robot(hrp2()).stand_on_ground()
    page, said = Page(world, port=free_port()), []
    live = Live(page, said.append)
    assert live.play.disabled
    live.start()
    # compiling takes minutes where the kernels are not in the cache
    assert until(lambda: live.runner.sim is not None or live.runner.fault, 600), "the simulation did not start"
    assert live.runner.fault == ""
    assert until(lambda: not live.play.disabled, 10)
    assert said[-1].startswith("the simulation runs, after ")
    yield live
    live.close()
    page.close()


def click(control) -> None:
    """What a browser's click does."""
    for callback in control._impl.update_cb:
        callback(None)


def after(live: Live, seconds: float):
    """The first view of a simulated time."""
    assert until(lambda: live.runner.view is not None and live.runner.view.time >= seconds, 30 + seconds)
    return live.runner.view


def test_robot_stands_on_its_weight_and_the_page_shows_it(live):
    click(live.buttons["Reset"])
    assert until(lambda: live.runner.view is not None and live.runner.view.time < 0.5, 5)
    view = after(live, 1.0)
    robot = live.page.world.robots[0]
    # at rest after a second but for a sway of millimetres a second
    assert view.load == pytest.approx(robot.mass * G, rel=1e-3)
    assert view.residual <= 1e-8
    assert view.forces.shape == (8, 2, 3)
    # arrows as long as the forces
    assert (view.forces[:, 1] - view.forces[:, 0])[:, 2].sum() == pytest.approx(live_page.ARROW * view.load)
    assert until(lambda: "on the feet **56" in live.text.content, 5)
    assert np.allclose(live.page.scene.frames[robot.base].position, view.placements[robot.base].p, atol=1e-3)


def test_drop_lifts_the_robot_and_it_lands_on_its_feet(live):
    robot = live.page.world.robots[0]
    click(live.buttons["Drop from 0.2 m"])
    # 0.2 m take √(2·0.2/g) = 0.20 s
    assert until(lambda: live.runner.view.load == 0.0, 5)
    assert live.runner.view.placements[robot.base].p[2] > 0.66
    view = after(live, 1.5)
    assert view.load == pytest.approx(robot.mass * G, rel=0.05)
    assert view.placements[robot.base].p[2] == pytest.approx(0.6487, abs=0.01)


def test_pause_holds_time_and_step_is_one_step(live):
    click(live.play)
    assert until(lambda: live.play.label == "Play", 5)
    time.sleep(0.1)
    before = live.runner.sim.time
    click(live.buttons["Step"])
    assert until(lambda: live.runner.sim.time > before, 5)
    time.sleep(0.1)
    assert live.runner.sim.time == pytest.approx(before + 1e-3)
    click(live.play)
    assert until(lambda: live.runner.sim.time > before + 0.1, 5)


def test_push_moves_the_chest_forward(live):
    click(live.buttons["Reset"])
    after(live, 0.5)
    chest = trunk(live.page.world.robots[0])
    assert chest.name == "chest"
    x = live.runner.view.placements[chest].p[0]
    click(live.buttons["Push 60 N"])
    # 60 N on less than 58 kg for 0.1 s
    assert until(lambda: live.runner.view.placements[chest].p[0] > x + 1e-3, 5)


def test_pose_of_the_page_becomes_a_target_of_the_motors(live):
    click(live.buttons["Reset"])
    robot = live.page.world.robots[0]
    live.page.pickers["hrp2"].value = "zero"
    # straight knees lift the waist from 0.6487 to 0.705 m
    assert until(lambda: live.runner.view.placements[robot.base].p[2] > 0.70, 10)
    live.page.pickers["hrp2"].value = "half sitting"
    assert until(lambda: live.runner.view.placements[robot.base].p[2] < 0.655, 10)
    click(live.buttons["Reset"])
    assert until(lambda: live.runner.view.time < 0.3, 5)


def test_error_is_shown_pauses_and_can_be_left_by_play(live):
    def broken(sim):
        raise RuntimeError("no such button")

    live.runner.order(broken)
    assert until(lambda: "**stopped:** RuntimeError: no such button" in live.text.content, 5)
    assert not live.runner.playing
    click(live.play)
    now = live.runner.sim.time
    assert until(lambda: live.runner.sim.time > now, 5)
    assert until(lambda: "stopped" not in live.text.content, 5)


def test_friction_slider_sets_the_ground_and_nothing_else(live):
    names, friction = live.runner.sim.model.material_names, live.runner.sim.model.friction
    others, before = [i for i, name in enumerate(names) if name != "ground"], friction.copy()
    live.friction.value = 0.3
    assert until(lambda: friction[names.index("ground"), 0] == 0.3, 5)
    assert set(friction[names.index("ground")]) == {0.3}
    assert np.array_equal(friction[np.ix_(others, others)], before[np.ix_(others, others)])
    live.friction.value = 0.8


def test_world_that_cannot_be_simulated_says_so_and_stays_a_picture():
    runner = Runner(World())
    runner.start()
    assert until(lambda: runner.fault != "", 60)
    assert not runner.playing
    runner.close()


def test_friction_of_a_world_without_ground_is_left_alone():
    from tabi.simulation.simulator import Simulator

    world = World()
    world.add_box(size=(0.1, 0.1, 0.1), mass=1.0)
    sim = Simulator(world)
    before = sim.model.friction.copy()
    set_friction(sim, 0.1)
    assert np.array_equal(sim.model.friction, before)
