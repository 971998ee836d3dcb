"""Patches of two convex shapes: the polygon by hand, identities, frames, order."""

import numpy as np
import pytest
from collision.scenes import (
    PAIRS,
    check_corners,
    on_fixed,
    ordered,
    random_geometry,
    random_quaternion,
    two_bodies,
)

from tabi.collision import arrays, convex, overlap, polygon, segments, support
from tabi.formats.mesh import convex_hull
from tabi.model.shape import Box, Capsule, Cylinder, HalfSpace, Sphere
from tabi.spatial.transform import about, from_quaternion

UP = (0.0, 0.0, 1.0)
TABLE = Box((1.0, 1.0, 0.2))
BELOW = {"position": (0.0, 0.0, -0.1)}


def hull_of(box):
    return convex_hull(box.points())


@pytest.mark.parametrize(
    "table", [TABLE, hull_of(TABLE), Cylinder(0.8, 0.2)], ids=["box", "polytope", "cylinder"]
)
@pytest.mark.parametrize("gap", [8e-4, 1e-7, 0.0, -1e-9, -1e-4])
def test_a_box_on_a_table_touches_with_its_four_corners_before_at_and_after_contact(table, gap):
    for thing in (Box((0.2, 0.1, 0.1)), hull_of(Box((0.2, 0.1, 0.1)))):
        points = on_fixed(table, thing, (0.1, 0.2, 0.05 + gap), **BELOW).detect()
        check_corners(
            points,
            [(0.1 + x, 0.2 + y, gap / 2) for x in (-0.1, 0.1) for y in (-0.05, 0.05)],
            UP,
            gap,
            tolerance=1e-9,
        )


@pytest.mark.parametrize("gap", [5e-4, 0.0, -1e-4])
def test_an_overhanging_box_touches_with_the_rectangle_over_the_table(gap):
    points = on_fixed(TABLE, Box((0.2, 0.1, 0.1)), (0.5, 0.0, 0.05 + gap), **BELOW).detect()
    check_corners(
        points,
        [(x, y, gap / 2) for x in (0.4, 0.5) for y in (-0.05, 0.05)],
        UP,
        gap,
        tolerance=1e-9,
    )


def test_crossed_boxes_touch_with_the_square_between_their_edges():
    points = on_fixed(Box((0.1, 1.0, 0.1)), Box((1.0, 0.1, 0.1)), (0, 0, 0.1)).detect()
    check_corners(
        points,
        [(x, y, 0.05) for x in (-0.05, 0.05) for y in (-0.05, 0.05)],
        UP,
        0.0,
        tolerance=1e-9,
    )
    assert (points["feature"] >> 60 == 3).all()


def test_equal_boxes_on_each_other_have_four_points_with_steady_names():
    names = set()
    for seed in range(20):
        shift = 1e-12 * np.random.default_rng(seed).normal(size=3)
        points = on_fixed(
            Box((0.2, 0.2, 0.2)), Box((0.2, 0.2, 0.2)), np.array([0, 0, 0.2]) + shift
        ).detect()
        assert len(points) == 4
        names.add(tuple(points["feature"]))
    assert len(names) == 1


def test_boxes_turned_by_an_eighth_touch_with_an_octagon():
    points = on_fixed(
        Box((0.2, 0.2, 0.2)),
        Box((0.2, 0.2, 0.2)),
        (0, 0, 0.2),
        about((0, 0, 1), np.pi / 4).quaternion,
    ).detect()
    # the edges of one cut the corners of the other: |x| = 0.1, |y| = 0.1 (√2 − 1)
    t = 0.1 * (np.sqrt(2) - 1)
    expected = [
        (a * x, b * y, 0.1) for x, y in ((0.1, t), (t, 0.1)) for a in (-1, 1) for b in (-1, 1)
    ]
    check_corners(points, expected, UP, 0.0, tolerance=1e-9)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0.6, 0.8, 0)])
