"""Area and width of polygons."""

import numpy as np
import pytest

from tabi.spatial.polygon import polygon_area, polygon_width


def test_triangle_and_its_mirror_image():
    corners = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 3.0]])
    assert polygon_area(corners) == 3.0
    assert polygon_area(corners[::-1]) == -3.0


def test_many_corners_come_near_to_a_circle():
    angle = np.linspace(0.0, 2.0 * np.pi, 1000, endpoint=False)
    # a regular n-gon has the area n/2 sin(2π/n)
    expected = 500.0 * np.sin(2.0 * np.pi / 1000)
    circle = np.column_stack([np.cos(angle), np.sin(angle)]) + 7.0
    assert polygon_area(circle) == pytest.approx(expected, rel=1e-12)


def test_the_width_of_a_triangle_is_its_least_height_and_of_a_rectangle_its_short_side():
    # 3, 4, 5: twice the area over the longest side
    triangle = np.array([[1.0, 1.0], [4.0, 1.0], [1.0, 5.0]])
    assert polygon_width(triangle) == pytest.approx(12.0 / 5.0, rel=1e-12)
    c, s = np.cos(0.7), np.sin(0.7)
    turned = np.array([[0, 0], [3, 0], [3, 2], [0, 2]]) @ np.array([[c, s], [-s, c]])
    assert polygon_width(turned) == pytest.approx(2.0, rel=1e-12)
