"""Colours of pressures, and pictures of them."""

import numpy as np
import pytest
from recording.test_pad_tracks import grid

from tabi.recording import pad_tracks
from tabi.reporting.pressure_scale import MIN_SCALE_END, PAPER, SCALE, FaceRaster, colors, top


def test_more_pressure_is_always_lighter():
    shades = colors(np.linspace(0.0, 1.0, 400)).astype(float)
    # luma of Rec. 601: what is left of a colour in grey
    grey = shades @ [0.299, 0.587, 0.114]
    assert (np.diff(grey) > -0.6).all()
    assert grey[-1] > grey[0] + 150
    # rounding aside, which is half a unit of a channel
    assert (np.diff(grey[::8]) > 0).all()
    assert tuple(shades[0]) == SCALE[0]
    assert tuple(shades[-1]) == SCALE[-1]
    assert (colors(np.array([-1.0, 7.0])) == [SCALE[0], SCALE[-1]]).all()


def test_the_scale_ends_at_the_next_round_number():
    assert [top(p) for p in (0.0, 999.0, 1e3, 1.2e4, 2.86e5, 9.9e5)] == pytest.approx(
        [MIN_SCALE_END, 1e3, 1e3, 1.5e4, 3e5, 1e6]
    )
    for p in np.geomspace(1e3, 1e7, 50):
        assert p <= top(p) * (1 + 1e-12)
        assert top(p) <= 1.7 * p


def test_a_picture_carries_the_force():
    nodes, triangles = grid(7, 5)
    rng, pixel = np.random.default_rng(2), 5e-4
    pressure = rng.uniform(0, 1e5, len(nodes))
    values = FaceRaster(nodes, triangles, pixel).values(pressure)
    force = pad_tracks.areas(nodes, triangles) @ pressure
    # midpoints of 0.5 mm in cells of 25 mm, linear in each
    assert np.nansum(values) * pixel**2 == pytest.approx(force, rel=1e-3)


def test_numbers_are_linear_between_nodes_and_the_toe_is_above():
    nodes, triangles = grid()
    raster = FaceRaster(nodes, triangles, 1e-3)
    assert raster.shape == (200, 100)
    x, y = raster.values(nodes[:, 0]), raster.values(nodes[:, 1])
    assert x[0] == pytest.approx(np.full(100, 0.0995))
    assert x[-1] == pytest.approx(-0.0995)
    assert y[:, 0] == pytest.approx(np.full(200, 0.0495))
    assert y[7, -1] == pytest.approx(-0.0495)


def test_what_is_outside_of_a_face_is_paper():
    nodes, triangles = grid(2, 2)
    picture = FaceRaster(nodes, triangles[:1], 1e-3).picture(np.full(4, 1e4), 1e4)
    white = (picture == PAPER).all(axis=2)
    assert white.mean() == pytest.approx(0.5, abs=0.01)
    assert (picture[~white] == SCALE[-1]).all()
