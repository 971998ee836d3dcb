"""Every shape on a plane, by hand calculation."""

import numpy as np
import pytest
from collision.scenes import check_corners, on_fixed, on_ground

import tabi
from tabi.collision import arrays, detect, halfspace, polygon
from tabi.formats.mesh import convex_hull
from tabi.model.shape import Box, Capsule, Cylinder, Ellipsoid, HalfSpace, Sphere
from tabi.spatial.transform import about, from_quaternion, quaternion_from_matrix

UP = (0.0, 0.0, 1.0)
LYING = about((1, 0, 0), np.pi / 2).quaternion


def test_a_box_standing_on_the_plane_touches_with_its_four_lower_corners():
    points = on_ground(Box((0.2, 0.1, 0.4)), (1.0, 2.0, 0.2)).detect()
    check_corners(points, [(1 + x, 2 + y, 0) for x in (-0.1, 0.1) for y in (-0.05, 0.05)], UP, 0.0)
    assert (points["a"] == 1).all()
    assert (points["b"] == 0).all()
    assert (points["shape_a"] == 1).all()
    assert (points["shape_b"] == 0).all()


def test_points_lie_midway_between_the_surfaces():
    points = on_ground(Box((0.2, 0.1, 0.4)), (0.0, 0.0, 0.2 + 6e-4)).detect()
    check_corners(points, [(x, y, 3e-4) for x in (-0.1, 0.1) for y in (-0.05, 0.05)], UP, 6e-4)


@pytest.mark.parametrize("angle", [1e-6, 1e-4, 2e-3])
def test_a_tilted_box_keeps_its_corners_and_their_names_with_the_gaps_of_the_tilt(angle):
    X = about((0, 1, 0), angle)
    size = np.array([0.2, 0.1, 0.4])
    flat = on_ground(Box(tuple(size)), (0, 0, 0.2)).detect(band=1e-2)
    tilted = on_ground(Box(tuple(size)), (0, 0, 0.2), X.quaternion).detect(band=1e-2)
    assert (flat["feature"] == tilted["feature"]).all()
    corners = [(x, y, -0.2) for x in (-0.1, 0.1) for y in (-0.05, 0.05)]
    np.testing.assert_allclose(tilted["gap"], [(X.R @ c)[2] + 0.2 for c in corners], atol=1e-14)


@pytest.mark.parametrize(("turn", "count"), [((1, 0, 0), 2), ((1, 1, 0), 1)])
def test_a_box_on_its_edge_has_two_points_and_on_its_corner_one(turn, count):
    X = about(np.array(turn) / np.linalg.norm(turn), 0.6)
    lowest = min((X.R @ c)[2] for c in Box((0.2, 0.2, 0.2)).points())
    points = on_ground(Box((0.2, 0.2, 0.2)), (0, 0, -lowest), X.quaternion).detect()
    assert len(points) == count
    np.testing.assert_allclose(points["gap"], 0.0, atol=1e-14)


def test_a_thin_plate_in_the_band_shows_its_lower_side_only():
    points = on_ground(Box((0.2, 0.1, 1e-3)), (0, 0, 5e-4)).detect(band=5e-3)
    check_corners(points, [(x, y, 0) for x in (-0.1, 0.1) for y in (-0.05, 0.05)], UP, 0.0)


