"""Ellipsoids and other shapes: distance and depth against an independent minimisation, against
separations in many directions, and against MuJoCo; balls among them are balls.
"""

import numpy as np
import pytest
from collision.scenes import UNIT, Scene, random_geometry, random_quaternion, two_bodies
from scipy.optimize import minimize

import tabi
from tabi.collision import gjk, hull, smooth, support
from tabi.formats.mesh import convex_hull
from tabi.model.shape import Box, Capsule, Convex, Cylinder, Ellipsoid, Sphere
from tabi.spatial.transform import from_quaternion

IDENTITY = [1.0, 0.0, 0.0, 0.0]
PARTNERS = ("ellipsoid", "sphere", "capsule", "cylinder", "box", "convex")


def random_ellipsoid(rng):
    """Up to six times longer than wide."""
    return Ellipsoid(tuple(float(r) for r in rng.uniform(0.05, 0.3, 3)))


def random_pair(kind, rng, spread):
    """An ellipsoid, which is shape 1, something else, and where they are."""
    b = random_ellipsoid(rng) if kind == "ellipsoid" else random_geometry(kind, rng)
    a = random_ellipsoid(rng)
    q = np.concatenate(
        [spread * rng.normal(size=3), random_quaternion(rng), np.zeros(3), random_quaternion(rng)]
    )
    places = from_quaternion(q[10:], q[7:10]), from_quaternion(q[3:7], q[:3])
    return two_bodies(b, a), q, (a, b), places


def core(g):
    """(map of unknowns to points, number of unknowns, what must be ≥ 0, radius) of a shape."""
    if isinstance(g, Ellipsoid):
        return lambda u: u * np.asarray(g.radii), 3, lambda u: np.array([1 - u @ u]), 0.0
    if isinstance(g, Sphere):
        return lambda u: np.zeros(3), 0, lambda u: np.zeros(0), g.radius
    if isinstance(g, Capsule):
        z = np.array([0, 0, g.length / 2])
        return lambda u: u[0] * z, 1, lambda u: np.array([1 - u[0], 1 + u[0]]), g.radius
    if isinstance(g, Cylinder):
        size = np.array([g.radius, g.radius, g.length / 2])
        return (
            lambda u: u * size,
            3,
            lambda u: np.array([1 - u[0] ** 2 - u[1] ** 2, 1 - u[2], 1 + u[2]]),
            0.0,
        )
    if isinstance(g, Box):
        size = 0.5 * np.asarray(g.size)
        return lambda u: u * size, 3, lambda u: np.concatenate([1 - u, 1 + u]), 0.0
    corners = g.vertices[g.triangles]
    n = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    offset = np.einsum("ij,ij->i", n, corners[:, 0])
    return lambda u: u, 3, lambda u: offset - n @ u, 0.0


def least_distance(shapes, places):
    """Between points of two shapes, by sequential quadratic programming."""
    (x, k, inside, r), (y, l, within, s) = core(shapes[0]), core(shapes[1])
    X, Y = places

    def square(u):
        d = X @ x(u[:k]) - Y @ y(u[k:])
        return d @ d

    start = np.zeros(k + l)
    if isinstance(shapes[1], Convex):
        start[k:] = shapes[1].vertices.mean(axis=0)
    found = minimize(
        square,
        start,
        method="SLSQP",
        constraints={
            "type": "ineq",
            "fun": lambda u: np.concatenate([inside(u[:k]), within(u[k:])]),
        },
        options={"ftol": 1e-16, "maxiter": 500},
    )
    return np.sqrt(found.fun) - r - s


