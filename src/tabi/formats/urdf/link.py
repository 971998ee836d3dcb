"""Links of a URDF file: inertia, collision shapes and visuals."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from lxml import etree

from tabi._errors import ModelError
from tabi.formats import mesh
from tabi.formats.xml import Element, XmlFile
from tabi.model.robot import Robot
from tabi.model.shape import Box, Capsule, Convex, Cylinder, Geometry, MeshFile, Shape, Sphere
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import Transform, from_quaternion, from_rpy

# tag → (children, attributes) that are read; whatever else a file holds is counted as ignored
_KNOWN = {
    tag: (children.split(), attributes.split())
    for tag, children, attributes in [
        ("robot", "link joint material transmission", "name version"),
        ("link", "inertial visual collision", "name"),
        ("inertial", "origin mass inertia", ""),
        ("visual", "origin geometry material", "name"),
        ("collision", "origin geometry", "name"),
        ("geometry", "box cylinder sphere capsule mesh", ""),
        ("joint", "origin parent child axis limit dynamics mimic", "name type"),
        ("material", "color", "name"),
        ("origin", "", "xyz rpy quat_xyzw"),
        ("mass", "", "value"),
        ("inertia", "", "ixx ixy ixz iyy iyz izz"),
        ("parent", "", "link"),
        ("child", "", "link"),
        ("axis", "", "xyz"),
        ("limit", "", "lower upper effort velocity"),
        ("dynamics", "", "damping friction"),
        ("mimic", "", "joint multiplier offset"),
        ("box", "", "size"),
        ("cylinder", "", "radius length"),
        ("capsule", "", "radius length"),
        ("sphere", "", "radius"),
        ("mesh", "", "filename scale"),
        ("color", "", "rgba"),
    ]
}
# angles beyond it are hardly meant [rad]
FULL_TURN = 6.3
_MANY = {"link", "joint", "material", "transmission", "visual", "collision"}


class UrdfLink(NamedTuple):
    """A link before the tree is known."""

    line: int | None
    inertia: Inertia
    shapes: list[Shape]


class LinkReader(XmlFile):
    """A URDF file, as far as its links go; what it leaves out goes into the robot's notes."""

    def __init__(self, path: Path, root: Element) -> None:
        if root.tag != "robot":
            what = f"root element is <{root.tag}>; expected <robot>"
            what += ": convert SDF to URDF first" if root.tag == "sdf" else ""
            raise ModelError(what, path, root.sourceline)
        super().__init__(path, root, _KNOWN, _MANY)
        self.robot = Robot(root.get("name") or path.stem, path)
        self.hulls: dict[Path, Convex | ModelError] = {}
        self.missing: dict[tuple[str, str], list[str]] = {}
        self.colours: dict[str, tuple[float, float, float, float]] = {}
        for material in (*root.iterfind("material"), *root.iterfind("link/visual/material")):
            name = material.get("name")
            colour = self.colour(material, f"material {material.get('name')!r}")
            if name and colour:
                self.colours.setdefault(name, colour)

    def origin(self, parent: Element, owner: str) -> Transform:
        """X of an element's <origin>; the identity without one."""
        element = parent.find("origin")
        if element is None:
            return Transform()
        p = self.numbers(element, "xyz", owner, 3, 0.0)
        if element.get("quat_xyzw") is None:
            rpy = self.numbers(element, "rpy", owner, 3, 0.0).tolist()
            if max(map(abs, rpy)) > FULL_TURN:
                self.doubt(
                    f"{owner} (line {element.sourceline}) is turned by rpy={element.get('rpy')!r}; "
                    "expected radians, were degrees meant?"
                )
            return from_rpy(rpy, p)
        x, y, z, w = self.numbers(element, "quat_xyzw", owner, 4)
        if element.get("rpy") is not None or not math.hypot(x, y, z, w) > 1e-12:
            raise self.error(
                element,
                f"{owner} has an <origin> with quat_xyzw of length zero or beside rpy; "
                f"expected one rotation",
            )
        return from_quaternion((w, x, y, z), p)

    def doubt(self, sentence: str) -> None:
        """Note a value that can hardly be meant; it will also be a warning."""
        self.robot.notes.append(sentence)
        self.robot.doubts.append(sentence)

    def link(self, element: Element) -> UrdfLink:
        """A link: collision shapes are drawn only where it has no visual."""
        name = element.get("name", "")
        inertia = self.inertia(element, name)
        visuals = [s for e in element.iterchildren("visual") for s in self.shape(e, name)]
        collisions = [s for e in element.iterchildren("collision") for s in self.shape(e, name)]
        for shape in collisions:
            shape.visible = not visuals
        return UrdfLink(element.sourceline, inertia, collisions + visuals)

    def inertia(self, link: Element, name: str) -> Inertia:
        """Inertia in the link's frame; one that no body can have is kept, with a note."""
        element, owner = link.find("inertial"), f"link {name!r}"
        if element is None:
            self.gather("without <inertial>, massless", name)
            return Inertia()
        mass, tensor = element.find("mass"), element.find("inertia")
        for part, tag in ((mass, "mass"), (tensor, "inertia")):
            if part is None:
                raise self.error(
                    element,
                    f"{owner} has an <inertial> without <{tag}>; "
                    f"expected both <mass> and <inertia>",
                )
        m = self.number(mass, "value", owner, lowest=0.0)
        xx, xy, xz, yy, yz, zz = (
            self.number(tensor, f"i{a}", owner) for a in ("xx", "xy", "xz", "yy", "yz", "zz")
        )
        matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        low, middle, high = np.linalg.eigvalsh(matrix)
        where = f"{owner} (line {element.sourceline})"
        if m == 0.0 and not matrix.any():
            self.gather("with mass 0, massless", name)
        elif low <= 0.0:
            moments = f"principal moments {low:.3g}, {middle:.3g}, {high:.3g} kg·m²"
            self.robot.notes.append(
                f"{where} has mass {m:g} kg and an inertia that is not positive: {moments}"
            )
        elif low + middle < high * (1 - 1e-6):
            self.robot.notes.append(
                f"{where} has an inertia no body can have: principal moments {low:.3g} + "
                f"{middle:.3g} < {high:.3g} kg·m²"
            )
        return Inertia(m, np.zeros(3), matrix).transformed(self.origin(element, owner))

    def shape(self, element: Element, link: str) -> Iterator[Shape]:
        """The shape of a <visual> or <collision>, if it has one."""
        owner, visual = f"link {link!r}", element.tag == "visual"
        placement = self.origin(element, owner)
        geometry = self.geometry(element, link)
        if geometry is None:
            return
        shape = Shape(
            geometry,
            placement,
            collides=not visual,
            visible=visual,
            name=element.get("name") or link,
        )
        material = element.find("material")
        if visual and material is not None:
            name = material.get("name")
            if not name:
                self.gather("with a material without a name, its colour used where it stands", link)
            elif material.find("color") is None and name not in self.colours:
                self.gather("with a material that is nowhere defined, drawn in grey", link)
            shape.color = (
                self.colour(material, owner) or self.colours.get(name or "") or shape.color
            )
        yield shape

    def colour(self, material: Element, owner: str) -> tuple[float, float, float, float] | None:
        """Colour given in a material itself."""
        element = material.find("color")
        if element is None:
            return None
        r, g, b, a = np.clip(self.numbers(element, "rgba", owner, 4), 0.0, 1.0).tolist()
        return r, g, b, a

    def geometry(self, element: Element, link: str) -> Geometry | MeshFile | None:
        """The form of a <visual> or <collision>; None, with a note,
        where it has no extent or is not known.
        """
        owner, holder = f"link {link!r}", element.find("geometry")
        known = (
            []
            if holder is None
            else [e for e in holder.iterchildren(etree.Element) if e.tag in _KNOWN["geometry"][0]]
        )
        if not known:
            self.robot.notes.append(
                f"{owner} (line {element.sourceline}) has a <{element.tag}> without a geometry "
                f"that is known; left out"
            )
            return None
        form = known[0]
        if form.tag == "mesh":
            return self.mesh(form, element.tag, link)
        sizes = (
            self.numbers(form, "size", owner, 3)
            if form.tag == "box"
            else np.array([self.number(form, a, owner) for a in _KNOWN[form.tag][1]])
        )
        if (sizes < 0).any():
            raise self.error(
                form,
                f"{owner} has a <{form.tag}> with a negative size, {sizes.tolist()}; "
                f"expected positive lengths in metres",
            )
        if not sizes.all():
            self.robot.notes.append(
                f"{owner} (line {form.sourceline}) has a <{form.tag}> of size zero; left out"
            )
            return None
        if form.tag == "box":
            x, y, z = sizes.tolist()
            return Box((x, y, z))
        return {"sphere": Sphere, "cylinder": Cylinder, "capsule": Capsule}[form.tag](
            *sizes.tolist()
        )

    def mesh(self, element: Element, role: str, link: str) -> Convex | MeshFile | None:
        """A visual mesh as its file, a collision mesh as its hull;
        None, with a note, if it cannot be used.
        """
        owner, reference = f"link {link!r}", self.text(element, "filename", f"link {link!r}")
        scale = self.numbers(element, "scale", owner, 3, 1.0)
        if not scale.all():
            raise self.error(
                element,
                f"{owner} has a mesh with scale {scale.tolist()}; expected factors other than zero",
            )
        file = mesh.find(reference, self.path)
        if file is None:
            self.missing.setdefault((link, reference), []).append(role)
        elif role == "visual":
            x, y, z = scale.tolist()
            return MeshFile(file, (x, y, z))
        else:
            if file not in self.hulls:
                self.hulls[file] = self.hull(file)
            hull = self.hulls[file]
            if isinstance(hull, Convex):
                return mesh.scaled(hull, scale)
            self.robot.notes.append(
                f"{owner} (line {element.sourceline}) has a collision mesh that cannot be used, "
                f"left out: {hull}"
            )
        if role == "collision":
            self.robot.missing_meshes.setdefault(link, []).append(reference)
        return None

    def hull(self, file: Path) -> Convex | ModelError:
        """Hull of a file, or why it has none:
        kept either way, because many links share one mesh.
        """
        try:
            hull, flat = mesh.hull_of_file(file)
        except ModelError as problem:
            return problem
        if flat:
            self.robot.notes.append(
                f"mesh {file.name} is flat; its hull is thickened by 1/500 of its size"
            )
        return hull

    def write_notes(self) -> None:
        """Lines for missing meshes, then what concerns several elements."""
        notes = self.robot.notes
        for (link, reference), roles in self.missing.items():
            notes.append(
                f"link {link!r}: {' and '.join(dict.fromkeys(roles))} mesh {reference!r} not "
                f"found; left out"
            )
        notes += self.summary()
