"""The page of a recording, without a browser: time goes, stops, and can be set;
bodies stand where they stood.
"""

import numpy as np
import pytest
from apps.pages import free_port, until
from bipeds import hrp2_on_ground
from simulation.soft import block

import tabi
from tabi.apps.viewer.panels.plots import SPAN_S
from tabi.apps.viewer.replay import AFTER, BEFORE, POINTS, Replay, before, plain
from tabi.recording.recorded import read
from tabi.reporting.frames import HUMANOID_ARROW_SCALE
from tabi.reporting.pressure_scale import top


@pytest.fixture(scope="module")
def replay(tmp_path_factory):
    world, _ = hrp2_on_ground()
    sim = tabi.Simulator(world)
    path = tmp_path_factory.mktemp("replay") / "run.hdf5"
    with sim.record(path, rate=100):
        sim.run(1.0)
    replay = Replay(read(path), port=free_port())
    yield replay
    replay.close()


def click(control) -> None:
    """What a browser's click does."""
    for callback in control._impl.update_cb:
        callback(None)


@pytest.mark.slow
def test_page_is_of_this_machine_alone(replay):
    assert replay.address.startswith("http://127.0.0.1:")


@pytest.mark.slow
def test_steps_go_back_and_forth_and_bodies_with_them(replay):
    replay.go(50)
    click(replay.forth)
    assert replay.row == 51
    click(replay.back)
    click(replay.back)
    assert replay.row == 49
    motion = replay.run.motion(np.array([49]))
    assert until(lambda: np.allclose(replay._bodies[1].position, motion.position[1, 0], atol=1e-12))
    assert until(lambda: replay.bar.value == pytest.approx(0.49))
    assert until(lambda: "time **0.490 s**" in replay.text.content)
    weight = replay.run.world.body["mass"][1:].sum() * 9.81
    assert f"**{weight:.0f}"[:4] in replay.text.content
    replay.go(-5)
    assert replay.row == 0
    replay.go(10**9)
    assert replay.row == 100


@pytest.mark.slow
def test_play_keeps_the_pace_of_the_clock_and_stops_at_the_end(replay):
    replay.loop.value = False
    replay.go(0)
    click(replay.play)
    assert until(lambda: replay.play.label == "Pause", 5)
    assert until(lambda: replay.row == 100, 20)
    assert until(lambda: not replay.playing and replay.play.label == "Play", 5)
    # play at the end begins anew
    click(replay.play)
    assert replay.playing
    assert until(lambda: replay.row < 100, 5)
    click(replay.play)
    assert not replay.playing


@pytest.mark.slow
def test_time_passes_by_rows_of_the_recording(replay):
    replay.playing, replay.loop.value = False, False
    replay.go(10)
    replay.advance(0.05)
    assert replay.row == 15
    replay.advance(0.004)
    assert replay.row == 15
    replay.advance(5.0)
    assert replay.row == 100
    replay.loop.value = True
    replay.advance(0.01)
    assert replay.row == 0


@pytest.mark.slow
def test_arrows_and_marks_are_those_of_the_row(replay):
    replay.go(80)
    assert until(
        lambda: replay.arrows.visible and len(replay.arrows.points) == replay.run.contact_count[80]
    )
    contacts = replay.run.contacts_at(80)
    expected = contacts["point"] + HUMANOID_ARROW_SCALE * contacts["force"]
    assert until(lambda: np.allclose(np.asarray(replay.arrows.points)[:, 1], expected, atol=1e-6))
    centre = replay._marks[0][0]
    assert until(lambda: np.allclose(centre.position, replay.run.robots["centre_of_mass"][80, 0]))
    replay.shown["contact forces"].value = False
    assert until(lambda: not replay.arrows.visible)
    replay.shown["contact forces"].value = True
    # nothing is borne in the first row
    replay.go(0)
    assert until(lambda: not replay._marks[1][0].visible)


def test_words_from_a_file_carry_no_markup():
    assert (
        plain("hrp2 <img src=x> {alert(1)} `a` [b](c)") == "hrp2 ·img src·x· ·alert·1·· ·a· ·b··c·"
    )
    assert len(plain("x" * 1000)) == 80


