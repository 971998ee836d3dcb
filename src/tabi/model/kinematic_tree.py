"""A kinematic tree: bodies that hang on each other by joints, with feet, frames and sensors, and
where they all are.

What makes it a robot that stands, and compiles by itself, is in ``robot``, above ``legs`` and
``compiler``.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import Helpful, ModelError, expect, real, unknown
from tabi.model.body import Body, Closure, Foot, Frame, check_place, check_simple
from tabi.model.feet.sole_finding import sole_of
from tabi.model.joint import Joint
from tabi.model.names import FEET_HINT, NamedThings
from tabi.model.placing import checked_pose
from tabi.model.sensors import Sensor, check_options
from tabi.model.shape import Shape
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import Transform, from_quaternion

Array = NDArray[np.float64]
Pose = Mapping[str, float]


class KinematicTree(Helpful):
    """A named tree of bodies; the first body is the base.

    Attributes:
        bodies: parents before children.
        feet: by name, ``robot.feet["left"]``.
        poses: named joint positions [rad or m]; joints not named stand at zero.
        excluded: pairs of body names that never collide.
        bonds: loops of the tree that are held closed from the start.
        notes: what a reader ignored or repaired, and why.
        doubts: what a reader found that can hardly be meant: see
            ``tabi.model.report.suspicious_values``.
        foot_links: bodies that the file declares as feet, with the middle of each sole in the
            body's frame [m], or nothing.
        missing_meshes: body name → collision meshes that a reader could not use.

    Example: ``hopper.add_body`` in docs/worlds.md
    """

    def __init__(self, name: str, file: Path | None = None) -> None:
        self.name = name
        self.file = file
        self.bodies: list[Body] = []
        self.feet: dict[str, Foot] = NamedThings("foot", FEET_HINT)
        self.frames: dict[str, Frame] = NamedThings("frame")
        self.sensors: dict[str, Sensor] = NamedThings("sensor", "robot.add_sensor(…) adds one")
        self.poses: dict[str, Pose] = NamedThings("pose", "robot.poses[name] = {joint: …}")
        self.excluded: set[frozenset[str]] = set()
        self.bonds: list[Closure] = []
        self.notes: list[str] = []
        self.doubts: list[str] = []
        self.foot_links: dict[str, list[float]] = {}
        self.missing_meshes: dict[str, list[str]] = {}
        self.ground_height = 0.0
        self._by_name: dict[str, Body] = {}
        self._joints: dict[str, Joint] = {}

    # ---- building ---------------------------------------------------------------------------

    def add_body(
        self,
        name: str,
        joint: Joint,
        parent: Body | str | None = None,
        inertia: Inertia | None = None,
        shapes: list[Shape] | None = None,
        line: int | None = None,
    ) -> Body:
        """Hang a body on ``parent`` by ``joint``; the first one, the base, has no parent."""
        self._check_new(name, joint, parent, line)
        body = Body(
            name,
            joint,
            self.body(parent) if isinstance(parent, str) else parent,
            inertia or Inertia(),
            shapes or [],
            line,
        )
        self.bodies.append(body)
        self._by_name[name] = body
        self._joints[joint.name] = joint
        return body

    def _check_new(
        self, name: str, joint: Joint, parent: Body | str | None, line: int | None
    ) -> None:
        """Refuse a body that has no name of its own, or that hangs on nothing."""
        if not name or not joint.name:
            raise ModelError(
                f"body {name!r} of {self.name} hangs on the joint {joint.name!r}; "
                f"expected both to have a name",
                self.file,
                line,
            )
        if name in self._by_name:
            raise ModelError(
                f"body {name!r} occurs twice in {self.name}; give every body its own name",
                self.file,
                line,
            )
        if joint.name in self._joints:
            raise ModelError(
                f"joint {joint.name!r} occurs twice in {self.name}; give every joint its own name",
                self.file,
                joint.line or line,
            )
        if (parent is None) != (not self.bodies):
            expected = (
                "a parent among the bodies already there"
                if self.bodies
                else "no parent, as the base"
            )
            raise ModelError(
                f"body {name!r} of {self.name} has parent {parent!r}; expected {expected}",
                self.file,
                line,
            )

    def add_foot(
        self,
        name: str,
        body: Body | str,
        polygon: ArrayLike | None = None,
        position: ArrayLike = (0.0, 0.0, 0.0),
        quaternion: ArrayLike = (1.0, 0.0, 0.0, 0.0),
    ) -> Foot:
        """Declare a foot: a polygon [m] in a frame on the body, z up into the leg, or the sole its
        shapes show with all joints at zero.

        A body without collision shapes gets a plate of the polygon's outline, to touch the ground
        with.
        """
        body = self.body(body) if isinstance(body, str) else body
        R_WB = self.placements(self.at_zero())[body].R
        if polygon is None:
            foot = sole_of(name, body, R_WB)
        else:
            check_simple(name, polygon)
            X_BF = from_quaternion(quaternion, position)
            if not np.isfinite(X_BF.p).all():
                raise ModelError(
                    f"foot {name!r} is at {X_BF.p.tolist()}; "
                    f"expected three finite numbers in metres"
                )
            if R_WB[2] @ X_BF.R[:, 2] < 0:
                message = (
                    f"foot {name!r} on body {body.name!r} has its z axis downwards when all "
                    f"joints are at zero"
                )
                raise ModelError(f"{message}; expected z up into the leg: give it a quaternion")
            foot = Foot(name, body, X_BF, np.asarray(polygon, float))
            check_place(foot)
            if not body.collision_shapes():
                body.shapes.append(foot.plate())
                self.notes.append(
                    f"stand-in: body {body.name!r} has no collision shape; "
                    f"a plate of the foot {name!r} touches the ground for it"
                )
        self.feet[name] = foot
        return foot

    def add_sensor(
        self,
        name: str,
        kind: str,
        body: Body | str,
        position: ArrayLike = (0.0, 0.0, 0.0),
        quaternion: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        **options: Any,
    ) -> Sensor:
        """Put a sensor at a place of a body: see ``tabi.model.sensors``.

        Args:
            kind: "force", "imu", "gyro", "accelerometer", "orientation", "touch" or "switch"; or
                "encoder", "torque" or "effort", of the joint that carries the body.
            options: rate, delay, noise, bias, drift, resolution, limit, bandwidth, matrix, offset,
                threshold, part: see ``tabi.model.sensors.Sensor``.
        """
        if name in self.sensors:
            raise ModelError(
                f"sensor {name!r} occurs twice in {self.name}; give every sensor its own name"
            )
        body = self.body(body if isinstance(body, str) else body.name)
        check_options(name, options)
        sensor = Sensor(name, body, from_quaternion(quaternion, position), kind, **options)
        sensor.check()
        self.sensors[name] = sensor
        return sensor

    def set_sensor(self, name: str, **options: Any) -> Sensor:
        """Change how a sensor measures, as in ``add_sensor``; before the world is simulated."""
        if name not in self.sensors:
            raise unknown("sensor", name, self.name, self.sensors)
        check_options(name, options)
        changed = dataclasses.replace(self.sensors[name], **options)
        changed.check()
        self.sensors[name].__dict__.update(changed.__dict__)
        return self.sensors[name]

    def exclude(self, a: Body | str, b: Body | str) -> None:
        """Let two bodies never collide, by object or name."""
        names = [self.body(body if isinstance(body, str) else body.name).name for body in (a, b)]
        if names[0] == names[1]:
            raise ModelError(
                f"body {names[0]!r} of {self.name} is excluded from collisions with itself; "
                f"expected two bodies"
            )
        self.excluded.add(frozenset(names))

    def copied(self) -> Self:
        """A copy that shares nothing with this one; refused without a body."""
        if not self.bodies:
            raise ModelError(f"robot {self.name!r} has no body; expected at least its base")
        return copy.deepcopy(self)

    # ---- looking up -------------------------------------------------------------------------

    def body(self, name: str) -> Body:
        """The body of that name."""
        if not isinstance(name, str) or name not in self._by_name:
            raise unknown("body", name, self.name, self._by_name)
        return self._by_name[name]

    def joint(self, name: str) -> Joint:
        """The joint of that name."""
        if not isinstance(name, str) or name not in self._joints:
            raise unknown("joint", name, self.name, [b.joint.name for b in self.bodies[1:]])
        return self._joints[name]

    @property
    def base(self) -> Body:
        """The body that carries all others."""
        if not self.bodies:
            raise ModelError(f"robot {self.name!r} has no body")
        return self.bodies[0]

    @property
    def joint_names(self) -> list[str]:
        """Names of the joints that move, without the floating base and without passive joints, such
        as those of an ankle bush: what a controller sees and commands.
        """
        return [
            b.joint.name for b in self.bodies[1:] if b.joint.kind != "fixed" and not b.joint.passive
        ]

    @property
    def mass(self) -> float:
        """Total mass of all bodies [kg]."""
        return sum(b.inertia.mass for b in self.bodies)

    # ---- posing -----------------------------------------------------------------------------

    def positions(self, pose: Pose) -> dict[Body, Array]:
        """Return the positions of all joints in a pose {joint: position [rad or m]}, without moving
        any; the base stays.
        """
        expect(f"pose of {self.name}", pose, Mapping, "a name, or {joint: position [rad or m]}")
        for name, value in pose.items():
            joint = self.joint(name)
            if joint.q_count != 1 or not np.isfinite(real(f"position of joint {name!r}", value)):
                raise ModelError(
                    f"pose of {self.name} puts joint {name!r} ({joint.kind}) at {value}; "
                    f"expected one finite number"
                )
            joint.check_radians(float(value))
        positions = self.at_zero()
        positions |= {
            b: np.array([pose.get(b.joint.name, 0.0)], float)
            for b in self.bodies[1:]
            if b.joint.q_count == 1
        }
        owner = {b.joint.name: b for b in self.bodies}
        for body in self.bodies[1:]:
            mimic = body.joint.mimic
            if mimic:
                self.joint(mimic.leader)
                positions[body] = mimic.ratio * positions[owner[mimic.leader]] + mimic.offset
        return positions

    def place(self, position: ArrayLike, quaternion: ArrayLike = (1.0, 0.0, 0.0, 0.0)) -> None:
        """Put the base at a position [m] and orientation (w, x, y, z) in the world."""
        X = checked_pose(self.name, quaternion, position)
        if not np.isfinite(X.p).all():
            raise ModelError(
                f"robot {self.name!r} was placed at {X.p.tolist()}; "
                f"expected three finite numbers in metres"
            )
        if self.base.joint.kind == "floating":
            self.base.joint.position = np.concatenate([X.p, X.quaternion])
        else:
            self.base.joint.placement = X

    def at_zero(self) -> dict[Body, Array]:
        """Return joint positions by body: zero, and the present pose of the base."""
        return {
            body: body.joint.position if body is self.base else body.joint.zero()
            for body in self.bodies
        }

    def placements(self, positions: Mapping[Body, Array] | None = None) -> dict[Body, Transform]:
        """X_WB of every body, at the joints' own positions or ``positions`` [rad or m]."""
        X: dict[Body, Transform] = {}
        for body in self.bodies:
            q = body.joint.position if positions is None else positions[body]
            X_WP = X[body.parent] if body.parent else Transform()
            X[body] = X_WP @ body.joint.placement @ body.joint.motion(q)
        return X

    def extent(
        self, direction: ArrayLike, placements: Mapping[Body, Transform] | None = None
    ) -> float:
        """Return the extent of the robot along a direction of the world [m], by its shapes and by
        the frames of bodies without any.
        """
        d, reach = np.asarray(direction, float), []
        for body, X in (placements or self.placements()).items():
            shapes = [s.support(X.R.T @ d) for s in body.collision_shapes()]
            reach.append(max(shapes, default=0.0) + float(d @ X.p))
        return max(reach)

    @property
    def base_height(self) -> float:
        """Height of the base above the robot's lowest point, in its pose [m]."""
        placements = self.placements()
        return float(placements[self.base].p[2]) + self.extent((0.0, 0.0, -1.0), placements)
