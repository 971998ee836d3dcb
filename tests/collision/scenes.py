"""Two shapes, a pose for each, and the points between them, for tests of collision."""

import itertools

import numpy as np

import tabi
from tabi.collision import broad, detect
from tabi.collision.arrays import compile_collision
from tabi.collision.workspace import allocate, point_table
from tabi.dynamics import kinematics, workspace
from tabi.formats.mesh import convex_hull
from tabi.model.shape import Box, Capsule, Cylinder, Ellipsoid, Sphere
from tabi.spatial.inertia import Inertia

KINDS = ("sphere", "capsule", "cylinder", "box", "convex", "ellipsoid")
PAIRS = list(itertools.combinations_with_replacement(KINDS, 2))
ROUND_ON_ROUND = {
    frozenset(("cylinder",)),
    frozenset(("cylinder", "sphere")),
    frozenset(("cylinder", "capsule")),
}
UNIT = Inertia(1.0, np.zeros(3), np.eye(3))


def random_geometry(kind, rng):
    a, b, c = (float(x) for x in rng.uniform(0.05, 0.3, 3))
    makers = {
        "sphere": lambda: Sphere(a),
        "capsule": lambda: Capsule(a, 2 * b),
        "cylinder": lambda: Cylinder(a, 2 * b),
        "ellipsoid": lambda: Ellipsoid((a, b, c)),
        "box": lambda: Box((2 * a, 2 * b, 2 * c)),
        "convex": lambda: convex_hull(0.15 * rng.normal(size=(rng.integers(8, 30), 3))),
    }
    return makers[kind]()


def random_quaternion(rng):
    x = rng.normal(size=4)
    return x / np.linalg.norm(x)


class Scene:
    """A world, ready to be asked for its points."""

    def __init__(self, world):
        self.model = world.compile()
        self.tables = compile_collision(self.model)
        self.work = workspace.allocate(self.model)
        self.memory = allocate(self.tables, 512)
        self.points = point_table(512)

    def place(self, q):
        kinematics.positions(self.model.arrays, np.asarray(q, float), self.work)
        broad.place(self.model.arrays, self.tables, self.work, 0.0, self.memory)

    def pair(self, q, a, b, band):
        """Points of one pair of shapes, whatever the broad phase says."""
        self.place(q)
        still = (0.0, 0.0, 0.0)
        count = detect.pair_points(self.tables, self.memory, a, b, band, still, self.points, 0)
        return self.points[:count].copy()

    def detect(self, q=None, band=1e-3):
        kinematics.positions(
            self.model.arrays,
            self.model.initial() if q is None else np.asarray(q, float),
            self.work,
        )
        count = detect.detect(
            self.model.arrays, self.tables, self.work, band, 0.0, self.memory, self.points
        )
        assert count <= len(self.points)
        return self.points[:count].copy()


def on_ground(geometry, position, quaternion=(1.0, 0.0, 0.0, 0.0)):
    """One free body over the plane z = 0."""
    world = tabi.World()
    world.add_ground()
    world.add_object(geometry, UNIT, position, quaternion, name="thing")
    return Scene(world)


def on_fixed(ground, geometry, at, turn=(1.0, 0.0, 0.0, 0.0), **where):
    """One free body over a fixed thing."""
    world = tabi.World()
    world.add_fixed(ground, **where)
    world.add_object(geometry, UNIT, at, turn, name="thing")
    return Scene(world)


def two_bodies(a, b):
    """Two free bodies; a is the first seven numbers of q, and shape 0."""
    world = tabi.World()
    world.add_object(a, UNIT, name="first")
    world.add_object(b, UNIT, name="second")
    return Scene(world)


def ordered(rows):
    """Positions, rows sorted."""
    return rows[np.lexsort(np.round(rows, 9).T)]


def check_corners(points, expected, normal, gap, tolerance=1e-12):
    """Assert that the points are these places [m], with one normal and these gaps."""
    assert len(points) == len(expected)
    np.testing.assert_allclose(
        ordered(points["position"]), ordered(np.asarray(expected, float)), atol=tolerance
    )
    np.testing.assert_allclose(points["normal"], np.tile(normal, (len(points), 1)), atol=tolerance)
    np.testing.assert_allclose(points["gap"], gap, atol=tolerance)
    assert len(set(points["feature"])) == len(points)