@pytest.mark.slow
def test_changes_of_feet_are_marks_of_the_time_bar_and_one_can_go_there(replay):
    # both feet come down in the first step, which is shown by the row after it
    assert [event.after for event in replay.run.foot_events] == ["face, stick"] * 2
    assert [mark.value for mark in replay.bar._marks] == [0.0]
    replay.go(0)
    assert until(lambda: replay.feet.labels == ["none", "none"])
    assert until(lambda: replay.last_event.content == "change of a foot 0 of 2")
    replay.jump._impl.value = AFTER
    click(replay.jump)
    assert replay.row == 1
    assert until(lambda: replay.feet.labels == ["face, stick"] * 2)
    said = "change of a foot 2 of 2: left none → **face, stick** at 0.001 s"
    assert until(lambda: replay.last_event.content == said)
    # there is no other one
    click(replay.jump)
    assert replay.row == 1
    replay.go(60)
    replay.jump._impl.value = BEFORE
    click(replay.jump)
    assert replay.row == 1
    replay.shown["states of feet"].value = False
    assert until(lambda: replay.feet.labels == ["", ""])
    replay.shown["states of feet"].value = True


@pytest.mark.slow
def test_sensors_of_a_recording_are_shown_up_to_the_moment(replay):
    panel = replay.sensors
    assert "imu" in panel.choice.options
    replay.playing = False
    replay.go(60)
    panel.choice.value = "left_foot_force"
    assert until(lambda: len(panel.plots) == 2 and len(panel.plots[0].data[0]) == 61, 10)
    time, *force = panel.plots[0].data
    assert time[-1] == pytest.approx(0.6)
    assert np.allclose(force[2], replay.run.sensors["left_foot_force"][:61, 2])
    panel.choice.value = "none"
    assert until(lambda: panel.plots == [], 10)


def test_rows_before_a_row_are_few_and_of_the_same_stretch_of_time():
    time = np.concatenate([np.arange(0, 3, 1e-3), np.arange(1, 10, 1e-3)])
    assert before(time, 5).tolist() == list(range(6))
    # set back at row 3000
    assert before(time, 3010).tolist() == list(range(3000, 3011))
    found = before(time, len(time) - 1)
    assert len(found) <= POINTS + 1
    assert time[found[-1]] == time[-1]
    assert time[found[0]] == pytest.approx(time[-1] - SPAN_S, abs=0.05)


def test_soft_pads_are_drawn_as_they_were(tmp_path):
    world, _ = block(viscosity=0.004, above=0.003)
    sim = tabi.Simulator(world)
    with sim.record(tmp_path / "soft.hdf5", rate=250):
        sim.run(0.2)
    replay = Replay(read(tmp_path / "soft.hdf5"), port=free_port())
    try:
        (drawn,), (pad,) = replay.pads, replay.run.pads.values()
        row = int(pad.pressure.max(axis=1).argmax())
        replay.go(row)
        wanted = pad.nodes[:, 2].min() + replay.soft.drawn_as * pad.displacement[row, :, 2]

        def heights():
            return np.concatenate([v[:, 2] for v, _ in drawn.drawn.values()])

        # the nodes are among the vertices, and what lies between them between
        assert until(lambda: heights().max() == pytest.approx(wanted.max(), abs=3e-5))
        assert heights().min() == pytest.approx(wanted.min(), abs=3e-5)
        assert replay.soft.highest == top(float(pad.pressure.max()))
        # the one at rest is not drawn as well: its box alone is
        assert len(replay.run.look.pieces) == 2
        names = replay.server.scene._handle_from_node_name
        assert f"/body{pad.body}/mesh{pad.piece}" not in names
        assert f"/body{pad.body}/mesh{1 - pad.piece}" in names
        replay.soft._is_set_by_user, replay.soft.factor.value = True, 1.0
        at_rest = pad.nodes[:, 2].min() + pad.displacement[row, :, 2].max()
        assert until(lambda: heights().max() == pytest.approx(at_rest, abs=3e-5))
    finally:
        replay.close()