def test_a_ball_touches_in_one_point():
    points = on_ground(Sphere(0.3), (1.0, 0.0, 0.3 - 1e-3)).detect()
    check_corners(points, [(1, 0, -0.5e-3)], UP, -1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_an_ellipsoid_touches_in_its_lowest_point(seed):
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    radii, X = rng.uniform(0.05, 0.3, 3), about(axis / np.linalg.norm(axis), rng.uniform(0, np.pi))
    # on the surface xᵀ A x = 1 the normal is along A x: straight down where A x = −k z
    A = X.R @ np.diag(radii**-2.0) @ X.R.T
    low = -np.linalg.solve(A, UP)
    low /= np.sqrt(low @ A @ low)
    points = on_ground(Ellipsoid(tuple(radii)), (1.0, 2.0, -low[2] - 2e-4), X.quaternion).detect()
    check_corners(points, [(1 + low[0], 2 + low[1], -1e-4)], UP, -2e-4)
    assert points["feature"][0] == on_ground(Sphere(0.1), (0, 0, 0.1)).detect()["feature"][0]


def test_a_lying_capsule_and_a_lying_cylinder_touch_with_both_ends():
    for geometry in (Capsule(0.1, 0.4), Cylinder(0.1, 0.4)):
        points = on_ground(geometry, (0, 0, 0.1), LYING).detect()
        check_corners(points, [(0, 0.2, 0), (0, -0.2, 0)], UP, 0.0)


def test_a_standing_capsule_touches_in_one_point():
    check_corners(on_ground(Capsule(0.1, 0.4), (0, 0, 0.3)).detect(), [(0, 0, 0)], UP, 0.0)


def test_a_standing_cylinder_touches_in_eight_points_of_its_rim():
    points = on_ground(Cylinder(0.1, 0.4), (0, 0, 0.2)).detect()
    angles = np.arange(8) * np.pi / 4
    check_corners(
        points, np.stack([0.1 * np.cos(angles), 0.1 * np.sin(angles), 0 * angles], axis=1), UP, 0.0
    )


def test_a_cylinder_that_tilts_keeps_the_names_of_its_rim_and_adds_the_lowest_point():
    axis = np.array([np.sin(0.3), np.cos(0.3), 0.0])
    flat = on_ground(Cylinder(0.1, 0.4), (0, 0, 0.2)).detect(band=1e-2)
    for angle in (1e-7, 1e-3):
        X = about(axis, angle)
        points = on_ground(Cylinder(0.1, 0.4), (0, 0, 0.2), X.quaternion).detect(band=1e-2)
        assert set(flat["feature"]) <= set(points["feature"])
        # the lowest point of a disk tilted by θ is r sin θ below its centre,
        # which is (1 − cos θ) l/2 higher
        lowest = 0.2 - 0.2 * np.cos(angle) - 0.1 * np.sin(angle)
        assert points["gap"].min() == pytest.approx(lowest, abs=1e-8 if angle < 1e-4 else 1e-14)
        assert len(points) == (8 if angle < 1e-4 else 9)
    assert polygon.MIN_TILT == 1e-4


def test_a_polytope_touches_with_its_lower_corners():
    points = on_ground(
        convex_hull(Box((0.2, 0.1, 0.4)).points() + np.array([0.5, 0.0, 0.0])), (0, 0, 0.2)
    ).detect()
    check_corners(points, [(0.5 + x, y, 0) for x in (-0.1, 0.1) for y in (-0.05, 0.05)], UP, 0.0)


def test_of_many_corners_sixteen_stay_with_the_deepest_and_the_outermost():
    angles = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    rim = np.stack([np.cos(angles), 0.5 * np.sin(angles), 0 * angles], axis=1)
    tip = np.array([[0.1, 0.0, -1e-4]])
    points = on_ground(
        convex_hull(np.concatenate([rim, rim + np.array([0, 0, 1.0]), tip])), (0, 0, 0)
    ).detect()
    assert 8 <= len(points) <= 16
    assert points["gap"].min() == pytest.approx(-1e-4, abs=1e-12)
    for column, reach in ((0, 1.0), (1, 0.5)):
        assert np.abs(points["position"][:, column]).max() == pytest.approx(reach, rel=0.03)


def test_a_plane_may_be_tilted_and_a_box_lies_flat_on_it():
    X = from_quaternion(
        (0.9, 0.1, -0.2, 0.3) / np.linalg.norm((0.9, 0.1, -0.2, 0.3)), (0.3, -0.2, 0.1)
    )
    scene = on_fixed(
        HalfSpace(),
        Box((0.2, 0.1, 0.4)),
        X @ np.array([0.5, 0.4, 0.2]),
        X.quaternion,
        position=X.p,
        quaternion=X.quaternion,
    )
    expected = [X @ np.array([0.5 + x, 0.4 + y, 0]) for x in (-0.1, 0.1) for y in (-0.05, 0.05)]
    check_corners(scene.detect(), expected, X.R[:, 2], 0.0)


def test_a_plane_on_a_moving_body_pushes_a_fixed_ball_the_other_way():
    world = tabi.World()
    world.add_fixed(Sphere(0.1), (0.0, 0.0, 0.1), name="ball")
    world.add_box((0.1, 0.1, 0.1), 1.0, position=(0, 0, 0), name="lid")
    world.objects[0].shapes[0].geometry = HalfSpace()
    from collision.scenes import Scene

    points = Scene(world).detect()
    check_corners(points, [(0, 0, 0)], (0, 0, -1), 0.0)
    assert halfspace.points_below is not None
    assert (points["a"][0], points["b"][0]) == (1, 0)


def faceted_ball(radius, count):
    """Vertices nearly evenly on a sphere."""
    k = np.arange(count)
    z = 1 - (2 * k + 1) / count
    angle = k * np.pi * (3 - np.sqrt(5))
    r = np.sqrt(1 - z * z)
    return convex_hull(radius * np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1))


