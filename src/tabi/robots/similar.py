"""A robot of which little is public, estimated by dynamic similarity from one that is well known.

With λ of its lengths and μ of its masses, in the same gravity,

    length λ, mass μ, inertia μ λ², torque and angular stiffness μ λ, time √λ                    (1)
so that at the same angles centres of pressure, limits and falls are those of the known robot, drawn
larger or smaller. Gear ratios stay; the rotors carry the factor of inertias. Joints that the robot
does not have are welded: their bodies are one with the body before, at the angle zero.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from tabi.model.body import Body
from tabi.model.joint import Joint, Motor
from tabi.model.robot import Robot
from tabi.model.shape import Box, Capsule, Convex, Cylinder, Ellipsoid, Shape, Sphere
from tabi.robots.armour import Color
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import Transform, translation


@dataclass(frozen=True)
class Similarity:
    """Factors of (1): λ and μ."""

    length: float
    mass: float

    @property
    def torque(self) -> float:
        """μ λ, of torques and angular stiffnesses."""
        return self.mass * self.length

    @property
    def time(self) -> float:
        """√λ."""
        return self.length**0.5

    def inertia(self, of: Inertia) -> Inertia:
        """Return the inertia of a similar body."""
        factor = self.mass * self.length**2
        return Inertia(of.mass * self.mass, of.centre * self.length, of.tensor * factor)

    def joint(self, of: Joint) -> Joint:
        """A similar joint with its motor, at its place in a similar body."""
        motor = of.motor
        assert motor is not None
        larger = Motor(
            motor.rotor_inertia * self.torque * self.length,
            motor.gear_ratio,
            motor.torque_limit * self.torque,
            motor.kp * self.torque,
            motor.kd * self.torque * self.time,
        )
        return replace(
            of,
            placement=translation(of.placement.p * self.length),
            velocity_limit=of.velocity_limit / self.time,
            effort_limit=of.effort_limit * self.torque,
            motor=larger,
            position=None,
        )

    def bush(self, of: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
        """Rubber as soft against m g h: about roll and pitch, and along the normal."""
        turning, turning_damping, normal, normal_damping = of
        along = self.mass / self.length
        return (
            turning * self.torque,
            turning_damping * self.torque * self.time,
            normal * along,
            normal_damping * along * self.time,
        )

    def place(self, of: Transform) -> Transform:
        """Return the pose of a similar body in another one."""
        return Transform(of.R, self.length * of.p)

    def shape(self, of: Shape) -> Shape:
        """Return a similar shape, scaled."""
        s, g = self.length, of.geometry
        if isinstance(g, Sphere):
            g = Sphere(s * g.radius)
        elif isinstance(g, Cylinder | Capsule):
            g = replace(g, radius=s * g.radius, length=s * g.length)
        elif isinstance(g, Box):
            g = Box(tuple(s * np.asarray(g.size)))
        elif isinstance(g, Ellipsoid):
            g = Ellipsoid(tuple(s * np.asarray(g.radii)))
        elif isinstance(g, Convex):
            g = Convex(s * g.vertices, g.triangles)
        return replace(of, geometry=g, placement=self.place(of.placement))


def similar(
    known: Robot,
    name: str,
    by: Similarity,
    welded: Collection[str] = (),
    renamed: Mapping[str, str] | None = None,
    shapes: Callable[[str], list[Shape]] | None = None,
) -> Robot:
    """Create a robot of (1), with the feet, force sensors, IMU and poses of the known one.

    Args:
        known: standing on a floating base.
        welded: joints of it that the robot does not have.
        renamed: bodies that have other names, by those they have in the known robot; the base's
            joint is called after it.
        shapes: of a body, by its name; default: similar ones.
    """
    called, robot = dict(renamed or {}), Robot(name)
    X, root = known.placements(known.at_zero()), _roots(known, welded)

    def shift(a: Body, b: Body) -> Transform:
        return by.place(X[a].inverse() @ X[b])

    def word(body: Body) -> str:
        return called.get(root[body].name, root[body].name)

    for body in (root_body for root_body in known.bodies if root[root_body] is root_body):
        parts = [part for part in known.bodies if root[part] is body]
        inertia = sum(
            (by.inertia(part.inertia).transformed(shift(body, part)) for part in parts), Inertia()
        )
        shapes_ = [
            replace(shape, placement=shift(body, part) @ shape.placement)
            for part in parts
            for shape in map(by.shape, part.shapes)
        ]
        drawn = shapes(word(body)) if shapes else shapes_
        if body.parent is None:
            robot.add_body(word(body), Joint(word(body).upper(), "floating"), None, inertia, drawn)
            continue
        joint = by.joint(body.joint)
        joint.placement = shift(root[body.parent], body.parent) @ joint.placement
        robot.add_body(word(body), joint, word(body.parent), inertia, drawn)
    for side, foot in known.feet.items():
        place = by.length * foot.placement.p
        robot.add_foot(side, word(foot.body), foot.polygon * by.length, place)
    for key, sensor in known.sensors.items():
        place = shift(root[sensor.body], sensor.body) @ (by.length * sensor.placement.p)
        robot.add_sensor(key, sensor.kind, word(sensor.body), place)
    pairs = [frozenset(word(known.body(name)) for name in pair) for pair in known.excluded]
    robot.excluded.update(names for names in pairs if len(names) == 2)
    for key, pose in known.poses.items():
        robot.poses[key] = {joint: x for joint, x in pose.items() if joint not in welded}
    return robot


def _roots(known: Robot, welded: Collection[str]) -> dict[Body, Body]:
    """By body the first of those that it is one with."""
    root: dict[Body, Body] = {}
    for body in known.bodies:
        parent = body.parent
        root[body] = root[parent] if parent and body.joint.name in welded else body
    return root


def repaint(robot: Robot, colors: Mapping[Color, Color]) -> None:
    """Give shapes of some colours others, so that robots can be distinguished."""
    for body in robot.bodies:
        body.shapes = [
            replace(shape, color=colors.get(shape.color, shape.color)) for shape in body.shapes
        ]