def test_a_foot_that_tilts_over_a_table_keeps_its_four_corners(axis):
    foot = Box((0.24, 0.14, 0.02))
    flat = on_fixed(TABLE, foot, (0, 0, 0.01), **BELOW).detect(band=5e-3)
    for angle in (-1e-4, -1e-8, 1e-8, 1e-4, 1e-3):
        X = about(axis, angle)
        points = on_fixed(TABLE, foot, (0, 0, 0.01 + 1e-5), X.quaternion, **BELOW).detect(band=5e-3)
        assert (points["feature"] == flat["feature"]).all()
        corners = [(x, y, -0.01) for x in (-0.12, 0.12) for y in (-0.07, 0.07)]
        # the normal is that of one of the two faces, so gaps agree up to the square of the tilt
        np.testing.assert_allclose(
            points["gap"], [(X.R @ c)[2] + 0.01 + 1e-5 for c in corners], atol=2 * angle**2 + 1e-9
        )


def test_crossing_edges_touch_in_one_point():
    lower, upper = about((1, 0, 0), np.pi / 4), about((0, 1, 0), np.pi / 4)
    height = np.sqrt(2) * 0.1
    for gap in (5e-4, 0.0, -1e-3):
        scene = on_fixed(
            Box((1.0, 0.2, 0.2)),
            Box((0.2, 1.0, 0.2)),
            (0, 0, 2 * height + gap),
            upper.quaternion,
            quaternion=lower.quaternion,
        )
        check_corners(scene.detect(), [(0, 0, height + gap / 2)], UP, gap, tolerance=1e-8)


def test_parallel_edges_touch_in_two_points():
    turn = about((1, 0, 0), np.pi / 4)
    height = np.sqrt(2) * 0.1
    scene = on_fixed(
        Box((1.0, 0.2, 0.2)),
        Box((0.4, 0.2, 0.2)),
        (0.1, 0, 2 * height + 5e-4),
        turn.quaternion,
        quaternion=turn.quaternion,
    )
    check_corners(
        scene.detect(),
        [(-0.1, 0, height + 2.5e-4), (0.3, 0, height + 2.5e-4)],
        UP,
        5e-4,
        tolerance=1e-8,
    )


def test_a_corner_on_a_face_touches_in_one_point():
    X = about(np.array([1, 1, 0]) / np.sqrt(2), np.arctan(np.sqrt(2)))
    points = on_fixed(
        TABLE, Box((0.2, 0.2, 0.2)), (0, 0, 0.1 * np.sqrt(3) - 1e-4), X.quaternion, **BELOW
    ).detect()
    check_corners(points, [(0, 0, -0.5e-4)], UP, -1e-4, tolerance=1e-9)


@pytest.mark.parametrize("gap", [5e-4, 0.0, -1e-3])
def test_a_capsule_and_a_cylinder_lying_on_a_table_touch_with_both_ends(gap):
    lying = about((0, 1, 0), np.pi / 2).quaternion
    for thing in (Capsule(0.1, 0.4), Cylinder(0.1, 0.4)):
        points = on_fixed(TABLE, thing, (0.05, 0.1, 0.1 + gap), lying, **BELOW).detect()
        check_corners(
            points, [(-0.15, 0.1, gap / 2), (0.25, 0.1, gap / 2)], UP, gap, tolerance=1e-8
        )


def test_a_capsule_over_the_edge_of_a_table_touches_on_the_edge():
    lying = about((0, 1, 0), np.pi / 2).quaternion
    points = on_fixed(TABLE, Capsule(0.1, 0.4), (0.5, 0.1, 0.1), lying, **BELOW).detect()
    check_corners(points, [(0.3, 0.1, 0), (0.5, 0.1, 0)], UP, 0.0, tolerance=1e-9)


@pytest.mark.parametrize("gap", [5e-4, 0.0, -1e-4])
def test_a_cylinder_standing_on_a_table_or_a_drum_touches_in_eight_points(gap):
    angles = np.arange(8) * np.pi / 4
    expected = np.stack([0.1 * np.cos(angles), 0.1 * np.sin(angles), 0 * angles + gap / 2], axis=1)
    for table in (TABLE, Cylinder(0.3, 0.2), Cylinder(0.1, 0.2)):
        check_corners(
            on_fixed(table, Cylinder(0.1, 0.4), (0, 0, 0.2 + gap), **BELOW).detect(),
            expected,
            UP,
            gap,
            tolerance=1e-9,
        )


