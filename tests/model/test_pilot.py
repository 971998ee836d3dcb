"""Channels of controllers that are kernels."""

import numpy as np

from tabi.model.pilot import EFFORT, KD, channel


def test_a_channel_has_room_for_joints_and_readings_and_has_seen_nothing():
    talk = channel(4, 7)
    assert talk.told.shape == (KD + 1, 4)
    assert talk.told[EFFORT].shape == talk.position.shape == talk.velocity.shape == (4,)
    assert talk.reading.shape == (7,)
    assert talk.time[0] == -np.inf
    assert talk.over[0] == 0.0
