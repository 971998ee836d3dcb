"""Polygons with holes, filled with triangles."""

import numpy as np
import pytest
from soles.shapes import BOOT, RECTANGLE, disc

from tabi import ModelError
from tabi.soles import outline

HOLE = [(0.0, 0.0), (0.03, 0.0), (0.03, 0.02), (0.0, 0.02)]


def areas(points, triangles):
    a, b, c = np.moveaxis(points[triangles], 1, 0)
    return 0.5 * ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])


@pytest.mark.parametrize(
    ("polygon", "holes", "cuts"),
    [
        (RECTANGLE, [], []),
        (RECTANGLE, [HOLE], []),
        (RECTANGLE[::-1], [], [-0.02, 0.031]),
        (BOOT, [], []),
        (BOOT, [], [0.03, 0.08, 0.1]),
        (disc(0.05, 40), [disc(0.02, 16)], [0.013]),
        ([(0.0, 0.0), (0.2, 0.01), (0.01, 0.05)], [], []),
    ],
)
def test_triangles_fill_the_outline_and_cross_no_side_and_no_cut(polygon, holes, cuts):
    shape = outline.checked(polygon, holes)
    points, triangles = outline.triangulated(shape, 0.01, cuts)
    size = areas(points, triangles)
    assert size.min() > 0.0
    # sums of some hundred areas round off at 1e-13
    assert size.sum() == pytest.approx(shape.area, rel=1e-11)
    # edges of one triangle alone are the outline: their middles lie on sides
    edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    found, count = np.unique(edges, axis=0, return_counts=True)
    assert count.max() == 2
    assert shape.distance(points[found[count == 1]].mean(axis=1)).max() < 1e-12
    for cut in cuts:
        x = points[triangles][:, :, 0] - cut
        assert not ((x.min(axis=1) < -1e-9) & (x.max(axis=1) > 1e-9)).any()


def test_a_rectangle_is_a_regular_grid_turned_or_not():
    turned = np.array(RECTANGLE) @ np.array([[0.8, 0.6], [-0.6, 0.8]])
    for polygon in (RECTANGLE, turned):
        points, triangles = outline.triangulated(outline.checked(polygon), 0.01)
        assert len(points) == 24 * 13
        np.testing.assert_allclose(areas(points, triangles), 0.01**2 / 2, rtol=1e-9)


def test_a_point_is_held_inside_but_not_in_a_hole():
    shape = outline.checked(RECTANGLE, [HOLE])
    inside = shape.holds(np.array([(-0.05, 0.0), (0.01, 0.01), (0.2, 0.0)]))
    np.testing.assert_array_equal(inside, [True, False, False])


@pytest.mark.parametrize(
    ("polygon", "holes", "words"),
    [
        ([(0, 0), (1, 1), (1, 0), (0, 1)], [], "crosses itself"),
        ([(0, 0), (1, 0), (2, 0)], [], "area"),
        ([(0, 0), (1, 0)], [], "at least three"),
        ([(0, 0), (0, 0), (1, 0), (0, 1)], [], "two equal corners"),
        ([(0, 0), (1, 0), (0, np.nan)], [], "finite"),
        (RECTANGLE, [[(1, 1), (2, 1), (1, 2)]], "hole 0 of a sole is not inside"),
        (RECTANGLE, [HOLE, HOLE], "hole 1"),
        (BOOT, [[(0.01, 0.01), (0.15, 0.01), (0.01, 0.14)]], "crosses the outline"),
    ],
)
def test_an_outline_that_cannot_be_is_refused(polygon, holes, words):
    with pytest.raises(ModelError, match=words):
        outline.checked(polygon, holes)
