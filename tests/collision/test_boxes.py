"""Shortcuts for boxes and faces, against the general way."""

import numpy as np
import pytest
from collision.scenes import random_geometry, random_quaternion, two_bodies

from tabi.collision import boxes, convex, faces, support
from tabi.model.shape import Box


def parts(scene, q):
    scene.place(q)
    return scene.tables.shape[1], scene.memory.pose[1], scene.tables.shape[0], scene.memory.pose[0]


def random_pose(rng, spread):
    return np.concatenate(
        [np.zeros(3), random_quaternion(rng), spread * rng.normal(size=3), random_quaternion(rng)]
    )


@pytest.mark.parametrize("spread", [0.1, 0.25, 0.5])
def test_fifteen_directions_give_the_depth_and_bound_the_distance(spread):
    rng = np.random.default_rng(0)
    overlapping = 0
    for _ in range(80):
        scene = two_bodies(random_geometry("box", rng), random_geometry("box", rng))
        s, x, t, y = parts(scene, random_pose(rng, spread))
        _, n, gap, _, _, _ = boxes.closest_boxes(s, x, t, y, 10.0)
        _, _, expected, _, _ = convex.closest(s, x, t, y, 10.0, scene.tables, scene.memory)
        assert support.separation(s, x, t, y, scene.tables.vertex, n) == pytest.approx(
            gap, abs=1e-12
        )
        assert gap <= expected + 1e-12
        if expected < 0:
            # edges give way to faces by 1e-7 of the size
            assert gap == pytest.approx(expected, abs=2e-7)
            overlapping += 1
    assert overlapping > 5


def test_boxes_beyond_the_limit_are_not_near():
    scene = two_bodies(Box((0.2, 0.2, 0.2)), Box((0.2, 0.2, 0.2)))
    s, x, t, y = parts(scene, [0, 0, 0, 1, 0, 0, 0, 0.5, 0.1, 0, 1, 0, 0, 0])
    assert boxes.closest_boxes(s, x, t, y, 0.31)[0]
    assert not boxes.closest_boxes(s, x, t, y, 0.29)[0]


def test_crossed_edges_of_boxes_meet_in_their_nearest_points():
    scene = two_bodies(Box((1.0, 0.2, 0.2)), Box((0.2, 1.0, 0.2)))
    c, r = np.cos(np.pi / 8), np.sin(np.pi / 8)
    height = 0.2 * np.sqrt(2) + 0.01
    s, x, t, y = parts(scene, [0, 0, 0, c, r, 0, 0, 0.1, 0.05, height, c, 0, r, 0])
    near, n, gap, a, b, sure = boxes.closest_boxes(s, x, t, y, 0.1)
    assert near
    assert sure
    assert gap == pytest.approx(0.01)
    np.testing.assert_allclose(n, (0, 0, 1), atol=1e-12)
    np.testing.assert_allclose(a, (0.1, 0.0, height - 0.1 * np.sqrt(2)), atol=1e-12)
    np.testing.assert_allclose(b, (0.1, 0.0, 0.1 * np.sqrt(2)), atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kinds",
    [
        ("box", "sphere"),
        ("convex", "capsule"),
        ("box", "convex"),
        ("cylinder", "convex"),
        ("cylinder", "cylinder"),
    ],
)
def test_no_face_separates_shapes_more_than_they_are_apart(kinds):
    rng, with_faces = np.random.default_rng(1), 0
    for _ in range(60):
        scene = two_bodies(*(random_geometry(kind, rng) for kind in kinds))
        s, x, t, y = parts(scene, random_pose(rng, 0.3))
        tried, gap, n = faces.closest_face(s, x, t, y, 10.0, scene.tables)
        _, _, expected, _, _ = convex.closest(s, x, t, y, 10.0, scene.tables, scene.memory)
        if tried:
            with_faces += 1
            assert gap <= expected + 1e-6
            assert support.separation(s, x, t, y, scene.tables.vertex, n) == pytest.approx(
                gap, abs=1e-12
            )
    # every pair has a shape with faces; left out are those that the rings of a cylinder decide
    assert with_faces > 30


def test_hulls_of_very_many_faces_go_the_general_way():
    rng = np.random.default_rng(2)
    from tabi.formats.mesh import convex_hull

    points = rng.normal(size=(400, 3))
    ball = convex_hull(0.1 * points / np.linalg.norm(points, axis=1, keepdims=True))
    scene = two_bodies(ball, ball)
    s, x, t, y = parts(scene, random_pose(rng, 0.3))
    assert not faces.closest_face(s, x, t, y, 10.0, scene.tables)[0]
    q = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0.21, 1, 0, 0, 0]
    # two balls of 400 corners are nearly round:
    # the gap is that of balls, and what the corners leave out
    assert scene.pair(q, 1, 0, 0.05)["gap"].min() == pytest.approx(0.01, abs=5e-3)
