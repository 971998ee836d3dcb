"""What the page tells of a haptic device."""

import pytest

from tabi import scenes
from tabi.apps.viewer.panels.hand_panel import HandPanel, lines
from tabi.interaction.presence import HandMeters


def test_force_energy_and_state_are_told_and_what_is_wrong_besides():
    well = HandMeters("stand-in", "running", "", 3.21, 4.5e-4, 12.7)
    told = lines(well).replace("\N{NO-BREAK SPACE}", " ")
    assert "stand-in: **running**" in told
    assert "on the hand 3.2 N, on the body 12.7 N" in told
    assert "energy to the hand 0.45 mJ" in told
    lost = HandMeters("haply", "lost", "no service at *localhost*", 0.0, 0.0, 0.0)
    assert "no service at" in lines(lost)
    # marks of text are text
    assert "*localhost*" not in lines(lost)


def test_without_a_device_the_mouse_is_named():
    assert "no haptic device: **the mouse acts as the hand**; Ctrl-drag" in lines(None)
    lost = HandMeters("touch", "lost", "", 0.0, 0.0, 0.0)
    assert "until it runs, **the mouse acts as the hand**" in lines(lost)
    assert "mouse" not in lines(HandMeters("touch", "running", "", 0.0, 0.0, 0.0))


@pytest.mark.parametrize(("scene", "there"), [("touch", True), ("bounce", False)])
def test_a_scene_for_hands_has_the_panel_without_a_device_too(server, scene, there):
    sim = scenes.load(scene).simulator()
    panel = HandPanel(server, sim, None)
    assert (panel.text is not None) is there
    assert there is (panel.text is not None and "mouse acts" in panel.text.content)
