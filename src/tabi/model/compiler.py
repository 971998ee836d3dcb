"""World → Model: one pass over the bodies, parents first.

A world comes as plain data, ``Parts``: this file knows neither ``World`` nor ``Robot``, and both
may call it.

Bodies on fixed joints melt into the body that carries them, but for those with a sensor of what
passes through the joint; what is bolted to the world becomes part of it. A moving body's frame N is
its joint frame turned by A, which takes z to the joint's axis, so with q = 0

    X_PN = X_PJ A,   X_NB = A⁻¹                                                       (1)
where B is the body's frame as the user knows it. Links keep their names through (moving body,
X_NB).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.model.arrays import BODY, DOF, KIND, MIMIC, ModelArrays, table
from tabi.model.body import Body, Foot, Frame
from tabi.model.compiled import Model
from tabi.model.joint import Joint, Motor
from tabi.model.kinematic_tree import KinematicTree
from tabi.model.links import Link, PlacedShape, Site, Sole
from tabi.model.sensors import Sensor
from tabi.model.shape import Material, MeshFile, Shape
from tabi.model.soundness import AXIAL, GRAVITY, check_body, checked_gravity, first_without_inertia
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import Transform, z_to


@dataclass(frozen=True)
class Parts:
    """Parts of a world for its compilation.

    Attributes:
        robots, objects: trees of bodies, and free bodies.
        fixed: the body that never moves.
        gravity: acceleration [m/s²], shape (3,).
        pairs: coefficients of two materials, by their names, where they have some of their own.
        plates: force plates: sensors of fixed bodies, and the shapes that are the plate.
    """

    robots: Sequence[KinematicTree]
    objects: Sequence[Body] = ()
    fixed: Body = field(default_factory=lambda: Body("world", Joint("world", "fixed")))
    gravity: NDArray[np.float64] = field(default_factory=lambda: checked_gravity(GRAVITY))
    pairs: dict[frozenset[str], dict[str, float | None]] = field(default_factory=dict)
    plates: Sequence[tuple[Sensor, Sequence[Shape]]] = ()


@dataclass
class _Tables:
    """Rows gathered while walking over the world."""

    links: dict[Body, tuple[int, Transform]] = field(default_factory=dict)
    names: dict[Body, str] = field(default_factory=dict)
    joints: list[Joint | None] = field(default_factory=lambda: [None])
    joint_names: list[str] = field(default_factory=lambda: ["world"])
    parents: list[int] = field(default_factory=lambda: [0])
    placements: list[Transform] = field(default_factory=lambda: [Transform()])
    inertias: list[Inertia] = field(default_factory=lambda: [Inertia()])
    things: dict[str, tuple[int, int]] = field(default_factory=dict)

    def place(self, body: Body, name: str, joint_name: str, apart: bool = False) -> None:
        """Give a body its row, or melt it into its parent's unless it has to be apart."""
        host, X_HP = self.links[body.parent] if body.parent else (0, Transform())
        joint = body.joint
        X_HJ = X_HP @ joint.placement
        self.names[body] = name
        if joint.kind == "fixed" and not (apart and host):
            self.links[body] = (host, X_HJ)
            self.inertias[host] = self.inertias[host] + body.inertia.transformed(X_HJ)
            return
        X_JN = Transform(z_to(joint.axis)) if joint.kind in AXIAL else Transform()
        self.links[body] = (len(self.joints), X_JN.inverse())
        self.parents.append(host)
        self.placements.append(X_HJ @ X_JN)
        self.joints.append(joint)
        self.joint_names.append(joint_name)
        self.inertias.append(body.inertia.transformed(X_JN.inverse()))


