"""A world: robots, free objects and fixed things, edited freely, compiled to a model."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tabi._errors import Helpful, ModelError, brief, expect, real, refused_attribute, unknown
from tabi.model import force_plates
from tabi.model.body import Body
from tabi.model.compiled import Model
from tabi.model.compiler import Parts, compile_world
from tabi.model.joint import Joint
from tabi.model.names import free_name
from tabi.model.placing import check_geometry, checked_pose, material_of, three
from tabi.model.robot import Robot
from tabi.model.sensors import Sensor
from tabi.model.shape import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Geometry,
    HalfSpace,
    HeightField,
    Shape,
    Sphere,
    check_coefficients,
    coefficient,
)
from tabi.model.soundness import GRAVITY, checked_gravity
from tabi.spatial import inertia
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import from_quaternion, translation

# steps of stairs; size of what moves [m]
MAX_STEPS, MAX_OBJECT = 1000, 100.0
SETTABLE = (
    *("gravity", "robots", "objects", "fixed", "pairs", "bonds", "plates"),
    "ground_height",
)


class World(Helpful):
    """Robots and objects together. Example: docs/worlds.md.

    Attributes:
        gravity: acceleration [m/s²], shape (3,).
        robots, objects: in the order they were added.
        fixed: the body that never moves; the ground, walls and tables are its shapes.
        pairs: friction and restitution of two materials where they are not (smaller friction,
            larger restitution).
        plates: force plates, and the shapes of each.
    """

    def __init__(self, gravity: ArrayLike = GRAVITY) -> None:
        self.gravity = checked_gravity(gravity)
        self.robots: list[Robot] = []
        self.objects: list[Body] = []
        self.fixed = Body("world", Joint("world", "fixed"))
        self.pairs: dict[frozenset[str], dict[str, float | None]] = {}
        self.bonds: list[tuple[Any, ...]] = []
        self.plates: list[tuple[Sensor, list[Shape]]] = []
        self.ground_height = 0.0

    def __repr__(self) -> str:
        counts = {"robots": self.robots, "objects": self.objects, "fixed": self.fixed.shapes}
        return f"World({', '.join(f'{len(x)} {name}' for name, x in counts.items())})"

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in SETTABLE:
            raise refused_attribute("world", name, SETTABLE)
        super().__setattr__(name, checked_gravity(value) if name == "gravity" else value)

    @property
    def size(self) -> int:
        """Number of robots, objects and fixed shapes."""
        return len(self.robots) + len(self.objects) + len(self.fixed.shapes)

    # ---- fixed things -----------------------------------------------------------------------

    def add_ground(
        self, friction: float = 0.8, restitution: float = 0.0, height: float = 0.0, **surface: Any
    ) -> Shape:
        """A floor without end at a height [m]; other keywords as in ``Material``."""
        if not np.isfinite(real("height of the ground", height)):
            raise ModelError(f"ground has height {height}; expected a finite number in metres")
        shape = self.add_fixed(
            HalfSpace(),
            (0.0, 0.0, height),
            friction=friction,
            restitution=restitution,
            name="ground",
            **surface,
        )
        self.ground_height = height
        for robot in self.robots:
            robot.ground_height = height
        return shape

    def add_fixed(
        self,
        geometry: Geometry,
        position: ArrayLike = (0.0, 0.0, 0.0),
        quaternion: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        friction: float = 0.8,
        restitution: float = 0.0,
        name: str = "",
        surface_velocity: ArrayLike = (0.0, 0.0, 0.0),
        **surface: float | None,
    ) -> Shape:
        """A thing that never moves: a wall, a table, a pillar; with a surface velocity [m/s] it is
        a conveyor. Other keywords as in ``Material``.
        """
        name = self._free_name(name or f"fixed{len(self.fixed.shapes) + 1}")
        placement = checked_pose(name, quaternion, position)
        if not np.isfinite(placement.p).all():
            raise ModelError(
                f"fixed thing {name!r} is at {placement.p.tolist()}; "
                f"expected three finite numbers in metres"
            )
        check_geometry(name, geometry)
        runs = three(f"surface_velocity of {name!r}", surface_velocity, "m/s")
        shape = Shape(
            geometry,
            placement,
            material_of(name, friction, restitution, surface),
            name=name,
            surface_velocity=runs,
        )
        self.fixed.shapes.append(shape)
        return shape

    def add_height_field(
        self, heights: ArrayLike, size: tuple[float, float], **where: Any
    ) -> Shape:
        """Ground of varying height [m] on a grid, shape (ny, nx), over a rectangle ``size`` x, y
        [m]; keywords as in ``add_fixed``.
        """
        return self.add_fixed(
            HeightField(np.asarray(heights), size), **_named("height_field", where)
        )

    def add_stairs(
        self,
        steps: int,
        rise: float,
        run: float,
        width: float,
        position: ArrayLike = (0.0, 0.0, 0.0),
        quaternion: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        **surface,
    ) -> list[Shape]:
        """Stairs up along x, the lower edge of the first riser in the middle of its width at
        ``position``; one solid box per step.

        Args:
            rise, run, width: of each step [m].
            surface: friction, restitution and name, as in ``add_fixed``.
        """
        if int(real("number of steps", steps)) != steps or not 1 <= steps <= MAX_STEPS:
            raise ModelError(
                f"stairs have {steps} steps; expected a whole number ≥ 1, at most {MAX_STEPS}"
            )
        for what, value in (("rise", rise), ("run", run), ("width", width)):
            if not 0 < real(f"{what} of stairs", value) < np.inf:
                raise ModelError(
                    f"stairs have {what} {value:g}; expected a positive length in metres"
                )
        name = self._free_name(surface.pop("name", "stairs"))
        X = from_quaternion(quaternion, position)
        shapes = []
        for k in range(int(steps)):
            height = (k + 1) * rise
            X_step = X @ translation(((k + 0.5) * run, 0.0, 0.5 * height))
            box = Box((run, width, height))
            shapes.append(
                self.add_fixed(box, X_step.p, X_step.quaternion, **surface, name=f"{name}{k + 1}")
            )
        return shapes

    def add_force_plate(
        self,
        name: str = "plate",
        size: tuple[float, float] = (0.6, 0.4),
        position: ArrayLike = (0.0, 0.0, 0.0),
        quaternion: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        thickness: float = 0.05,
        friction: float = 0.8,
        resolution: ArrayLike = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0),
        **options: Any,
    ) -> Sensor:
        """A plate that measures the wrench on what stands on it, about the middle of its upper
        face, which is at ``position``, in its own axes; its centre of pressure comes with it.

        Args:
            size: along x and y [m]. thickness: below the upper face [m].
            resolution: of forces [N] and torques [N·m]; 0 for exact readings.
            options: as of ``Robot.add_sensor``: rate, noise, bias, drift, delay, bandwidth, limit.
        """
        force_plates.check_size(name, size, thickness)
        X = checked_pose(name, quaternion, position)
        middle = X @ translation((0.0, 0.0, -0.5 * thickness))
        shape = self.add_fixed(
            Box((*size, thickness)), middle.p, middle.quaternion, friction=friction, name=name
        )
        plate = force_plates.plate(shape.name, self.fixed, X, resolution=resolution, **options)
        self.plates.append((plate, [shape]))
        return plate

    def measure_force(self, thing: Shape | Body | str, **options: Any) -> Sensor:
        """Make a force plate of a fixed thing, or of a body of a robot that is fixed to the world,
        by object or name: it measures the wrench on all that touches it, about the origin of the
        thing, in its axes. ``options`` as in ``add_force_plate``.
        """
        name, body, X, shapes = force_plates.fixed_thing(thing, self.fixed, self.robots)
        if any(name == plate.name for plate, _ in self.plates):
            raise ModelError(f"{name!r} is a force plate already; expected one plate of a thing")
        plate = force_plates.plate(name, body, X, **options)
        self.plates.append((plate, shapes))
        return plate

    # ---- robots and objects -----------------------------------------------------------------

    def add_robot(self, robot: Robot | str | Path, name: str | None = None) -> Robot:
        """Add a copy of a robot, or of the robot in a file;
        returns the one that lives in this world.
        """
        if isinstance(robot, (str, Path)):
            # the whole package reads files: links that overlap are found by ``collision``
            robot = importlib.import_module("tabi").load(robot)
        if not isinstance(robot, Robot):
            what = getattr(robot, "__name__", None)
            description = (
                f"{what}, which is not called: {what}()" if callable(robot) else brief(robot)
            )
            raise ModelError(
                f"a robot was given as {description}; expected a Robot or the path of its file"
            )
        robot = robot.copied()
        robot.name = self._free_name(name or robot.name, explicit=name is not None)
        robot.ground_height = self.ground_height
        self.robots.append(robot)
        return robot

    def add_object(
        self,
        geometry: Geometry,
        inertia: Inertia,
        position: ArrayLike = (0.0, 0.0, 0.0),
        quaternion: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        friction: float = 0.8,
        restitution: float = 0.0,
        name: str = "object",
        **surface: float | None,
    ) -> Body:
        """A free rigid body of one shape; other keywords as in ``Material``."""
        name = self._free_name(name)
        check_geometry(name, geometry, MAX_OBJECT)
        expect(f"inertia of {name!r}", inertia, Inertia, "a tabi.Inertia; or take world.add_box")
        if not (np.isfinite(inertia.mass) and inertia.mass > 0):
            raise ModelError(
                f"object {name!r} has mass {inertia.mass:g} kg; expected a positive number"
            )
        X = checked_pose(name, quaternion, position)
        if not np.isfinite(X.p).all():
            raise ModelError(
                f"object {name!r} is at {X.p.tolist()}; expected three finite numbers in metres"
            )
        joint = Joint(name, "floating", position=np.concatenate([X.p, X.quaternion]))
        shape = Shape(
            geometry,
            material=material_of(name, friction, restitution, surface),
            color=(0.80, 0.62, 0.38, 1.0),
            name=name,
        )
        body = Body(name, joint, None, inertia, [shape])
        self.objects.append(body)
        return body

    def add_box(self, size: tuple[float, float, float], mass: float, **where: Any) -> Body:
        """A free homogeneous box with edges ``size`` [m]; keywords as in ``add_object``."""
        return self.add_object(
            Box(size),
            inertia.solid_box(real("mass of an object", mass), size),
            **_named("box", where),
        )

    def add_sphere(self, radius: float, mass: float, **where: Any) -> Body:
        """A free homogeneous ball; keywords as in ``add_object``."""
        return self.add_object(
            Sphere(radius),
            inertia.solid_sphere(real("mass of an object", mass), radius),
            **_named("sphere", where),
        )

    def add_ellipsoid(self, radii: tuple[float, float, float], mass: float, **where: Any) -> Body:
        """A free homogeneous ellipsoid with half axes ``radii`` along x, y, z [m];
        keywords as in ``add_object``.
        """
        return self.add_object(
            Ellipsoid(radii),
            inertia.solid_ellipsoid(real("mass of an object", mass), radii),
            **_named("ellipsoid", where),
        )

    def add_cylinder(self, radius: float, length: float, mass: float, **where: Any) -> Body:
        """A free homogeneous cylinder along z; keywords as in ``add_object``."""
        return self.add_object(
            Cylinder(radius, length),
            inertia.solid_cylinder(real("mass of an object", mass), radius, length),
            **_named("cylinder", where),
        )

    def add_capsule(self, radius: float, length: float, mass: float, **where: Any) -> Body:
        """A free homogeneous capsule along z, ``length`` without the caps;
        keywords as in ``add_object``.
        """
        return self.add_object(
            Capsule(radius, length),
            inertia.solid_capsule(real("mass of an object", mass), radius, length),
            **_named("capsule", where),
        )

    def add_bond(
        self,
        kind: str,
        a: Body | str,
        b: Body | str,
        point: ArrayLike | None = None,
        axis: ArrayLike | None = None,
    ) -> None:
        """Hold two bodies together where they start, as ``Simulator.bond`` does:
        a closed chain, a handle.
        """
        self.bonds.append((kind, a, b, point, axis))

    # ---- materials --------------------------------------------------------------------------

    def set_pair(
        self,
        a: str,
        b: str,
        friction: float | None = None,
        restitution: float | None = None,
        **coefficients: float | None,
    ) -> None:
        """Set coefficients of a pair of materials, by the names in ``Material``. Coefficients that
        are left out keep the default: the smaller friction, the larger of all others.
        """
        specified = {"friction": friction, "restitution": restitution, **coefficients}
        check_coefficients(
            f"the pair {a!r}, {b!r}",
            {coefficient(name): value for name, value in specified.items()},
        )
        self.pairs[frozenset((a, b))] = specified

    # ---- names ------------------------------------------------------------------------------

    def robot(self, name: str) -> Robot:
        """The robot of that name."""
        for robot in self.robots:
            if robot.name == name:
                return robot
        raise unknown("robot", name, "the world", [r.name for r in self.robots])

    def _free_name(self, name: str, explicit: bool = False) -> str:
        taken = (
            {r.name for r in self.robots}
            | {o.name for o in self.objects}
            | {s.name for s in self.fixed.shapes}
            | {"world"}
        )
        return free_name(name, taken, explicit)

    def compile(self) -> Model:
        """The flat model of this world: fixed structure,
        parameters that can be set between steps.
        """
        return compile_world(
            Parts(self.robots, self.objects, self.fixed, self.gravity, self.pairs, self.plates)
        )


def _named(name: str, where: dict[str, Any]) -> dict[str, Any]:
    """Keywords of a thing, with a name unless they have one."""
    return {"name": name, **where}
