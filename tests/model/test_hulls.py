"""Hulls with fewer vertices: inside of the old ones, never farther in than they say."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from tabi import ModelError
from tabi.collision.polytope import faces_of
from tabi.formats.mesh import convex_hull
from tabi.model import hulls
from tabi.model.shape import Convex

BOX = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)


def ball(count, seed=0):
    points = np.random.default_rng(seed).normal(size=(count, 3))
    return points / np.linalg.norm(points, axis=1)[:, None]


def bevelled(half, cut):
    """Corners of a box whose edges are cut off."""
    half = np.asarray(half, float)
    return np.concatenate([(half - cut * (1 - e)) * BOX for e in np.eye(3)])


def cylinder(radius, length, sides):
    turn = 2 * np.pi * np.arange(sides) / sides
    rim = np.stack([radius * np.cos(turn), radius * np.sin(turn), 0 * turn], axis=1)
    up = np.array([0.0, 0.0, 0.5 * length])
    return np.concatenate([rim + up, rim - up])


SHAPES = {
    "ball": 0.1 * ball(1000),
    "egg": ball(700, 1) * [0.05, 0.1, 0.2] + [3.0, -2.0, 1.0],
    "box with bevels": bevelled((0.1, 0.05, 0.2), 0.004),
    "thin plate": bevelled((0.1, 0.06, 0.0015), 0.0005),
    "round plate": cylinder(0.06, 0.003, 200),
    "needle": ball(500, 2) * [0.001, 0.001, 0.3],
    "cylinder": cylinder(0.04, 0.2, 360),
    "rod across": cylinder(0.01, 0.5, 60) @ np.linalg.qr(ball(3, 5))[0].T,
    "cloud": np.random.default_rng(3).normal(size=(3000, 3)) * 0.05,
    "rounded in single precision": (0.1 * ball(800, 4)).astype(np.float32).astype(float),
}


def lost_along(before, after, count=2000):
    """How much less the second reaches in many directions [m]."""
    directions = ball(count, 99).T
    return (before @ directions).max(axis=0) - (after @ directions).max(axis=0)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-3, 5e-3])
@pytest.mark.parametrize("name", SHAPES)
def test_the_surface_moves_inwards_by_no_more_than_is_told(name, tolerance):
    before = convex_hull(SHAPES[name])
    after, lost = hulls.simplified(before, tolerance)
    less = lost_along(before.vertices, after.vertices)
    assert lost <= tolerance
    assert less.max() <= lost + 1e-9
    # vertices of the old one, so nothing reaches farther
    assert {tuple(v) for v in after.vertices} <= {tuple(v) for v in before.vertices}
    assert less.min() >= 0
    # closed, convex and outward, as collisions ask for
    faces = faces_of(after.vertices, after.triangles, name)
    outside = [(after.vertices @ f.normal - f.offset).max() for f in faces]
    assert max(outside) < 1e-6 * np.ptp(after.vertices, axis=0).max()
    assert ConvexHull(after.vertices).volume <= ConvexHull(before.vertices).volume + 1e-15


def test_what_is_told_is_the_distance_to_the_hull_not_to_its_planes():
    # a blade with a curved edge: what is left out of the edge lies far from the hull, but hardly
    # over the planes of its two sides
    y = np.linspace(-0.2, 0.2, 81)
    edge = np.stack([0.1 + 0.03 * (1 - (y / 0.2) ** 2), y, 0 * y], axis=1)
    back = 0.005 * BOX * [0, 40, 1]
    before = convex_hull(np.concatenate([edge, back]))
    after, lost = hulls.simplified(before, 1e-3)
    planes = ConvexHull(after.vertices).equations
    heights = (before.vertices @ planes[:, :3].T + planes[:, 3]).max()
    assert heights < 0.2 * lost
    # the edge that is left, as a polygon
    kept = after.vertices[np.abs(after.vertices[:, 2]) < 1e-9]
    kept = kept[np.argsort(kept[:, 1])]
    sag = (edge[:, 0] - np.interp(y, kept[:, 1], kept[:, 0])).max()
    assert 0.5 * sag < lost <= sag <= 1.1e-3


def test_distances_to_triangles_are_those_to_face_edge_and_corner():
    a, b, c = (np.array([p], float).T for p in ([0, 0, 0], [2, 0, 0], [0, 1, 0]))
    for point, far in [
        ([0.3, 0.3, 0.7], 0.7),
        ([1.0, -0.6, 0.8], 1.0),
        ([-3.0, 0.5, -4.0], 5.0),
        ([2.0, 1.0, 0.0], 2 / 5**0.5),
        ([5.0, 0.0, 4.0], 5.0),
        ([0.0, 4.0, 4.0], 5.0),
    ]:
        assert hulls._to_triangles(np.array([point]).T, a, b, c) == pytest.approx([far])


def test_a_few_vertices_stand_for_many():
    counts = {}
    for name in ("ball", "cylinder", "box with bevels", "thin plate"):
        before = convex_hull(SHAPES[name])
        counts[name] = len(hulls.simplified(before, 1e-3)[0].vertices) / len(before.vertices)
    assert counts["ball"] < 0.4
    assert counts["cylinder"] < 0.1
    # one for each corner
    assert hulls.simplified(convex_hull(SHAPES["box with bevels"]), 8e-3)[0].vertices.shape == (
        8,
        3,
    )
    assert counts["thin plate"] < 0.7


def test_a_box_and_whatever_has_few_vertices_come_back_as_they_are():
    for points in (BOX, bevelled((1, 1, 1), 0.9)[:16]):
        before = convex_hull(points)
        assert hulls.simplified(before, 0.5) == (before, 0.0)
    # so does a hull of which all is needed, or of which nothing may be lost
    before = convex_hull(SHAPES["ball"])
    assert hulls.simplified(before, 0.0) == (before, 0.0)
    after, lost = hulls.simplified(before, 1e-7)
    assert (after, lost) == (before, 0.0)
    # a box that has vertices in its faces too becomes a box
    grid = np.array([[x, y, z] for x in range(6) for y in range(6) for z in (0, 5)], float)
    rough = grid + 1e-5 * np.sin(7 * grid.sum(axis=1))[:, None] * (grid[:, 2:] - 2.5)
    after, _ = hulls.simplified(convex_hull(rough), 1e-3)
    assert len(after.vertices) == 8
    assert np.ptp(after.vertices, axis=0) == pytest.approx((5, 5, 5), abs=1e-3)


def test_what_must_stay_stays():
    before = convex_hull(SHAPES["cylinder"])
    keep = np.flatnonzero(before.vertices[:, 2] < 0)
    after, lost = hulls.simplified(before, 1e-3, keep=keep)
    kept = {tuple(v) for v in before.vertices[keep]}
    assert kept <= {tuple(v) for v in after.vertices}
    assert len(after.vertices) < 1.2 * len(keep)
    assert 0 < lost <= 1e-3
    # though there be no room
    after, _ = hulls.simplified(before, 1e-3, most=10, keep=keep)
    assert kept <= {tuple(v) for v in after.vertices}


@pytest.mark.parametrize("most", [4, 5, 8, 12, 40])
@pytest.mark.parametrize("name", ["ball", "cloud", "round plate", "needle", "cylinder"])
def test_there_are_never_more_than_asked_for(name, most):
    before = convex_hull(SHAPES[name])
    after, lost = hulls.simplified(before, 1e-5, most)
    assert 4 <= len(after.vertices) <= most
    assert lost_along(before.vertices, after.vertices).max() <= lost + 1e-9
    more, less = hulls.simplified(before, 1e-5, 2 * most)
    assert less < lost
    assert len(more.vertices) > len(after.vertices)


def test_a_ball_of_five_thousand_points_is_simplified_too():
    before = convex_hull(0.1 * ball(5000, 8))
    after, lost = hulls.simplified(before, 1e-3)
    assert 50 < len(after.vertices) < 500
    assert lost <= 1e-3
    assert lost_along(before.vertices, after.vertices).max() <= lost + 1e-9


def test_the_same_hull_is_simplified_in_the_same_way():
    before = convex_hull(SHAPES["egg"])
    first, second = (hulls.simplified(before, 1e-3)[0] for _ in range(2))
    assert np.array_equal(first.vertices, second.vertices)
    assert np.array_equal(first.triangles, second.triangles)


def test_the_file_goes_with_the_hull(tmp_path):
    found = hulls.solid(SHAPES["ball"], tmp_path / "a.stl")
    assert isinstance(found, Convex)
    assert hulls.simplified(found, 1e-3)[0].file == tmp_path / "a.stl"


def test_a_hull_without_some_vertices_is_that_of_the_others():
    before = convex_hull(SHAPES["cylinder"])
    gone = np.arange(0, len(before.vertices), 3)
    after = hulls.without(before, gone)
    assert np.array_equal(after.vertices, np.delete(before.vertices, gone, axis=0))
    assert ConvexHull(after.vertices).volume == pytest.approx(
        np.linalg.det(after.vertices[after.triangles]).sum() / 6, rel=1e-9
    )
    assert after.file is before.file


def test_a_hull_without_none_or_all_but_a_face_is_the_one_it_was():
    box = convex_hull(BOX)
    assert hulls.without(box, []) is box
    assert hulls.without(box, np.flatnonzero(box.vertices[:, 2] > 0)) is box


def test_beside_vertices_that_stay_no_others_stay_in_vain():
    # the corners that reach farthest are on the rounding beside the face that stays
    half, radius = np.array([0.1, 0.05, 0.03]), 4e-4
    turn = np.linspace(0, np.pi / 2, 7)[1:]
    rim = [
        (half - radius * (1 - np.sin(a))) * [1, 1, 0] + [0, 0, radius * (1 - np.cos(a))]
        for a in (0.0, *turn)
    ]
    signs = np.array([[x, y, 1] for x in (-1, 1) for y in (-1, 1)])
    points = np.concatenate([np.array(rim) * sign for sign in signs])
    points = np.concatenate([points, (half * [1, 1, 2]) * signs])
    hull = convex_hull(points)
    flat = np.flatnonzero(hull.vertices[:, 2] < 1e-9)
    after, lost = hulls.simplified(hull, 1e-3, None, flat)
    assert len(hull.vertices) > 24
    assert len(after.vertices) == 8
    assert 0 < lost <= 1e-3


def test_points_without_a_hull_are_refused():
    with pytest.raises(ModelError, match="no convex hull of 5 points"):
        hulls.solid(np.full((5, 3), 1e300), None)
    assert hulls.hull_of(np.zeros((5, 3)), (None,)) is None


def test_open_surfaces_are_told():
    closed = convex_hull(BOX).triangles
    assert hulls._closed(closed)
    assert not hulls._closed(closed[1:])
    assert not hulls._closed(np.concatenate([closed[:-1], closed[:1]]))
