"""OpenHRP models (VRML 2.0 with the nodes Humanoid, Joint, Segment and sensors) → Robot.

A Joint is a link: its body and its joint carry the Joint's DEF name; the base hangs on the joint
``<robot>_base``. Placed by ``translation`` and ``rotation`` in its parent, it turns about (rotate)
or slides along (slide) ``jointAxis`` of its own frame. Masses of its Segments add;
``momentsOfInertia`` are nine numbers about the Segment's centre of mass in the Segment's axes,
which the Transforms around the Segment turn and move. ``jointId`` becomes the joint's number.
Shapes collide as they are drawn, face sets as their convex hulls. A camera looks along −z of its
sensor frame with y up, as VRML has it.
"""

from __future__ import annotations

import difflib
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tabi._errors import ModelError
from tabi.formats.openhrp import vrml, vrml_shapes
from tabi.formats.openhrp.fields import DEAF, FIELDS, GROUPS, KINDS, SENSORS
from tabi.formats.openhrp.joint import drive
from tabi.formats.openhrp.vrml_node import VrmlNode
from tabi.model.body import Body
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.model.sensors import Sensor
from tabi.model.shape import Shape
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import Transform

NODE_LIMIT = 100_000


@dataclass(frozen=True)
class _At:
    """A node to visit, the affine transform from it to the body it is on (R may hold a scale),
    and that body.
    """

    node: VrmlNode
    X: Transform
    body: Body | None = None
    in_robot: bool = False
    collides: bool = True
    visible: bool = True


def read(path: str | Path, base: str | None = None) -> Robot:
    """The robot of an OpenHRP file.

    Args:
        path: a .wrl file with one Humanoid.
        base: "floating" or "fixed" in place of what the file's root Joint says.
    """
    path = Path(path)
    if base not in (None, "floating", "fixed"):
        raise ModelError(
            f"base is {base!r}; expected 'floating', 'fixed' or None for what the file says", path
        )
    reader = _Reader(path, base)
    reader.walk(vrml.read(path))
    if reader.robot is None:
        raise ModelError(
            "the file has no Humanoid node, so no robot; "
            "expected DEF name Humanoid { humanoidBody [ … ] }",
            path,
        )
    if not reader.robot.bodies:
        raise reader.humanoid.error(
            "has no Joint in its humanoidBody; expected one root Joint that carries the others"
        )
    reader.robot.notes += reader.summary()
    return reader.robot


