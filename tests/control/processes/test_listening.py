"""Where controllers connect: one after another, and nothing is left behind."""

import os

import pytest
from control.processes.ends import ByHand

import tabi
from tabi.control.processes.listening import Listener
from tabi.control.processes.messages import Layout

LAYOUT = Layout("pair", (("a", 1), ("b", 1)), ())


def test_one_controller_after_another_is_greeted(tmp_path):
    listener = Listener("pair", None, tmp_path / "robot")
    assert listener.another(LAYOUT, 1.0) is None
    first, second = ByHand(listener.address), ByHand(listener.address)
    assert listener.first(LAYOUT, 5.0) is listener.link
    assert first.hear()[: len(LAYOUT.lines())] == LAYOUT.lines()
    assert second.text == ""
    listener.drop()
    assert listener.link is None
    assert listener.another(LAYOUT, 5.0) is listener.link
    assert second.hear()[: len(LAYOUT.lines())] == LAYOUT.lines()
    listener.close()
    # both see the end
    assert (first.socket.recv(1), second.socket.recv(1)) == (b"", b"")
    assert os.listdir(tmp_path) == []


def test_one_that_hangs_up_before_it_began_is_told(tmp_path):
    listener = Listener("pair", None, tmp_path / "robot")
    ByHand(listener.address, "tabi-controller 1\n").close()
    with pytest.raises(tabi.SimulationError, match=r"of pair at .* closed .*; it did not begin"):
        listener.first(LAYOUT, 5.0)
    listener.close()
