"""Distance and depth of cores, against closed forms and brute force."""

import math

import numpy as np
import pytest
from collision.scenes import KINDS, random_geometry, random_quaternion, two_bodies

from tabi.collision import gjk, hull, simplex, support
from tabi.model.shape import Box, Capsule, Cylinder
from tabi.spatial.transform import from_quaternion

IDENTITY = [1.0, 0.0, 0.0, 0.0]


def cores(scene, q):
    scene.place(q)
    return (
        scene.tables.shape[1],
        scene.memory.pose[1],
        scene.tables.shape[0],
        scene.memory.pose[0],
        scene.tables.vertex,
    )


def apart(scene, q, limit=10.0):
    return gjk.distance(*cores(scene, q), limit, scene.memory.simplex, scene.memory.weight)


def deep(scene, q, guess=(0.0, 0.0, 1.0)):
    w = scene.memory
    return hull.depth(*cores(scene, q), guess, (w.hull, w.hull_face, w.hull_plane, w.hull_edge))


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ((1.0, 0.0, 0.0), 0.6),
        ((1.0, 1.0, 0.0), math.hypot(0.6, 0.6)),
        ((1.0, 1.0, 1.0), math.sqrt(3) * 0.6),
        ((0.1, 0.0, 5.0), 4.6),
    ],
)
def test_boxes_side_by_side_edge_to_edge_and_corner_to_corner(place, expected):
    scene = two_bodies(Box((0.4, 0.4, 0.4)), Box((0.4, 0.4, 0.4)))
    status, v, a, b = apart(scene, [0, 0, 0, *IDENTITY, *place, *IDENTITY])
    assert status == gjk.APART
    assert np.linalg.norm(v) == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(np.array(a) - b, v, atol=1e-12)


def test_shapes_farther_than_the_limit_are_far():
    scene = two_bodies(Box((0.4, 0.4, 0.4)), Box((0.4, 0.4, 0.4)))
    q = [0, 0, 0, *IDENTITY, 1.0, 0.3, 0.2, *IDENTITY]
    assert apart(scene, q, 0.5)[0] == gjk.FAR
    assert apart(scene, q, 0.7)[0] == gjk.APART


def test_overlapping_shapes_touch():
    scene = two_bodies(Box((0.4, 0.4, 0.4)), Cylinder(0.1, 0.4))
    assert apart(scene, [0, 0, 0, *IDENTITY, 0.2, 0.1, 0.1, *IDENTITY])[0] == gjk.TOUCHING
    assert apart(scene, [0, 0, 0, *IDENTITY, 0, 0, 0, *IDENTITY])[0] == gjk.TOUCHING


@pytest.mark.parametrize(
    ("shift", "depth", "normal"),
    [((0.3, 0.1, 0.0), 0.1, (1, 0, 0)), ((0.1, -0.35, 0.1), 0.05, (0, -1, 0))],
)
def test_the_way_out_of_two_boxes_is_the_shortest(shift, depth, normal):
    scene = two_bodies(Box((0.4, 0.4, 0.4)), Box((0.4, 0.4, 0.4)))
    found, n, separation, a, b = deep(scene, [0, 0, 0, *IDENTITY, *shift, *IDENTITY])
    assert found
    assert separation == pytest.approx(-depth, abs=1e-12)
    np.testing.assert_allclose(n, normal, atol=1e-12)
    np.testing.assert_allclose(np.array(a) - b, -depth * np.array(normal), atol=1e-9)


@pytest.mark.parametrize("gap", [1e-6, 1e-9, 1e-12, 0.0, -1e-12, -1e-9])
def test_a_hair_apart_or_deep_the_normal_is_exact(gap):
    scene = two_bodies(Box((0.4, 0.4, 0.4)), Box((0.4, 0.4, 0.4)))
    _, n, separation, _, _ = deep(
        scene, [0, 0, 0, *IDENTITY, 0.1, 0.05, 0.4 + gap, *IDENTITY], (0.1, 0.2, 0.97)
    )
    np.testing.assert_allclose(n, (0, 0, 1), atol=1e-12)
    assert separation == pytest.approx(gap, abs=1e-15)


