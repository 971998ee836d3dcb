"""Height fields: a plane of many triangles is a plane, ridges and peaks hold, valleys hold twice;
stairs.
"""

import numpy as np
import pytest
from collision.scenes import (
    KINDS,
    Scene,
    check_corners,
    on_fixed,
    ordered,
    random_geometry,
    random_quaternion,
)

import tabi
from tabi.collision import grid, ridge, terrain
from tabi.formats.mesh import convex_hull
from tabi.model.shape import Box, Capsule, Cylinder, Ellipsoid, HalfSpace, HeightField, Sphere
from tabi.spatial.transform import Transform, about, from_quaternion, z_to

UP = (0.0, 0.0, 1.0)
X, Y = np.meshgrid(np.linspace(-1, 1, 41), np.linspace(-1, 1, 41))


def plane(a, b):
    """A field that is the plane z = a x + b y, and its frame."""
    return HeightField(a * X + b * Y, (2.0, 2.0)), Transform(
        z_to(np.array([-a, -b, 1.0]) / np.sqrt(a * a + b * b + 1))
    )


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
        np.testing.assert_allclose(
            ordered(on_field["position"]), ordered(on_plane["position"]), atol=1e-9
        )
        np.testing.assert_allclose(
            on_field["normal"], np.tile(frame.R[:, 2], (len(on_field), 1)), atol=1e-12
        )
        np.testing.assert_allclose(np.sort(on_field["gap"]), np.sort(on_plane["gap"]), atol=1e-12)


def test_a_box_that_slides_over_seams_keeps_four_corners_one_normal_and_its_names():
    field, frame = plane(0.1, 0.2)
    names = set()
    for s in np.linspace(-0.3, 0.3, 61):
        scene = on_fixed(
            field, Box((0.23, 0.17, 0.1)), frame @ np.array([s, 0.5 * s, 0.05]), frame.quaternion
        )
        points = scene.detect()
        assert len(points) == 4
        np.testing.assert_allclose(points["normal"], np.tile(frame.R[:, 2], (4, 1)), atol=1e-12)
        names.add(tuple(points["feature"]))
    assert len(names) == 1


def test_a_field_that_is_turned_and_moved_carries_its_points_along():
    X_WF = from_quaternion(
        (0.9, 0.1, -0.1, 0.4) / np.linalg.norm((0.9, 0.1, -0.1, 0.4)), (0.5, 0.2, 1.0)
    )
    field = HeightField(np.zeros((9, 9)), (2.0, 2.0))
    scene = on_fixed(
        field,
        Box((0.2, 0.1, 0.1)),
        X_WF @ np.array([0.1, 0.2, 0.05]),
        X_WF.quaternion,
        position=X_WF.p,
        quaternion=X_WF.quaternion,
    )
    expected = [X_WF @ np.array([0.1 + x, 0.2 + y, 0]) for x in (-0.1, 0.1) for y in (-0.05, 0.05)]
    check_corners(scene.detect(), expected, X_WF.R[:, 2], 0.0)


def test_a_box_on_a_ridge_touches_where_the_ridge_leaves_it():
    field = HeightField(-0.3 * np.abs(X), (2.0, 2.0))
    points = on_fixed(field, Box((0.3, 0.22, 0.1)), (0.03, 0.013, 0.05)).detect()
    check_corners(points, [(0, 0.013 - 0.11, 0), (0, 0.013 + 0.11, 0)], UP, 0.0, tolerance=1e-9)


def test_a_box_and_a_ball_on_a_peak_touch_in_one_point():
    field = HeightField(-0.3 * np.hypot(X, Y), (2.0, 2.0))
    for thing, height in (
        (Box((0.3, 0.22, 0.1)), 0.05),
        (Sphere(0.1), 0.1),
        (Cylinder(0.1, 0.1), 0.05),
    ):
        check_corners(
            on_fixed(field, thing, (0.0, 0.0, height)).detect(),
            [(0, 0, 0)],
            UP,
            0.0,
            tolerance=1e-9,
        )


