"""A robot: a kinematic tree that knows its poses, stands on its feet,
and can be a world of its own.
"""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, unknown
from tabi.model import legs
from tabi.model.body import Body
from tabi.model.compiled import Model
from tabi.model.compiler import Parts, compile_world
from tabi.model.kinematic_tree import KinematicTree, Pose
from tabi.model.names import free_name
from tabi.spatial.transform import Transform, z_to

Array = NDArray[np.float64]


class Robot(KinematicTree):
    """A named tree of bodies; the first body is the base. Attributes as of ``KinematicTree``."""

    # the half-sitting pose that was made last, and what it was made of
    _made: tuple[Hashable, dict[str, float]] | None = None

    @property
    def half_sitting(self) -> Pose:
        """The pose the robot is made to start from; of a biped without one, knees bent and the
        centre of mass over the soles.
        """
        if "half_sitting" in self.poses:
            return self.poses["half_sitting"]
        state = legs.told_by(self)
        if self._made is not None and self._made[0] == state:
            return dict(self._made[1])
        try:
            pose = legs.half_sitting(self)
            self._made = state, pose
            return dict(pose)
        except ModelError as problem:
            raise ModelError(
                f"pose 'half_sitting' not found in {self.name}, and none can be made: {problem}"
            ) from None

    def set_pose(self, pose: str | Pose) -> None:
        """Put the joints in a pose, by name or as {joint: position};
        joints not named go to zero.
        """
        for body, position in self.positions(pose).items():
            body.joint.position = position

    def positions(self, pose: str | Pose) -> dict[Body, Array]:
        """Where a pose, by name or as {joint: position}, puts every joint, without moving any;
        the base stands as it does.
        """
        if isinstance(pose, str) and pose == "half_sitting":
            pose = self.half_sitting
        elif isinstance(pose, str):
            if pose not in self.poses:
                raise unknown("pose", pose, self.name, {"half_sitting", *self.poses})
            pose = self.poses[pose]
        return super().positions(pose)

    def stand_on_ground(self, pose: str | Pose | None = None) -> None:
        """Put the robot on its soles, soles level, the lowest on the ground.

        Args:
            pose: a name, or {joint: position [rad or m]}; half-sitting unless given. Joints of what
                has no such pose, and no two legs to make one of, stay where they are.
        """
        if self.base.joint.kind != "floating":
            raise ModelError(
                f"robot {self.name!r} is bolted to the world by its base {self.base.name!r}; "
                f"only a floating base can stand on the ground"
            )
        if not any(body.collision_shapes() for body in self.bodies):
            seen = any(shape.visible for body in self.bodies for shape in body.shapes)
            shapes = 'load it with collision="visual" to let what is seen collide, or ' * seen
            raise ModelError(
                f"robot {self.name!r} has no collision shape and no feet, so nothing of it can "
                f"touch the ground; {shapes}give feet={{…}} with polygons, or shapes"
            )
        if pose is not None:
            self.set_pose(pose)
        else:
            with suppress(ModelError):
                self.set_pose("half_sitting")
        X_W0 = self.placements()
        up = sum((X_W0[f.body].R @ f.placement.R[:, 2] for f in self.feet.values()), np.zeros(3))
        old = X_W0[self.base]
        R_level = z_to(up).T if np.linalg.norm(up) > 1e-6 else np.eye(3)
        self.place(old.p, Transform(R_level @ old.R, old.p).quaternion)
        if self.feet:
            X = self.placements()
            lowest = min(float((X[f.body] @ f.corners())[:, 2].min()) for f in self.feet.values())
        else:
            lowest = -self.extent((0.0, 0.0, -1.0))
        position = old.p + np.array([0.0, 0.0, self.ground_height - lowest])
        self.place(position, self.base.joint.position[3:])  # type: ignore[index]

    def compile(self) -> Model:
        """The model of a world that holds only this robot."""
        robot = self.copied()
        robot.name = free_name(self.name, {"world"})
        return compile_world(Parts([robot]))

    def __repr__(self) -> str:
        return (
            f"Robot({self.name!r}, {len(self.joint_names)} joints, {self.mass:.2f} kg, feet: "
            f"{', '.join(self.feet) or 'none'})"
        )
