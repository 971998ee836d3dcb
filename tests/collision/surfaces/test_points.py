"""Surfaces that deform: their tables; where they touch every kind of shape, against plain geometry;
nothing slips between their nodes.
"""

import numpy as np
import pytest
from collision.scenes import KINDS, random_quaternion
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
from tabi.collision.surfaces.points import none, surface_points, surfaces
from tabi.formats.mesh import convex_hull
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


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_apart_the_least_gap_is_the_distance_for_any_shape_and_both_roles(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    found = 0
    for _ in range(20):
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
    assert found > 6


@pytest.mark.parametrize("size", [0.0, 1e-3, 3e-3])
def test_a_pebble_anywhere_under_the_mesh_has_a_point_at_the_least_distance(size):
    rng = np.random.default_rng(3)
    scene = Soft(Sphere(2.5e-3), *dented(rng, size))
    corners = scene.at[scene.f.triangle]
    places = [(*rng.uniform(-0.028, 0.028, 2), rng.uniform(-6e-3, -3e-3)) for _ in range(300)]
    # over nodes, on edges and in the middle of triangles
    places += [(*x[:2], -4e-3) for x in scene.at]
    places += [(*scene.at[e].mean(axis=0)[:2], -4e-3) for e in scene.f.edge]
    places += [(*t.mean(axis=0)[:2], -4e-3) for t in corners]
    for place in places:
        scene.move(place)
        points, where = scene.touch(0.02)
        check_points(scene, points, where)
        d = to_triangles(np.array(place), corners).min() - 2.5e-3
        assert abs(points["gap"].min() - d) < 1e-9


@pytest.mark.parametrize("depth", [1e-4, 2e-3, 8e-3])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_pushed_into_a_flat_sheet_is_as_deep_as_its_highest_point(kind, depth):
    rng = np.random.default_rng(5)
    scene, g = None, None
    for k in range(40):
        if k % 4 == 0:
            g = small(kind, rng)
            scene = Soft(g, *sheet(11, 11))
        turn = random_quaternion(rng)
        R = from_quaternion(turn).R
        top = g.support(R.T @ (0, 0, 1))
        if top < depth:
            # more than half of it is through
            continue
        scene.move((*rng.uniform(-0.005, 0.005, 2), depth - top), turn)
        points, where = scene.touch()
        check_points(scene, points, where)
        # straight up, as edges meet across both of them
        up = points["normal"][:, 2]
        np.testing.assert_allclose((points["gap"] * up)[up > 0.5].min(), -depth, atol=1e-10)
        # what is inside leaves upwards, what is beside, or half through, may be pushed aside
        assert (up > -0.2).all()
        assert depth > 2e-3 or (up[points["gap"] < 0] > -1e-9).all()


@pytest.mark.parametrize("swapped", [False, True])
def test_nodes_on_a_half_space_have_their_heights(swapped):
    rng = np.random.default_rng(2)
    X = about((1, 2, 0.5), 0.4, (0.01, 0.02, -0.004))
    nodes, triangles = dented(rng)
    scene = OnFixed(HalfSpace(), nodes, triangles, position=X.p, quaternion=X.quaternion)
    height = (scene.at - X.p) @ X.R[:, 2]
    points, where = scene.touch(2e-3, swapped)
    side = "b" if swapped else "a"
    on = check_points(scene, points, where, side)
    low = np.flatnonzero(height < 2e-3)
    assert 0 < len(low) < len(nodes)
    np.testing.assert_array_equal(where["node_" + side][:, 0], low)
    np.testing.assert_array_equal(on, scene.at[low])
    np.testing.assert_allclose(points["gap"], height[low], atol=1e-15)
    sign = -1 if swapped else 1
    np.testing.assert_allclose(points["normal"], np.tile(sign * X.R[:, 2], (len(low), 1)))


def test_the_other_kernels_leave_surfaces_alone():
    scene = Soft(Box((0.1, 0.1, 0.1)), *sheet())
    scene.move((0, 0, -0.05))
    still = (0.0, 0.0, 0.0)
    points = scene.touch()[0]
    assert len(points) > 0
    for i, k in ((0, 1), (1, 0)):
        assert not detect.pair_points(scene.tables, scene.memory, i, k, 1e-3, still, scene.rows, 0)
    field = OnFixed(HeightField(np.zeros((3, 3)), (1.0, 1.0)), *sheet())
    assert len(field.touch()[0]) == 35
    assert field.tables.shape["kind"][1] == SURFACE
    assert not detect.pair_points(field.tables, field.memory, 1, 0, 1e-3, still, scene.rows, 0)


def test_more_points_than_rows_are_counted_and_not_written():
    scene = Soft(Box((0.1, 0.1, 0.1)), *sheet())
    scene.move((0, 0, -0.05))
    points, _ = scene.touch()
    scene.rows, scene.where = scene.rows[:3], scene.where[:3]
    count = surface_points(
        scene.tables, scene.memory, scene.f, scene.at, 0, 1, 1e-3, scene.rows, scene.where, 1
    )
    assert count == len(points) + 1
    np.testing.assert_array_equal(scene.rows["feature"][1:], points["feature"][:2])


def test_places_on_edges_and_corners_make_sense():
    """Nodes exactly on an edge or a corner of a box, middles of balls exactly on the surface."""
    nodes, triangles = sheet()
    for g, places in (
        (Box((0.02, 0.02, 0.02)), [(0.01, 0.01, -0.01), (0.01, 0.0, -0.01), (0.005, 0.005, -0.01)]),
        (convex_hull(Box((0.02, 0.02, 0.02)).points()), [(0.01, 0.01, -0.01), (0.01, 0, -0.01)]),
        (Sphere(2.5e-3), [(0, 0, 0), (0.005, 0, 0), (0.003, 0.002, 0), (0.005, 0.005, 0)]),
        (Capsule(2e-3, 0.015), [(0, 0, 0), (0.005, 0, 0), (0.003, 0.002, 0)]),
        (Cylinder(0.01, 0.02), [(0, 0, -0.01), (0.01, 0, -0.01), (0, 0, 0)]),
        (Ellipsoid((0.01, 0.01, 0.005)), [(0, 0, -0.005), (0, 0, 0), (0.01, 0, 0)]),
    ):
        scene = Soft(g, nodes, triangles)
        assert places
        for place in places:
            for turn in ((1, 0, 0, 0), about((1, 0, 0), np.pi / 2).quaternion):
                scene.move(place, turn)
                points, where = scene.touch(2e-3)
                on = check_points(scene, points, where)
                assert len(points) > 0, (g, place, turn)
                # no touch twice
                gaps = np.linalg.norm(on[:, None] - on, axis=2) + np.eye(len(on))
                same = points["normal"] @ points["normal"].T > 0.999
                assert not ((gaps < 1e-9) & same).any()


@pytest.mark.slow
def test_the_edge_of_a_box_under_the_mesh_never_slips_through():
    rng = np.random.default_rng(8)
    for _ in range(25):
        scene = Soft(Box((0.2, 0.05, 0.05)), *dented(rng, rng.choice([0.0, 2e-3])))
        # an edge on top, turned and tilted a little
        X = about((0, 0, 1), rng.choice([0.0, 0.5 * np.pi, rng.uniform(0, 6)]))
        X = X @ about((0, 1, 0), rng.choice([0.0, 0.02])) @ about((1, 0, 0), rng.uniform(0.3, 1.2))
        top = Box((0.2, 0.05, 0.05)).support(X.R.T @ (0, 0, 1))
        low = scene.at[:, 2].min()
        place = np.array([*rng.uniform(-0.01, 0.01, 2), low - top - rng.uniform(0, 1e-3)])
        scene.move(place, X.quaternion)
        box = Hull(np.array([X @ p + place for p in Box((0.2, 0.05, 0.05)).points()]))
        d = box.apart(scene.at[scene.f.triangle])
        points, where = scene.touch(0.01)
        check_points(scene, points, where)
        np.testing.assert_allclose(points["gap"].min(), d, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_small_motion_changes_gaps_by_no_more_and_keeps_the_names(kind):
    rng = np.random.default_rng(9)
    step, band = 1e-6, 3e-3
    kept = lost = 0
    for _ in range(6):
        g = small(kind, rng)
        scene = Soft(g, *dented(rng, 1e-3))
        turn = random_quaternion(rng)
        X = pose((0, 0, 0), turn)
        top = g.support(X.R.T @ (0, 0, 1))
        at = np.array([*rng.uniform(-0.01, 0.01, 2), scene.at[:, 2].min() - top])
        way = rng.normal(size=3) * (1, 1, 0.1)
        way /= np.linalg.norm(way)
        before = None
        for k in range(100):
            scene.move(at + k * step * way, turn)
            points, where = scene.touch(band)
            check_points(scene, points, where)
            assert len(points) > 0
            if before is not None:
                # while they are apart the least gap is the distance
                assert abs(points["gap"].min() - before["gap"].min()) < 1.001 * step
                old = dict(zip(before["feature"], before, strict=True))
                both = [p for p in points if p["feature"] in old]
                for p in both:
                    assert abs(p["gap"] - old[p["feature"]]["gap"]) < 1.1 * step
                kept += len(both)
                lost += len(points) - len(both)
            before = points
    assert kept > 50 * lost