def separations(shapes, places, n):
    """How far two shapes are apart along unit vectors, rows of n, from the second to the first."""
    (a, b), (X, Y) = shapes, places
    return np.array(
        [d @ (X.p - Y.p) - a.support(-X.R.T @ d) - b.support(Y.R.T @ d) for d in np.atleast_2d(n)]
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", PARTNERS)
def test_the_distance_is_that_of_an_independent_minimisation(kind):
    rng, compared = np.random.default_rng(0), 0
    while compared < 20:
        scene, q, shapes, places = random_pair(kind, rng, 0.4)
        points = scene.pair(q, 1, 0, 10.0)
        assert len(points) == 1
        if points["gap"][0] < 1e-2:
            continue
        compared += 1
        gap, n = points["gap"][0], points["normal"][0]
        assert gap == pytest.approx(least_distance(shapes, places), abs=1e-6 * scene_size(scene))
        # the normal is as good: along it they are apart by so much
        assert separations(shapes, places, n)[0] == pytest.approx(gap, abs=1e-12)


def scene_size(scene):
    return float(scene.tables.shape["reach"].min())


@pytest.mark.slow
@pytest.mark.parametrize("kind", PARTNERS)
def test_no_direction_separates_overlapping_shapes_more(kind):
    rng, compared, best = np.random.default_rng(1), 0, 0.0
    directions = rng.normal(size=(800, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    while compared < 20:
        scene, q, shapes, places = random_pair(kind, rng, 0.12)
        points = scene.pair(q, 1, 0, 1e-3)
        if len(points) == 0 or points["gap"].min() > -1e-3:
            continue
        compared += 1
        gap, n = points["gap"][0], points["normal"][0].copy()
        assert separations(shapes, places, n)[0] == pytest.approx(gap, abs=1e-12)
        size = scene_size(scene)
        far = separations(shapes, places, directions).max()
        # the shortest way out of some deep ones is not found, but one that is hardly longer
        assert far <= gap + 1e-2 * size
        best += far <= gap
        near = n + 1e-4 * directions[:200]
        near /= np.linalg.norm(near, axis=1, keepdims=True)
        assert separations(shapes, places, near).max() <= gap + 1e-12 * size
    assert best >= 19


@pytest.mark.slow
def test_the_hull_alone_finds_depths_and_newton_their_last_digits():
    rng, worst, compared = np.random.default_rng(2), [], 0
    while compared < 100:
        scene, q, _, _ = random_pair("ellipsoid", rng, 0.12)
        scene.place(q)
        (s, t), (x, y) = scene.tables.shape[[1, 0]], scene.memory.pose[[1, 0]]
        vertex, w = scene.tables.vertex, scene.memory
        status, v, _, _ = gjk.distance(s, x, t, y, vertex, 10.0, w.simplex, w.weight)
        if status != gjk.TOUCHING:
            continue
        compared += 1
        guess = tuple(np.array(v) / np.linalg.norm(v))
        work = (w.hull, w.hull_face, w.hull_plane, w.hull_edge)
        found, n, away, _, _ = hull.depth(s, x, t, y, vertex, guess, work)
        exact = smooth.refined(s, x, t, y, vertex, n)
        depth = support.separation(s, x, t, y, vertex, exact)
        assert found
        worst.append(np.array([-depth, abs(away - depth)]) / (s["reach"] + t["reach"]))
        # stationary: the nearest points are straight across
        m, gap, a, b = smooth.across(s, x, t, y, vertex, exact)
        assert gap == pytest.approx(depth, abs=1e-15)
        np.testing.assert_allclose(
            np.cross(m, np.array(support.support(t, y, vertex, m)) - a), 0, atol=1e-8
        )
        np.testing.assert_allclose(np.array(a) - b, gap * np.array(m), atol=1e-14)
    # up to half of their size deep 3e-5 of it; its 72 points do not do for one inside of the other
    deep, off = np.array(worst).T
    assert (deep < 0.2).sum() > 5
    assert off[deep < 0.2].max() < 1e-8
    assert 1e-9 < off[deep < 0.5].max() < 1e-4
    assert off.max() < 1e-2


@pytest.mark.parametrize("kind", PARTNERS)
@pytest.mark.parametrize("spread", [0.5, 0.12])
def test_a_ball_told_as_an_ellipsoid_is_a_ball(kind, spread):
    rng = np.random.default_rng(3)
    for _ in range(15):
        r = float(rng.uniform(0.05, 0.3))
        b = random_ellipsoid(rng) if kind == "ellipsoid" else random_geometry(kind, rng)
        q = np.concatenate(
            [
                spread * rng.normal(size=3),
                random_quaternion(rng),
                np.zeros(3),
                random_quaternion(rng),
            ]
        )
        as_ball, as_ellipsoid = (
            two_bodies(b, g).pair(q, 1, 0, 10.0)[0] for g in (Sphere(r), Ellipsoid((r, r, r)))
        )
        # a cylinder and a polytope find the way of a ball out of a deep overlap a little less well
        tolerance = 1e-6 * r if as_ball["gap"] > -0.5 * r else 1e-2 * r
        assert as_ellipsoid["gap"] == pytest.approx(as_ball["gap"], abs=tolerance)
        if as_ball["gap"] > -0.5 * r:
            np.testing.assert_allclose(as_ellipsoid["normal"], as_ball["normal"], atol=1e-3)


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9, 0.0, -1e-9, -1e-6, -1e-3])
def test_near_contact_gap_normal_and_place_are_exact(gap):
    # two ellipsoids whose surfaces meet at a point of known normal
    rng = np.random.default_rng(4)
    for _ in range(10):
        a, b = random_ellipsoid(rng), random_ellipsoid(rng)
        X, Y = (from_quaternion(random_quaternion(rng)) for _ in range(2))
        n = rng.normal(size=3)
        n /= np.linalg.norm(n)

        def reach(g, R, d):
            h = np.asarray(g.radii)
            return R @ (h**2 * (R.T @ d)) / np.linalg.norm(h * (R.T @ d))

        p = reach(b, Y.R, n)
        centre = p + gap * n - reach(a, X.R, -n)
        q = np.concatenate([np.zeros(3), Y.quaternion, centre, X.quaternion])
        point = two_bodies(b, a).pair(q, 1, 0, 0.1)[0]
        assert point["gap"] == pytest.approx(gap, abs=1e-14)
        np.testing.assert_allclose(point["normal"], n, atol=1e-8)
        np.testing.assert_allclose(point["position"], p + 0.5 * gap * n, atol=1e-8)
        assert point["feature"] == 0


def test_an_ellipsoid_over_a_face_and_an_edge_of_a_box():
    g, table = Ellipsoid((0.3, 0.2, 0.1)), Box((1.0, 1.0, 0.2))
    scene = two_bodies(table, g)
    for place, normal, gap in (
        ((0.1, 0.2, 0.25), (0, 0, 1), 0.05),
        # deep: the face still is the shortest way out
        ((0.1, 0.2, 0.15), (0, 0, 1), -0.05),
        # along the edge's diagonal the ellipsoid reaches √((0.3² + 0.1²)/2)
        ((0.5 + 0.4, 0.0, 0.1 + 0.4), None, None),
    ):
        point = scene.pair([0, 0, 0, *IDENTITY, *place, *IDENTITY], 1, 0, 10.0)[0]
        if normal is not None:
            np.testing.assert_allclose(point["normal"], normal, atol=1e-12)
            assert point["gap"] == pytest.approx(gap, abs=1e-12)
        else:
            # nearest to the edge (0.5, ·, 0.1): the plane problem of an ellipse and a point
            angle = np.linspace(-np.pi, -np.pi / 2, 2_000_001)
            d = np.hypot(0.4 + 0.3 * np.cos(angle), 0.4 + 0.1 * np.sin(angle))
            assert point["gap"] == pytest.approx(d.min(), abs=1e-12)
            assert point["normal"][1] == pytest.approx(0.0, abs=1e-9)


def test_a_finely_faceted_ball_and_an_ellipsoid_that_overlap():
    rng = np.random.default_rng(5)
    d = rng.normal(size=(300, 3))
    ball = convex_hull(0.2 * d / np.linalg.norm(d, axis=1, keepdims=True))
    for _ in range(10):
        g, turn = random_ellipsoid(rng), random_quaternion(rng)
        q = np.array([0, 0, 0, *IDENTITY, *(0.15 * rng.normal(size=3)), *turn])
        point = two_bodies(ball, g).pair(q, 1, 0, 10.0)[0]
        places = from_quaternion(turn, q[7:10]), from_quaternion(IDENTITY)
        n = point["normal"] + 1e-3 * rng.normal(size=(300, 3))
        n /= np.linalg.norm(n, axis=1, keepdims=True)
        assert separations((g, ball), places, n).max() <= point["gap"] + 1e-12


@pytest.mark.parametrize("kind", ["plane", "ellipsoid", "sphere", "capsule", "cylinder", "box"])
def test_gaps_are_those_of_mujoco(kind):
    mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed")
    rng = np.random.default_rng(6)
    for _ in range(15):
        world, high = tabi.World(), 0.6
        if kind == "plane":
            world.add_ground()
        else:
            world.add_object(random_geometry(kind, rng), UNIT, name="first")
            high = 0.0
        place = 0.5 * rng.normal(size=3) + (0, 0, high)
        world.add_object(random_ellipsoid(rng), UNIT, place, random_quaternion(rng), name="second")
        scene = Scene(world)
        points = scene.pair(scene.model.initial(), 1, 0, 10.0)
        m = tabi.to_mujoco(world)
        m.opt.ccd_tolerance, m.opt.ccd_iterations = 1e-12, 500
        d = mujoco.MjData(m)
        mujoco.mj_resetDataKeyframe(m, d, 0)
        mujoco.mj_forward(m, d)
        gap = mujoco.mj_geomDistance(m, d, 0, 1, 10.0, np.zeros(6))
        assert points["gap"][0] == pytest.approx(gap, abs=1e-6 * scene.tables.shape["reach"][1])
