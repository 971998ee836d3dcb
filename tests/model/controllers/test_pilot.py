"""Channels of controllers that are kernels."""

import numpy as np
import pytest

import tabi
from tabi import _renamed
from tabi.model.controllers.pilot import EFFORT, KD, channel, check_period


def test_a_channel_has_room_for_joints_and_readings_and_has_seen_nothing():
    talk = channel(4, 7)
    assert talk.command.shape == (KD + 1, 4)
    assert talk.command[EFFORT].shape == talk.position.shape == talk.velocity.shape == (4,)
    assert talk.reading.shape == (7,)
    assert talk.time[0] == -np.inf
    assert talk.over[0] == 0.0


def test_a_controller_is_asked_a_whole_number_of_times_in_its_period():
    for asked in (0.005, 0.0025, 0.001):
        check_period("r", asked, 0.005)
    for asked in (0.01, 0.003, 0.0051):
        with pytest.raises(tabi.ModelError, match=r"controller of r is called .* rate=200"):
            check_period("r", asked, 0.005)


def test_a_channel_has_its_old_names(monkeypatch):
    monkeypatch.setattr(_renamed, "_reported", set())
    talk = channel(4, 0)
    with pytest.warns(FutureWarning, match="told in Channel is now called command"):
        assert talk.told is talk.command
    with pytest.warns(FutureWarning, match="given in Channel is now called command_mask"):
        assert talk.given is talk.command_mask
