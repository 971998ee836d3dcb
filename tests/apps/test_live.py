"""The simulation behind the page, without a browser:
it starts by itself, keeps the clock's pace and obeys its buttons.
"""

import time

import numpy as np
import pytest
from apps.pages import free_port, until

from tabi.apps.viewer.controls import trunk
from tabi.apps.viewer.drawing import feet_lines
from tabi.apps.viewer.live import Live, limp
from tabi.apps.viewer.marks.batches import HEAD
from tabi.apps.viewer.marks.contact_marks import ContactMarks
from tabi.apps.viewer.marks.foot_marks import FootMarks
from tabi.apps.viewer.marks.overlay import BOXES
from tabi.apps.viewer.page import Page
from tabi.apps.viewer.player import Player, simulated
from tabi.apps.viewer.view import Observer, feet_of
from tabi.model.world import World
from tabi.reporting.frames import HUMANOID_ARROW_SCALE
from tabi.robots import hrp2
from tabi.simulation.simulator import Simulator

G = 9.81


@pytest.fixture(scope="module")
def live():
    world = World()
    world.add_ground()
    world.add_robot(hrp2()).stand_on_ground()
    page, said = Page(world, port=free_port()), []
    live = Live(page, said.append)
    assert live.controls.play.disabled
    live.start()
    # compiling takes minutes where the kernels are not in the cache
    assert until(lambda: live.player.sim is not None or live.player.fault, 600), (
        "the simulation did not start"
    )
    assert live.player.fault == ""
    assert until(lambda: not live.controls.play.disabled, 10)
    assert said[-1].startswith("the simulation runs, after ")
    yield live
    live.close()
    page.close()


def click(control, name: str | None = None) -> None:
    """What a browser's click does, on a button or on one of a group."""
    if name is not None:
        control._impl.value = name
    for callback in control._impl.update_cb:
        callback(None)


def place(live: Live, body) -> np.ndarray:
    """Where the newest view has a body."""
    return live.player.view.positions[
        [b.name for b in live.player.observer.bodies].index(body.name)
    ]


def after(live: Live, seconds: float):
    """The first view of a simulated time."""
    assert until(
        lambda: live.player.view is not None and live.player.view.time >= seconds, 30 + seconds
    )
    return live.player.view


def test_lines_of_feet_are_those_of_the_view_also_between_two_scenes():
    world = World()
    world.add_robot(hrp2())
    sim = Simulator(world)
    sim.step()
    names, flying = list(feet_of(world)), Observer(sim).look()
    assert feet_lines(names, flying) == [f"{name} foot: **none**" for name in names]
    empty = World()
    empty.add_box(size=(0.1, 0.1, 0.1), mass=1.0)
    assert feet_lines(names, Observer(Simulator(empty)).look()) == []


@pytest.mark.slow
def test_robot_stands_on_its_weight_and_the_page_shows_it(live):
    click(live.controls.time, "Reset")
    assert until(lambda: live.player.view is not None and live.player.view.time < 0.5, 5)
    view = after(live, 1.0)
    robot = live.page.world.robots[0]
    # at rest after a second but for a sway of millimetres a second
    assert view.load == pytest.approx(robot.mass * G, rel=1e-3)
    assert view.residual <= 1e-8
    assert view.forces.shape == (8, 3)
    # arrows as long as the forces, which change by less than a percent from one picture to the next
    shafts = live.overlay.of(ContactMarks).shafts.node.sent["batched_scales"][:8, 2]
    assert shafts.sum() + 8 * HEAD == pytest.approx(HUMANOID_ARROW_SCALE * view.load, rel=0.01)
    assert until(lambda: "on the feet **56" in live.controls.details.content, 5)
    # it stands on both faces, and the pressure is 63 to 64 mm inside of the soles
    assert until(lambda: "left foot: **face, stick**, 63." in live.controls.details.content, 5)
    assert until(lambda: live.overlay.of(FootMarks).labels == ["face, stick"] * 2, 5)
    assert np.allclose(live.page.scene.position(robot.base), place(live, robot.base), atol=1e-3)


@pytest.mark.slow
def test_drop_lifts_the_robot_and_it_lands_on_its_feet(live):
    robot = live.page.world.robots[0]
    click(live.controls.disturb, "Drop 0.2 m")
    # 0.2 m take √(2·0.2/g) = 0.20 s
    assert until(lambda: live.player.view.load == 0.0, 5)
    assert place(live, robot.base)[2] > 0.66
    view = after(live, 1.5)
    assert view.load == pytest.approx(robot.mass * G, rel=0.05)
    assert place(live, robot.base)[2] == pytest.approx(0.6487, abs=0.01)