def test_a_box_on_a_narrow_drum_touches_within_its_circle():
    points = on_fixed(Cylinder(0.1, 0.2), Box((0.5, 0.1, 0.1)), (0, 0, 0.05), **BELOW).detect()
    reach = np.linalg.norm(points["position"][:, :2], axis=1)
    assert reach.max() == pytest.approx(0.1, abs=1e-9)
    # where the edges y = ±0.05 of the box leave the circle, x² = r² − y²
    corners = ordered(
        np.array([(x * np.sqrt(0.1**2 - 0.05**2), y * 0.05, 0.0) for x in (-1, 1) for y in (-1, 1)])
    )
    for corner in corners:
        assert np.linalg.norm(points["position"] - corner, axis=1).min() < 1e-9


def test_parallel_capsules_touch_with_two_points_and_crossed_ones_with_one():
    scene = two_bodies(Capsule(0.1, 0.4), Capsule(0.1, 0.4))
    q = np.array([0, 0, 0, 1, 0, 0, 0, 0.2, 0, 0.1, 1, 0, 0, 0], float)
    check_corners(scene.pair(q, 1, 0, 1e-3), [(0.1, 0, -0.1), (0.1, 0, 0.2)], (1, 0, 0), 0.0)
    q[10:14] = about((1, 0, 0), np.pi / 2).quaternion
    check_corners(scene.pair(q, 1, 0, 1e-3), [(0.1, 0, 0.1)], (1, 0, 0), 0.0)


def test_balls_touch_on_the_line_of_their_centres_even_when_these_coincide():
    scene = two_bodies(Sphere(0.1), Sphere(0.2))
    q = np.array([0, 0, 0, 1, 0, 0, 0, 0.24, 0, 0.18, 1, 0, 0, 0], float)
    check_corners(scene.pair(q, 1, 0, 1e-3), [(0.08, 0, 0.06)], (0.8, 0, 0.6), 0.0)
    q[7:10] = 0.0
    points = scene.pair(q, 1, 0, 1e-3)
    assert points["gap"] == pytest.approx(-0.3)
    assert np.linalg.norm(points["normal"][0]) == pytest.approx(1.0)


def random_pair(kinds, seed):
    rng = np.random.default_rng(seed)
    scene = two_bodies(*(random_geometry(kind, rng) for kind in kinds))
    q = np.concatenate(
        [
            0.2 * rng.normal(size=3),
            random_quaternion(rng),
            0.2 * rng.normal(size=3),
            random_quaternion(rng),
        ]
    )
    return scene, q, rng


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_both_moved_together_the_points_move_with_them(kinds):
    for seed in range(10):
        scene, q, rng = random_pair(kinds, seed)
        points = scene.pair(q, 1, 0, 0.05)
        X = from_quaternion(random_quaternion(rng), rng.normal(size=3))
        moved = q.copy()
        for start in (0, 7):
            Y = X @ from_quaternion(q[start + 3 : start + 7], q[start : start + 3])
            moved[start : start + 7] = [*Y.p, *Y.quaternion]
        other = scene.pair(moved, 1, 0, 0.05)
        # the hull of a cylinder's difference ends at 1e-9 of its size,
        # its normal at the root of that
        loose = 1e-4 if "cylinder" in kinds else 1e-9
        assert len(points) == len(other)
        np.testing.assert_allclose(other["gap"], points["gap"], atol=loose)
        np.testing.assert_allclose(other["normal"], points["normal"] @ X.R.T, atol=30 * loose)
        if "cylinder" not in kinds:
            assert (other["feature"] == points["feature"]).all()
            np.testing.assert_allclose(other["position"], X @ points["position"], atol=loose)


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_swapping_the_shapes_turns_the_normal_around(kinds):
    for seed in range(10):
        scene, q, _ = random_pair(kinds, seed)
        one, two = scene.pair(q, 1, 0, 0.05), scene.pair(q, 0, 1, 0.05)
        loose = 1e-4 if "cylinder" in kinds else 1e-9
        assert len(one) == len(two)
        if len(one):
            assert one["gap"].min() == pytest.approx(two["gap"].min(), abs=loose)
            np.testing.assert_allclose(one["normal"][0], -two["normal"][0], atol=30 * loose)
        if "cylinder" not in kinds:
            np.testing.assert_allclose(
                ordered(one["position"]), ordered(two["position"]), atol=1e-9
            )


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_the_gap_is_the_largest_separation_over_all_directions(kinds):
    for seed in range(10):
        scene, q, rng = random_pair(kinds, seed)
        points = scene.pair(q, 1, 0, 1.0)
        s, t = scene.tables.shape[1], scene.tables.shape[0]
        x, y = scene.memory.pose[1], scene.memory.pose[0]
        found = convex.closest(s, x, t, y, 1.0, scene.tables, scene.memory)
        along = support.separation(s, x, t, y, scene.tables.vertex, found[1])
        assert points["gap"].min() == pytest.approx(along, abs=1e-6)
        for d in rng.normal(size=(300, 3)):
            n = tuple(float(v) for v in d / np.linalg.norm(d))
            assert support.separation(s, x, t, y, scene.tables.vertex, n) <= along + 1e-6


