"""World → Model: one pass over the bodies, parents first.

Bodies on fixed joints melt into the body that carries them; what is bolted to the world becomes part of it.
A moving body's frame N is its joint frame turned by A, which takes z to the joint's axis, so with q = 0

    X_PN = X_PJ A,   X_NB = A⁻¹                                                       (1)
where B is the body's frame as the user knows it. Links keep their names through (moving body, X_NB).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tabi._errors import ModelError
from tabi.model.arrays import BODY, DOF, KIND, MIMIC, ModelArrays, table
from tabi.model.body import Body, Frame
from tabi.model.compiled import Link, Model, PlacedShape
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.model.shape import Material, MeshFile
from tabi.model.soundness import first_without_inertia
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import Transform, z_to

if TYPE_CHECKING:
    from tabi.model.world import World

AXIAL = ("revolute", "continuous", "prismatic", "planar")


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

    def place(self, body: Body, name: str, joint_name: str) -> None:
        """Give a body its row, or melt it into its parent's."""
        host, X_HP = self.links[body.parent] if body.parent else (0, Transform())
        joint = body.joint
        X_HJ = X_HP @ joint.placement
        self.names[body] = name
        if joint.kind == "fixed":
            self.links[body] = (host, X_HJ)
            self.inertias[host] = self.inertias[host] + body.inertia.moved(X_HJ)
            return
        X_JN = Transform(z_to(joint.axis)) if joint.kind in AXIAL else Transform()
        self.links[body] = (len(self.joints), X_JN.inverse())
        self.parents.append(host)
        self.placements.append(X_HJ @ X_JN)
        self.joints.append(joint)
        self.joint_names.append(joint_name)
        self.inertias.append(body.inertia.moved(X_JN.inverse()))


def compile_world(world: World) -> Model:
    """The model of a world; the world itself is not changed and can be edited and compiled again."""
    tables = _Tables()
    tables.links[world.fixed], tables.names[world.fixed] = (0, Transform()), "world"
    body_names, joint_names = _clashes(world)
    for robot in world.robots:
        for body in robot.bodies:
            _check_body(robot, body)
            name = _qualified(robot, body.name, body_names)
            joint = robot.name if body is robot.base else _qualified(robot, body.joint.name, joint_names)
            tables.place(body, name, joint)
    for body in world.objects:
        tables.place(body, body.name, body.name)
    if len(tables.joints) == 1:
        raise ModelError("the world has nothing that moves; add a robot with a floating base or joints, or an object")
    model = _assemble(world, tables)
    _check_inertias(world, model)
    _attach(world, tables, model)
    return model


def _check_inertias(world: World, model: Model) -> None:
    """Refuse a joint that moves nothing, with the place where it was declared."""
    fault = first_without_inertia(model.arrays)
    if fault is None:
        return
    name = model.dof_name(fault[0])
    for robot in world.robots:
        for body in robot.bodies:
            if name in (body.joint.name, f"{robot.name}/{body.joint.name}") or (body is robot.base and name == robot.name):
                raise ModelError(
                    f"joint {body.joint.name!r} of {robot.name} moves body {body.name!r} and what hangs on it, whose inertia about the joint "
                    f"is {fault[1]:.3g}; expected a positive one: give the body mass and inertia, fix the joint, or give it an armature",
                    robot.file,
                    body.joint.line,
                )
    raise ModelError(f"object {name!r} has an inertia that is not positive; expected a positive mass and tensor")


def _clashes(world: World) -> tuple[set[str], set[str]]:
    """Body names and joint names that occur in more than one robot or object: these are written robot/name."""
    own = [o.name for o in world.objects] + [r.name for r in world.robots] + ["world"]
    bodies = Counter(own + [b.name for r in world.robots for b in r.bodies])
    joints = Counter(own + [b.joint.name for r in world.robots for b in r.bodies[1:]])
    return ({name for name in bodies if bodies[name] > 1}, {name for name in joints if joints[name] > 1})


def _qualified(robot: Robot, name: str, clashes: set[str]) -> str:
    return f"{robot.name}/{name}" if name in clashes else name


