"""Shapes of the things in a scene: geometry, inertia, place, colour and surface."""

from __future__ import annotations

from math import radians
from pathlib import Path
from typing import Any

import numpy as np

from tabi.formats.mesh import convex_hull, hull_of_file, scaled
from tabi.model.shape import (
    Box,
    Capsule,
    Convex,
    Cylinder,
    Ellipsoid,
    Material,
    MeshFile,
    Shape,
    Sphere,
)
from tabi.scenes.keys import things
from tabi.spatial import inertia
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import Transform, from_quaternion, from_rpy


class Solids:
    """Geometry and inertia of things; a hull is found once."""

    def __init__(self) -> None:
        self._hulls: dict[int, Convex] = {}

    def geometry(self, thing: Any) -> Any:
        """The shape of something."""
        kind = thing.__struct_config__.tag
        if kind not in ("convex", "mesh"):
            return _primitive(thing)
        if id(thing) not in self._hulls:
            if kind == "convex":
                self._hulls[id(thing)] = convex_hull(thing.points_m)
            else:
                self._hulls[id(thing)] = scaled(
                    hull_of_file(Path(thing.file))[0], np.full(3, thing.scale)
                )
        return self._hulls[id(thing)]

    def solid(self, thing: Any) -> Inertia:
        """The inertia of something, evenly filled."""
        if thing.__struct_config__.tag in ("convex", "mesh"):
            hull = self.geometry(thing)
            return inertia.solid_hull(thing.mass_kg, hull.vertices, hull.triangles)
        return _solid_primitive(thing)

    def drawn(self, thing: Any, hull: Shape) -> list[Shape]:
        """Return the drawn shapes of a mesh, instead of its hull."""
        if thing.__struct_config__.tag != "mesh":
            return []
        hull.visible, size = False, (thing.scale,) * 3
        return [
            Shape(
                MeshFile(Path(thing.file), size),
                hull.placement,
                color=hull.color,
                collides=False,
                name=f"{hull.name} as drawn",
            )
        ]


def _primitive(thing: Any) -> Any:
    """The shape of something round or square."""
    kind = thing.__struct_config__.tag
    if kind == "box":
        return Box(thing.size_m)
    if kind == "sphere":
        return Sphere(thing.radius_m)
    if kind == "ellipsoid":
        return Ellipsoid(thing.radii_m)
    return {"cylinder": Cylinder, "capsule": Capsule}[kind](thing.radius_m, thing.length_m)


def _solid_primitive(thing: Any) -> Inertia:
    """The inertia of something round or square, evenly filled."""
    kind = thing.__struct_config__.tag
    if kind == "box":
        return inertia.solid_box(thing.mass_kg, thing.size_m)
    if kind == "sphere":
        return inertia.solid_sphere(thing.mass_kg, thing.radius_m)
    if kind == "ellipsoid":
        return inertia.solid_ellipsoid(thing.mass_kg, thing.radii_m)
    make = {"cylinder": inertia.solid_cylinder, "capsule": inertia.solid_capsule}[kind]
    return make(thing.mass_kg, thing.radius_m, thing.length_m)


def placement(thing: Any) -> Transform:
    """Return the pose of something in the world."""
    if thing.quaternion is not None:
        return from_quaternion(thing.quaternion, thing.position_m)
    return from_rpy([radians(angle) for angle in thing.rotation_deg], thing.position_m)


def color(thing: Any, plain: tuple[float, float, float]) -> tuple[float, float, float, float]:
    """Red, green, blue and opacity of something; plain unless it says."""
    red, green, blue = thing.color or plain
    return (red, green, blue, 1.0)


def material(name: str, surface: things.Surface) -> Material:
    """A surface as a material of this name."""
    return Material(name, **coefficients(surface))


def coefficients(surface: things.Surface | things.Pair) -> dict[str, Any]:
    """Return the coefficients of a surface, by the names of a material."""
    return {name: getattr(surface, key) for key, name in things.COEFFICIENTS.items()}
