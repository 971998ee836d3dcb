"""Shapes that are more than a formula: ellipsoids, height fields and stairs."""

import numpy as np
import pytest

import tabi
from tabi import ModelError
from tabi.model.body import Foot
from tabi.model.feet.sole_finding import sole_of
from tabi.model.shape import Box, Ellipsoid, HeightField, MeshFile, Shape
from tabi.spatial.transform import about, translation


def test_an_ellipsoid_reaches_as_far_as_the_farthest_of_its_points():
    g, rng = Ellipsoid((0.3, 0.2, 0.1)), np.random.default_rng(0)
    u = rng.normal(size=(200_000, 3))
    surface = u / np.linalg.norm(u, axis=1, keepdims=True) * g.radii
    for d in rng.normal(size=(10, 3)):
        far = (surface @ d).max()
        assert far <= g.support(d) <= far * (1 + 1e-3)
    np.testing.assert_allclose(np.square(g.points() / g.radii).sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(np.abs(g.points()).max(axis=0), g.radii, atol=1e-12)


def test_a_world_takes_an_ellipsoid_with_its_inertia():
    world = tabi.World()
    body = world.add_ellipsoid((0.3, 0.2, 0.1), 5.0, position=(0, 0, 1), friction=0.4)
    assert (body.name, body.shapes[0].geometry) == ("ellipsoid", Ellipsoid((0.3, 0.2, 0.1)))
    assert body.shapes[0].material.friction == 0.4
    # m (b² + c²) / 5
    np.testing.assert_allclose(np.diag(body.inertia.tensor), (0.05, 0.10, 0.13), atol=1e-15)


def test_four_ellipsoids_under_a_foot_are_a_sole_with_their_lowest_points():
    tilt = about((0, 1, 0), 0.3)
    pads = [
        Shape(Ellipsoid((0.03, 0.02, 0.01)), translation((x, y, 0)) @ tilt)
        for x in (-0.1, 0.1)
        for y in (-0.05, 0.05)
    ]
    body = tabi.World().add_box((0.1, 0.1, 0.1), 1.0)
    body.shapes = pads
    foot = sole_of("left", body, np.eye(3))
    # lowest: D²d/‖Dd‖ of the direction that is down in its own axes, turned back
    down = tilt.R.T @ (0, 0, -1)
    low = tilt.R @ (np.square((0.03, 0.02, 0.01)) * down) / pads[0].geometry.support(down)
    assert isinstance(foot, Foot)
    assert foot.placement.p[2] == pytest.approx(low[2], abs=1e-12)
    np.testing.assert_allclose(np.abs(foot.polygon[:, 0] - low[0]), 0.1, atol=1e-9)


@pytest.mark.parametrize(
    ("radii", "words"),
    [
        ((0.1, 0.2), "expected three half axes x, y, z in metres"),
        (0.1, "expected three half axes"),
        ((0.1, 0.0, 0.2), "ellipsoid has radius y 0; expected a positive length"),
        ((0.1, 0.2, np.inf), "ellipsoid has radius z inf"),
    ],
)
def test_an_ellipsoid_that_is_none_is_refused(radii, words):
    with pytest.raises(ModelError, match=words):
        Ellipsoid(radii)


def test_the_points_of_a_height_field_span_its_rectangle():
    heights = np.arange(12.0).reshape(3, 4)
    field = HeightField(heights, (3.0, 1.0))
    points = field.points().reshape(3, 4, 3)
    np.testing.assert_allclose(points[:, :, 2], heights)
    np.testing.assert_allclose(points[0, :, 0], (-1.5, -0.5, 0.5, 1.5))
    np.testing.assert_allclose(points[:, 0, 1], (-0.5, 0.0, 0.5))


def test_the_triangles_of_a_height_field_look_up_and_cover_it_once():
    field = HeightField(np.random.default_rng(0).normal(size=(5, 4)), (3.0, 2.0))
    corners = field.points()[field.triangles()]
    doubled = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert len(corners) == 2 * 4 * 3
    assert (doubled[:, 2] > 0).all()
    assert 0.5 * doubled[:, 2].sum() == pytest.approx(6.0)


def test_the_support_of_a_height_field_is_its_highest_point_and_has_no_bottom():
    field = HeightField([[0.0, 0.0], [0.0, 1.5]], (2.0, 2.0))
    assert field.support(np.array([0.0, 0.0, 1.0])) == 1.5
    assert field.support(np.array([1.0, 0.0, 0.0])) == 1.0
    assert field.support(np.array([0.0, 0.0, -1.0])) == np.inf


@pytest.mark.parametrize(
    ("heights", "size", "words"),
    [
        (np.zeros((1, 5)), (1.0, 1.0), r"at least 2 × 2"),
        (np.zeros(5), (1.0, 1.0), r"shape \(5,\)"),
        ([[0.0, 0.0], [0.0, np.nan]], (1.0, 1.0), "height nan in row 1, column 1"),
        (np.zeros((2, 2)), (1.0, -1.0), "size y -1; expected a positive length"),
        (np.zeros((2, 2)), 1.0, "expected two edges x, y"),
        ([["a", "b"], ["c", "d"]], (1.0, 1.0), "not numbers"),
    ],
)
def test_a_height_field_that_is_none_is_refused(heights, size, words):
    with pytest.raises(ModelError, match=words):
        HeightField(heights, size)


def test_a_world_takes_a_height_field_as_a_fixed_thing():
    world = tabi.World()
    shape = world.add_height_field(np.zeros((3, 3)), (1.0, 1.0), friction=0.4)
    assert isinstance(shape.geometry, HeightField)
    assert (shape.name, shape.material.friction) == ("height_field", 0.4)
    with pytest.raises(ModelError, match="cannot be written for MuJoCo"):
        world.add_box((0.1, 0.1, 0.1), 1.0)
        pytest.importorskip("mujoco", reason="mujoco is not installed")
        tabi.to_mujoco(world)


def test_stairs_are_solid_boxes_that_rise_by_one_step_each():
    world = tabi.World()
    half = np.sqrt(0.5)
    steps = world.add_stairs(
        3, rise=0.2, run=0.3, width=1.0, position=(1.0, 2.0, 0.5), quaternion=(half, 0, 0, half)
    )
    for k, step in enumerate(steps):
        assert isinstance(step.geometry, Box)
        corners = step.placement @ step.geometry.points()
        # turned by a quarter: up along y
        np.testing.assert_allclose(corners.min(axis=0), (0.5, 2.0 + 0.3 * k, 0.5), atol=1e-12)
        np.testing.assert_allclose(
            corners.max(axis=0), (1.5, 2.3 + 0.3 * k, 0.7 + 0.2 * k), atol=1e-12
        )
    assert len({step.name for step in steps}) == 3
    world.add_stairs(2, 0.1, 0.3, 1.0)


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((0, 0.2, 0.3, 1.0), "0 steps"),
        ((2.5, 0.2, 0.3, 1.0), "2.5 steps"),
        ((2, -0.2, 0.3, 1.0), "rise -0.2"),
        ((2, 0.2, 0.3, np.inf), "width inf"),
    ],
)
def test_stairs_that_are_none_are_refused(numbers, words):
    with pytest.raises(ModelError, match=words):
        tabi.World().add_stairs(*numbers)


def test_a_height_field_is_drawn_as_its_triangles():
    from tabi.formats.triangles import mesh_of

    shape = tabi.World().add_height_field([[0.0, 0.1], [0.2, 0.3]], (1.0, 1.0), position=(0, 0, 1))
    vertices, triangles = mesh_of(shape)
    assert triangles.shape == (2, 3)
    assert vertices[:, 2].max() == pytest.approx(1.3)
    assert not isinstance(shape.geometry, MeshFile)