class _Reader:
    def __init__(self, path: Path, base: str | None) -> None:
        self.path, self.base = path, base
        self.robot: Robot | None = None
        self.humanoid: VrmlNode
        self.lines: dict[str, VrmlNode] = {}
        self.numbers: dict[int, str] = {}
        self.unused_fields: Counter[str] = Counter()
        self.unused_nodes: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.notes: list[str] = []

    def walk(self, nodes: list[VrmlNode]) -> None:
        """Visit every node, children in the order of the file;
        a stack of our own, for chains of any length.
        """
        stack = [_At(node, Transform()) for node in reversed(nodes)]
        visits = 0
        while stack:
            visits += 1
            if visits > NODE_LIMIT:
                raise ModelError(
                    f"the file unfolds to more than {NODE_LIMIT} nodes; "
                    f"look for nodes that USE each other again and again",
                    self.path,
                )
            stack += reversed(self.visit(stack.pop()))

    def visit(self, at: _At) -> list[_At]:
        """Take in one node; returns what it holds."""
        node, kind = at.node, at.node.kind
        if kind == "Humanoid":
            return self.start(at)
        if kind == "Transform":
            self.check(node)
            return self.inside(replace(at, X=at.X @ vrml_shapes.placement(node)))
        if kind in GROUPS:
            return self.inside(at)
        if kind == "LOD":
            return self.choose(self.inside(at, "level"), 0)
        if kind == "Switch":
            return self.choose(self.inside(at, "choice"), int(node.number("whichChoice", -1.0)))
        if at.in_robot and kind == "Joint":
            return self.joint(at)
        if at.body is None or not self.take(at, at.body):
            return self.ignore(at)
        if kind == "Surface":
            return self.inside(replace(at, collides=False), "visual") + self.inside(
                replace(at, visible=False), "collision"
            )
        return self.inside(
            replace(at, X=at.X @ vrml_shapes.placement(node))
            if kind in SENSORS or kind in DEAF
            else at
        )

    def take(self, at: _At, body: Body) -> bool:
        """Apply a node to its body; False if the node has no effect here."""
        kind = at.node.kind
        if kind == "Segment":
            self.segment(at, body)
        elif kind in SENSORS:
            self.sensor(at, body)
        elif kind == "Shape":
            self.shape(at, body)
        elif kind in DEAF:
            self.counts[f"sensor {kind}"] += 1
        return kind in ("Segment", "Shape", "Surface", *SENSORS, *DEAF)

    def inside(self, at: _At, name: str = "children") -> list[_At]:
        """The nodes of a field, to be visited."""
        return [replace(at, node=child) for child in at.node.nodes(name)]

    def choose(self, choices: list[_At], index: int) -> list[_At]:
        """The one that is shown, of those of a Switch or of levels of detail."""
        shown = choices[index : index + 1] if index >= 0 else []
        for other in choices:
            if other not in shown:
                self.unused_nodes[f"{other.node.kind} not chosen"] += 1
        return shown

    def ignore(self, at: _At) -> list[_At]:
        """Count a node that is not read; refuse one that hides parts of the robot."""
        hidden = _find(
            at.node,
            ("Joint", "Segment", "Humanoid") if at.node.kind not in ("Joint", "Segment") else (),
        )
        if hidden is not None:
            raise at.node.error(
                f"holds {hidden}, but how this type places it is not known; "
                f"expected Transform or Group around it"
            )
        if at.in_robot and at.node.kind == "Segment":
            raise at.node.error(
                "stands outside of any Joint; put it among the children of the Joint it moves with"
            )
        self.unused_nodes[at.node.kind] += 1
        return []

    def check(self, node: VrmlNode) -> None:
        """Refuse fields the type does not have; count those that are not used."""
        used, silent, noted = FIELDS.get(node.kind, ((), (), ()))
        known = node.proto.fields if node.proto else [*used, *silent, *noted]
        for name, field in node.fields.items():
            if name not in known:
                near = difflib.get_close_matches(name, known, n=3, cutoff=0.4) or sorted(known)[:8]
                raise node.error(
                    f"has no field {name!r}; fields near that name: {', '.join(map(repr, near))}",
                    field.line,
                )
            default = node.proto.fields[name].values if node.proto else None
            if name not in used and name not in silent and field.values != default:
                self.unused_fields[f"{node.kind}.{name}"] += 1

    # ---- robot and joints -------------------------------------------------------------------

    def start(self, at: _At) -> list[_At]:
        node = at.node
        if self.robot is not None:
            raise node.error(
                f"is the second Humanoid of the file, after {self.humanoid} in line "
                f"{self.humanoid.line}; expected one robot per file"
            )
        self.check(node)
        self.humanoid = node
        self.robot = Robot(node.name or node.text("name") or self.path.stem, self.path)
        return self.inside(
            replace(at, X=at.X @ vrml_shapes.placement(node), in_robot=True), "humanoidBody"
        )

    def joint(self, at: _At) -> list[_At]:
        node, robot = at.node, self.robot
        assert robot is not None
        self.check(node)
        joint = self.name_joint(node)
        joint.placement = _rigid(at.X @ vrml_shapes.turn(node), node)
        if at.body is None:
            if robot.bodies:
                raise node.error(
                    f"is a second root beside {robot.base.name!r}; expected one Joint in "
                    f"humanoidBody that carries all others"
                )
            if joint.kind not in ("floating", "fixed"):
                raise node.error(
                    f"is the root and has jointType {node.text('jointType')!r}; "
                    f'expected "free" or "fixed"'
                )
            base = Joint(f"{robot.name}_base", self.base or joint.kind, line=node.line)
            body = robot.add_body(joint.name, base, line=node.line)
            robot.place(joint.placement.p, joint.placement.quaternion)
        else:
            if joint.q_count == 1:
                self.notes += drive(node, joint)
            body = robot.add_body(joint.name, joint, at.body, line=node.line)
        return self.inside(replace(at, X=Transform(), body=body))

    def name_joint(self, node: VrmlNode) -> Joint:
        """The joint with its name, kind and number."""
        number = node.number("jointId", -1.0)
        name = node.name or node.text("name") or (f"joint{int(number)}" if number >= 0 else "")
        if not name:
            raise node.error("has no name; write DEF name Joint { … }")
        if name in self.lines:
            raise node.error(
                f"occurs twice, first in line {self.lines[name].line}; "
                f"give every Joint its own name"
            )
        if number != int(number):
            raise node.error(
                f"has jointId {number:g}; expected a whole number", node.line_of("jointId")
            )
        self.lines[name] = node
        kind = node.text("jointType")
        if kind not in KINDS:
            raise node.error(
                f"has jointType {kind!r}; expected one of {', '.join(list(KINDS)[:5])}",
                node.line_of("jointType"),
            )
        if kind in ("crawler", "pseudoContinuousTrack"):
            self.notes.append(f"joint {name!r} is a {kind}: fixed here, its belt does not move")
        joint = Joint(name, KINDS[kind], line=node.line)
        if number >= 0:
            joint.number = int(number)
            if number in self.numbers:
                self.notes.append(
                    f"jointId {number:g} is given twice, to {self.numbers[int(number)]!r} and "
                    f"{name!r}"
                )
            self.numbers.setdefault(int(number), name)
        return joint

    # ---- what a joint carries ---------------------------------------------------------------

    def segment(self, at: _At, body: Body) -> None:
        node = at.node
        self.check(node)
        mass = node.number("mass", 0.0)
        if mass < 0:
            raise node.error(f"has mass {mass:g} kg; expected a number ≥ 0", node.line_of("mass"))
        tensor = np.array(node.numbers("momentsOfInertia", 9, (0.0,) * 9)).reshape(3, 3)
        if np.abs(tensor - tensor.T).max() > 1e-6 * np.abs(tensor).max():
            self.notes.append(
                f"{node} has momentsOfInertia that are not symmetric: their symmetric part is taken"
            )
        if mass > 0 or tensor.any():
            inertia = Inertia(
                mass, np.array(node.numbers("centerOfMass", 3, (0.0,) * 3)), (tensor + tensor.T) / 2
            )
            body.inertia = body.inertia + inertia.transformed(_rigid(at.X, node))

    def sensor(self, at: _At, body: Body) -> None:
        node, robot = at.node, self.robot
        assert robot is not None
        self.check(node)
        kind = SENSORS[node.kind]
        name = node.name or node.text("name") or f"{kind}{node.number('sensorId', 0.0):g}"
        if name in robot.sensors:
            raise node.error(
                f"would be the second sensor {name!r} of the robot; "
                f"give every sensor its own DEF name"
            )
        robot.sensors[name] = Sensor(name, body, _rigid(at.X @ vrml_shapes.turn(node), node), kind)

    def shape(self, at: _At, body: Body) -> None:
        node = at.node
        self.check(node)
        for solid in node.nodes("geometry")[:1]:
            shaped = vrml_shapes.shaped(solid, at.X)
            if shaped is None:
                self.unused_nodes[solid.kind] += 1
                return
            self.check(solid)
            geometry, placement, how = shaped
            self.counts[how] += 1
            body.shapes.append(
                Shape(
                    geometry,
                    placement,
                    color=self.color(node),
                    collides=at.collides,
                    visible=at.visible,
                    name=node.name,
                )
            )

    def color(self, node: VrmlNode) -> tuple[float, float, float, float]:
        """Diffuse colour and opacity of a Shape."""
        for look in node.nodes("appearance")[:1]:
            self.check(look)
            for material in look.nodes("material")[:1]:
                self.check(material)
                red, green, blue = np.clip(
                    material.numbers("diffuseColor", 3, (0.8, 0.8, 0.8)), 0.0, 1.0
                ).tolist()
                return (
                    red,
                    green,
                    blue,
                    1.0 - float(np.clip(material.number("transparency", 0.0), 0.0, 1.0)),
                )
        return Shape.color

    def summary(self) -> list[str]:
        """One line for each kind of thing that was ignored or changed."""

        def listed(counter: Counter[str]) -> str:
            return ", ".join(f"{n} × {name}" for name, n in sorted(counter.items()))

        loops = self.unused_nodes.pop("ExtraJoint", 0)
        sensors = Counter(
            {
                k.removeprefix("sensor "): n
                for k, n in self.counts.items()
                if k.startswith("sensor ")
            }
        )
        lines = [
            (loops, f"ignored {loops} × ExtraJoint: closed loops stay open"),
            (sensors, f"ignored sensors without a counterpart here: {listed(sensors)}"),
            (
                self.counts["hull"],
                f"{self.counts['hull']} × IndexedFaceSet stand as their convex hulls",
            ),
            (
                self.counts["stretched"],
                f"{self.counts['stretched']} shapes stretched unevenly stand as convex polytopes",
            ),
            (self.unused_nodes, f"ignored nodes: {listed(self.unused_nodes)}"),
            (self.unused_fields, f"ignored fields: {listed(self.unused_fields)}"),
        ]
        return self.notes + [line for happened, line in lines if happened]


def _rigid(X: Transform, node: VrmlNode) -> Transform:
    if np.abs(X.R.T @ X.R - np.eye(3)).max() > 1e-9 or np.linalg.det(X.R) < 0:
        raise node.error(
            "stands in a Transform that scales or mirrors it; "
            "expected only translations and rotations around it"
        )
    return X


def _find(node: VrmlNode, kinds: tuple[str, ...]) -> VrmlNode | None:
    """A node of these kinds inside another one."""
    stack, seen = [node] if kinds else [], {id(node)}
    while stack:
        for field in stack.pop().fields.values():
            for child in field.values:
                if isinstance(child, VrmlNode) and id(child) not in seen:
                    if child.kind in kinds:
                        return child
                    seen.add(id(child))
                    stack.append(child)
    return None