@pytest.mark.slow
def test_pause_holds_time_and_step_is_one_step(live):
    click(live.controls.play)
    assert until(lambda: live.controls.play.label == "Play", 5)
    time.sleep(0.1)
    before = live.player.sim.time
    click(live.controls.time, "Step")
    assert until(lambda: live.player.sim.time > before, 5)
    time.sleep(0.1)
    assert live.player.sim.time == pytest.approx(before + 1e-3)
    click(live.controls.play)
    assert until(lambda: live.player.sim.time > before + 0.1, 5)


@pytest.mark.slow
def test_push_moves_the_chest_forward(live):
    click(live.controls.time, "Reset")
    after(live, 0.5)
    chest = trunk(live.page.world.robots[0])
    assert chest.name == "chest"
    x = place(live, chest)[0]
    click(live.controls.disturb, "Push 60 N")
    # 60 N on less than 58 kg for 0.1 s
    assert until(lambda: place(live, chest)[0] > x + 1e-3, 5)


@pytest.mark.slow
def test_pose_of_the_page_becomes_a_target_of_the_motors(live):
    click(live.controls.time, "Reset")
    robot = live.page.world.robots[0]
    live.page.pickers["hrp2"].value = "zero"
    # straight knees lift the waist from 0.6487 to 0.705 m
    assert until(lambda: place(live, robot.base)[2] > 0.70, 10)
    live.page.pickers["hrp2"].value = "half sitting"
    assert until(lambda: place(live, robot.base)[2] < 0.655, 10)
    click(live.controls.time, "Reset")
    assert until(lambda: live.player.view.time < 0.3, 5)


@pytest.mark.slow
def test_error_is_shown_pauses_and_can_be_left_by_play(live):
    def broken(sim):
        raise RuntimeError("no such button")

    live.player.order(broken)
    assert until(
        lambda: "**stopped:** RuntimeError: no such button" in live.controls.text.content, 5
    )
    assert not live.player.playing
    click(live.controls.play)
    now = live.player.sim.time
    assert until(lambda: live.player.sim.time > now, 5)
    assert until(lambda: "stopped" not in live.controls.text.content, 5)


@pytest.mark.slow
def test_friction_slider_sets_the_ground_and_nothing_else(live):
    names, friction = live.player.sim.model.material_names, live.player.sim.model.friction
    others, before = [i for i, name in enumerate(names) if name != "ground"], friction.copy()
    live.controls.friction.value = 0.3
    assert until(lambda: friction[names.index("ground"), 0] == 0.3, 5)
    assert set(friction[names.index("ground")]) == {0.3}
    assert np.array_equal(friction[np.ix_(others, others)], before[np.ix_(others, others)])
    live.controls.friction.value = 0.8


@pytest.mark.slow
def test_gains_follow_their_sliders_and_survive_a_reset(live):
    dof = live.player.sim.model.arrays.dof
    live.controls.stiffness.value = 2.0
    assert until(lambda: np.allclose(live.player.sim.data.command.motor["kp"], 2.0 * dof["kp"]), 5)
    click(live.controls.time, "Reset")
    assert until(lambda: live.player.sim.time < 0.3, 5)
    assert np.allclose(live.player.sim.data.command.motor["kp"], 2.0 * dof["kp"])
    assert np.allclose(live.player.sim.data.command.motor["kd"], dof["kd"])
    live.controls.stiffness.value = 1.0
    assert until(lambda: np.allclose(live.player.sim.data.command.motor["kp"], dof["kp"]), 5)


@pytest.mark.slow
def test_a_picture_that_meets_the_server_is_drawn_again_and_other_faults_are_not_hidden(
    live, monkeypatch
):
    seen = []

    def meet(view):
        seen.append(view)
        if len(seen) == 1:
            raise RuntimeError("deque mutated during iteration")

    monkeypatch.setattr(live, "draw", meet)
    view = live.player.view
    assert not live._drawn(view)
    # the drawing thread goes on all the while
    assert until(lambda: len(seen) > 3, 20)
    assert live._drawn(view)
    monkeypatch.undo()

    def fail(view):
        raise RuntimeError("something else")

    lone = Live.__new__(Live)
    monkeypatch.setattr(lone, "draw", fail, raising=False)
    with pytest.raises(RuntimeError, match="something else"):
        lone._drawn(view)


@pytest.mark.slow
def test_half_speed_is_half_of_the_clock(live):
    live.controls.speed.value = 0.5
    assert until(lambda: live.player.speed == 0.5, 5)
    time.sleep(0.2)
    t, w = live.player.sim.time, time.monotonic()
    time.sleep(1.0)
    # a busy machine may lose time, and never gains any beyond the lag it may catch up
    assert 0.2 < (live.player.sim.time - t) / (time.monotonic() - w) < 0.6
    assert until(lambda: "asked for 0.5 ×" in live.controls.details.content, 5)
    live.controls.speed.value = 1.0


