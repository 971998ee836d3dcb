"""Sensors in the page: the chosen one is heard, its values and their course are shown."""

import numpy as np
import pytest

import tabi
from tabi.apps.viewer.gate import open_server
from tabi.apps.viewer.panels.plots import SPAN_S
from tabi.apps.viewer.panels.sensor_panel import (
    NO_SENSOR,
    SAMPLE_PERIOD_S,
    SensorHistory,
    SensorPanel,
    words,
)
from tabi.apps.viewer.player import Player
from tabi.apps.viewer.view import Observer, SensorView
from tabi.recording.sensor_history import parts

FORCE = [f"force {axis} [N]" for axis in "xyz"] + [f"torque {axis} [N·m]" for axis in "xyz"]
LABELS = {"foot": FORCE, "knee": ["position [rad]", "velocity [rad/s]"]}


@pytest.fixture
def server():
    server, _ = open_server("127.0.0.1", 0)
    yield server
    server.stop()


@pytest.fixture
def panel(server):
    return SensorPanel(server, LABELS)


def test_choice_is_none_at_first_and_told_by_name(server):
    told: list[str] = []
    panel = SensorPanel(server, LABELS, told.append)
    assert panel.choice.options == (NO_SENSOR, "foot", "knee")
    assert (panel.selected, panel.plots) == ("", [])
    panel.choice.value = "knee"
    assert panel.selected == "knee"
    panel.choice.value = NO_SENSOR
    assert panel.selected == ""
    assert told == ["knee", ""]


def test_world_without_sensors_has_no_folder(server):
    assert not SensorPanel(server, {}).folder.visible


def test_values_are_shown_with_units_and_each_part_has_its_plot(panel):
    times = np.array([0.0, 0.1, 0.2])
    values = np.outer([1.0, 2.0, 3.0], [0.0, -10.0, 100.0, 0.5, 0.0, 0.0])
    panel.show("foot", times, values)
    force, torque = panel.text.content.replace("\u2011", "-").replace("\u00a0", " ").split("  \n")
    assert force == "force: x **0.0** y **-30.0** z **300.0** N"
    assert torque.startswith("torque: x **1.50** ")
    assert [plot.title for plot in panel.plots] == ["force [N]", "torque [N·m]"]
    assert np.allclose(panel.plots[0].data[3], [100.0, 200.0, 300.0])
    assert panel.plots[0].scales["y"]["range"] == (-50.0, 500.0)
    assert panel.plots[1].scales["y"]["range"] == (0.0, 2.0)


def test_another_sensor_gets_other_plots_and_none_gets_none(panel):
    panel.show("foot", np.arange(2.0), np.zeros((2, 6)))
    panel.show("knee", np.arange(2.0), np.array([[0.1, 0.0], [0.2, 0.0]]))
    assert [plot.title for plot in panel.plots] == ["position [rad]", "velocity [rad/s]"]
    assert "0.2000" in panel.text.content
    panel.show("", np.zeros(0), np.zeros((0, 0)))
    assert (panel.plots, panel.text.content, panel.mark.visible) == ([], "", False)


def test_plate_has_its_centre_of_pressure_as_a_mark(panel):
    place = (np.array([0.0123, -0.004]), np.array([1.0, 2.0, 0.05]))
    panel.show("foot", np.zeros(1), np.zeros((1, 6)), place)
    assert panel.mark.visible
    assert np.allclose(panel.mark.position, place[1])
    assert "x **12.3** y **-4.0** mm" in panel.text.content.replace("\u2011", "-").replace(
        "\u00a0", " "
    )


def test_history_keeps_the_last_seconds_of_one_sensor(panel):
    history = SensorHistory(panel)
    for k in range(3000):
        history.take(0.005 * k, SensorView("foot", np.full(6, float(k))))
    history.draw()
    time = panel.plots[0].data[0]
    assert len(time) <= round(SPAN_S / SAMPLE_PERIOD_S)
    assert np.diff(time).min() >= SAMPLE_PERIOD_S - 1e-9
    history.take(20.0, SensorView("knee", np.zeros(2)))
    history.take(20.1, SensorView("knee", np.ones(2)))
    history.draw()
    assert panel.plots[0].data[0].tolist() == [20.0, 20.1]
    # after a reset it begins anew
    history.take(0.0, SensorView("knee", np.zeros(2)))
    history.take(0.1, SensorView("knee", np.zeros(2)))
    history.draw()
    assert panel.plots[0].data[0].tolist() == [0.0, 0.1]
    history.take(0.2, None)
    history.draw()
    assert panel.plots == []


def test_words_round_by_the_unit():
    said = words(parts(["accelerometer z [m/s²]"]), np.array([9.80665]))
    assert "**9.807**" in said
    assert "**0.0**" in words(parts(["normal force [N]"]), np.array([-1e-9]))


@pytest.fixture(scope="module")
def standing():
    world = tabi.World()
    world.add_force_plate("plate", size=(1.0, 1.0), position=(0.1, 0.0, 0.0))
    world.add_robot(tabi.robots.hrp2()).stand_on_ground()
    sim = tabi.Simulator(world)
    sim.run(0.01)
    return sim


def test_observer_hears_the_sensor_asked_for_and_no_other(standing):
    observer = Observer(standing)
    assert observer.look().selected_sensor is None
    assert not standing.data.command.active_sensors.any()
    heard = observer.look(sensor="plate").selected_sensor
    assert heard is not None
    assert standing.data.command.active_sensors.sum() == 1
    assert heard.values[2] == pytest.approx(standing.world.robots[0].mass * 9.81, rel=0.02)
    # in the world it is where the two feet press
    at, place = heard.pressure
    assert place == pytest.approx([at[0] + 0.1, at[1], 0.0], abs=1e-12)
    assert abs(place[1]) < 0.01
    assert observer.look(sensor="no such one").selected_sensor is None


def test_player_has_the_chosen_sensor_in_its_views_also_when_paused(standing):
    player = Player(lambda: standing)
    player._begin(standing)
    player.playing = False
    player.listen("imu")
    player._turn()
    assert player.view.selected_sensor.name == "imu"
    player.listen("")
    player._turn()
    assert player.view.selected_sensor is None