def compile_world(world: Parts) -> Model:
    """The model of a world; its parts are not changed and can be edited and compiled again."""
    tables = _Tables()
    tables.links[world.fixed], tables.names[world.fixed] = (0, Transform()), "world"
    body_names, joint_names = _clashes(world)
    for robot in world.robots:
        first = len(tables.joints)
        cuts = {sensor.body for sensor in robot.sensors.values() if sensor.about.cuts}
        for body in robot.bodies:
            if body.parent is not None and body.parent not in tables.links:
                message = (
                    f"body {body.name!r} of {robot.name} hangs on {body.parent.name!r}, which is "
                    f"not among the bodies before it"
                )
                raise ModelError(f"{message}; expected parents first", robot.file, body.line)
            check_body(robot.name, body, robot.file)
            name = _qualified(robot, body.name, body_names)
            joint = (
                robot.name
                if body is robot.base
                else _qualified(robot, body.joint.name, joint_names)
            )
            tables.place(body, name, joint, body in cuts)
        tables.things[robot.name] = first, len(tables.joints)
    for body in world.objects:
        check_body("the world", body, None)
        tables.place(body, body.name, body.name)
        tables.things[body.name] = len(tables.joints) - 1, len(tables.joints)
    for kind, names in (("body", tables.names.values()), ("joint", tables.joint_names)):
        twice = next((name for name, count in Counter(names).items() if count > 1), None)
        if twice is not None:
            raise ModelError(
                f"{kind} {twice!r} occurs twice in the world; give every {kind} its own name"
            )
    if len(tables.joints) == 1:
        raise ModelError(
            "the world has nothing that moves; add a robot with a floating base or joints, "
            "or an object"
        )
    model = _assemble(world, tables)
    model.things = tables.things
    _check_inertias(world, model)
    _attach(world, tables, model)
    return model


def _check_inertias(world: Parts, model: Model) -> None:
    """Refuse a joint that moves nothing, with the place where it was declared."""
    fault = first_without_inertia(model.arrays)
    if fault is None:
        return
    name = model.dof_name(fault[0])
    for robot in world.robots:
        for body in robot.bodies:
            if name in (body.joint.name, f"{robot.name}/{body.joint.name}") or (
                body is robot.base and name == robot.name
            ):
                raise ModelError(
                    f"joint {body.joint.name!r} of {robot.name} moves body {body.name!r} and what "
                    f"hangs on it, whose inertia about the joint "
                    f"is {fault[1]:.3g}; expected a positive one: give the body mass and inertia, "
                    f"fix the joint, or give it an armature",
                    robot.file,
                    body.joint.line,
                )
    raise ModelError(
        f"object {name!r} has an inertia that is not positive; expected a positive mass and tensor"
    )


def _clashes(world: Parts) -> tuple[set[str], set[str]]:
    """Body names and joint names that occur in more than one robot or object:
    these are written robot/name.
    """
    owners = [o.name for o in world.objects] + [r.name for r in world.robots] + ["world"]
    bodies = Counter(owners + [b.name for r in world.robots for b in r.bodies])
    joints = Counter(owners + [b.joint.name for r in world.robots for b in r.bodies[1:]])
    return (
        {name for name in bodies if bodies[name] > 1},
        {name for name in joints if joints[name] > 1},
    )


def _qualified(robot: KinematicTree, name: str, clashes: set[str]) -> str:
    return f"{robot.name}/{name}" if name in clashes else name


def _assemble(world: Parts, t: _Tables) -> Model:
    moving = [j for j in t.joints if j is not None]
    body = table(len(t.joints), BODY)
    body["parent"] = t.parents
    for i in range(1, len(body)):
        body["root"][i] = body["root"][t.parents[i]] or i
    body["kind"][1:] = [KIND[j.kind] for j in moving]
    q_counts, v_counts = (
        [0] + [getattr(j, count) for j in moving] for count in ("q_count", "v_count")
    )
    body["q_start"] = np.cumsum(q_counts) - q_counts
    body["v_end"] = np.cumsum(v_counts)
    body["v_start"] = body["v_end"] - v_counts
    body["rotation"] = [X.R.ravel() for X in t.placements]
    body["offset"] = [X.p for X in t.placements]
    body["mass"] = [inertia.mass for inertia in t.inertias]
    body["centre"] = [inertia.centre for inertia in t.inertias]
    body["inertia"] = [inertia.tensor[np.triu_indices(3)] for inertia in t.inertias]
    dof = table(body["v_end"][-1], DOF)
    for row, joint in zip(body[1:], moving, strict=True):
        rows = dof[row["v_start"] : row["v_end"]]
        for name in (
            "damping",
            "stiffness",
            "rest",
            "friction",
            "lower",
            "upper",
            "velocity_limit",
            "prescribed",
        ):
            rows[name] = getattr(joint, name)
        motor = joint.motor or Motor()
        rows["armature"], rows["kp"], rows["kd"] = joint.total_armature, motor.kp, motor.kd
        rows["effort_limit"] = min(joint.effort_limit, motor.torque_limit)
        rows["no_load_speed"], rows["stall_effort"] = motor.no_load_speed, joint.stall_effort
        rows["q"] = (
            row["q_start"] + np.arange(joint.v_count) if joint.q_count == joint.v_count else -1
        )
    arrays = ModelArrays(
        body, dof, _couplings(world, t, body["v_start"]), checked_gravity(world.gravity)
    )
    links = {name: Link(name, *t.links[body]) for body, name in t.names.items()}
    initial = np.concatenate([j.position for j in moving])
    return Model(
        arrays, t.joint_names, [j.kind if j else "fixed" for j in t.joints], links, initial
    )


