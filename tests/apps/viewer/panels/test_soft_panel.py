"""The folder about soft soles: colours that fit, a picture, and a slider that fits by itself."""

import numpy as np
import pytest
from recording.test_pad_tracks import grid

from tabi.apps.viewer.panels.soft_panel import SoftPanel
from tabi.apps.viewer.soft_pad import SoftNow, SoftPad
from tabi.reporting.pressure_scale import SCALE
from tabi.spatial.transform import Transform


@pytest.fixture
def panel(server):
    face = grid()
    skin = np.concatenate([face[0], face[0] + [0, 0, 0.02]]), face[1] + len(face[0])
    pads = [
        SoftPad(server, name, f"/{name}", Transform(), face, skin) for name in ("right", "left")
    ]
    return SoftPanel(server, pads)


def now(pressure, sink=1e-4):
    nodes, _ = grid()
    U, force = np.zeros_like(nodes), np.zeros_like(nodes)
    U[:, 2], force[:, 2] = sink, pressure
    return SoftNow(U, force, np.full(len(nodes), float(pressure)), nodes)


def test_the_scale_ends_at_the_highest_pressure_so_far(panel):
    panel.draw([now(1.4e4), now(0.0)], 0.1)
    assert panel.highest == 1.5e4
    panel.draw([now(2.0e3), now(0.0)], 0.2)
    assert panel.highest == 1.5e4
    # a run that begins anew
    panel.draw([now(2.0e3), now(0.0)], 0.0)
    assert panel.highest == 2e3
    panel.draw([now(2.0e3), now(0.0)], 0.1, highest=7e4)
    assert panel.highest == 8e4


def test_deformations_are_drawn_as_large_as_fits(panel):
    # three quarters of 20 mm are 15 mm
    for time, (sink, factor) in enumerate([(2e-4, 50), (1.4e-3, 10), (2e-4, 10), (9e-3, 1)]):
        panel.draw([now(1e3, sink), now(0.0, 0.0)], float(time))
        assert panel.drawn_as == factor
    (vertices, _), *_ = panel.pads[0].drawn.values()
    assert vertices[:, 2] == pytest.approx(np.full(len(vertices), -0.02 + 9e-3), abs=1e-7)
    # moved by hand, it stays
    panel._is_set_by_user, panel.factor.value = True, 3.0
    panel.refresh()
    (vertices, _), *_ = panel.pads[0].drawn.values()
    assert vertices[:, 2] == pytest.approx(np.full(len(vertices), -0.02 + 27e-3), abs=1e-7)
    panel.draw([now(1e3), now(0.0)], 9.0)
    assert panel.drawn_as == 3.0


def test_words_and_picture_tell_the_pressure_left_foot_first(panel):
    panel.draw([now(0.0, 0.0), now(1e4, 3e-4)], 0.1)
    panel.show_picture()
    assert "10 kPa" in panel.text.content
    assert "sinks 0.30 mm" in panel.text.content
    assert f"{panel.drawn_as:g} ×" in panel.text.content
    picture = panel.picture.image
    middle = len(picture) // 2
    assert tuple(picture[middle, 10]) == SCALE[-1]
    assert tuple(picture[middle, -60]) == SCALE[0]
    # the scale itself, the highest pressure above
    assert tuple(picture[0, -1]) == SCALE[-1]
    assert tuple(picture[-1, -1]) == SCALE[0]


def test_a_world_without_pads_has_no_folder(server):
    panel = SoftPanel(server, [])
    panel.draw([], 0.0)
    panel.show_picture()
    assert not hasattr(panel, "text")
    assert panel.drawn_as == 1.0
