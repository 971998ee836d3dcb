"""Cameras see by the pinhole formula, and refuse what no camera is."""

import numpy as np
import pytest

import tabi
from tabi.rendering.camera import around
from tabi.spatial.transform import Transform, from_quaternion


def test_points_are_seen_by_the_pinhole_formula():
    rng = np.random.default_rng(1)
    X = from_quaternion(rng.normal(size=4), rng.normal(size=3))
    camera = tabi.Camera(pose=X, field_of_view=50.0, size=(320, 200))
    # in the camera's frame, which looks along −z
    local = rng.uniform((-1, -1, -5), (1, 1, -0.5), (20, 3))
    seen, depth = camera.project(X @ local)
    f = 100.0 / np.tan(np.radians(25.0))
    assert np.allclose(depth, -local[:, 2])
    assert np.allclose(seen[:, 0], 160.0 - f * local[:, 0] / local[:, 2])
    assert np.allclose(seen[:, 1], 100.0 + f * local[:, 1] / local[:, 2])
    # as by the matrix, for axes to the right, down and forwards
    image = (camera.matrix @ (local * (1, -1, -1)).T).T
    assert np.allclose(image[:, :2] / image[:, 2:], seen)


def test_edges_of_the_picture_are_half_the_field_of_view_away():
    camera = tabi.Camera((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), field_of_view=60.0, size=(400, 200))
    up = np.tan(np.radians(30.0))
    seen, _ = camera.project([(1.0, 0.0, up), (1.0, 0.0, -up), (1.0, 2 * up, 0.0)])
    assert np.allclose(seen, [(200, 0), (200, 200), (0, 100)])


@pytest.mark.parametrize("target", [(0, 0, -2), (0, 0, 2), (1, 0, 0), (-0.3, 2.0, -0.7)])
def test_target_is_in_the_middle_and_up_is_above(target):
    camera = tabi.Camera((0.0, 0.0, 0.0), target, size=(200, 100))
    seen, depth = camera.project(np.array(target, float))
    assert np.allclose(seen, (100, 50))
    assert depth == pytest.approx(np.linalg.norm(target))
    # up, or along x for one that looks straight up or down
    up = np.array([1.0, 0.0, 0.0] if target[:2] == (0, 0) else [0.0, 0.0, 1.0])
    higher, _ = camera.project(np.array(target) + 0.1 * up)
    assert higher[1] < 50
    assert higher[0] == pytest.approx(100)
    assert np.allclose(camera.pose.R.T @ camera.pose.R, np.eye(3))
    assert np.linalg.det(camera.pose.R) == pytest.approx(1)


def test_camera_around_a_target_is_as_far_and_as_high_as_asked():
    camera = around(np.array([1.0, 2.0, 0.5]), 3.0, (200, 100), azimuth=90.0, elevation=30.0)
    way = camera.pose.p - (1.0, 2.0, 0.5)
    assert np.allclose(way, (0.0, 3.0 * np.cos(np.pi / 6), 1.5))
    assert camera.project([(1.0, 2.0, 0.5)])[1] == pytest.approx(3.0)


def test_what_is_behind_the_camera_is_nowhere_in_the_picture():
    camera = tabi.Camera((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    seen, depth = camera.project([(-1.0, 0.0, 0.0), (0.0, 1.0, 0.0)])
    assert np.isnan(seen).all()
    assert np.allclose(depth, (-1.0, 0.0))


def test_repr_tells_place_size_and_field():
    camera = tabi.Camera((0.0, 1.0, 2.0), (1.0, 0.0, 0.0), field_of_view=60.0, size=(320, 240))
    assert repr(camera) == "Camera(at [0.0, 1.0, 2.0], 320 × 240 pixels, 60°)"


HERE, THERE = (0.0, 0.0, 1.0), (1.0, 0.0, 1.0)
MIRROR = Transform(np.diag([1.0, 1.0, -1.0]), np.zeros(3))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "neither a pose nor both a position and a target"),
        ({"position": HERE}, "neither a pose nor both a position and a target"),
        ({"position": HERE, "target": HERE}, "its target at its own position"),
        ({"position": (0, np.nan, 1), "target": HERE}, "position of a camera is (0, nan, 1)"),
        ({"position": "here", "target": HERE}, "position of a camera is 'here'"),
        ({"position": HERE, "target": (1, 2)}, "target of a camera is (1, 2); expected three"),
        ({"position": HERE, "target": THERE, "field_of_view": 0}, "field of view of a camera is 0"),
        ({"position": HERE, "target": THERE, "field_of_view": 180}, "less than 180"),
        ({"position": HERE, "target": THERE, "field_of_view": np.nan}, "more than 0 and less than"),
        ({"position": HERE, "target": THERE, "field_of_view": "wide"}, "expected a number"),
        ({"position": HERE, "target": THERE, "size": (0, 480)}, "picture is (0, 480); expected"),
        ({"position": HERE, "target": THERE, "size": (640, -1)}, "whole numbers of pixels"),
        ({"position": HERE, "target": THERE, "size": (640.5, 480)}, "whole numbers of pixels"),
        ({"position": HERE, "target": THERE, "size": 640}, "picture is 640; expected width and"),
        ({"position": HERE, "target": THERE, "size": (10**9, 480)}, "from 1 to 8192"),
        ({"pose": MIRROR, "target": THERE}, "a pose and a position or target"),
        ({"pose": MIRROR}, "expected a rotation matrix"),
        ({"pose": np.eye(4)}, "pose of a camera is ndarray; expected a Transform"),
    ],
)
def test_what_is_no_camera_is_refused_in_a_sentence(arguments, sentence):
    with pytest.raises(tabi.ModelError) as told:
        tabi.Camera(**arguments)
    assert sentence in str(told.value)
