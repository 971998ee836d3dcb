"""The button *Record* writes a recording that opens, ends it, and is refused in a sentence."""

from types import SimpleNamespace

import pytest

import tabi
from tabi.apps.viewer.panels import record_panel
from tabi.apps.viewer.panels.record_panel import BEGIN, END, RecordPanel


@pytest.fixture
def sim():
    world = tabi.World()
    world.add_ground()
    world.add_box((0.1, 0.1, 0.1), 1.0, position=(0.0, 0.0, 0.05))
    return tabi.Simulator(world)


@pytest.fixture
def player(sim):
    """One that does at once what it is ordered."""
    return SimpleNamespace(sim=sim, order=lambda order: order(sim))


@pytest.fixture
def panel(server, player, tmp_path):
    panel = RecordPanel(server, player, tmp_path)
    yield panel
    panel.close()


def seen(sim):
    return SimpleNamespace(time=sim.time)


def test_a_recording_is_named_while_it_lasts_and_opens_afterwards(panel, sim, tmp_path):
    assert panel.button.label == BEGIN
    panel._toggle(sim)
    sim.run(0.5)
    panel.show(seen(sim))
    (file,) = tmp_path.glob("*.h5")
    name = file.name.replace("-", "\\-")
    assert panel.button.label == END
    assert panel.text.content.replace("\\-", "-") == f"recording **{file.name}**, 0.5 s", name
    panel._toggle(sim)
    panel.show(seen(sim))
    assert panel.button.label == BEGIN
    assert panel.text.content.startswith("wrote **tabi")
    run = tabi.Recording(file)
    assert run.time[-1] == pytest.approx(0.5)
    # a row every 10 ms, and the start
    assert len(run.time) == 51


def test_a_second_recording_within_a_second_has_another_name(panel, sim, tmp_path):
    for _ in range(2):
        panel._toggle(sim)
        sim.run(0.02)
        panel._toggle(sim)
    assert len(list(tmp_path.glob("*.h5"))) == 2


def test_a_folder_that_cannot_be_written_is_refused_in_one_sentence(panel, sim, tmp_path):
    panel.folder = tmp_path / "missing"
    panel._toggle(sim)
    panel.show(seen(sim))
    assert panel.button.label == BEGIN
    assert panel.text.content.startswith("not recorded: ")
    assert "there is no folder" in panel.text.content
    assert "\n" not in panel.text.content


def test_a_recording_ends_after_its_longest_time(panel, sim, monkeypatch):
    monkeypatch.setattr(record_panel, "MAX_TIME_S", 0.1)
    panel._toggle(sim)
    sim.run(0.2)
    panel.show(seen(sim))
    panel.show(seen(sim))
    assert panel.button.label == BEGIN
    assert "the longest that is recorded" in panel.text.content


def test_a_reset_ends_the_recording_of_the_run_before(panel, sim, player, tmp_path):
    panel._toggle(sim)
    sim.run(0.1)
    player.sim = tabi.Simulator(sim.world)
    panel.show(seen(sim))
    assert panel.button.label == BEGIN
    assert "until the reset" in panel.text.content
    assert len(tabi.Recording(next(tmp_path.glob("*.h5"))).time) == 11
