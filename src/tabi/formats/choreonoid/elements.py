"""Parts of links in Choreonoid body files: rigid bodies, shapes and sensors, under
transforms that may scale.

Round shapes stand along y, as in VRML. A shape is drawn and collides, unless it is under Visual or
Collision. A mesh collides as its convex hull, the shapes of a VRML file each as themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tabi._errors import ModelError
from tabi.formats import mesh
from tabi.formats.choreonoid.node import MAX_DEPTH, Item
from tabi.formats.openhrp import vrml, vrml_shapes
from tabi.formats.openhrp.fields import GROUPS
from tabi.formats.openhrp.vrml_node import VrmlNode
from tabi.model.body import Body
from tabi.model.robot import Robot
from tabi.model.sensors import Sensor
from tabi.model.shape import Box, Capsule, Convex, Cylinder, Geometry, MeshFile, Shape, Sphere
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import Transform, z_to

SENSORS = {
    "AccelerationSensor": "accelerometer",
    "RateGyroSensor": "gyro",
    "Gyro": "gyro",
    "Imu": "imu",
    "IMU": "imu",
    "ForceSensor": "force",
    "Camera": "camera",
    "RangeCamera": "camera",
}
# keys that say nothing about motion or contact
QUIET = frozenset(
    (
        *("type", "name", "id", "on", "elements", "translation", "rotation", "appearance"),
        *("max_force", "max_torque", "max_acceleration", "max_angular_velocity"),
        *("format", "lens_type", "width", "height", "field_of_view", "frame_rate"),
        *("near_clip_distance", "far_clip_distance", "crease_angle", "division_number"),
    )
)
ELEMENT_LIMIT = 100_000


@dataclass(frozen=True)
class _At:
    """Place of an element: its body, the affine transform to it, and what sees its shapes."""

    body: Body
    X: Transform
    collides: bool = True
    visible: bool = True
    depth: int = 0


class Elements:
    """Fills bodies of a robot with what their links hold.

    Attributes:
        angle: the file's unit of angles [rad]. ignored: keys and types that were not read.
    """

    def __init__(self, robot: Robot, path: Path, angle: float) -> None:
        self.robot, self.path, self.angle = robot, path, angle
        self.ignored: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self._visited = 0
        self._meshes: dict[tuple[Path, str], list[VrmlNode]] = {}

    def fill(self, link: Item, body: Body) -> None:
        """All of a link's elements, and the mass that it has itself."""
        self._inside(link, _At(body, Transform()))
        self.rigid(link, body, Transform())

    def _inside(self, item: Item, at: _At) -> None:
        for kind, element in item.elements("elements", f"link {at.body.name!r}"):
            self._take(kind, element, replace(at, depth=at.depth + 1))

    def _take(self, kind: str, item: Item, at: _At) -> None:
        self._visited += 1
        if at.depth > MAX_DEPTH or self._visited > ELEMENT_LIMIT:
            raise item.error(
                f"is deeper than {MAX_DEPTH} elements, or there are more than {ELEMENT_LIMIT}; "
                f"look for elements that hold each other"
            )
        if kind == "Skip":
            return
        at = self._transformed(item, at)
        if kind == "RigidBody":
            self.rigid(item, at.body, at.X)
        elif kind == "Shape":
            self._shape(item, at)
        elif kind == "Resource":
            self._resource(item, at, Shape.color)
        elif kind in ("Visual", "Collision"):
            at = self._seen_by(kind, item, at)
        elif kind in SENSORS:
            self._sensor(SENSORS[kind], item, at)
        elif kind not in ("Group", "Transform"):
            self.ignored[kind] += 1
        self._inside(item, at)
        self.count_unused(kind, item)

    def count_unused(self, kind: str, item: Item) -> None:
        """Count the keys that were not read."""
        known = item.used | QUIET
        self.ignored.update(f"{kind}.{key}" for key in item.entries if key not in known)

    def _transformed(self, item: Item, at: _At) -> _At:
        """Apply an element's translation, rotation and scale to a place."""
        X, scale = item.placement(self.angle), item.numbers("scale", (1, 3)) or [1.0]
        if not all(abs(s) > 1e-9 for s in scale):
            raise item.error(f"has scale {scale}; expected numbers other than 0", "scale")
        return replace(at, X=at.X @ Transform(X.R * np.array(scale), X.p))

    # ---- mass -------------------------------------------------------------------------------

    def rigid(self, item: Item, body: Body, X: Transform) -> None:
        """Add mass, centre and inertia about it, nine numbers by rows or six of the upper half."""
        mass = item.number("mass", 0.0)
        if mass < 0:
            raise item.error(f"has mass {mass:g} kg; expected a number ≥ 0", "mass")
        centre = np.array(item.numbers("center_of_mass", (3,)) or [0.0] * 3)
        values = item.numbers("inertia", (6, 9)) or [0.0] * 9
        if len(values) == 6:
            xx, xy, xz, yy, yz, zz = values
            values = [xx, xy, xz, 0.0, yy, yz, 0.0, 0.0, zz]
        tensor = np.array(values).reshape(3, 3)
        if not np.tril(tensor, -1).any():
            tensor = tensor + np.triu(tensor, 1).T
        elif np.abs(tensor - tensor.T).max() > 1e-6 * np.abs(tensor).max():
            self.robot.notes.append(
                f"{item.title} has an inertia that is not symmetric: its symmetric part is taken"
            )
        if mass > 0 or tensor.any():
            if np.abs(X.R.T @ X.R - np.eye(3)).max() > 1e-9:
                raise item.error("stands under a Transform that scales; expected none around it")
            body.inertia += Inertia(mass, centre, (tensor + tensor.T) / 2).transformed(X)

    # ---- shapes -----------------------------------------------------------------------------

    def _seen_by(self, kind: str, item: Item, at: _At) -> _At:
        """Under a Visual or a Collision, with the shape or mesh that it may hold itself."""
        wanted = replace(at, collides=kind == "Collision", visible=kind == "Visual")
        if not (at.collides and at.visible) and wanted != at:
            raise item.error("stands under its opposite; expected either Visual or Collision")
        resource, shape = item.inside("resource", item.title), item.inside("shape", item.title)
        if resource:
            self._resource(resource, self._transformed(resource, wanted), Shape.color)
        if shape:
            self._shape(shape, self._transformed(shape, wanted))
        return wanted

    def _shape(self, item: Item, at: _At) -> None:
        geometry = item.inside("geometry", item.title)
        if geometry is None:
            self.ignored["Shape without geometry"] += 1
            return
        kind, color = geometry.text("type"), _color(item)
        if kind in ("Resource", "Mesh") and "uri" in geometry.entries:
            self._resource(geometry, self._transformed(geometry, at), color)
            return
        solid = _solid(kind, geometry)
        fitted = None if solid is None else vrml_shapes.fitted(*solid[:2], at.X @ solid[2])
        if solid is None or fitted is None:
            self.ignored[f"geometry {kind}" if solid is None else f"{kind} without volume"] += 1
            return
        if solid[0] is None and kind != "Cone":
            self.counts["hull"] += 1
        elif solid[0] is not None and isinstance(fitted[0], Convex):
            self.counts["stretched"] += 1
        self._add(at, fitted[0], fitted[1], color)
        self.count_unused(kind, geometry)

    def _add(
        self,
        at: _At,
        geometry: Geometry | MeshFile,
        X: Transform,
        color: tuple[float, float, float, float],
    ) -> None:
        drawn_only = isinstance(geometry, MeshFile)
        at.body.shapes.append(
            Shape(
                geometry,
                X,
                color=color,
                collides=at.collides and not drawn_only,
                visible=at.visible,
                name=at.body.name,
            )
        )

    def _resource(self, item: Item, at: _At, color: tuple[float, float, float, float]) -> None:
        """The shapes of a mesh file."""
        uri, part, link = item.text("uri"), item.text("node"), at.body.name
        if not uri:
            raise item.error("has no uri; expected the path of a mesh file")
        file, lost = mesh.find(uri, self.path), "not found"
        try:
            if file is not None and file.suffix.lower() == ".wrl":
                for node, X in self._vrml(file, part):
                    shape = vrml_shapes.shaped(node, at.X @ X)
                    if shape:
                        self._add(at, shape[0], shape[1], color)
                return
            if file is not None and file.suffix.lower() not in (".yaml", ".yml", ".scen", ".body"):
                self._mesh(file, at, color)
                if part:
                    self.robot.notes.append(
                        f"link {link!r}: all of mesh {uri!r} is taken, not its node {part!r} alone"
                    )
                return
            lost = "not found" if file is None else "is no mesh that can be read"
        except ModelError as problem:
            lost = f"cannot be used ({problem})"
        self.robot.notes.append(f"link {link!r}: mesh {uri!r} {lost}; left out")
        if at.collides:
            self.robot.missing_meshes.setdefault(link, []).append(uri)

    def _mesh(self, file: Path, at: _At, color: tuple[float, float, float, float]) -> None:
        scale = np.linalg.norm(at.X.R, axis=0)
        R = at.X.R / scale
        rigid = np.abs(R.T @ R - np.eye(3)).max() < 1e-9 and np.linalg.det(R) > 0
        if at.collides or not rigid:
            hull = mesh.convex_hull(at.X @ mesh.vertices(file), file)
            hull = replace(hull, from_file=np.column_stack([at.X.R, at.X.p]))
            self._add(replace(at, visible=at.visible and not rigid), hull, Transform(), color)
        if at.visible and rigid:
            x, y, z = scale.tolist()
            self._add(at, MeshFile(file, (x, y, z)), Transform(R, at.X.p), color)

    def _vrml(self, file: Path, part: str) -> Iterator[tuple[VrmlNode, Transform]]:
        """Geometry nodes of a VRML file, or of its node of one DEF name, and where they stand."""
        if (file, part) not in self._meshes:
            nodes = vrml.read(file)
            if part:
                nodes = [node for node in _all(nodes) if node.name == part][:1]
                if not nodes:
                    raise ModelError(f"it has no node {part!r}", file)
            self._meshes[file, part] = nodes
        stack = [(node, Transform()) for node in reversed(self._meshes[file, part])]
        while stack:
            node, X = stack.pop()
            if node.kind == "Shape":
                yield from ((solid, X) for solid in node.nodes("geometry")[:1])
            elif node.kind == "Transform" or node.kind in GROUPS:
                X = X @ vrml_shapes.placement(node) if node.kind == "Transform" else X
                stack += [(child, X) for child in reversed(node.nodes("children"))]

    # ---- sensors ----------------------------------------------------------------------------

    def _sensor(self, kind: str, item: Item, at: _At) -> None:
        name = item.text("name") or f"{kind}{item.number('id', 0.0):g}"
        if name in self.robot.sensors:
            raise item.error(
                f"would be the second sensor {name!r} of the robot; give every sensor its own name",
                "name",
            )
        if np.abs(at.X.R.T @ at.X.R - np.eye(3)).max() > 1e-9:
            raise item.error("stands under a Transform that scales; expected none around it")
        self.robot.sensors[name] = Sensor(name, at.body, at.X, kind)


