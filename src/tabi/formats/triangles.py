"""Triangles of shapes, for drawing.

Vertices are shared inside a smooth surface and repeated across an edge, so that a renderer that
averages normals over shared vertices draws round things round and edges sharp.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.formats.mesh import hull_of_file
from tabi.model.body import Body
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
from tabi.spatial.transform import Transform, z_to

Array = NDArray[np.float64]
Mesh = tuple[Array, NDArray[np.int64]]
SIDES = 32
BEVEL = 0.004  # m cut off the edges of boxes in the picture, where light catches
BONE, BONES = 0.1, (0.45, 0.50, 0.58, 1.0)  # thickness of a bone per length, and its colour


def visible_shapes(bodies: list[Body]) -> dict[Body, list[Shape]]:
    """Shapes of a robot's bodies that are drawn: the visible ones; where a mesh's file is missing,
    the collision shapes; and where most of the robot would be invisible, bones from joint to
    joint.
    """
    shown: dict[Body, list[Shape]] = {}
    for body in bodies:
        visible = [shape for shape in body.shapes if shape.visible]
        shown[body] = [
            shape
            for shape in visible
            if not (isinstance(shape.geometry, MeshFile) and not shape.geometry.file.is_file())
        ]
        if visible and not shown[body]:
            shown[body] = [replace(shape, visible=True) for shape in body.collision_shapes()]
    mass = sum(body.inertia.mass for body in bodies)
    if sum(body.inertia.mass for body in bodies if shown[body]) < 0.5 * mass:
        for body in bodies:
            # the last ones end as far behind their centre of mass as they begin before it
            ends = [child.joint.placement.p for child in bodies if child.parent is body] or [
                2.0 * body.inertia.centre
            ]
            shown[body] = shown[body] or [_bone(end) for end in ends]
    return shown


def _bone(end: Array) -> Shape:
    """A stick from a body's origin to a place [m], or a ball where that is none."""
    length = float(np.linalg.norm(end))
    radius = float(np.clip(BONE * length, 0.01, 0.04))
    stick = (
        (Capsule(radius, length), Transform(z_to(end), 0.5 * end))
        if length > radius
        else (Sphere(radius), Transform())
    )
    return Shape(*stick, color=BONES, collides=False)


def mesh_of(shape: Shape) -> Mesh:
    """Vertices in the body's frame [m], shape (n, 3), and outward triangles, shape (m, 3)."""
    vertices, triangles = _mesh(shape.geometry)
    return shape.placement @ vertices, triangles


def joined(meshes: list[Mesh]) -> Mesh:
    """Several meshes as one."""
    starts = np.cumsum([0] + [len(vertices) for vertices, _ in meshes])
    return np.concatenate([v for v, _ in meshes]), np.concatenate(
        [t + start for (_, t), start in zip(meshes, starts, strict=False)]
    )


def _mesh(geometry) -> Mesh:
    if isinstance(geometry, Box):
        return _bevelled_box(np.array(geometry.size))
    if isinstance(geometry, Sphere):
        return revolved([(geometry.radius * x, geometry.radius * z) for x, z in _arc(-90, 90)])
    if isinstance(geometry, Ellipsoid):
        vertices, triangles = revolved(_arc(-90, 90))
        return vertices * np.asarray(geometry.radii), triangles
    if isinstance(geometry, Capsule):
        r, h = geometry.radius, 0.5 * geometry.length
        low = [(r * x, r * z - h) for x, z in _arc(-90, 0)]
        high = [(r * x, r * z + h) for x, z in _arc(0, 90)]
        return revolved(low + high)
    if isinstance(geometry, Cylinder):
        r, h = geometry.radius, 0.5 * geometry.length
        c = min(BEVEL, 0.2 * r, 0.2 * h)
        rims = [
            [(0.0, -h), (r - c, -h)],
            [(r - c, -h), (r, c - h)],
            [(r, c - h), (r, h - c)],
            [(r, h - c), (r - c, h)],
            [(r - c, h), (0.0, h)],
        ]
        return joined([revolved(rim) for rim in rims])
    if isinstance(geometry, Convex):
        return _creased(geometry.vertices, geometry.triangles)
    if isinstance(geometry, HeightField):
        # every facet flat: the ground is what contacts see of it
        return geometry.points()[geometry.triangles()].reshape(-1, 3), np.arange(
            3 * len(geometry.triangles())
        ).reshape(-1, 3)
    if isinstance(geometry, Pad):
        skin = geometry.nodes if geometry.skin is None else geometry.skin
        sides = geometry.triangles if geometry.skin_triangles is None else geometry.skin_triangles
        return _creased(skin, sides)
    if isinstance(geometry, MeshFile):
        return _from_file(geometry)
    assert not isinstance(geometry, HalfSpace), "the ground is drawn as a grid"
    raise TypeError(f"cannot draw {type(geometry).__name__}")