def rolling(geometry, radius, speed, steps, foreseen=1.0):
    """Rolling on the plane: the most points, and how much lower than any of them another corner is
    at the end of a step; foreseen: part of the turn that the points are found for.
    """
    scene, h, most, error = on_ground(geometry, (0, 0, 0)), 1e-3, 0, 0.0
    step = about((0, 1, 0), speed * h / radius).R
    told = (0.0, foreseen * speed * h / radius, 0.0)
    corners, R = geometry.vertices, np.eye(3)
    for k in range(steps):
        height = -(corners @ R[2]).min() - 1e-5
        scene.place([speed * h * k, 0, height, *quaternion_from_matrix(R)])
        count = detect.pair_points(
            scene.tables, scene.memory, 1, 0, 1e-3 + 2 * speed * h, told, scene.points, 0
        )
        found = scene.points["feature"][:count] & 0x3FFF
        R = step @ R
        most = max(most, count)
        error = max(error, (corners[found] @ R[2]).min() - (corners @ R[2]).min())
    return most, error


@pytest.mark.parametrize("count", [300, 5000])
def test_a_ball_of_many_facets_rolls_on_sixteen_points_as_on_all(count):
    most, error = rolling(faceted_ball(0.1, count), 0.1, 5.0, 200)
    assert 1 <= most <= 16
    assert error < 1e-6


def test_points_found_for_no_turn_would_miss_corners_of_a_rolling_ball():
    assert rolling(faceted_ball(0.1, 5000), 0.1, 5.0, 20, foreseen=0.0)[1] > 1e-5


def test_no_polytope_shows_more_than_sixteen_corners_however_fast_it_turns():
    ball = faceted_ball(0.1, 5000)
    scene = on_ground(ball, (0, 0, 0.09))
    scene.place(scene.model.initial())
    for turn in (0.0, 0.05, 0.5, 2.0):
        count = detect.pair_points(
            scene.tables, scene.memory, 1, 0, 0.1, (turn, 0.0, 0.0), scene.points, 0
        )
        assert 1 <= count <= 16
        lowest = scene.points["gap"][:count].min()
        assert lowest == pytest.approx(0.09 + ball.vertices[:, 2].min(), abs=1e-12)


def test_a_sole_with_many_corners_keeps_them_all():
    angles = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    rim = np.stack([0.1 * np.cos(angles), 0.05 * np.sin(angles), 0 * angles], axis=1)
    plate = convex_hull(np.concatenate([rim, rim + np.array([0, 0, 0.02])]))
    scene = on_ground(plate, (0, 0, -0.01))
    assert 14 <= len(scene.detect()) <= 16
    scene.tables.shape["most"] = arrays.MAX_SOLE_POINTS
    assert len(scene.detect()) == 40
