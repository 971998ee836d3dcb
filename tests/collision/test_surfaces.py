"""Surfaces that deform: their tables; where they touch every kind of shape, against plain geometry;
nothing slips between their nodes.
"""

import numpy as np
import pytest
from collision.scenes import KINDS, random_geometry, random_quaternion
from collision.soft import OnFixed, Soft, sheet
from collision.truth import (
    Hull,
    between_segments,
    least_over,
    outside_cylinder,
    outside_ellipsoid,
    to_segments,
    to_triangles,
)

from tabi._errors import ModelError
from tabi.collision import detect
from tabi.collision.arrays import SURFACE
from tabi.collision.surfaces import none, surfaces
from tabi.model.readers.mesh import convex_hull
from tabi.model.shape import Box, Capsule, Cylinder, Ellipsoid, HalfSpace, HeightField, Sphere
from tabi.spatial.transform import Transform, about, from_quaternion

BAND = 5e-3


def dented(rng, size=1e-3, **how):
    """A sheet with nodes moved at random, mostly across it [m]."""
    nodes, triangles = sheet(**how)
    return nodes + size * rng.uniform(-1, 1, nodes.shape) * (0.5, 0.5, 1), triangles


def small(kind, rng):
    """A shape of some centimetres."""
    a, b, c = (float(x) for x in rng.uniform(0.002, 0.02, 3))
    return {
        "sphere": lambda: Sphere(a),
        "capsule": lambda: Capsule(a, 2 * b),
        "cylinder": lambda: Cylinder(a, 2 * b),
        "ellipsoid": lambda: Ellipsoid((a, b, c)),
        "box": lambda: Box((2 * a, 2 * b, 2 * c)),
        "convex": lambda: convex_hull(0.01 * rng.normal(size=(rng.integers(6, 20), 3))),
    }[kind]()


def signed(g, X, q):
    """Signed distance of a point from a placed geometry, worked out plainly."""
    p = X.inverse() @ q
    if isinstance(g, Sphere):
        return np.linalg.norm(p) - g.radius
    if isinstance(g, Capsule):
        z = np.array([0, 0, g.length / 2])
        return to_segments(p, -z, z) - g.radius
    if isinstance(g, Cylinder):
        return outside_cylinder(g.radius, g.length, p)
    if isinstance(g, Ellipsoid):
        return outside_ellipsoid(g.radii, p)
    return Hull(np.asarray(g.points())).signed(p)


def least(g, X, corners):
    """Distance of a placed geometry from triangles that it does not cross."""
    if isinstance(g, Sphere):
        return to_triangles(X.p, corners).min() - g.radius
    if isinstance(g, Capsule):
        z = X.R[:, 2] * g.length / 2
        ends = np.array([X.p - z, X.p + z])
        sides = [
            between_segments(corners[:, k], corners[:, (k + 1) % 3], ends[0], ends[1]).min()
            for k in range(3)
        ]
        return min(*sides, *(to_triangles(e, corners).min() for e in ends)) - g.radius
    if isinstance(g, (Cylinder, Ellipsoid)):
        return least_over(corners, lambda q: signed(g, X, q))
    return Hull(np.array([X @ p for p in g.points()])).apart(corners)


def check_points(scene, points, where, side="a"):
    """Assert what holds for any point; returns the surface's points."""
    assert np.isfinite(points["position"]).all()
    assert np.isfinite(points["gap"]).all()
    np.testing.assert_allclose(np.linalg.norm(points["normal"], axis=1), 1.0, atol=1e-12)
    assert len(set(points["feature"])) == len(points)
    assert (points["feature"] >= 0).all()
    nodes, weights = where["node_" + side], where["weight_" + side]
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-12)
    assert ((nodes >= 0) | (weights == 0)).all()
    on = np.einsum("ij,ijk->ik", weights, scene.at[nodes])
    sign = 0.5 if side == "a" else -0.5
    np.testing.assert_allclose(
        on, points["position"] + sign * points["gap"][:, None] * points["normal"], atol=1e-10
    )
    return on


def pose(position, turn):
    return Transform(from_quaternion(turn).R, np.asarray(position, float))


