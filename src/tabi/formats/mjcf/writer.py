"""World → MuJoCo: the same world for another engine; ``mujoco_state`` maps the two states.

Joints and bodies have the names of the compiled model. A joint with a motor gets an actuator of its
name whose control is the torque [N·m]; the gains of its position loop stay with the controller.

Not exact: contacts, limits, dry friction, mimic joints and bonds are soft in MuJoCo and
restitution, velocity limits, torque-speed lines, prescribed motions, torsional, rolling and viscous
friction of surfaces are missing; meshes are kept in single precision and only drawn ones are left
out; a body without mass gets 1e-14 kg. Friction is exact: MuJoCo takes that of the geom with the
higher priority, so geoms are ranked by falling friction, and pairs of materials with a friction of
their own become explicit contact pairs.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.formats.mjcf.source import mujoco, mujoco_warnings
from tabi.formats.mjcf.written_bonds import add_bonds
from tabi.formats.mjcf.written_text import exact_text
from tabi.model.body import Body
from tabi.model.joint import Joint
from tabi.model.mujoco_state import PARTS, configuration_to_mujoco, knows
from tabi.model.pad import Pad
from tabi.model.shape import (
    Box,
    Capsule,
    Convex,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    HeightField,
    MeshFile,
    Shape,
    Sphere,
)
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import Transform, from_quaternion, quaternion_from_matrix, z_to

if TYPE_CHECKING:
    from tabi.model.robot import Robot
    from tabi.model.world import World

Array = NDArray[np.float64]
MIN_MASS = 1e-14  # smallest mass [kg] and inertia [kg·m²]: MuJoCo refuses moving bodies below 1e-15
# stands for no limit, and half the width of a range whose ends are equal
NO_LIMIT, MIN_HALF_RANGE = 1e10, 1e-9


def to_mujoco(world: World) -> Any:
    """Return the world as a ``mujoco.MjModel``; its keyframe ``initial`` is the configuration of
    the world. Example: ``tabi.to_mujoco(world).nq``.
    """
    return _Writer(world).compiled()[1]


def to_mjcf(world: World) -> str:
    """Return the text of an exact MJCF file of the world. Example: ``tabi.to_mjcf(world)``."""
    return exact_text(_Writer(world).compiled()[0])


class _Writer:
    """Fills a MjSpec, body by body."""

    def __init__(self, world: World) -> None:
        self.world, self.mj, self.model = world, mujoco(), world.compile()
        self.spec = self.mj.MjSpec()
        self.spec.modelname = world.robots[0].name if world.robots else "world"
        self.spec.compiler.degree = False
        self.spec.compiler.boundmass = self.spec.compiler.boundinertia = MIN_MASS
        self.spec.option.gravity = world.gravity
        self.spec.option.cone = self.mj.mjtCone.mjCONE_ELLIPTIC
        self.bodies: dict[Body, Any] = {world.fixed: self.spec.worldbody}
        self.geoms: dict[str, tuple[Body, Shape]] = {}
        self.lost: list[str] = []
        owned = [(robot, body) for robot in world.robots for body in robot.bodies] + [
            (None, body) for body in world.objects
        ]
        shapes = [
            s
            for body in [world.fixed, *(b for _, b in owned)]
            for s in body.shapes
            if s.collides and not isinstance(s.geometry, MeshFile)
        ]
        self.inertias = _inertias([body for _, body in owned])
        frictions = sorted({s.material.friction for s in shapes}, reverse=True)
        self.priority = {friction: rank for rank, friction in enumerate(frictions)}
        self._add_shapes(world.fixed, "world")
        for robot, body in owned:
            self._add_body(robot, body)
        for robot in world.robots:
            self._add_excluded(robot)
            self._add_couplings(robot)
        self._add_pairs()

    def compiled(self) -> tuple[Any, Any]:
        """The spec and the model, with the keyframe."""
        try:
            with mujoco_warnings(self.mj) as messages:
                m = self.spec.compile()
                qpos = configuration_to_mujoco(self.model, m, self.model.initial())
                if self.world.bonds or any(robot.bonds for robot in self.world.robots):
                    add_bonds(self.mj, self.spec, self.world, self.bodies, (m, qpos))
                self.spec.add_key(name="initial", qpos=qpos)
                m = self.spec.compile()
        except (ValueError, self.mj.FatalError) as error:
            if isinstance(error, ModelError):
                raise
            raise ModelError(
                f"MuJoCo refuses the world: {' '.join(str(error).split())}; "
                f"correct that element of the world"
            ) from None
        lost = self.lost + [f"MuJoCo says: {text}" for text in dict.fromkeys(messages)]
        if lost:
            warnings.warn(f"not the same in MuJoCo: {'; '.join(lost)}", stacklevel=3)
        return self.spec, m

    # ---- names of the compiled model --------------------------------------------------------

    def _body_name(self, robot: Robot | None, body: Body) -> str:
        qualified = f"{robot.name}/{body.name}" if robot else body.name
        return qualified if qualified in self.model.links else body.name

    def _joint_name(self, robot: Robot | None, body: Body) -> str:
        if robot is None or body is robot.base:
            return robot.name if robot else body.name
        qualified = f"{robot.name}/{body.joint.name}"
        return qualified if knows(self.model, qualified) else body.joint.name

    # ---- bodies and joints ------------------------------------------------------------------

    def _add_body(self, robot: Robot | None, body: Body) -> None:
        name, joint = self._body_name(robot, body), body.joint
        free = (
            joint.kind == "floating"
            and body.parent is None
            and _is_identity(joint.placement)
            and joint.stiffness == 0
        )
        X = from_quaternion(joint.position[3:], joint.position[:3]) if free else joint.placement
        parent = self.bodies[body.parent or self.world.fixed]
        made = parent.add_body(name=name, pos=X.p, quat=X.quaternion, explicitinertial=True)
        inertia = self.inertias[body]
        made.mass, made.ipos = inertia.mass, inertia.centre
        made.inertia, made.iquat = self._principal(name, inertia)
        self.bodies[body] = made
        self._add_joint(made, self._joint_name(robot, body), joint, free)
        self._add_shapes(body, name)

    def _principal(self, name: str, inertia: Inertia) -> tuple[Array, Array]:
        """Principal moments that a real body can have, and their axes as a quaternion."""
        axes = np.linalg.eigh(inertia.tensor)[1]
        if np.linalg.det(axes) < 0:
            axes[:, 0] *= -1
        moments = np.einsum("ik,ij,jk->k", axes, inertia.tensor, axes)
        if not _is_real(inertia):
            self.lost.append(
                f"body {name!r} has moments of inertia {moments.tolist()} that no real body has: "
                f"they were raised"
            )
        # the mass along each axis is not negative, and MuJoCo takes no rounding error for zero
        second = 0.5 * moments.sum() - moments
        second = np.maximum(second, 1e-12 * np.abs(second).max())
        return second.sum() - second, quaternion_from_matrix(axes)

    def _add_joint(self, made: Any, name: str, joint: Joint, free: bool) -> None:
        if joint.kind == "fixed":
            return
        kinds = self.mj.mjtJoint
        for part, kind, axis in self._parts(name, joint, free):
            unit = np.asarray(axis, float) / np.linalg.norm(axis)
            added = made.add_joint(
                name=part,
                type=kind,
                axis=unit,
                armature=joint.total_armature,
                frictionloss=joint.friction,
            )
            added.damping[0] = joint.damping
            # tabi has no springs on quaternions
            if kind in (kinds.mjJNT_HINGE, kinds.mjJNT_SLIDE):
                added.stiffness[0], added.springref = joint.stiffness, joint.rest
            if joint.v_count == 1:
                self._limit(added, joint)
        if joint.prescribed:
            self.lost.append(f"joint {name!r} has a prescribed motion, MuJoCo lets it move freely")
        if joint.motor and np.isfinite(joint.motor.no_load_speed):
            self.lost.append(f"the motor of joint {name!r} has a line, MuJoCo has limits only")
        if joint.motor and joint.v_count == 1:
            motor = self.spec.add_actuator(
                name=name, target=name, trntype=self.mj.mjtTrn.mjTRN_JOINT
            )
            motor.set_to_motor()
            if np.isfinite(joint.motor.torque_limit):
                limit = max(joint.motor.torque_limit, MIN_HALF_RANGE)
                motor.ctrllimited, motor.ctrlrange = True, [-limit, limit]

    def _parts(self, name: str, joint: Joint, free: bool) -> list[tuple[str, Any, Any]]:
        """MuJoCo's joints for one of tabi's: name, kind and axis of each."""
        kinds, A = self.mj.mjtJoint, z_to(joint.axis)
        if free:
            return [(name, kinds.mjJNT_FREE, joint.axis)]
        if joint.kind not in PARTS:
            single = {"prismatic": kinds.mjJNT_SLIDE, "spherical": kinds.mjJNT_BALL}
            return [(name, single.get(joint.kind, kinds.mjJNT_HINGE), joint.axis)]
        planar = joint.kind == "planar"
        axes = dict(zip("xyz", A.T if planar else np.eye(3), strict=True)) | {"turn": A[:, 2]}
        turn = kinds.mjJNT_HINGE if planar else kinds.mjJNT_BALL
        return [
            (f"{name}:{p}", turn if p == "turn" else kinds.mjJNT_SLIDE, axes[p])
            for p in PARTS[joint.kind]
        ]

    @staticmethod
    def _limit(added: Any, joint: Joint) -> None:
        added.limited = bool(np.isfinite(joint.lower) or np.isfinite(joint.upper))
        if added.limited:
            # MuJoCo refuses a range without width
            half = MIN_HALF_RANGE if joint.lower == joint.upper else 0.0
            limits = np.clip([joint.lower, joint.upper], -NO_LIMIT, NO_LIMIT)
            added.range = limits + np.array([-half, half])
        if np.isfinite(joint.effort_limit):
            limit = max(joint.effort_limit, MIN_HALF_RANGE)
            added.actfrclimited, added.actfrcrange = True, [-limit, limit]

    # ---- shapes and contacts ----------------------------------------------------------------

    def _add_shapes(self, body: Body, name: str) -> None:
        for k, shape in enumerate(body.shapes):
            if isinstance(shape.geometry, MeshFile):
                continue
            geom_name = shape.name if body is self.world.fixed else f"{name}/{shape.name or k + 1}"
            while geom_name in self.geoms:
                geom_name += "'"
            geom = self.bodies[body].add_geom(
                name=geom_name,
                pos=shape.placement.p,
                quat=shape.placement.quaternion,
                rgba=shape.color,
                density=0,
            )
            self._set_geometry(geom, geom_name, shape, body)
            geom.friction[0] = shape.material.friction
            geom.group = 0 if shape.collides and shape.visible else 2 if shape.visible else 3
            if shape.collides:
                geom.priority = self.priority[shape.material.friction]
            else:
                geom.contype = geom.conaffinity = 0
            self.geoms[geom_name] = (body, shape)

    def _set_geometry(self, geom: Any, name: str, shape: Shape, body: Body) -> None:
        kinds, g = self.mj.mjtGeom, shape.geometry
        if isinstance(g, Sphere):
            geom.type, geom.size = kinds.mjGEOM_SPHERE, [g.radius, 0, 0]
        elif isinstance(g, Ellipsoid):
            geom.type, geom.size = kinds.mjGEOM_ELLIPSOID, np.asarray(g.radii)
        elif isinstance(g, (Cylinder, Capsule)):
            geom.type = kinds.mjGEOM_CYLINDER if isinstance(g, Cylinder) else kinds.mjGEOM_CAPSULE
            geom.size = [g.radius, g.length / 2, 0]
        elif isinstance(g, Box):
            geom.type, geom.size = kinds.mjGEOM_BOX, np.asarray(g.size) / 2
        elif isinstance(g, Convex):
            mesh = self.spec.add_mesh(
                name=name,
                uservert=g.vertices.ravel().tolist(),
                userface=g.triangles.ravel().tolist(),
            )
            mesh.inertia = self.mj.mjtMeshInertia.mjMESH_INERTIA_CONVEX
            geom.type, geom.meshname = kinds.mjGEOM_MESH, name
        elif isinstance(g, HalfSpace):
            if _carrier(body) is not None:
                raise ModelError(
                    f"body {body.name!r} moves and has a half-space; "
                    f"MuJoCo has planes only on what stands still: give it a box"
                )
            geom.type, geom.size = kinds.mjGEOM_PLANE, [0, 0, 1]
        elif isinstance(g, Pad):
            raise ModelError(
                f"{name!r} is soft, and MuJoCo gets rigid bodies only; leave soft pads out"
            )
        elif isinstance(g, HeightField):
            raise ModelError(
                f"height field {name!r} cannot be written for MuJoCo, which cuts its cells along "
                f"the other diagonal; use boxes or stairs"
            )

    def _add_excluded(self, robot: Robot) -> None:
        pairs = {tuple(sorted(pair)) for pair in robot.excluded if len(pair) == 2}
        # a body and its parent never collide; MuJoCo makes an exception where the parent stands
        # still
        still = [b for b in robot.bodies if _carrier(b) is None]
        first = {b for b in robot.bodies if b.joint.kind != "fixed" and b.parent in still}
        pairs |= {
            tuple(sorted((a.name, b.name)))
            for a in still
            for b in robot.bodies
            if _carrier(b) in first
        }
        for a, b in sorted(pairs):
            self.spec.add_exclude(
                bodyname1=self._body_name(robot, robot.body(a)),
                bodyname2=self._body_name(robot, robot.body(b)),
            )

    def _add_pairs(self) -> None:
        """Explicit contact pairs for materials whose friction is not the smaller of the two."""
        if not self.world.pairs:
            return
        model, material = self.model, {name: i for i, name in enumerate(self.model.material_names)}
        excluded = {frozenset((e.bodyname1, e.bodyname2)) for e in self.spec.excludes}
        solid = [
            (name, body, shape.material)
            for name, (body, shape) in self.geoms.items()
            if shape.collides
        ]
        for k, (name, body, here) in enumerate(solid):
            for other, other_body, there in solid[k + 1 :]:
                mu = model.pairs["friction"][material[here.name], material[there.name]]
                apart = frozenset(
                    (self.bodies[body].name, self.bodies[other_body].name)
                ) in excluded or _related(body, other_body)
                if mu != min(here.friction, there.friction) and not apart:
                    self.spec.add_pair(
                        geomname1=name, geomname2=other, friction=[mu, mu, 0.005, 1e-4, 1e-4]
                    )

    def _add_couplings(self, robot: Robot) -> None:
        names = {body.joint.name: self._joint_name(robot, body) for body in robot.bodies}
        for body in robot.bodies:
            mimic = body.joint.mimic
            if mimic:
                equality = self.spec.add_equality(
                    type=self.mj.mjtEq.mjEQ_JOINT, objtype=self.mj.mjtObj.mjOBJ_JOINT
                )
                equality.name1, equality.name2 = names[body.joint.name], names[mimic.leader]
                equality.data[:5] = [mimic.offset, mimic.ratio, 0, 0, 0]


def _carrier(body: Body) -> Body | None:
    """The moving body that a body is bolted to or is itself; None for the world."""
    while body.joint.kind == "fixed":
        if body.parent is None:
            return None
        body = body.parent
    return body


def _is_real(inertia: Inertia) -> bool:
    """Whether a body can have this tensor: no principal moment is larger than the sum of the other
    two.
    """
    moments = np.linalg.eigvalsh(inertia.tensor)
    second = 0.5 * moments.sum() - moments
    return bool(second.min() >= -max(1e-9 * np.abs(second).max(), 0.1 * MIN_MASS))


def _inertias(bodies: list[Body]) -> dict[Body, Inertia]:
    """Inertia of each body; where one among bodies bolted together is unreal,
    the moving one of them takes all of it.
    """
    X_CB: dict[Body, Transform] = {}
    groups: dict[Body | None, list[Body]] = {}
    for body in bodies:
        X_CP = X_CB[body.parent] if body.parent else Transform()
        X_CB[body] = X_CP @ body.joint.placement if body.joint.kind == "fixed" else Transform()
        groups.setdefault(_carrier(body), []).append(body)
    inertias = {body: body.inertia for body in bodies}
    for carrier, group in groups.items():
        if not all(_is_real(body.inertia) for body in group):
            inertias |= dict.fromkeys(group, Inertia())
            # what is bolted to the world needs none
            if carrier is not None:
                inertias[carrier] = sum(
                    (body.inertia.transformed(X_CB[body]) for body in group), Inertia()
                )
    return inertias


def _related(a: Body, b: Body) -> bool:
    """Whether two bodies are bolted together or are a moving parent and its child:
    these never collide.
    """
    up, down = _carrier(a), _carrier(b)
    if up is down:
        return True
    if up is None or down is None:
        return False
    return (down.parent is not None and _carrier(down.parent) is up) or (
        up.parent is not None and _carrier(up.parent) is down
    )


def _is_identity(X: Transform) -> bool:
    return bool(np.array_equal(X.R, np.eye(3)) and not X.p.any())
