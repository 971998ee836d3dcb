"""Random worlds, by their seed: a ground, free shapes and random trees above it,
all apart from each other.

The ground is a plane, a bowl of rough triangles, or stairs on a plane. Free things are boxes,
balls, capsules, cylinders and convex polytopes; trees have hinges, ball joints and slides on
springs, on floating or fixed bases, some with motors that hold them. Masses go from 0.1 to 30 kg,
frictions from 0 to 1.2. Things hang up to two metres above the ground.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi import collision
from tabi.formats.mesh import convex_hull
from tabi.model.arrays import FLOATING
from tabi.model.body import Body
from tabi.model.joint import Joint, Motor
from tabi.model.robot import Robot
from tabi.model.shape import (
    Box,
    Capsule,
    Convex,
    Cylinder,
    Ellipsoid,
    Geometry,
    Material,
    MeshFile,
    Shape,
    Sphere,
)
from tabi.model.world import World
from tabi.spatial import inertia
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import Transform, from_quaternion

Array = NDArray[np.float64]
GROUNDS = ("plane", "bowl", "stairs")
MIN_MASS_KG, MAX_MASS_KG = 0.1, 30.0  # kg
MAX_HEIGHT_M = 2.0  # of a body above the ground
MOST_FRICTION = 1.2


def random_world(seed: int) -> World:
    """The world of a seed: the same one always."""
    rng = np.random.default_rng(seed)
    world = World()
    top = _add_ground(world, GROUNDS[seed % len(GROUNDS)], rng)
    taken: list[tuple[Array, float]] = []
    for k in range(int(rng.integers(0, 4))):
        robot = random_tree(f"tree{k}", rng)
        base = robot.base.joint
        place = _free_place(rng, _reach_of(robot), top, taken)
        if base.kind == "floating":
            base.position = np.concatenate([place, random_quaternion(rng)])
        else:
            base.placement = from_quaternion(random_quaternion(rng), place)
        world.add_robot(robot)
    for k in range(int(rng.integers(2, 13))):
        geometry = random_geometry(rng)
        place = _free_place(rng, reach_of(geometry), top, taken)
        world.add_object(
            geometry,
            solid_of(geometry, random_mass(rng)),
            place,
            random_quaternion(rng),
            friction=random_friction(rng),
            name=f"thing{k}",
        )
    return world


def random_velocity(world: World, seed: int) -> Array:
    """Velocities to let a world go with: metres and a few radians a second [m/s, rad/s],
    shape (v_count,).
    """
    model, rng = world.compile(), np.random.default_rng(seed)
    v = 2.0 * rng.normal(size=model.v_count)
    for row in model.arrays.body[model.arrays.body["kind"] == FLOATING]:
        v[row["v_start"] + 3 : row["v_end"]] *= 2.0
    return v


# ---- the ground -----------------------------------------------------------------------------


def _add_ground(world: World, kind: str, rng: np.random.Generator) -> float:
    """Add a ground; returns the height of its highest point where things fall [m]."""
    friction = random_friction(rng)
    if kind == "bowl":
        # what slides without friction comes back
        count, edge = 65, 16.0
        x = np.linspace(-0.5 * edge, 0.5 * edge, count)
        rough = rng.uniform(0.0, 0.08) * rng.normal(size=(count, count))
        heights = 0.03 * (x[:, None] ** 2 + x**2) + rough
        world.add_height_field(heights, (edge, edge), friction=friction)
        return float(heights[abs(x) < 2.0][:, abs(x) < 2.0].max())
    world.add_ground(friction=friction)
    if kind == "plane":
        return 0.0
    steps, rise, run = int(rng.integers(2, 6)), rng.uniform(0.08, 0.18), rng.uniform(0.25, 0.4)
    world.add_stairs(
        steps, rise, run, 3.0, (-0.5 * steps * run, 0.0, 0.0), friction=random_friction(rng)
    )
    return float(steps * rise)


def _free_place(
    rng: np.random.Generator, reach: float, top: float, taken: list[tuple[Array, float]]
) -> Array:
    """A place for a ball of a radius above the ground, apart from those that are taken;
    it is taken then.
    """
    spread = 0.3
    while True:
        p = rng.uniform(-1.0, 1.0, 3) * (spread, spread, 0.0)
        p[2] = top + reach + 1e-3 + rng.uniform(0.0, max(MAX_HEIGHT_M - reach, 0.0))
        if all(np.linalg.norm(p - o) > reach + r for o, r in taken):
            taken.append((p, reach))
            return p
        spread = min(1.05 * spread, 2.0) if spread < 2.0 else 0.3


# ---- things ---------------------------------------------------------------------------------


def random_mass(rng: np.random.Generator) -> float:
    """Draw the mass of a body [kg], evenly over its logarithm."""
    return float(np.exp(rng.uniform(np.log(MIN_MASS_KG), np.log(MAX_MASS_KG))))


def random_friction(rng: np.random.Generator) -> float:
    """Coefficient of a surface; some have none."""
    return float(max(0.0, rng.uniform(-0.1, MOST_FRICTION)))


def random_quaternion(rng: np.random.Generator) -> Array:
    """Any orientation (w, x, y, z)."""
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def random_geometry(rng: np.random.Generator) -> Geometry:
    """A shape of five to thirty centimetres."""
    a, b, c = (float(x) for x in rng.uniform(0.05, 0.3, 3))
    kind = rng.integers(5)
    if kind == 0:
        return Box((a, b, c))
    if kind == 1:
        return Sphere(0.5 * a)
    if kind == 2:
        return Capsule(0.3 * a, b)
    if kind == 3:
        return Cylinder(0.4 * a, b)
    return convex_hull(0.5 * a * _directions(rng, int(rng.integers(6, 25))) * (1.0, b / a, c / a))


def _directions(rng: np.random.Generator, count: int) -> Array:
    x = rng.normal(size=(count, 3))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def reach_of(geometry: Geometry) -> float:
    """Radius of the ball around its frame's origin that holds a shape [m]."""
    if isinstance(geometry, Capsule):
        return geometry.radius + 0.5 * geometry.length
    return 1.001 * float(np.linalg.norm(geometry.points(), axis=1).max())