@pytest.mark.slow
def test_every_kind_of_drawing_has_a_checkbox_that_hides_it(live):
    click(live.controls.time, "Reset")
    after(live, 0.2)
    contacts = live.overlay.of(ContactMarks)
    assert set(live.controls.shown) == {box.name for box in BOXES}
    assert until(
        lambda: contacts.cones.handle.visible and contacts.shafts.handle.visible,
        5,
    )
    live.controls.shown["friction cones"].value = False
    assert until(lambda: not contacts.cones.handle.visible, 5)
    # a world that was just set back has no forces yet
    assert until(
        lambda: contacts.shafts.handle.visible and not contacts.cones.handle.visible,
        5,
    )
    live.controls.shown["friction cones"].value = True


@pytest.mark.slow
def test_pull_moves_the_chest_with_the_force_shown_and_release_ends_it(live):
    click(live.controls.time, "Reset")
    after(live, 0.5)
    index = [body.name for body in live.player.observer.bodies].index("chest")
    start = live.player.view.positions[index].copy()
    live._pull(7, index, "start", tuple(start), tuple(start), False)
    live._pull(7, index, "update", tuple(start), (start[0] + 0.2, start[1], start[2]), False)
    assert until(lambda: live.player.view.positions[index, 0] > start[0] + 2e-3, 5)
    assert until(lambda: live.overlay.newtons.endswith(" N"), 5)
    # 0.2 m of a spring of 300 N/m, less what the chest has moved
    assert until(
        lambda: (
            live.player.view.bands and 40 < np.linalg.norm(live.player.view.bands[0].force) < 61
        ),
        5,
    )
    live._pull(7, index, "end", tuple(start), tuple(start), False)
    assert until(lambda: live.overlay.newtons == "" and live.player.view.bands == (), 5)
    assert not live.player.hands.springs


@pytest.mark.slow
def test_other_scene_is_opened_in_the_same_page(live):
    before = live.player.scenes
    live._pick("cart")
    assert until(lambda: live._scene == before + 1, 120)
    assert until(lambda: live.page.server.scene.get_handle_by_name("/cart") is not None, 10)
    assert until(lambda: live.player.view.time > 0.2, 30)
    assert live.player.fault == ""
    assert not live.controls.play.disabled
    assert live.controls.scene.value == "cart"
    assert until(
        lambda: live.controls.details.content.startswith(
            "*HRP-2 pushes a cart that carries a box of 3 kg*"
        ),
        5,
    )
    live._pick("no such scene")
    time.sleep(0.1)
    assert live.player.scenes == before + 1
    # and back to where it began
    assert live.controls.scene.options[0] == "this one"
    live._pick("this one")
    assert until(lambda: live._scene == before + 2, 120)
    assert until(lambda: live.controls.scene.value == "this one", 10)
    assert live.page.server.scene.get_handle_by_name("/cart") is None


def test_world_that_cannot_be_simulated_says_so_and_stays_a_picture():
    player = Player(simulated(World()))
    player.start()
    assert until(lambda: player.fault != "", 60)
    assert not player.playing
    player.close()


@pytest.mark.slow
def test_the_last_of_two_scenes_picked_in_a_row_is_played_under_its_own_name(live):
    before = live.player.scenes
    live._pick("stack")
    # the player has begun to build it
    time.sleep(0.02)
    live._pick("bounce")
    assert until(
        lambda: not live.player.loading and live._scene == live.player.scenes > before, 120
    )
    assert until(
        lambda: live.controls.scene.value == "bounce" and not live.controls.play.disabled, 10
    )
    assert {body.name for body in live.page.world.objects} == {
        body.name for body in live.player.sim.world.objects
    }
    assert len(live.player.sim.world.objects) == 5
    # no robot, no motors to tune; a ground with friction
    assert not live.controls.stiffness.visible
    assert live.controls.friction.visible


@pytest.mark.slow
def test_rubber_of_the_ankles_follows_its_slider_where_there_is_some(live):
    assert not live.controls.bush_stiffness.visible
    before = live._scene
    live._pick("tilt-and-release")
    assert until(
        lambda: not live.player.loading and live._scene == live.player.scenes > before, 120
    )
    assert until(
        lambda: live.controls.scene.value == "tilt-and-release" and not live.controls.play.disabled,
        10,
    )
    assert live.controls.bush_stiffness.visible
    model = live.player.sim.model
    row = model.arrays.dof[model.v_index("left_bush_pitch")]
    built = live.player.sim.world.robots[0].joint("left_bush_pitch")
    live.controls.bush_stiffness.value = 2.0
    live.controls.bush_damping.value = 0.5
    assert until(lambda: row["stiffness"] == 2.0 * built.stiffness, 5)
    assert until(lambda: row["damping"] == 0.5 * built.damping, 5)


def test_robot_without_gains_is_named_in_the_page():
    world = World()
    world.add_ground()
    world.add_robot(hrp2()).stand_on_ground()
    sim = Simulator(world)
    assert limp(sim) == ""
    none = np.zeros(sim.model.v_count)
    sim.set_gains(none, none)
    assert limp(sim).startswith("**no gains:** the file of hrp2 has none")
