"""coal as oracle: distance, depth, normal and patch of thousands of random pairs of every
two kinds of shapes.
"""

import numpy as np
import pytest
from collision.scenes import PAIRS, random_geometry, random_quaternion, two_bodies

from tabi.collision import convex, support
from tabi.collision.overlap import SAME_POINT_RATIO
from tabi.model.shape import Box, Capsule, Cylinder, Ellipsoid, Sphere
from tabi.spatial.transform import from_quaternion

coal = pytest.importorskip("coal", reason='coal is not installed; pip install "tabi[referee]"')

SHAPES, POSES = 8, 40


def in_coal(g):
    if isinstance(g, Sphere):
        return coal.Sphere(g.radius)
    if isinstance(g, Ellipsoid):
        return coal.Ellipsoid(*g.radii)
    if isinstance(g, Capsule):
        return coal.Capsule(g.radius, g.length)
    if isinstance(g, Cylinder):
        return coal.Cylinder(g.radius, g.length)
    if isinstance(g, Box):
        return coal.Box(*g.size)
    points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for vertex in g.vertices:
        points.append(vertex)
    for triangle in g.triangles:
        triangles.append(coal.Triangle(*map(int, triangle)))
    return coal.Convex(points, triangles)


def placed(q):
    X = from_quaternion(q[3:7], q[:3])
    return coal.Transform3s(X.R, X.p)


def signed_distance(a, b, q):
    """Of b from a, and the normal from a to b."""
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = 1e-9
    request.gjk_max_iterations = request.epa_max_iterations = 500
    found = coal.distance(a, placed(q[:7]), b, placed(q[7:]), request, result)
    return found, np.array(result.normal)


def random_pairs(kinds, seed, spread):
    rng = np.random.default_rng(seed)
    for _ in range(SHAPES):
        a, b = (random_geometry(kind, rng) for kind in kinds)
        scene, others = two_bodies(a, b), (in_coal(a), in_coal(b))
        for _ in range(POSES):
            q = np.concatenate(
                [
                    spread * rng.normal(size=3),
                    random_quaternion(rng),
                    spread * rng.normal(size=3),
                    random_quaternion(rng),
                ]
            )
            yield scene, q, *others


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_distance_and_normal_of_shapes_apart(kinds):
    compared = 0
    for scene, q, a, b in random_pairs(kinds, 0, 0.3):
        expected, n = signed_distance(a, b, q)
        if expected < 1e-3:
            continue
        points = scene.pair(q, 1, 0, 10.0)
        # both walk to round sides in steps: the square of a distance is good to 1e-9 of itself,
        # the normal to the root of that
        s, t = scene.tables.shape[1], scene.tables.shape[0]
        x, y = scene.memory.pose[1], scene.memory.pose[0]
        gap = convex.closest(s, x, t, y, 10.0, scene.tables, scene.memory)[2]
        assert gap == pytest.approx(expected, abs=1e-6)
        # points of a patch that are nearer to each other than this are one, and sides may be
        # tilted
        near = SAME_POINT_RATIO * (s["reach"] + t["reach"])
        assert points["gap"].min() == pytest.approx(expected, abs=1e-6 + near)
        np.testing.assert_allclose(
            points["normal"][0], n, atol=1e-3 if {"cylinder", "ellipsoid"} & set(kinds) else 1e-6
        )
        compared += 1
    assert compared > 100


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_depth_of_shapes_that_overlap(kinds):
    compared = agreed = 0
    for scene, q, a, b in random_pairs(kinds, 1, 0.12):
        expected, _ = signed_distance(a, b, q)
        if expected > -1e-3:
            continue
        gap = scene.pair(q, 1, 0, 1e-3)["gap"].min()
        # the depth is the least way out: a separation reached along the normal that is larger than
        # coal's is nearer to it
        s, t = scene.tables.shape[1], scene.tables.shape[0]
        x, y = scene.memory.pose[1], scene.memory.pose[0]
        n = convex.closest(s, x, t, y, 1e-3, scene.tables, scene.memory)[1]
        assert gap == pytest.approx(
            support.separation(s, x, t, y, scene.tables.vertex, n), abs=1e-5
        )
        assert gap > expected - 1e-4
        compared += 1
        agreed += abs(gap - expected) < 1e-4
    assert compared > 50
    # coal's own polytope stops early on the round sides of cylinders and ellipsoids
    round_sides = {"cylinder", "ellipsoid"} & set(kinds)
    assert agreed >= (0.8 if round_sides else 1.0) * compared


