"""A robot: a kinematic tree that knows its poses, stands on its feet,
and can be a world of its own.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Hashable, Iterable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, unknown, users_level
from tabi.model import loop_closing, standing_gains
from tabi.model.body import Body
from tabi.model.bush import Bush, Rubber, add_joints
from tabi.model.compiled import Model
from tabi.model.compiler import Parts, compile_world
from tabi.model.feet import legs
from tabi.model.feet.soft_soles import add_soles
from tabi.model.kinematic_tree import KinematicTree, Pose
from tabi.model.names import free_name
from tabi.model.shape import Shape
from tabi.spatial.transform import Transform, z_to

Array = NDArray[np.float64]


class SoftGainsWarning(UserWarning):
    """A robot was put on the ground in a pose that the gains of its motors do not hold."""


class Robot(KinematicTree):
    """A named tree of bodies; the first body is the base. Attributes as of ``KinematicTree``, and

    Attributes:
        bush: the rubber in its ankles, ``robot.bush.feet["left"].pitch`` the name of a joint of it;
            None without any.

    Example: docs/worlds.md
    """

    bush: Bush | None = None
    # the half-sitting pose that was made last, and what it was made of
    _made: tuple[Hashable, dict[str, float]] | None = None

    @property
    def half_sitting(self) -> Pose:
        """The pose the robot is made to start from; of a biped without one, knees bent and the
        centre of mass over the soles.
        """
        if "half_sitting" in self.poses:
            return self.poses["half_sitting"]
        state = legs.pose_key(self)
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
        """Put the joints in a pose, by name or as {joint: position}; joints not named go to zero,
        and those without motors where bonds of the robot want them.
        """
        named = self.poses[pose] if isinstance(pose, str) and pose in self.poses else pose
        closed = loop_closing.close(self, self.positions(pose), named)
        for body, position in closed.items():
            body.joint.position = position

    def positions(self, pose: str | Pose) -> dict[Body, Array]:
        """Return the positions of all joints in a pose, a name or {joint: position}, without moving
        any; the base stays.
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
            pose: a name, or {joint: position [rad or m]}; default: half-sitting. Joints of a robot
                without such a pose, and without two legs to make one, stay.
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
        self.place(position, self.base.joint.position[3:])
        if soft := standing_gains.fault(self):
            warnings.warn(
                f"{self.name} does not hold its pose with the gains of its motors: {soft}",
                SoftGainsWarning,
                stacklevel=users_level(),
            )

    def walk(
        self, steps: int = 10, length: float | None = None, turn: float = 0.0, run: bool = True
    ) -> Any:
        """Walk on level ground, in a world of its own: ``sim = robot.walk(steps=10)``.

        A copy of the robot gets the sensors that it lacks, and the gait that suits its legs,
        with a warning. The first steps are tried before; a robot that cannot walk is rejected.

        Args:
            steps: how many. length: of each [m], by default what suits its legs. turn: of each, to
                the left [rad].
            run: whether to walk to the end; without it the simulator is before the first step.

        Returns:
            a ``Simulator``; the robot in it is ``sim.world.robots[0]``.

        Raises:
            ModelError: what stops it: a joint, a limit or a gain, and what would help.
        """
        # the whole package walks: controllers and simulations build on models
        alone = importlib.import_module("tabi.analysis.walk_alone")
        return alone.walk_alone(self, steps, length, turn, run)

    def add_bush(
        self,
        stiffness: float = 500.0,
        damping: float = 5.0,
        vertical_stiffness: float = 1e5,
        vertical_damping: float = 1e2,
        mass_below: float | None = None,
        height: float | None = None,
        feet: Iterable[str] | None = None,
    ) -> Bush:
        """Put rubber between ankle and sole of each foot: three passive joints with implicit
        springs and dampers, see ``tabi.model.bush``. Roll, pitch and the sole's normal give way; x,
        y and yaw are rigid. The foot, all shapes of its link and its sensors are below it. The
        numbers of HRP-2 are the defaults.

        Args:
            stiffness, damping: of each foot about roll and pitch [N·m/rad, N·m·s/rad].
            vertical_stiffness, vertical_damping: along the sole's normal [N/m, N·s/m].
            mass_below: what of a foot's link is below the bush [kg]; default: four fifths of its
                mass. Both parts keep the link's centre of mass and shares of its tensor, so that
                together they are the foot that was there.
            height: of the bush's axes above the sole [m]; default: at the ankle.
            feet: names of the feet that get one; default: all.
        """
        if self.bush is not None:
            raise ModelError(
                f"robot {self.name!r} has an ankle bush already; "
                f"change it between steps by robot.set_bush(sim.model, stiffness=…)"
            )
        feet = [feet] if isinstance(feet, str) else feet
        rubber = Rubber(stiffness, damping, vertical_stiffness, vertical_damping)
        self.bush = Bush(add_joints(self, rubber, mass_below, height, feet), rubber)
        return self.bush

    def add_soles(
        self,
        feet: Iterable[str] | None = None,
        thickness: float = 0.02,
        young_modulus: float = 2e6,
        poisson_ratio: float = 0.45,
        density: float = 1100.0,
        viscosity: float = 0.0,
        layers: Any = None,
        **options: Any,
    ) -> dict[str, Shape]:
        """Glue soft soles under the feet: the robot stands higher by their thickness, and every
        point of them gives way. See ``tabi.soles``.

        Args:
            feet: names of the feet that get one; default: all.
            thickness, young_modulus, poisson_ratio, density, viscosity: of one layer [m, Pa, -,
                kg/m³, s].
            layers: ``tabi.soles.Layer`` or several, from the foot down, in place of those numbers.
            options: outline [m] where it is not the foot's; and of ``tabi.soles.make_sole``:
                element_size [m], default 0.03, holes, tread, rounded, through.

        Returns:
            the shapes of the soles by the names of their feet.
        """
        feet = [feet] if isinstance(feet, str) else feet
        if layers is None:
            # here, as elements take long to import, and few robots have soft soles
            from tabi.soles import Layer

            layers = Layer(thickness, young_modulus, poisson_ratio, density, viscosity)
        return add_soles(self, feet, layers, {"element_size": 0.03} | options)

    def set_bush(self, model: Model, **changed: float) -> None:
        """Change the rubber in a compiled model, between steps: ``robot.set_bush(sim.model,
        stiffness=800.0)``.

        Args:
            changed: as in ``add_bush``: stiffness, damping, vertical_stiffness, vertical_damping;
                what is not given is as it was built.
        """
        if self.bush is None:
            raise ModelError(
                f"robot {self.name!r} has no ankle bush; give it one: robot.add_bush(stiffness=…)"
            )
        self.bush.set(model, self.name, changed)

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
