"""Geoms of an MJCF file → shapes, and which pairs of bodies never collide.

MuJoCo lets two geoms collide when one's contype shares a bit with the other's conaffinity, or when
a <pair> names them; tabi knows shapes that collide and pairs of bodies that do not. A geom that can
touch nothing is only drawn. MuJoCo recentres meshes: a compiled geom's frame G is not the mesh
file's frame F, and the file is drawn at X_BF = X_BG X_FG⁻¹.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tabi._errors import ModelError
from tabi.formats.mesh import convex_hull
from tabi.formats.mjcf.source import Source
from tabi.model.robot import Robot
from tabi.model.shape import (
    Box,
    Capsule,
    Convex,
    Cylinder,
    Ellipsoid,
    Geometry,
    HalfSpace,
    Material,
    MeshFile,
    Shape,
    Sphere,
)
from tabi.spatial.transform import Transform, from_quaternion

# MuJoCo draws groups 0 to 2 by default; 3 and up are by custom the collision geoms
HIDDEN_GROUP = 3
DEFAULT_COLOR = (0.5, 0.5, 0.5, 1.0)
DRAWN = (".stl", ".obj", ".dae", ".ply", ".glb", ".gltf")


class Geoms:
    """The geoms of some bodies as shapes, with a note for each one that could not be kept
    as it is.
    """

    def __init__(self, source: Source, names: dict[int, str], notes: list[str]) -> None:
        self.source, self.m, self.names, self.notes = source, source.m, names, notes
        m = self.m
        self.paired = {
            frozenset(pair)
            for pair in zip(m.pair_geom1.tolist(), m.pair_geom2.tolist(), strict=True)
        }
        in_pair = {g for pair in self.paired for g in pair}
        self.robot_geoms = [g for g in range(m.ngeom) if int(m.geom_bodyid[g]) in names]
        self.collides = {
            g: bool(m.geom_contype[g] or m.geom_conaffinity[g]) or g in in_pair
            for g in self.robot_geoms
        }
        shown = {
            g: bool(m.geom_group[g] < HIDDEN_GROUP and self._color(g)[3] > 0)
            for g in self.robot_geoms
        }
        self.visible = shown if any(shown.values()) else dict.fromkeys(self.robot_geoms, True)
        self.materials: dict[tuple[float, ...], Material] = {(1.0, 0.0, 0.0): Material()}
        self.hulls: dict[int, Convex] = {}

    def shapes(self, body: int) -> list[Shape]:
        """Shapes of a body, in the body's frame."""
        m, shapes = self.m, []
        for g in range(m.body_geomadr[body], m.body_geomadr[body] + m.body_geomnum[body]):
            collides, visible = self.collides[g], self.visible[g]
            X_BG = from_quaternion(m.geom_quat[g], m.geom_pos[g])
            name = m.geom(g).name
            mesh = self._mesh_file(g) if visible else None
            if mesh is not None:
                file, X_FG = mesh
                shapes.append(
                    Shape(
                        file, X_BG @ X_FG.inverse(), color=self._color(g), collides=False, name=name
                    )
                )
                visible = False
            if collides or visible:
                geometry = self._geometry(g)
                if geometry is not None:
                    shapes.append(
                        Shape(
                            geometry,
                            X_BG,
                            self._material(g),
                            self._color(g),
                            collides,
                            visible,
                            name,
                        )
                    )
        return shapes

    # ---- one geom ---------------------------------------------------------------------------

    def _geometry(self, g: int) -> Geometry | None:
        kind, (x, y, z) = self._kind(g), self.m.geom_size[g].tolist()
        if kind == "sphere":
            return Sphere(x)
        if kind == "capsule":
            return Capsule(x, 2 * y)
        if kind == "cylinder":
            return Cylinder(x, 2 * y)
        if kind == "box":
            return Box((2 * x, 2 * y, 2 * z))
        if kind == "plane":
            return HalfSpace()
        if kind == "ellipsoid":
            return Sphere(x) if x == y == z else Ellipsoid((x, y, z))
        if kind == "mesh":
            return self._hull(g)
        self.notes.append(
            f"{self._named(g)} was ignored: it is of type {kind}, which tabi does not have"
        )
        return None

    def _kind(self, g: int) -> str:
        return self.source.kind("mjtGeom", self.m.geom_type[g])

    def _hull(self, g: int) -> Convex:
        mesh = int(self.m.geom_dataid[g])
        if mesh not in self.hulls:
            start = self.m.mesh_vertadr[mesh]
            hull = convex_hull(
                self.m.mesh_vert[start : start + self.m.mesh_vertnum[mesh]].astype(float),
                self._file(mesh),
            )
            self.hulls[mesh] = replace(hull, from_file=self._from_file(mesh))
        return self.hulls[mesh]

    def _from_file(self, mesh: int) -> np.ndarray | None:
        """X_GF of a mesh times its scale, as ``Convex`` has it; None where the file's frame is not
        known.
        """
        spec = self._spec_meshes[mesh]
        if self._file(mesh) is None or _is_displaced(spec):
            return None
        X_GF = from_quaternion(self.m.mesh_quat[mesh], self.m.mesh_pos[mesh]).inverse()
        return np.column_stack([X_GF.R * np.asarray(spec.scale, float), X_GF.p])

    def _mesh_file(self, g: int) -> tuple[MeshFile, Transform] | None:
        """The file to draw for a mesh and X_FG; None for other geoms and for meshes whose hull is
        drawn instead.
        """
        if self._kind(g) != "mesh":
            return None
        mesh = int(self.m.geom_dataid[g])
        spec, file = self._spec_meshes[mesh], self._file(mesh)
        if file is None or _is_displaced(spec) or file.suffix.lower() not in DRAWN:
            self.notes.append(
                f"mesh {self.m.mesh(mesh).name!r} is drawn as its convex hull: "
                f"it is in no file that can be drawn as it is"
            )
            return None
        x, y, z = (float(s) for s in spec.scale)
        X = from_quaternion(self.m.mesh_quat[mesh], self.m.mesh_pos[mesh])
        return MeshFile(file, (x, y, z)), X

    @cached_property
    def _spec_meshes(self) -> dict:
        return {mesh.id: mesh for mesh in self.source.spec.meshes}

    def _file(self, mesh: int) -> Path | None:
        spec = self._spec_meshes[mesh]
        file = self.source.path.parent / (spec.compiler.meshdir or "") / spec.file
        return file if spec.file and file.is_file() else None

    def _material(self, g: int) -> Material:
        # condim says which of the three frictions count:
        # sliding, and about the normal from 4 on, rolling with 6
        used = {"friction": 1, "torsional_friction": 4, "rolling_friction": 6}
        of = {
            name: float(self.m.geom_friction[g, k]) if self.m.geom_condim[g] >= least else 0.0
            for k, (name, least) in enumerate(used.items())
        }
        for name, value in of.items():
            if not (np.isfinite(value) and value >= 0):
                raise ModelError(
                    f"{self._named(g)} has {name} {value:g}; expected a number ≥ 0",
                    self.source.path,
                    self.source.line("geom", g),
                )
        key = tuple(of.values())
        others_text = "".join(
            f", {name.removesuffix('_friction')} {of[name]:g} m"
            for name in ("torsional_friction", "rolling_friction")
            if of[name] > 0
        )
        return self.materials.setdefault(
            key, Material(f"friction {of['friction']:g}{others_text}", **of)
        )

    def _color(self, g: int) -> tuple[float, float, float, float]:
        # a material's colour counts unless the geom has one of its own
        geom_color, material = self.m.geom_rgba[g], int(self.m.geom_matid[g])
        rgba = (
            self.m.mat_rgba[material]
            if material >= 0 and np.allclose(geom_color, DEFAULT_COLOR)
            else geom_color
        )
        red, green, blue, alpha = (float(c) for c in rgba)
        return red, green, blue, alpha

    def _named(self, g: int) -> str:
        name = self.m.geom(g).name
        return (
            f"geom {name!r}"
            if name
            else f"a geom of body {self.names[int(self.m.geom_bodyid[g])]!r}"
        )

    # ---- pairs that collide -----------------------------------------------------------------

    def exclude(self, robot: Robot) -> None:
        """Fill ``robot.excluded`` with the file's exclusions and those that MuJoCo's masks and
        families imply.
        """
        for exclude in self.source.spec.excludes:
            pair = frozenset((exclude.bodyname1, exclude.bodyname2))
            if len(pair) == 2 and pair <= set(self.names.values()):
                robot.excluded.add(pair)
        by_body: dict[int, list[int]] = defaultdict(list)
        for g in self.robot_geoms:
            if self.collides[g]:
                by_body[int(self.m.geom_bodyid[g])].append(g)
        self._exclude_masked(robot, by_body)
        self._exclude_families(robot, by_body)
        self._note_contact(by_body)

    def _exclude_masked(self, robot: Robot, by_body: dict[int, list[int]]) -> None:
        mixed = 0
        bodies = sorted(by_body)
        for k, a in enumerate(bodies):
            for b in bodies[k + 1 :]:
                allowed = [self._allowed(g, h) for g in by_body[a] for h in by_body[b]]
                if not any(allowed):
                    robot.excluded.add(frozenset((self.names[a], self.names[b])))
                mixed += any(allowed) and not all(allowed)
        if mixed:
            self.notes.append(
                f"in {mixed} pairs of bodies contype and conaffinity let only some of the geoms "
                f"collide: in tabi all of them do"
            )

    def _allowed(self, g: int, h: int) -> bool:
        m = self.m
        return (
            bool(
                m.geom_contype[g] & m.geom_conaffinity[h]
                or m.geom_contype[h] & m.geom_conaffinity[g]
            )
            or frozenset((g, h)) in self.paired
        )

    def _exclude_families(self, robot: Robot, by_body: dict[int, list[int]]) -> None:
        """A body with several joints is MuJoCo's direct child of its parent,
        but has massless bodies between in tabi.
        """
        m = self.m
        for body in self.names:
            parent = m.body_parentid[body]
            if m.body_jntnum[body] < 2 or m.body_weldid[parent] == 0:
                continue
            uppers = [a for a in by_body if m.body_weldid[a] == m.body_weldid[parent]]
            lowers = [b for b in by_body if m.body_weldid[b] == m.body_weldid[body]]
            robot.excluded |= {
                frozenset((self.names[a], self.names[b])) for a in uppers for b in lowers
            }

    def _note_contact(self, by_body: dict[int, list[int]]) -> None:
        m, geoms = self.m, [g for group in by_body.values() for g in group]
        if self.paired:
            self.notes.append(
                f"{len(self.paired)} explicit contact pairs: their geoms collide, their own "
                f"friction was ignored (use world.set_pair)"
            )
        if any(not (m.geom_contype[g] & 1 or m.geom_conaffinity[g] & 1) for g in geoms):
            self.notes.append(
                "some geoms have contype and conaffinity that miss MuJoCo's default 1: "
                "in tabi they collide with other objects"
            )
        if any(m.geom_condim[g] > 3 for g in geoms):
            self.notes.append(
                "torsional and rolling friction (condim 4 and 6) have a limit of their own in "
                "tabi, in MuJoCo one together with sliding"
            )
        if len({float(m.geom_friction[g, 0]) for g in geoms}) > 1:
            self.notes.append(
                "geoms have different friction: between two of them tabi takes the smaller one, "
                "MuJoCo the larger"
            )


def _is_displaced(spec: Any) -> bool:
    """Whether a mesh was moved out of its file's frame."""
    return bool(np.any(spec.refpos) or np.any(np.asarray(spec.refquat)[1:]))