def test_a_ball_in_a_valley_touches_both_sides():
    slope = 0.5
    field = HeightField(slope * np.abs(X), (2.0, 2.0))
    height = 0.1 * np.sqrt(1 + slope**2)
    points = on_fixed(field, Sphere(0.1), (0.0, 0.012, height)).detect()
    n = np.array([slope, 0, 1]) / np.sqrt(1 + slope**2)
    assert len(points) == 2
    np.testing.assert_allclose(
        ordered(points["normal"]), ordered(np.array([n * (-1, 1, 1), n])), atol=1e-12
    )
    np.testing.assert_allclose(points["gap"], 0.0, atol=1e-12)


def test_an_ellipsoid_in_a_valley_touches_both_sides_and_on_a_ridge_its_edge():
    slope, g = 0.5, Ellipsoid((0.2, 0.08, 0.05))
    n = np.array([slope, 0, 1]) / np.sqrt(1 + slope**2)
    valley, mountain = (HeightField(s * slope * np.abs(X), (2.0, 2.0)) for s in (1, -1))
    # its plane with this normal is so far from its centre; over the valley's bottom by 1/n_z more
    height = g.support(n) / n[2]
    points = on_fixed(valley, g, (0.0, 0.025, height + 2e-4)).detect()
    assert len(points) == 2
    np.testing.assert_allclose(
        ordered(points["normal"]), ordered(np.array([n * (-1, 1, 1), n])), atol=1e-12
    )
    np.testing.assert_allclose(points["gap"], 2e-4 * n[2], atol=1e-12)
    check_corners(
        on_fixed(mountain, g, (0.0, 0.025, 0.05 + 2e-4)).detect(),
        [(0, 0.025, 1e-4)],
        UP,
        2e-4,
        tolerance=1e-9,
    )


def test_an_ellipsoid_that_slides_over_seams_keeps_one_point_and_its_name():
    field, frame = plane(0.1, 0.2)
    g, turn = Ellipsoid((0.1, 0.2, 0.05)), about((0.6, 0.8, 0.0), 0.4)
    lowest = g.support(-turn.R.T @ frame.R[:, 2])
    names = set()
    for s in np.linspace(-0.3, 0.3, 61):
        place = frame.R @ np.array([s, 0.3 * s, lowest])
        points = on_fixed(field, g, place, turn.quaternion).detect()
        assert len(points) == 1
        assert points["gap"][0] == pytest.approx(0.0, abs=1e-12)
        names.add(int(points["feature"][0]))
    assert len(names) == 1


def bowl(rings, sides, radius=0.2):
    """The hull of points of a ball's lower half, and a point above: its deepest corner is one of
    the first ring.
    """
    polar, turn = np.meshgrid(
        np.linspace(0.05, 1.4, rings), np.linspace(0, 2 * np.pi, sides, endpoint=False)
    )
    points = [np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn), -np.cos(polar)]
    return convex_hull(radius * np.append(np.stack(points, -1).reshape(-1, 3), [[0, 0, 1]], axis=0))


@pytest.mark.parametrize("seed", range(4))
def test_of_a_hull_with_many_corners_in_a_wide_band_the_lowest_ones_stay(seed):
    rng = np.random.default_rng(seed)
    field = HeightField(0.01 * rng.normal(size=(41, 41)), (2.0, 2.0))
    hull, turn = bowl(8, 24), about(UP, 0.3) @ about((0.6, 0.8, 0.0), 0.2 * rng.uniform())
    place = np.array([*rng.uniform(-0.3, 0.3, 2), 0.2])
    scene = on_fixed(field, hull, place, turn.quaternion)
    points = scene.detect(band=0.1)
    corners = points[points["feature"] >> 60 == 1]
    # all corners that are in the band, with the vertical gap to the ground under them
    x = hull.vertices @ turn.R.T + place
    high = x[:, 2] - height_under(field, x)
    assert (high < 0.09).sum() > 50
    kept = {int(k) for k in corners["feature"] >> 4 & 0x3FFF}
    assert 3 <= len(kept) <= 16
    # all triangles around them tried by hand: the deepest of these gaps is there
    scene.tables.shape["most"][1] = 1000
    every = scene.detect(band=0.1)
    every = every[every["feature"] >> 60 == 1]
    assert len({int(k) for k in every["feature"] >> 4 & 0x3FFF}) > 50
    assert corners["gap"].min() == every["gap"].min()
    # and what stays is the same to the bit
    both = every[np.isin(every["feature"], corners["feature"])]
    assert len(both) == len(corners)
    assert (np.sort(both, order="feature") == np.sort(corners, order="feature")).all()


