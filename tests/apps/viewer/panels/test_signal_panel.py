"""A click on the name of a signal plots it, and another one ends that."""

import numpy as np
import pytest
from bipeds import hrp2_on_ground
from websockets.datastructures import Headers
from websockets.http11 import Request

import tabi
from tabi.apps.viewer.panels import signal_panel
from tabi.apps.viewer.panels.signal_panel import MAX_PLOTS, SignalPanel
from tabi.apps.viewer.view import Observer

OURS = {"X-Tabi": "signal"}


@pytest.fixture(scope="module")
def sim():
    world, _ = hrp2_on_ground()
    world.add_box((0.1, 0.1, 0.1), 1.0, position=(1.0, 0.0, 0.05), name="crate")
    sim = tabi.Simulator(world)
    sim.run(0.05)
    return sim


@pytest.fixture
def panel(server, sim):
    return SignalPanel(server, sim)


def click(panel, name, headers=None):
    path = "/signal?name=" + name.replace(" ", "+").replace("/", "%2F")
    return panel.hear(Request(path, Headers(OURS if headers is None else headers))).status_code


def test_every_signal_reads_a_number_and_those_of_joints_are_the_simulators(panel, sim):
    view = Observer(sim).look()
    values = {
        f"{title}: {name}": read(view)
        for title, readers in panel.groups.items()
        for name, read in readers.items()
    }
    assert len(values) > 90
    assert [name for name, value in values.items() if not np.isfinite(value)] == []
    joint = "RLEG_KNEE_P"
    assert values[f"joints [rad]: {joint}"] == sim.q[sim.model.q_index(joint)]
    assert values[f"joints [rad/s]: {joint}"] == sim.v[sim.model.v_index(joint)]
    assert values["position of objects [m]: crate x"] == pytest.approx(1.0, abs=1e-3)
    assert values["simulation: contacts"] == len(view.points)
    # a knee bears weight
    assert abs(values[f"motors [N·m]: {joint}"]) > 1.0


def test_a_click_adds_a_plot_a_second_one_removes_it(panel, sim, monkeypatch):
    monkeypatch.setattr(signal_panel, "DRAW_PERIOD_S", 0.0)
    name, observer = "centre of mass [m]: hrp2 z", Observer(sim)
    assert click(panel, name) == 204
    for _ in range(3):
        sim.run(0.03)
        panel.show(observer.look())
    assert list(panel.plots) == [name]
    times, heights = panel.plots[name].data
    assert len(times) == 3
    assert heights[-1] == pytest.approx(observer.look().centres[0, 2])
    assert 'aria-pressed="true"' in panel.names.content
    assert click(panel, name) == 204
    panel.show(observer.look())
    assert panel.plots == {}
    assert 'aria-pressed="true"' not in panel.names.content


def test_the_oldest_plot_makes_room_and_strangers_are_refused(panel, sim):
    joints = ("HIP_Y", "HIP_R", "HIP_P", "KNEE_P", "ANKLE_P", "ANKLE_R")
    names = [*(f"joints [rad]: RLEG_{joint}" for joint in joints), "simulation: contacts"]
    assert len(names) == MAX_PLOTS + 1
    assert [click(panel, name) for name in names] == [204] * len(names)
    panel.show(Observer(sim).look())
    assert list(panel.plots) == names[1:]
    # another site's page cannot set the header; a name that is none
    assert click(panel, names[0], {}) == 403
    assert click(panel, "joints [rad]: NOWHERE") == 404