def _all(nodes: list[VrmlNode]) -> Iterator[VrmlNode]:
    stack = list(reversed(nodes))
    while stack:
        node = stack.pop()
        yield node
        if node.kind == "Transform" or node.kind in GROUPS:
            stack += reversed(node.nodes("children"))


def _solid(kind: str, item: Item) -> tuple[Geometry | None, np.ndarray, Transform] | None:
    """A shape, points whose hull it is, and how it lies in its element."""
    geometry: Geometry
    along_y = Transform(z_to((0.0, 1.0, 0.0)))
    if kind == "Box":
        size = item.numbers("size", (3,))
        if not size or not min(size) > 0:
            raise item.error(f"has a Box of size {size}; expected three positive lengths", "size")
        geometry = Box((size[0], size[1], size[2]))
        return geometry, geometry.points(), Transform()
    if kind == "Sphere":
        geometry = Sphere(item.length("radius"))
        return geometry, geometry.points(), Transform()
    if kind in ("Cylinder", "Capsule", "Cone"):
        radius, height = item.length("radius"), item.length("height")
        geometry = (Capsule if kind == "Capsule" else Cylinder)(radius, height)
        points = geometry.points()
        if kind == "Cone":
            return None, np.vstack([points[points[:, 2] < 0], [0, 0, height / 2]]), along_y
        return geometry, points, along_y
    if kind == "IndexedFaceSet":
        values = item.numbers("vertices") or item.numbers("coordinate")
        faces = item.numbers("faces") or item.numbers("coord_index")
        points = np.array(values[: len(values) - len(values) % 3]).reshape(-1, 3)
        used = np.unique([i for i in faces if i != -1]).astype(int)
        if len(values) % 3 or (len(used) and not 0 <= used[0] <= used[-1] < len(points)):
            raise item.error(
                f"has {len(values)} coordinates of vertices and faces of others; "
                f"expected three for each vertex, and faces from 0 on",
                "vertices",
            )
        return None, points[used] if len(used) else points, Transform()
    return None


def _color(item: Item) -> tuple[float, float, float, float]:
    """Diffuse colour and opacity of a Shape."""
    look = item.inside("appearance", item.title)
    material = look.inside("material", item.title) if look else None
    if material is None:
        return Shape.color
    red, green, blue = (
        material.numbers("diffuse", (3,))
        or material.numbers("diffuse_color", (3,))
        or list(Shape.color[:3])
    )
    clear = float(np.clip(material.number("transparency", 0.0), 0.0, 1.0))
    red, green, blue = np.clip([red, green, blue], 0.0, 1.0).tolist()
    return red, green, blue, 1.0 - clear