def _check_body(robot: Robot, body: Body) -> None:
    """Refuse numbers no body can have; the readers check too, but a world can be edited by hand."""
    inertia, joint = body.inertia, body.joint
    numbers = [inertia.mass, *inertia.centre, *inertia.tensor.ravel(), *joint.placement.p, *joint.placement.R.ravel()]
    if not np.isfinite(numbers).all():
        raise ModelError(f"body {body.name!r} of {robot.name} has a number that is not finite in its inertia or placement", robot.file, body.line)
    if inertia.mass < 0:
        raise ModelError(f"body {body.name!r} of {robot.name} has mass {inertia.mass:g} kg; expected a number ≥ 0", robot.file, body.line)
    if joint.kind in AXIAL and not 1e-12 < float(np.linalg.norm(joint.axis)) < np.inf:
        raise ModelError(f"joint {joint.name!r} of {robot.name} has axis {list(joint.axis)}; expected a direction", robot.file, joint.line)
    for name in ("armature", "damping", "friction", "stiffness"):
        value = getattr(joint, name)
        if not (np.isfinite(value) and value >= 0):
            raise ModelError(f"joint {joint.name!r} of {robot.name} has {name} {value:g}; expected a number ≥ 0", robot.file, joint.line)
    if not joint.lower <= joint.upper:
        raise ModelError(
            f"joint {joint.name!r} of {robot.name} has limits from {joint.lower:g} to {joint.upper:g}; expected lower ≤ upper", robot.file, joint.line
        )


def _assemble(world: World, t: _Tables) -> Model:
    moving = [j for j in t.joints if j is not None]
    body = table(len(t.joints), BODY)
    body["parent"] = t.parents
    for i in range(1, len(body)):
        body["root"][i] = body["root"][t.parents[i]] or i
    body["kind"][1:] = [KIND[j.kind] for j in moving]
    q_counts, v_counts = ([0] + [getattr(j, count) for j in moving] for count in ("q_count", "v_count"))
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
        for name, value in (("armature", joint.total_armature), ("damping", joint.damping), ("stiffness", joint.stiffness), ("rest", joint.rest)):
            rows[name] = value
        rows["prescribed"] = joint.prescribed
        rows["q"] = row["q_start"] + np.arange(joint.v_count) if joint.q_count == joint.v_count else -1
    arrays = ModelArrays(body, dof, _couplings(t, body["v_start"]), world.gravity.copy())
    links = {name: Link(name, *t.links[body]) for body, name in t.names.items()}
    initial = np.concatenate([j.position for j in moving])
    return Model(arrays, t.joint_names, [j.kind if j else "fixed" for j in t.joints], links, initial)


def _couplings(t: _Tables, v_start: np.ndarray) -> np.ndarray:
    """Degrees of freedom of joints that follow another one."""
    rows = []
    # a leader's name is looked up in the follower's own robot: names may occur in several
    for i, joint in enumerate(t.joints):
        if joint is None or joint.mimic is None:
            continue
        robot = t.joint_names[i].rpartition("/")[0]
        wanted = {joint.mimic.leader, f"{robot}/{joint.mimic.leader}"}
        k = next((k for k, name in enumerate(t.joint_names) if name in wanted), 0)
        leader = t.joints[k]
        if leader is None or joint.v_count != 1 or leader.v_count != 1:
            raise ModelError(
                f"joint {joint.name!r} follows {joint.mimic.leader!r}; expected a moving joint with one degree of freedom in the same robot"
            )
        rows.append((v_start[i], v_start[k], joint.mimic.ratio, joint.mimic.offset))
    couplings = table(len(rows), MIMIC)
    couplings[:] = rows
    return couplings


def _attach(world: World, t: _Tables, model: Model) -> None:
    """Shapes, materials, feet, frames and sensors, each on its moving body."""
    materials: dict[str, Material] = {}
    for body, (index, X_NB) in t.links.items():
        for shape in body.shapes:
            if isinstance(shape.geometry, MeshFile) or not shape.collides:
                continue
            known = materials.setdefault(shape.material.name, shape.material)
            if (known.friction, known.restitution) != (shape.material.friction, shape.material.restitution):
                raise ModelError(f"material {known.name!r} occurs twice in the world with different friction or restitution; give each its own name")
            model.shapes.append(PlacedShape(index, t.names[body], X_NB @ shape.placement, shape.geometry, known.name))
    model.set_materials(list(materials.values()), world.pairs)
    for robot in world.robots:
        for group, out in ((robot.feet, model.feet), (robot.frames, model.frames), (robot.sensors, model.sensors)):
            for name, frame in group.items():
                assert isinstance(frame, Frame)
                index, X_NB = t.links[frame.body]
                out[name if len(world.robots) == 1 else f"{robot.name}/{name}"] = Link(name, index, X_NB @ frame.placement)
        model.excluded |= {frozenset(t.names[robot.body(name)] for name in pair) for pair in robot.excluded}