def test_a_coaxial_cylinder_leaves_along_its_axis():
    scene = two_bodies(Cylinder(0.3, 0.4), Cylinder(0.2, 0.4))
    _, n, separation, _, _ = deep(scene, [0, 0, 0, *IDENTITY, 0, 0, 0.35, *IDENTITY])
    np.testing.assert_allclose(n, (0, 0, 1), atol=1e-9)
    assert separation == pytest.approx(-0.05, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_support_points_reach_as_far_as_the_geometry_says(kind):
    rng = np.random.default_rng(3)
    for _ in range(10):
        g = random_geometry(kind, rng)
        scene = two_bodies(g, g)
        q = np.concatenate([rng.normal(size=3), random_quaternion(rng), np.zeros(3), IDENTITY])
        scene.place(q)
        s, x = scene.tables.shape[0], scene.memory.pose[0]
        for d in rng.normal(size=(20, 3)):
            d /= np.linalg.norm(d)
            R = x["rotation"].reshape(3, 3)
            # a polytope's row is centred: its origin is where the body's is in the other frame
            shift = d @ (x["position"] - q[:3])
            reach = (
                np.dot(d, support.support(s, x, scene.tables.vertex, tuple(d)))
                + s["radius"]
                - d @ x["position"]
                + shift
            )
            assert reach == pytest.approx(g.support(R.T @ d), abs=1e-12)


def test_the_nearest_point_of_a_simplex_beats_any_mixture():
    rng = np.random.default_rng(4)
    mixtures = rng.dirichlet(np.full(4, 0.3), size=3000)
    for _ in range(200):
        w = rng.normal(size=(4, 3)) + 0.8 * rng.normal(size=3)
        for count, nearest in (
            (2, simplex.segment),
            (3, simplex.triangle),
            (4, simplex.tetrahedron),
        ):
            shares = np.array(nearest(*map(tuple, w[:count])))
            assert shares.sum() == pytest.approx(1.0)
            assert shares.min() >= 0.0
            inside = count == 4 and shares.min() > 0
            mixed = mixtures[:, :count] / mixtures[:, :count].sum(axis=1, keepdims=True)
            best = np.linalg.norm(mixed @ w[:count], axis=1).min()
            assert inside or np.linalg.norm(shares @ w[:count]) <= best + 1e-12
            if inside:
                assert (np.linalg.solve(np.vstack([w.T, np.ones(4)]), [0, 0, 0, 1]) > 0).all()


def test_a_triangle_without_area_is_a_segment():
    shares = simplex.triangle((-1.0, 1.0, 0.0), (1.0, 1.0, 0.0), (3.0, 1.0, 0.0))
    nearest = np.array(shares) @ [(-1, 1, 0), (1, 1, 0), (3, 1, 0)]
    np.testing.assert_allclose(nearest, (0, 1, 0), atol=1e-12)


def test_a_flat_simplex_holds_no_origin():
    # a pair met in a heap: the last tetrahedron had a volume of 1e-20 m³,
    # and shapes 87 mm apart seemed to touch
    scene = two_bodies(
        Cylinder(0.07209796002989759, 0.15372307238871213),
        Capsule(0.08646711289237073, 0.20144967847686668),
    )
    cylinder = [-0.8082528469206542, -0.12263298046944887, 0.12780550577786234]
    cylinder += [0.6569414345733726, 0.7086030502374859, 0.22215637595202442, 0.13021602573674632]
    capsule = [-1.0086714682595936, -0.2382745339363018, 0.09650670556909591]
    capsule += [0.7286597051557561, -0.0011668100407271184, 0.6580506213646512, -0.189797398186203]
    status, v, _, _ = apart(scene, cylinder + capsule)
    # from each point of the capsule's axis straight to the cylinder
    X, Y = (from_quaternion(q[3:], q[:3]) for q in (cylinder, capsule))
    axis = (
        Y @ np.array([[0, 0, z] for z in np.linspace(-0.5, 0.5, 200001) * 0.20144967847686668])
        - X.p
    ) @ X.R
    beside = np.maximum(np.hypot(axis[:, 0], axis[:, 1]) - 0.07209796002989759, 0)
    over = np.maximum(np.abs(axis[:, 2]) - 0.15372307238871213 / 2, 0)
    assert status == gjk.APART
    assert np.linalg.norm(v) == pytest.approx(np.hypot(beside, over).min(), abs=1e-8)
