"""Light on triangles, lines on the ground, and smooth edges."""

import numpy as np
import pytest

from tabi.rendering.raster import BACKGROUND, FIRST_PLANE
from tabi.rendering.shading import CELL, WIDTH, line, paint, shade

TONES = np.array([(200.0, 210, 220), (100, 110, 120), (50, 55, 60), (80, 90, 100), (40, 45, 50)])


def test_face_towards_the_sun_is_brighter_and_turns_with_its_body():
    sun, up = np.array([0.0, 0.0, 1.0]), np.array([[0.0, 0.0, 1.0]], np.float32)
    over = np.array([np.eye(3), np.diag([1.0, -1.0, -1.0])])
    shades = np.zeros((2, 3), np.uint8)
    color, owner = np.full((2, 3), 0.5, np.float32), np.array([0, 1], np.int32)
    shade(color, np.repeat(up, 2, axis=0), owner, over, sun, shades)
    # (1): 0.45 + 0.18 + 0.5 of what lies under the sun, 0.45 of what is turned away
    assert shades[0].tolist() == [int(127.5 * 1.13)] * 3
    assert shades[1].tolist() == [int(127.5 * 0.45)] * 3


def test_pixel_is_the_mean_of_its_samples():
    what = np.array([[0, 0, 1, 1], [0, 1, 1, 1]], np.int32)
    pixels, shades = np.zeros((1, 2, 3), np.uint8), np.array([[40, 0, 0], [0, 80, 8]], np.uint8)
    paint(pixels, what, shades, np.zeros((0, 3, 3)), TONES, 1.0)
    assert pixels.tolist() == [[[30, 20, 2], [0, 80, 8]]]


def test_nothing_has_the_colour_of_the_sky():
    pixels = np.zeros((2, 2, 3), np.uint8)
    what = np.full((4, 4), BACKGROUND, np.int32)
    paint(pixels, what, np.zeros((0, 3), np.uint8), np.zeros((0, 3, 3)), TONES, 1.0)
    assert (pixels == TONES[0]).all()


@pytest.mark.parametrize("wide", [0.002, 0.03, 0.11, 0.249])
def test_lines_cover_as_much_of_all_pixels_as_of_the_plane(wide):
    # a row of pixels from the middle of a cell to the middle of another
    count = round(2 * CELL / wide)
    places = (np.arange(count) + 0.5) * (2 * CELL / count) - CELL / 2
    covered = [line(float(at), 2 * CELL / count) for at in places]
    assert np.mean(covered) == pytest.approx(WIDTH / CELL)
    assert min(covered) >= 0
    assert max(covered) <= 1
    assert line(0.3 * CELL, 3.0 * CELL) == pytest.approx(WIDTH / CELL)


def test_ground_is_darker_in_the_shadow_and_pales_with_the_distance():
    # a plane that is seen everywhere at one depth, 0.25 m off its lines
    pixels = np.zeros((1, 2, 3), np.uint8)
    what = np.array([[FIRST_PLANE, FIRST_PLANE - 1]], np.int32)
    tones = []
    for depth in (0.01, 1e6):
        ground = np.zeros((1, 3, 3))
        ground[0, :, 0] = 0.25 / depth, 0.25 / depth, 1.0 / depth
        paint(pixels, what, np.zeros((0, 3), np.uint8), ground, TONES, 0.5)
        tones.append(pixels[0].astype(float))
    assert np.allclose(tones[0], TONES[1:3], atol=1.0)
    assert np.allclose(tones[1], TONES[[0, 0]], atol=1.0)
