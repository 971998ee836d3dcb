"""Soles from files of Gmsh, ``.msh``, through meshio.

The file holds tetrahedra, in metres and in the foot's frame, and physical groups by name:

    surface "glued"    what the foot holds
    surface "ground"   what may touch; without it all of the surface that faces down
    volume "layer0", "layer1", …   from the foot down; without them all is one layer
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.soles.mesh import MOST_ELEMENTS, SoleMesh, volumes

Indices = NDArray[np.int64]
FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
# cosine between a face's normal and z: a face points down within 60° of straight down
MAX_DOWNWARD_COSINE = -0.5


def read_msh(path: str | Path) -> SoleMesh:
    """Read the mesh of a sole from a file of Gmsh.

    Raises:
        ModelError: if meshio is not installed, the file cannot be read, or it has no tetrahedra,
            inverted ones, an open or unglued surface, or groups of other names.

    Example: docs/soles.md
    """
    file = Path(path)
    mesh = _file(file)
    points = np.asarray(mesh.points, float)
    tetrahedra, layer = _tetrahedra(mesh, file)
    if points.shape[1:] != (3,) or not np.isfinite(points[np.unique(tetrahedra)]).all():
        raise ModelError("a corner of the mesh is not three finite numbers", file)
    size = volumes(points, tetrahedra)
    if not size.min() > 0.0:
        worst = int(np.argmin(size))
        raise ModelError(
            f"tetrahedron {worst} is inverted or flat, its volume is {size[worst]:g} m³; "
            "expected corners in Gmsh's order: mesh it again",
            file,
        )
    surface = _surface(tetrahedra, file)
    glued = _triangles(mesh, "glued")
    if glued is None or not len(glued):
        raise ModelError(
            "no triangles in a physical surface 'glued'; name the face that the foot holds so", file
        )
    _check_on_surface(glued, surface, "glued", file)
    ground = _ground(mesh, points, surface, glued, file)
    if np.intersect1d(ground, glued).size:
        raise ModelError(
            "surfaces 'glued' and 'ground' have corners in common, which could not move; "
            "expected a side wall between them",
            file,
        )
    used = np.unique(tetrahedra)
    number = np.full(len(points), -1)
    number[used] = np.arange(len(used))
    return SoleMesh(
        points[used], number[tetrahedra], layer, number[np.unique(glued)], number[ground]
    )


def _file(file: Path) -> Any:
    if not file.is_file():
        raise ModelError("there is no such file; expected a mesh of Gmsh (.msh)", file)
    try:
        import meshio  # here, because few soles come from files
    except ImportError:
        raise ModelError(
            "meshes of Gmsh need the package meshio; install tabi[meshes]", file
        ) from None
    try:
        return meshio.read(file, file_format="gmsh")
    except (Exception, SystemExit) as problem:
        words = " ".join(str(problem).split()) or type(problem).__name__
        raise ModelError(f"it is not a mesh that meshio reads: {words}", file) from None


def _tetrahedra(mesh: Any, file: Path) -> tuple[Indices, Indices]:
    """All tetrahedra, and the layer of each."""
    kinds = [block.data for block in mesh.cells if block.type == "tetra"]
    tetrahedra = np.concatenate([np.zeros((0, 4), np.int64), *kinds]).astype(np.int64)
    if not len(tetrahedra):
        raise ModelError("it has no tetrahedra; expected a mesh of a volume, of first order", file)
    if len(tetrahedra) > MOST_ELEMENTS:
        raise ModelError(f"{len(tetrahedra)} tetrahedra; expected at most {MOST_ELEMENTS}", file)
    layer = np.full(len(tetrahedra), -1)
    for name, (_, dimension) in mesh.field_data.items():
        if dimension == 3 and not re.fullmatch(r"layer\d+", name):
            raise _unknown_group("volume", name, "layer0, layer1, …", file)
        if dimension == 2 and name not in ("glued", "ground"):
            raise _unknown_group("surface", name, "glued, ground", file)
        if dimension == 3:
            layer[_of_group(mesh, name, "tetra")] = int(name.removeprefix("layer"))
    if (layer < 0).all():
        layer[:] = 0
    numbers = np.unique(layer)
    if not np.array_equal(numbers, np.arange(len(numbers))):
        raise ModelError(
            f"volumes are of the layers {', '.join(map(str, numbers))} (-1: of none); expected "
            "every tetrahedron in one of layer0, layer1, …, none left out",
            file,
        )
    return tetrahedra, layer


def _unknown_group(kind: str, name: str, known: str, file: Path) -> ModelError:
    return ModelError(f"physical {kind} {name!r} is not known; expected {known}", file)


def _of_group(mesh: Any, name: str, kind: str) -> NDArray[np.bool_]:
    """Which cells of one type belong to a physical group, over all their blocks."""
    number, tags = mesh.field_data[name][0], mesh.cell_data.get("gmsh:physical", [])
    rows = [
        np.asarray(tag) == number
        for block, tag in zip(mesh.cells, tags, strict=True)
        if block.type == kind
    ]
    return np.concatenate([np.zeros(0, bool), *rows])


def _triangles(mesh: Any, name: str) -> Indices | None:
    """Triangles of a physical surface; None without that group."""
    if name not in mesh.field_data:
        return None
    kinds = [block.data for block in mesh.cells if block.type == "triangle"]
    triangles = np.concatenate([np.zeros((0, 3), np.int64), *kinds]).astype(np.int64)
    return triangles[_of_group(mesh, name, "triangle")]


def _surface(tetrahedra: Indices, file: Path) -> Indices:
    """Faces of one tetrahedron alone, outwards counter-clockwise; each edge is one of two faces."""
    faces = tetrahedra[:, FACES].reshape(-1, 3)
    _, first, count = np.unique(
        np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True
    )
    if count.max() > 2:
        raise ModelError("three tetrahedra share a face; expected a mesh of one solid", file)
    return faces[first[count == 1]]


def _check_on_surface(triangles: Indices, surface: Indices, name: str, file: Path) -> None:
    there = {tuple(face) for face in np.sort(surface, axis=1).tolist()}
    if any(tuple(face) not in there for face in np.sort(triangles, axis=1).tolist()):
        raise ModelError(
            f"surface {name!r} has triangles that are no outer faces of tetrahedra; expected one "
            "closed surface around the solid, without holes",
            file,
        )


def _ground(mesh: Any, points: Any, surface: Indices, glued: Indices, file: Path) -> Indices:
    """The ground's triangles, as the surface turns them."""
    named = _triangles(mesh, "ground")
    if named is not None:
        _check_on_surface(named, surface, "ground", file)
        wanted = {tuple(face) for face in np.sort(named, axis=1).tolist()}
        is_ground = np.array([tuple(face) in wanted for face in np.sort(surface, axis=1).tolist()])
    else:
        a, b, c = np.moveaxis(points[surface], 1, 0)
        normal = np.cross(b - a, c - a)
        down = normal[:, 2] < MAX_DOWNWARD_COSINE * np.linalg.norm(normal, axis=1)
        is_ground = down & ~np.isin(surface, glued).any(axis=1)
    if not is_ground.any():
        raise ModelError(
            "no triangles for the ground; expected a physical surface 'ground', or faces that "
            "look down",
            file,
        )
    return surface[is_ground]
