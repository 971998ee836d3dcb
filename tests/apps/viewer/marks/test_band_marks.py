"""A rubber band shows how hard it pulls, and nothing when nobody pulls."""

from types import SimpleNamespace

import numpy as np
import pytest

from tabi.apps.viewer.gate import open_server
from tabi.apps.viewer.marks.band_marks import BandMarks
from tabi.apps.viewer.marks.mark import Canvas


@pytest.fixture
def marks():
    server, _ = open_server("127.0.0.1", 0)
    yield BandMarks.create(Canvas(server))
    server.stop()


def band(force):
    return SimpleNamespace(point=np.zeros(3), target=np.ones(3), force=np.array([0.0, force, 0.0]))


def test_newtons_of_every_band_and_none_without(marks):
    marks.draw_view(SimpleNamespace(bands=(band(12.3), band(-4.0))), {}, 0.0)
    assert marks.newtons == "12 N · 4 N"
    assert marks.knob.handle.visible
    marks.draw_view(SimpleNamespace(bands=()), {}, 0.0)
    assert marks.newtons == ""
    assert not marks.knob.handle.visible
    assert not marks.band.handle.visible