def _arc(start: float, stop: float) -> list[tuple[float, float]]:
    """Points (radius, height) of a unit circle between two latitudes [deg]."""
    steps = max(2, round(abs(stop - start) / 180 * SIDES / 2))
    return [
        (float(np.cos(a)), float(np.sin(a)))
        for a in np.radians(np.linspace(start, stop, steps + 1))
    ]


def revolved(profile: list[tuple[float, float]], sides: int = SIDES) -> Mesh:
    """Surface of revolution of a profile (radius, height) [m], from below, about z."""
    angles = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    radius, height = np.array(profile, float).T
    vertices = np.stack(
        np.broadcast_arrays(
            np.outer(radius, np.cos(angles)), np.outer(radius, np.sin(angles)), height[:, None]
        ),
        axis=-1,
    )
    ring, k = np.meshgrid(np.arange(len(profile) - 1), np.arange(sides), indexing="ij")
    a, b = ring * sides + k, ring * sides + (k + 1) % sides
    triangles = np.concatenate(
        [
            np.stack(t, axis=-1).reshape(-1, 3)
            for t in ((a, b, b + sides), (a, b + sides, a + sides))
        ]
    )
    return vertices.reshape(-1, 3), triangles


def _bevelled_box(size: Array) -> Mesh:
    """A box with its edges cut: 24 corners, 6 faces, 12 bevels and 8 corner triangles."""
    half = 0.5 * size
    inner = half - min(BEVEL, 0.15 * float(size.min()))
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    # corner c pushed out along axis k
    points = np.array(
        [[np.where(np.arange(3) == k, half, inner) * s for k in range(3)] for s in signs]
    )
    polygons = [points[c] for c in range(8)]
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        for s in (-1, 1):
            face = [
                next(
                    c
                    for c in range(8)
                    if signs[c, k] == s and signs[c, i] == u and signs[c, j] == w
                )
                for u, w in ((-1, -1), (1, -1), (1, 1), (-1, 1))
            ]
            polygons.append(points[face, k])
            for w in (-1, 1):
                # the edge along k between the faces of axes i and j
                a, b = (
                    next(
                        c
                        for c in range(8)
                        if signs[c, i] == s and signs[c, j] == w and signs[c, k] == u
                    )
                    for u in (-1, 1)
                )
                polygons.append(np.array([points[a, i], points[b, i], points[b, j], points[a, j]]))
    return joined([_fan(np.asarray(p)) for p in polygons])


def _fan(polygon: Array) -> Mesh:
    """A flat convex polygon around the origin's far side, turned outwards."""
    normal = np.cross(polygon[1] - polygon[0], polygon[2] - polygon[0])
    if normal @ polygon.mean(axis=0) < 0:
        polygon = polygon[::-1]
    return polygon, np.array([(0, k, k + 1) for k in range(1, len(polygon) - 1)])


def _creased(vertices: Array, triangles: NDArray, crease: float = 20.0) -> Mesh:
    """A polytope whose faces share corners where they meet at less than ``crease`` degrees,
    and so look round there.
    """
    vertices, triangles = np.asarray(vertices), np.asarray(triangles)
    corners = vertices[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    groups: dict[int, list[tuple[Array, int]]] = {}
    points: list[Array] = []
    faces = np.empty_like(triangles)
    limit = np.cos(np.radians(crease))
    for (t, k), v in np.ndenumerate(triangles):
        known = groups.setdefault(int(v), [])
        index = next((i for normal, i in known if normal @ normals[t] > limit), None)
        if index is None:
            index = len(points)
            known.append((normals[t], index))
            points.append(vertices[v])
        faces[t, k] = index
    return np.array(points), faces


def _from_file(mesh: MeshFile) -> Mesh:
    """The mesh of a file, every facet flat; its convex hull where no library reads its faces
    (COLLADA).
    """
    import trimesh  # here, because it takes long to import and few worlds need it

    try:
        loaded: Any = trimesh.load(mesh.file, force="mesh")
        vertices, triangles = np.asarray(loaded.vertices), np.asarray(loaded.faces)
    except Exception:
        # the library's readers raise anything; a picture without one mesh is better than none
        hull, _ = hull_of_file(mesh.file)
        vertices, triangles = hull.vertices, hull.triangles
    corners = (vertices * mesh.scale)[triangles].reshape(-1, 3)
    return corners, np.arange(3 * len(triangles)).reshape(-1, 3)