def solid_of(geometry: Geometry, mass: float) -> Inertia:
    """A homogeneous body of that shape."""
    if isinstance(geometry, Box):
        return inertia.solid_box(mass, geometry.size)
    if isinstance(geometry, Sphere):
        return inertia.solid_sphere(mass, geometry.radius)
    if isinstance(geometry, Capsule):
        return inertia.solid_capsule(mass, geometry.radius, geometry.length)
    if isinstance(geometry, Ellipsoid):
        return inertia.solid_ellipsoid(mass, geometry.radii)
    if isinstance(geometry, Cylinder):
        return inertia.solid_cylinder(mass, geometry.radius, geometry.length)
    assert isinstance(geometry, Convex)
    # tetrahedra from the origin to each triangle:
    # ∫ x xᵀ over one is V/20 (Σ p pᵀ + s sᵀ), s the sum of its corners
    corners = geometry.vertices[geometry.triangles]
    volume = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    total, sums = volume.sum(), corners.sum(axis=1)
    centre = volume @ sums / (4 * total)
    second = (
        np.einsum("n,nki,nkj->ij", volume, corners, corners)
        + np.einsum("n,ni,nj->ij", volume, sums, sums)
    ) / (20 * total)
    second -= np.outer(centre, centre)
    return Inertia(mass, centre, mass * (np.trace(second) * np.eye(3) - second))


# ---- trees ----------------------------------------------------------------------------------


def random_tree(name: str, rng: np.random.Generator, base: str | None = None) -> Robot:
    """A base and two to six links, each hung on any of those before it;
    links that overlap from the start never collide.

    Args:
        base: kind of the base's joint, "floating" or "fixed"; either by default.
    """
    robot = Robot(name)
    is_position_controlled = rng.random() < 0.5
    for k in range(int(rng.integers(3, 8))):
        geometry = random_geometry(rng)
        body = f"{name}_link{k}"
        shape = Shape(geometry, material=Material(body, random_friction(rng)), name=body)
        solid = solid_of(geometry, random_mass(rng))
        if k == 0:
            kind = "floating" if rng.random() < 0.7 else "fixed"
            robot.add_body(body, Joint(f"{name}_base", base or kind), None, solid, [shape])
            continue
        parent = robot.bodies[int(rng.integers(len(robot.bodies)))]
        # the joint near the parent's surface, the link outwards of it
        out = _directions(rng, 1)[0]
        at = 0.9 * _reach_of_link(parent) * out
        shape.placement = Transform(np.eye(3), np.array([0.0, 0.0, reach_of(geometry)]))
        joint = _joint(
            f"{name}_joint{k}", from_quaternion(_turn_to(out), at), is_position_controlled, rng
        )
        robot.add_body(body, joint, parent, solid.transformed(shape.placement), [shape])
    model = robot.compile()
    robot.excluded |= {
        frozenset((c.link_a, c.link_b)) for c in collision.contacts(model, model.initial(), 1e-3)
    }
    return robot


def _joint(
    name: str, placement: Transform, is_position_controlled: bool, rng: np.random.Generator
) -> Joint:
    kind = ("revolute", "revolute", "spherical", "prismatic")[int(rng.integers(4))]
    joint = Joint(
        name, kind, placement, tuple(rng.normal(size=3)), damping=float(rng.uniform(0.0, 0.1))
    )
    if kind == "prismatic":
        # nothing else would keep it near
        joint.stiffness, joint.damping = float(rng.uniform(200.0, 2000.0)), 2.0
    elif is_position_controlled and kind == "revolute":
        joint.motor = Motor(
            kp=float(rng.uniform(10.0, 1000.0)),
            kd=float(rng.uniform(0.1, 10.0)),
            torque_limit=float(rng.uniform(5.0, 100.0)),
        )
    return joint


def _turn_to(z: Array) -> Array:
    """A rotation that takes z to a direction, as a quaternion."""
    q = np.array([1.0 + z[2], -z[1], z[0], 0.0])
    return q / np.linalg.norm(q) if np.linalg.norm(q) > 1e-6 else np.array([0.0, 1.0, 0.0, 0.0])


def _reach_of_link(body: Body) -> float:
    """Radius of the ball around the middle of its shape that holds a link [m]."""
    geometry = body.shapes[0].geometry
    assert not isinstance(geometry, MeshFile)
    return reach_of(geometry)


def _reach_of(robot: Robot) -> float:
    """Radius of the ball around its base's origin that holds a tree as it is [m]."""
    X = robot.placements()
    origin = X[robot.base].p
    return max(
        float(np.linalg.norm(X[b] @ b.shapes[0].placement.p - origin)) + _reach_of_link(b)
        for b in robot.bodies
    )