def test_points_of_a_patch_lie_on_both_surfaces_along_the_normal():
    rng, touching = np.random.default_rng(5), 0
    for _ in range(30):
        scene = two_bodies(random_geometry("convex", rng), random_geometry("box", rng))
        q = np.concatenate(
            [np.zeros(3), random_quaternion(rng), 0.2 * rng.normal(size=3), random_quaternion(rng)]
        )
        patch = scene.pair(q, 1, 0, 0.02)
        touching += len(patch) > 0
        for p in patch:
            for start, shape, sign in ((0, 0, 1), (7, 1, -1)):
                X = from_quaternion(q[start + 3 : start + 7], q[start : start + 3])
                own = X.inverse() @ (p["position"] - sign * 0.5 * p["gap"] * p["normal"])
                faces = scene.tables.face[
                    scene.tables.shape["face"][shape] : scene.tables.shape["face_end"][shape]
                ]
                middle = scene.tables.shape["position"][shape]
                outside = ((own - middle) @ faces["normal"].T - faces["offset"]).max()
                assert abs(outside) < 1e-5
    # most are nearer than their sizes of some decimetres
    assert touching > 15


def test_the_sides_of_a_contact_are_named_by_corners_and_edges():
    assert overlap.CORNER_A >> 60 == 1
    assert overlap.CORNER_B >> 60 == 2
    assert overlap.CROSSING >> 60 == 3
    assert arrays.MAX_POINTS == 16


def test_axes_across_a_normal_are_right_handed():
    rng = np.random.default_rng(0)
    for n in [*np.eye(3), *-np.eye(3), *rng.normal(size=(20, 3))]:
        n = n / np.linalg.norm(n)
        t1, t2 = polygon.axes(tuple(n))
        R = np.stack([t1, t2, n])
        np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-14)
        assert np.linalg.det(R) == pytest.approx(1.0)


def test_nearest_points_of_segments_beat_a_fine_search():
    rng = np.random.default_rng(2)
    grid = np.linspace(-1, 1, 41)
    for _ in range(50):
        w, d, e = rng.normal(size=(3, 3))
        alpha, beta = segments.parameters(tuple(w), tuple(d), tuple(e))
        best = min(np.linalg.norm(w + a * d - b * e) for a in grid for b in grid)
        assert np.linalg.norm(w + alpha * d - beta * e) <= best + 1e-12


def test_a_polytope_with_a_bent_sole_shows_a_box_what_it_shows_to_the_ground():
    bend = 5e-4
    corners = [(x, y, 0.0 if x == 0 else bend) for x in (-0.1, 0.0, 0.1) for y in (-0.05, 0.05)]
    sole = convex_hull(
        [*corners, (-0.1, -0.05, 0.1), (-0.1, 0.05, 0.1), (0.1, -0.05, 0.1), (0.1, 0.05, 0.1)]
    )
    for ground in (HalfSpace(), Box((1.0, 1.0, 0.2))):
        points = on_fixed(
            ground, sole, (0, 0, 0), position=(0, 0, 0.0 if isinstance(ground, HalfSpace) else -0.1)
        ).detect()
        places = np.array(corners)
        # midway between the surfaces
        places[:, 2] *= 0.5
        np.testing.assert_allclose(ordered(points["position"]), ordered(places), atol=1e-9)
        np.testing.assert_allclose(
            np.sort(points["gap"]), [0, 0, bend, bend, bend, bend], atol=1e-9
        )
