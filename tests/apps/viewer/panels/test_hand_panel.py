"""What the page tells of a haptic device."""

from tabi.apps.viewer.panels.hand_panel import lines
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
    assert "Ctrl-drag" in lines(None)