def test_of_a_flat_bottom_with_many_corners_the_outline_stays():
    angles = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    rim = 0.3 * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    drum = convex_hull(np.concatenate([rim, rim + np.array([0, 0, 0.5])]))
    points = on_fixed(HeightField(0 * X, (2.0, 2.0)), drum, (0.01, 0.02, 0.0)).detect(band=0.01)
    assert 12 <= len(points) <= 16
    assert (points["gap"] == 0).all()
    around = np.sort(np.arctan2(*(points["position"] - (0.01, 0.02, 0))[:, 1::-1].T))
    # nowhere a gap in the outline of more than two of fourteen parts
    assert np.diff(np.append(around, around[0] + 2 * np.pi)).max() < 2 * 2 * np.pi / 14


def test_of_sixteen_corners_in_the_band_all_stay_to_the_bit():
    rng, compared = np.random.default_rng(0), 0
    field = HeightField(0.01 * rng.normal(size=(41, 41)), (2.0, 2.0))
    hull, turn = bowl(6, 16), about((0.6, 0.8, 0.0), 0.15)
    for height in np.linspace(0.19, 0.22, 100):
        place = np.array([*rng.uniform(-0.3, 0.3, 2), height])
        scene = on_fixed(field, hull, place, turn.quaternion)
        found = scene.detect(band=8e-3)
        scene.tables.shape["most"][1] = 1000
        every = scene.detect(band=8e-3)
        corners = every["feature"][every["feature"] >> 60 == 1]
        if 3 < len({int(k) for k in corners >> 4 & 0x3FFF}) <= 16:
            assert (found == every).all()
            compared += 1
    assert compared > 5


def test_a_hull_of_more_corners_than_memory_keeps_its_deepest():
    hull = bowl(20, 40)
    assert len(hull.vertices) > 600
    scene = on_fixed(HeightField(0 * X, (2.0, 2.0)), hull, (0, 0, 0.2))
    points = scene.detect(band=0.3)
    assert len(points) <= 16
    assert points["gap"].min() == pytest.approx(0.2 - 0.2 * np.cos(0.05), abs=1e-6)


def test_a_capsule_across_a_ridge_touches_in_one_point():
    field = HeightField(-0.3 * np.abs(X), (2.0, 2.0))
    points = on_fixed(
        field, Capsule(0.05, 0.4), (0.02, 0.013, 0.05), about((0, 1, 0), np.pi / 2).quaternion
    ).detect()
    check_corners(points, [(0, 0.013, 0)], UP, 0.0, tolerance=1e-9)