def _couplings(world: Parts, t: _Tables, v_start: np.ndarray) -> np.ndarray:
    """Degrees of freedom of joints that follow another one of their robot."""
    rows = []
    for robot in world.robots:
        by_joint = {body.joint.name: body for body in robot.bodies}
        for body in robot.bodies:
            joint, mimic, chain = body.joint, body.joint.mimic, [body.joint.name]
            if mimic is None or joint.kind == "fixed":
                continue
            leader = by_joint.get(mimic.leader)
            if leader is None or joint.v_count != 1 or leader.joint.v_count != 1:
                message = (
                    f"joint {joint.name!r} follows {mimic.leader!r}; "
                    f"expected a moving joint with one degree of freedom in the same robot"
                )
                raise ModelError(message, robot.file, joint.line)
            link = leader
            while link is not None and link.joint.name not in chain:
                chain.append(link.joint.name)
                link = by_joint.get(link.joint.mimic.leader) if link.joint.mimic else None
            if link is not None:
                message = (
                    f"joint {joint.name!r} follows itself: "
                    f"{' → '.join([*chain, link.joint.name])}; expected a leader that moves freely"
                )
                raise ModelError(message, robot.file, joint.line)
            rows.append(
                (v_start[t.links[body][0]], v_start[t.links[leader][0]], mimic.ratio, mimic.offset)
            )
    couplings = table(len(rows), MIMIC)
    couplings[:] = rows
    return couplings


def _attach(world: Parts, t: _Tables, model: Model) -> None:
    """Shapes, materials, feet, frames and sensors, each on its moving body."""
    materials: dict[str, Material] = {}
    row_of: dict[int, int] = {}
    for body, (index, X_NB) in t.links.items():
        for shape in body.shapes:
            if isinstance(shape.geometry, MeshFile) or not shape.collides:
                continue
            known = materials.setdefault(shape.material.name, shape.material)
            if known.coefficients != shape.material.coefficients:
                raise ModelError(
                    f"material {known.name!r} occurs twice in the world with different friction or "
                    f"restitution; give each its own name"
                )
            row_of[id(shape)] = len(model.shapes)
            runs = X_NB.R @ np.asarray(shape.surface_velocity, float)
            place, X = (index, t.names[body]), X_NB @ shape.placement
            model.shapes.append(
                PlacedShape(*place, X, shape.geometry, known.name, runs, shape.name)
            )
    model.set_materials(list(materials.values()), world.pairs)
    for robot in world.robots:
        frames: list[Frame] = [
            *robot.feet.values(),
            *robot.frames.values(),
            *robot.sensors.values(),
        ]
        for frame in frames:
            index, X_NB = t.links[frame.body]
            name = frame.name if len(world.robots) == 1 else f"{robot.name}/{frame.name}"
            X = X_NB @ frame.placement
            if isinstance(frame, Foot):
                model.feet[name] = Sole(name, index, X, frame.polygon)
            elif isinstance(frame, Sensor):
                frame.check()
                model.sensors[name] = Site(name, index, X, frame)
            else:
                model.frames[name] = Link(name, index, X)
        model.excluded |= {
            frozenset(t.names[robot.body(name)] for name in pair) for pair in robot.excluded
        }
    for plate, shapes in world.plates:
        plate.check()
        index, X_NB = t.links[plate.body]
        rows = tuple(row_of[id(shape)] for shape in shapes if id(shape) in row_of)
        model.sensors[plate.name] = Site(plate.name, index, X_NB @ plate.placement, plate, rows)