def test_tables_of_two_surfaces():
    nodes, triangles = sheet(3, 2)
    f = surfaces([(4, 2, nodes, triangles), (1, 3, nodes + 1, triangles)], 6)
    assert f.of_shape.tolist() == [-1, 1, -1, -1, 0, -1]
    assert f.row["body"].tolist() == [2, 3]
    assert f.row["node"].tolist() == [0, 6]
    assert f.row["node_end"].tolist() == [6, 12]
    # V − E + F = 1 of each sheet
    edges = f.row["edge_end"] - f.row["edge"]
    assert (6 - edges + 4 == 1).all()
    assert len({frozenset(e) for e in f.edge.tolist()}) == len(f.edge) == 18
    for e, (a, b) in enumerate(f.edge):
        for t, o in zip(f.beside[e], f.opposite[e], strict=True):
            assert (t < 0) == (o < 0)
            assert t < 0 or {a, b, o} == set(f.triangle[t])
    for i in range(12):
        own = set(f.around[f.ring[i] : f.ring[i + 1]])
        assert own == set(np.flatnonzero((f.triangle == i).any(axis=1)))
    for t, k in np.ndindex(8, 3):
        shared = set(f.triangle[t]) - {f.triangle[t, k]}
        others = [u for u in range(8) if u != t and shared <= set(f.triangle[u])]
        assert f.next[t, k] == (others[0] if others else -1)
    assert (f.border == 1).all()
    assert len(none(3).row) == 0
    assert none(3).of_shape.tolist() == [-1, -1, -1]


@pytest.mark.parametrize(
    ("nodes", "triangles", "said"),
    [
        ([[0, 0]], [[0, 1, 2]], "finite points"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, np.nan]], [[0, 1, 2]], "finite points"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 3]], "three numbers of nodes"),
        ([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1, 2]], "no area"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 2], [0, 1, 3]], "look outwards"),
    ],
)
def test_what_is_no_surface_is_refused(nodes, triangles, said):
    with pytest.raises(ModelError, match=said):
        surfaces([(0, 1, nodes, triangles)], 1)


@pytest.mark.parametrize("kind", KINDS)
def test_apart_the_least_gap_is_the_distance_for_any_shape_and_both_roles(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    found = 0
    for _ in range(40 if kind in ("cylinder", "ellipsoid") else 150):
        g = small(kind, rng)
        turn = random_quaternion(rng)
        X = pose((0, 0, 0), turn)
        top = g.support(X.R.T @ (0, 0, 1))
        where_to = (*rng.uniform(-0.035, 0.035, 2), -top - rng.uniform(0, 6e-3))
        scene = Soft(g, *dented(rng, 3e-3))
        X = pose(where_to, turn)
        scene.move(where_to, turn)
        corners = scene.at[scene.f.triangle]
        d = least(g, X, corners)
        if d <= 1e-9:
            continue
        points, where = scene.touch(BAND)
        on = check_points(scene, points, where)
        if d < BAND - 1e-6:
            found += 1
            assert len(points) > 0
            np.testing.assert_allclose(points["gap"].min(), d, atol=2e-9, rtol=0)
        else:
            assert len(points) == 0 or points["gap"].min() > d - 2e-9
        for p, x in zip(points, on, strict=True):
            # the other end is on the shape, at the end of a capsule as its ball has it,
            # and outside nothing is farther than it is
            deep = g.radius * (1 - np.cos(np.radians(20.1))) if kind == "capsule" else 0.0
            assert -deep - 2e-8 < signed(g, X, x - p["gap"] * p["normal"]) < 2e-8
            assert signed(g, X, x) <= p["gap"] + 1e-9
        back, nodes = scene.touch(BAND, swapped=True)
        check_points(scene, back, nodes, "b")
        for name in ("position", "gap", "feature"):
            np.testing.assert_array_equal(back[name], points[name])
        np.testing.assert_array_equal(back["normal"], -points["normal"])
        assert (back["shape_a"] == 1).all()
        assert (back["a"] == 2).all()
        assert (nodes["node_a"] == -1).all()
    assert found > 12
