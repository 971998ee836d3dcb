"""Height fields: a plane of many triangles is a plane, ridges and peaks hold, valleys hold twice; stairs."""

import numpy as np
import pytest
from collision.scenes import KINDS, Scene, check_corners, on_fixed, ordered, random_geometry, random_quaternion

import tabi
from tabi.collision import grid, ridge, terrain
from tabi.model.readers.mesh import convex_hull
from tabi.model.shape import Box, Capsule, Cylinder, HalfSpace, HeightField, Sphere
from tabi.spatial.transform import Transform, about, from_quaternion, z_to

UP = (0.0, 0.0, 1.0)
X, Y = np.meshgrid(np.linspace(-1, 1, 41), np.linspace(-1, 1, 41))


def plane(a, b):
    """A field that is the plane z = a x + b y, and its frame."""
    return HeightField(a * X + b * Y, (2.0, 2.0)), Transform(z_to(np.array([-a, -b, 1.0]) / np.sqrt(a * a + b * b + 1)))


@pytest.mark.parametrize("slopes", [(0.0, 0.0), (0.3, 0.0), (0.1, -0.25)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_plane_of_many_triangles_gives_the_points_of_a_half_space(kind, slopes):
    field, frame = plane(*slopes)
    rng = np.random.default_rng(1)
    for _ in range(10):
        g, turn = random_geometry(kind, rng), random_quaternion(rng)
        R = from_quaternion(turn).R
        lowest = -g.support(-R.T @ frame.R[:, 2])
        place = frame.R @ np.array([*rng.uniform(-0.3, 0.3, 2), -lowest + rng.uniform(-5e-4, 5e-4)])
        on_field = on_fixed(field, g, place, turn).detect()
        on_plane = on_fixed(HalfSpace(), g, place, turn, quaternion=frame.quaternion).detect()
        assert len(on_field) == len(on_plane) > 0
        np.testing.assert_allclose(ordered(on_field["position"]), ordered(on_plane["position"]), atol=1e-9)
        np.testing.assert_allclose(on_field["normal"], np.tile(frame.R[:, 2], (len(on_field), 1)), atol=1e-12)
        np.testing.assert_allclose(np.sort(on_field["gap"]), np.sort(on_plane["gap"]), atol=1e-12)


def test_a_box_that_slides_over_seams_keeps_four_corners_one_normal_and_its_names():
    field, frame = plane(0.1, 0.2)
    names = set()
    for s in np.linspace(-0.3, 0.3, 61):
        scene = on_fixed(field, Box((0.23, 0.17, 0.1)), frame @ np.array([s, 0.5 * s, 0.05]), frame.quaternion)
        points = scene.detect()
        assert len(points) == 4
        np.testing.assert_allclose(points["normal"], np.tile(frame.R[:, 2], (4, 1)), atol=1e-12)
        names.add(tuple(points["feature"]))
    assert len(names) == 1


def test_a_field_that_is_turned_and_moved_carries_its_points_along():
    X_WF = from_quaternion((0.9, 0.1, -0.1, 0.4) / np.linalg.norm((0.9, 0.1, -0.1, 0.4)), (0.5, 0.2, 1.0))
    field = HeightField(np.zeros((9, 9)), (2.0, 2.0))
    scene = on_fixed(field, Box((0.2, 0.1, 0.1)), X_WF @ np.array([0.1, 0.2, 0.05]), X_WF.quaternion, position=X_WF.p, quaternion=X_WF.quaternion)
    expected = [X_WF @ np.array([0.1 + x, 0.2 + y, 0]) for x in (-0.1, 0.1) for y in (-0.05, 0.05)]
    check_corners(scene.detect(), expected, X_WF.R[:, 2], 0.0)


def test_a_box_on_a_ridge_touches_where_the_ridge_leaves_it():
    field = HeightField(-0.3 * np.abs(X), (2.0, 2.0))
    points = on_fixed(field, Box((0.3, 0.22, 0.1)), (0.03, 0.013, 0.05)).detect()
    check_corners(points, [(0, 0.013 - 0.11, 0), (0, 0.013 + 0.11, 0)], UP, 0.0, tolerance=1e-9)


def test_a_box_and_a_ball_on_a_peak_touch_in_one_point():
    field = HeightField(-0.3 * np.hypot(X, Y), (2.0, 2.0))
    for thing, height in ((Box((0.3, 0.22, 0.1)), 0.05), (Sphere(0.1), 0.1), (Cylinder(0.1, 0.1), 0.05)):
        check_corners(on_fixed(field, thing, (0.0, 0.0, height)).detect(), [(0, 0, 0)], UP, 0.0, tolerance=1e-9)


def test_a_ball_in_a_valley_touches_both_sides():
    slope = 0.5
    field = HeightField(slope * np.abs(X), (2.0, 2.0))
    height = 0.1 * np.sqrt(1 + slope**2)
    points = on_fixed(field, Sphere(0.1), (0.0, 0.012, height)).detect()
    n = np.array([slope, 0, 1]) / np.sqrt(1 + slope**2)
    assert len(points) == 2
    np.testing.assert_allclose(ordered(points["normal"]), ordered(np.array([n * (-1, 1, 1), n])), atol=1e-12)
    np.testing.assert_allclose(points["gap"], 0.0, atol=1e-12)


def test_a_capsule_across_a_ridge_touches_in_one_point():
    field = HeightField(-0.3 * np.abs(X), (2.0, 2.0))
    points = on_fixed(field, Capsule(0.05, 0.4), (0.02, 0.013, 0.05), about((0, 1, 0), np.pi / 2).quaternion).detect()
    check_corners(points, [(0, 0.013, 0)], UP, 0.0, tolerance=1e-9)


@pytest.mark.parametrize("depth", [0.02, 0.3])
def test_what_is_under_the_ground_is_pushed_up(depth):
    for thing, half in ((Box((0.2, 0.1, 0.1)), 0.05), (Sphere(0.1), 0.1), (convex_hull(Box((0.2, 0.1, 0.1)).points()), 0.05)):
        points = on_fixed(HeightField(0 * X, (2.0, 2.0)), thing, (0, 0, half - depth)).detect()
        assert points["gap"].min() == pytest.approx(-depth, abs=1e-12)
        np.testing.assert_allclose(points["normal"], np.tile(UP, (len(points), 1)), atol=1e-12)


def test_a_corner_deep_under_a_ridge_leaves_through_the_side_above_it_only():
    slope = 0.5
    field = HeightField(-slope * np.abs(X), (2.0, 2.0))
    # a ball 8 cm under the ridge and a little to the right: the plane of the left side is higher over there
    place = np.array([5e-4, 0.03, -0.08])
    points = on_fixed(field, Sphere(1e-3), place).detect()
    n = np.array([slope, 0, 1]) / np.sqrt(1 + slope**2)
    sides = points[points["feature"] >> 60 == 1]
    assert len(sides) == 1
    np.testing.assert_allclose(sides["normal"][0], n, atol=1e-12)
    assert sides["gap"][0] == pytest.approx(n @ place - 1e-3, abs=1e-12)


def test_beside_the_field_there_is_nothing():
    field = HeightField(np.zeros((3, 3)), (1.0, 1.0))
    assert len(on_fixed(field, Sphere(0.1), (0.7, 0.0, 0.05)).detect()) == 0
    assert len(on_fixed(field, Sphere(0.1), (0.4, 0.0, 0.1)).detect()) == 1


def test_rough_ground_holds_a_dropped_box_at_every_place():
    rng = np.random.default_rng(3)
    field = HeightField(0.02 * rng.normal(size=(41, 41)), (2.0, 2.0))
    for _ in range(50):
        place = np.array([*rng.uniform(-0.7, 0.7, 2), 0.0])
        box, turn = Box((0.2, 0.15, 0.1)), random_quaternion(rng)
        # the distance by a fine search: how far every point of the box is above the ground under it
        R, p = from_quaternion(turn).R, field.points()
        inside = np.abs(p[:, :2] - place[:2]).max(axis=1) < 0.3
        t = np.linspace(-0.5, 0.5, 5)
        samples = np.array([(x, y, z) for x in t for y in t for z in t]) * box.size
        bottom = (samples @ R.T)[:, 2].min()
        place[2] = p[inside, 2].max() - bottom + 5e-3
        # well above the highest peak: nothing
        assert len(on_fixed(field, box, place, turn).detect()) == 0
        place[2] = p[inside, 2].min() - bottom - 5e-3
        points = on_fixed(field, box, place, turn).detect()
        # its lowest point is below the deepest hole: something holds it
        assert len(points) > 0
        assert points["gap"].min() < 0
        assert (points["normal"][:, 2] > 0).all()
        assert len(set(points["feature"])) == len(points)


def test_cells_and_triangles_are_where_the_grid_is():
    scene = on_fixed(HeightField(0.1 * X + 0.2 * Y, (2.0, 2.0)), Sphere(0.1), (0, 0, 1))
    row = scene.tables.shape[0]
    assert grid.cell(row, *grid.place_on_grid(row, (-1.0, 1.0, 0.0))) == (0, 39)
    n, o = grid.triangle(row, scene.tables.height, 3, 5, True)
    np.testing.assert_allclose(n, np.array([-0.1, -0.2, 1]) / np.sqrt(1.05), atol=1e-12)
    np.testing.assert_allclose(o, (-0.85, -0.75, -0.235), atol=1e-12)
    assert grid.over_triangle(row, 3, 5, True, (-0.84, -0.72, 0.0))
    assert not grid.over_triangle(row, 3, 5, False, (-0.84, -0.72, 0.0))


def test_merging_keeps_the_ends_of_a_line_and_a_bump_between_them():
    from tabi.collision.workspace import point_table

    points = point_table(8)
    points["normal"] = UP
    points["position"][:5, 0] = [0.0, 1.0, 2.0, 2.0, 3.0]
    points["gap"][:5] = [0.0, 0.0, -0.5, -0.5, 0.0]
    assert ridge.merged(points, 0, 5, 1e-6) == 3
    assert points["position"][:3, 0].tolist() == [0.0, 2.0, 3.0]
    points["gap"][:5] = 0.0
    points["position"][:5, 0] = [0.0, 1.0, 2.0, 2.0, 3.0]
    assert ridge.merged(points, 0, 5, 1e-6) == 2
    assert points["position"][:2, 0].tolist() == [0.0, 3.0]


def test_a_box_on_stairs_touches_the_step_under_it():
    world = tabi.World()
    steps = world.add_stairs(steps=4, rise=0.15, run=0.3, width=1.0, position=(1.0, 0.0, 0.0), friction=0.6)
    world.add_box((0.2, 0.1, 0.1), 1.0, position=(1.75, 0.2, 3 * 0.15 + 0.05))
    assert [s.material.friction for s in steps] == [0.6] * 4
    points = Scene(world).detect()
    check_corners(points, [(1.75 + x, 0.2 + y, 0.45) for x in (-0.1, 0.1) for y in (-0.05, 0.05)], UP, 0.0, tolerance=1e-9)
    assert (points["shape_b"] == 2).all()
    assert terrain.points_on is not None