@pytest.mark.parametrize(
    "kinds", [("box", "box"), ("box", "convex"), ("convex", "convex")], ids="-".join
)
def test_patches_of_flat_faces_have_the_corners_of_coal(kinds):
    rng = np.random.default_rng(2)
    compared = 0
    for _ in range(60):
        a, b = (random_geometry(kind, rng) for kind in kinds)
        scene, others = two_bodies(a, b), (in_coal(a), in_coal(b))
        # turn the largest face of each to the other, press them together a little
        q = np.zeros(14)
        q[:3], q[7:10] = 0.0, 0.0
        q[3:7], low = face_up(scene, 0, 1.0)
        q[10:14], high = face_up(scene, 1, -1.0)
        q[7:9] = 0.05 * rng.normal(size=2)
        q[9] = low + high - 1e-4
        points = scene.pair(q, 1, 0, 1e-3)
        patch = coal_patch(*others, q)
        if patch is None or abs(abs(points["normal"][0, 2]) - 1) > 1e-9:
            continue
        # corners in the band that do not touch are no part of it
        own = points["position"][points["gap"] < 0]
        # every point of ours is in coal's patch, every corner of coal's in ours: the same hulls
        assert spread_of(own, patch) == pytest.approx(0.0, abs=1e-4)
        compared += 1
    assert compared > 20


def face_up(scene, shape, sign):
    """The turn that lays the largest face of a shape up or down,
    and its distance from the body's origin then.
    """
    row = scene.tables.shape[shape]
    faces = scene.tables.face[row["face"] : row["face_end"]]
    face = faces[faces["area"].argmax()]
    n, up = face["normal"], np.array([0, 0, sign])
    quaternion = np.array([1 + n @ up, *np.cross(n, up)])
    if np.linalg.norm(quaternion) < 1e-6:
        quaternion = (
            np.array([0.0, 1.0, 0.0, 0.0]) if abs(n[0]) < 0.5 else np.array([0.0, 0.0, 1.0, 0.0])
        )
    return quaternion / np.linalg.norm(quaternion), face["offset"] + n @ row["position"]


def coal_patch(a, b, q):
    """Corners of coal's contact patch in the world, shape (n, 3);
    None where it finds no flat one.
    """
    A, B = placed(q[:7]), placed(q[7:])
    collision_request, collision_result = coal.CollisionRequest(), coal.CollisionResult()
    coal.collide(a, A, b, B, collision_request, collision_result)
    request, result = coal.ContactPatchRequest(), coal.ContactPatchResult()
    # how far a corner may be off the plane and still belong to the patch
    request.setPatchTolerance(1e-6)
    if not collision_result.isCollision():
        return None
    coal.computeContactPatch(a, A, b, B, collision_result, request, result)
    if result.numContactPatches() == 0 or result.getContactPatch(0).size() < 3:
        return None
    patch = result.getContactPatch(0)
    return np.array([patch.getPoint(k) for k in range(patch.size())])


def spread_of(one, two):
    """The largest difference of how far two sets of points reach,
    over directions in the plane [m].
    """
    angles = np.linspace(0, 2 * np.pi, 72, endpoint=False)
    d = np.stack([np.cos(angles), np.sin(angles)])
    return np.abs((one[:, :2] @ d).max(axis=0) - (two[:, :2] @ d).max(axis=0)).max()