def test_a_capsule_and_a_cylinder_across_a_steep_valley_touch_both_sides():
    # sides of 45 degrees: the axis is tilted by as much to each, and neither end is the lowest
    field, turn = HeightField(np.abs(X), (2.0, 2.0)), about((0, 1, 0), np.pi / 2).quaternion
    n = np.array([1, 0, 1]) / np.sqrt(2)
    for thing, height in (
        (Capsule(0.05, 0.4), 0.2 + 0.05 * np.sqrt(2)),
        (Cylinder(0.05, 0.4), 0.2 + 0.05),
    ):
        points = on_fixed(field, thing, (0.0, 0.012, height), turn).detect()
        assert len(points) == 2
        np.testing.assert_allclose(
            ordered(points["normal"]), ordered(np.array([n * (-1, 1, 1), n])), atol=1e-12
        )
        np.testing.assert_allclose(points["gap"], 0.0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_rough_ground_is_met_where_the_first_point_would_be_inside(seed, kind):
    rng = np.random.default_rng(seed)
    field = HeightField(0.06 * rng.normal(size=(9, 9)), (2.0, 2.0))
    g, turn, place = random_geometry(kind, rng), random_quaternion(rng), rng.uniform(-0.3, 0.3, 3)
    R, scene = from_quaternion(turn).R, on_fixed(field, g, place, turn)
    # points of the ground, of its edges more of them, and corners and rims of the shape
    corners = field.points()[field.triangles()]
    t = np.linspace(0, 1, 400)
    edges = np.concatenate(
        [
            (1 - t)[:, None, None] * corners[:, i] + t[:, None, None] * corners[:, i - 1]
            for i in range(3)
        ]
    )
    share = np.array([(1 - a - b, a, b) for a in t[::20] for b in t[::20] if a + b <= 1])
    cloud = np.concatenate(
        [edges.reshape(-1, 3), np.einsum("sk,nki->nsi", share, corners).reshape(-1, 3)]
    )
    cloud = cloud[
        np.linalg.norm(cloud[:, :2] - place[:2], axis=1) < np.linalg.norm(g.points(), axis=1).max()
    ]
    tips = sharp_points(g) @ R.T

    def overlaps(p):
        return (
            inside(g, (cloud - p) @ R).any()
            or ((tips + p)[:, 2] < height_under(field, tips + p)).any()
        )

    q, low, high = scene.model.initial(), -1.0, 1.0
    while high - low > 1e-6:
        q[2] = 0.5 * (high + low)
        low, high = (q[2], high) if overlaps(q[:3]) else (low, q[2])
    # round sides between points 16 mm apart: 16²/8r;
    # edges between points 0.9 mm apart, on slopes of up to one
    assert scene.detect(q, band=0.02)["gap"].min() == pytest.approx(0.0, abs=1e-3)


def sharp_points(g):
    """Corners, or points of the rims, of a shape."""
    if isinstance(g, Cylinder):
        a = np.linspace(0, 2 * np.pi, 2000)
        return np.array(
            [
                (g.radius * np.cos(x), g.radius * np.sin(x), z)
                for x in a
                for z in (-g.length / 2, g.length / 2)
            ]
        )
    return np.zeros((1, 3)) if isinstance(g, (Sphere, Capsule, Ellipsoid)) else g.points()


def height_under(field, p):
    """Height of the ground under points."""
    h, last = field.heights, np.array(field.heights.shape)[::-1] - 1
    u, v = ((p[:, :2] / np.asarray(field.size) + 0.5) * last).T
    i, j = np.clip(u.astype(int), 0, last[0] - 1), np.clip(v.astype(int), 0, last[1] - 1)
    a, b, low, far = u - i, v - j, h[j, i], h[j + 1, i + 1]
    right = low + a * (h[j, i + 1] - low) + b * (far - h[j, i + 1])
    return np.where(a > b, right, low + b * (h[j + 1, i] - low) + a * (far - h[j + 1, i]))


def inside(g, x):
    """Which points, in its frame, are inside of a shape."""
    if isinstance(g, Sphere):
        return (x**2).sum(axis=1) < g.radius**2
    if isinstance(g, Ellipsoid):
        return np.square(x / np.asarray(g.radii)).sum(axis=1) < 1
    if isinstance(g, Capsule):
        along = x[:, 2] - np.clip(x[:, 2], -g.length / 2, g.length / 2)
        return x[:, 0] ** 2 + x[:, 1] ** 2 + along**2 < g.radius**2
    if isinstance(g, Cylinder):
        return (x[:, 0] ** 2 + x[:, 1] ** 2 < g.radius**2) & (np.abs(x[:, 2]) < g.length / 2)
    if isinstance(g, Box):
        return (np.abs(x) < np.asarray(g.size) / 2).all(axis=1)
    corners = g.vertices[g.triangles]
    n = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return (x @ n.T < (n * corners[:, 0]).sum(axis=1)).all(axis=1)


def test_a_corner_near_the_bottom_of_a_valley_knows_both_sides_and_near_a_ridge_its_own():
    tip = convex_hull([(0, 0, 0), (0.1, 0.1, 0.3), (-0.1, 0.1, 0.3), (0, -0.1, 0.3)])
    slope = 0.2
    n = np.array([slope, 0, 1]) / np.sqrt(1 + slope**2)
    for sign, sides in ((1, [n, n * (-1, 1, 1)]), (-1, [n * (-1, 1, 1)])):
        field = HeightField(sign * slope * np.abs(X), (2.0, 2.0))
        # 2 mm left of the fold, on the ground; it may be over the fold before a step of 5 mm ends
        points = on_fixed(field, tip, (-0.002, 0.012, sign * slope * 0.002)).detect(band=5e-3)
        found = points[points["feature"] >> 60 == 1]
        np.testing.assert_allclose(ordered(found["normal"]), ordered(np.array(sides)), atol=1e-12)
        here = found[np.argmin(found["gap"])]
        assert here["gap"] == pytest.approx(0.0, abs=1e-12)


def test_a_side_that_leaves_a_triangle_over_a_ridge_touches_there_along_the_triangle():
    slope, lean, above = 0.3, 0.02, 6e-3
    field = HeightField(-slope * np.abs(X), (2.0, 2.0))
    # a cylinder down the right slope, a little steeper than it; its upper end is over the ridge
    turn = about((0, 1, 0), np.pi / 2 + np.arctan(slope) + lean)
    along, up = turn.R[:, 2], np.cross(turn.R[:, 2], (0, 1, 0))
    middle = 0.05 * along + (0.1 + above) * up + np.array([0, 0.012, 0])
    points = on_fixed(field, Cylinder(0.1, 0.4), middle, turn.quaternion).detect(band=0.02)
    n = np.array([slope, 0, 1]) / np.sqrt(1 + slope**2)
    assert up @ n == pytest.approx(np.cos(lean), abs=1e-12)
    ridge_points = points[points["feature"] >> 60 == 2]
    assert ridge_points["gap"].min() == pytest.approx(above * np.cos(lean), abs=1e-6)
    np.testing.assert_allclose(ridge_points["normal"][np.argmin(ridge_points["gap"])], n, atol=1e-9)


@pytest.mark.parametrize("depth", [0.02, 0.3])
def test_what_is_under_the_ground_is_pushed_up(depth):
    for thing, half in (
        (Box((0.2, 0.1, 0.1)), 0.05),
        (Sphere(0.1), 0.1),
        (convex_hull(Box((0.2, 0.1, 0.1)).points()), 0.05),
    ):
        points = on_fixed(HeightField(0 * X, (2.0, 2.0)), thing, (0, 0, half - depth)).detect()
        assert points["gap"].min() == pytest.approx(-depth, abs=1e-12)
        np.testing.assert_allclose(points["normal"], np.tile(UP, (len(points), 1)), atol=1e-12)


def test_a_corner_deep_under_a_ridge_leaves_through_the_side_above_it_only():
    slope = 0.5
    field = HeightField(-slope * np.abs(X), (2.0, 2.0))
    # a ball 8 cm under the ridge and a little to the right:
    # the plane of the left side is higher over there
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
    steps = world.add_stairs(
        steps=4, rise=0.15, run=0.3, width=1.0, position=(1.0, 0.0, 0.0), friction=0.6
    )
    world.add_box((0.2, 0.1, 0.1), 1.0, position=(1.75, 0.2, 3 * 0.15 + 0.05))
    assert [s.material.friction for s in steps] == [0.6] * 4
    points = Scene(world).detect()
    check_corners(
        points,
        [(1.75 + x, 0.2 + y, 0.45) for x in (-0.1, 0.1) for y in (-0.05, 0.05)],
        UP,
        0.0,
        tolerance=1e-9,
    )
    assert (points["shape_b"] == 2).all()
    assert terrain.points_on is not None
