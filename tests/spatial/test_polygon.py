"""Area of polygons."""

import numpy as np
import pytest

from tabi.spatial.polygon import polygon_area


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
