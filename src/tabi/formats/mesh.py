"""Mesh files as contacts see them: where the file is, its points, and their convex hull.

STL, OBJ and COLLADA need no general library, which takes seconds to import; other formats go
through it. Only points that faces use count, so loose points and wire edges do not swell
the hull.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
from lxml import etree
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError
from tabi.formats import mesh_collada
from tabi.formats.mesh_collada import numbers
from tabi.model import hulls
from tabi.model.shape import Convex

Array = NDArray[np.float64]
# a mesh thinner than this part of its size is flat: coordinates of STL files are rounded to 6e-8
FLAT = 1e-6
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("colour", "<u2")])


# ---- where the file is ------------------------------------------------------------------------


def find(reference: str, near: Path) -> Path | None:
    """The file that a URDF names by a path, ``file://`` or ``package://``; None if it is not there.

    Args:
        reference: as it stands in the URDF.
        near: the file that names it. Packages are looked for above it, then on ROS_PACKAGE_PATH and
            AMENT_PREFIX_PATH.
    """
    scheme, _, rest = reference.partition("://")
    folder = os.path.dirname(os.path.abspath(near))
    if scheme in ("package", "model") and rest:
        # three slashes are met too
        package, _, inner = rest.lstrip("/").partition("/")
        candidates = (os.path.join(root, inner) for root in _package_folders(package, folder))
    else:
        plain = unquote(rest) if scheme == "file" else reference
        candidates = iter([os.path.join(folder, plain)])
    return next((Path(c) for c in candidates if os.path.isfile(c)), None)


def _package_folders(package: str, folder: str) -> Iterator[str]:
    if not package.strip("."):
        return
    while True:
        if os.path.basename(folder) == package:
            yield folder
        for inside in ("", "share", "robots"):
            yield os.path.join(folder, inside, package)
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            break
    for entry in filter(None, os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)):
        yield entry if os.path.basename(entry) == package else os.path.join(entry, package)
    for entry in filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)):
        yield os.path.join(entry, "share", package)


# ---- its points -------------------------------------------------------------------------------


def vertices(file: str | Path) -> Array:
    """Distinct points of a mesh's faces, in the file's own axes [m if the file is in metres],
    shape (n, 3).
    """
    file = Path(file)
    try:
        data = file.read_bytes()
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise ModelError(
            f"mesh cannot be opened ({reason}); expected a readable file", file
        ) from None
    reader = {".stl": _stl, ".obj": _obj, ".dae": mesh_collada.points}.get(
        file.suffix.lower(), _other
    )
    try:
        points = np.asarray(reader(data, file))
    except ModelError:
        raise
    except etree.XMLSyntaxError as problem:
        raise ModelError(
            f"mesh is not well-formed XML: {' '.join(str(problem.msg).split())}; export it again",
            file,
            problem.lineno,
        ) from None
    except (ValueError, IndexError, TypeError, OverflowError) as problem:
        raise ModelError(
            f"mesh is not a {file.suffix.lower()[1:]} file that can be read: {problem}; "
            f"export it again",
            file,
        ) from None
    if len(points) == 0:
        raise ModelError("mesh has no faces; expected at least one triangle", file)
    if not np.isfinite(points).all():
        raise ModelError("mesh has a coordinate that is not a finite number; export it again", file)
    return distinct(points).astype(float)


def distinct(points: NDArray) -> NDArray:
    """The points without repetitions, in no particular but always the same order.

    Equal rows have equal projections, so sorting by one projection brings them together; far
    cheaper than sorting rows.
    """
    key = (
        points[:, 0] * 0.7548776662466927
        + points[:, 1] * 0.5698402909980532
        + points[:, 2] * 0.3275846201346901
    )
    x, y, z = ordered = points[np.argsort(key)].T
    new = np.ones(len(points), bool)
    new[1:] = (x[1:] != x[:-1]) | (y[1:] != y[:-1]) | (z[1:] != z[:-1])
    return ordered.T[new]


def _stl(data: bytes, file: Path) -> NDArray:
    count = int.from_bytes(data[80:84], "little")
    # a binary file may begin with "solid" too: its length decides
    binary = len(data) == 84 + 50 * count
    if not binary and data[:256].lstrip()[:5].lower() == b"solid":
        corners = re.findall(rb"vertex\s+(\S+\s+\S+\s+\S+)", data)
        if not corners and b"facet" not in data.lower():
            raise ModelError("mesh begins as an STL text but has no facet; export it again", file)
        return numbers(b" ".join(corners).decode("ascii", "replace")).reshape(-1, 3)
    if len(data) < 84 + 50 * count or len(data) < 84:
        raise ModelError(
            f"mesh has {len(data)} bytes; expected {84 + 50 * count} for the {count} triangles "
            f"its STL header announces",
            file,
        )
    triangles: NDArray[Any] = np.frombuffer(data, _TRIANGLE, count, 84)
    return triangles["corners"].reshape(-1, 3)


def _obj(data: bytes, file: Path) -> NDArray:
    lines = data.replace(b"\r", b"\n").replace(b"\t", b" ").split(b"\n")
    if b"\n " in data:
        lines = [line.lstrip() for line in lines]
    corners = [b" ".join(line.split(None, 4)[1:4]) for line in lines if line.startswith(b"v ")]
    points = numbers(b" ".join(corners).decode("ascii", "replace")).reshape(-1, 3)
    # a corner of a face is point, point/texture, point//normal or point/texture/normal
    words = b" ".join(line[2:] for line in lines if line.startswith(b"f ")).split()
    used = np.array([word.partition(b"/")[0] for word in words], dtype="S").astype(int)
    if used.size and used.min() < 0:
        # counted back from the place of the face, which is not kept: take all points
        return points
    if used.size and not 1 <= used.min() <= used.max() <= len(points):
        raise ModelError(
            f"mesh has a face with point {used.max()}; expected 1 to {len(points)}", file
        )
    return points[np.unique(used) - 1]


def _other(data: bytes, file: Path) -> NDArray:
    kind = file.suffix.lower() or "without suffix"
    try:
        import trimesh
    except ImportError:
        raise ModelError(
            f"mesh format {kind} needs the package trimesh; "
            f"install it, or convert the mesh to STL, OBJ or COLLADA",
            file,
        ) from None
    try:
        mesh: Any = trimesh.load(file, force="mesh")
        return np.asarray(mesh.vertices, float).reshape(-1, 3)
    except Exception as problem:  # its readers raise anything
        raise ModelError(
            f"mesh format {kind} cannot be read ({problem}); "
            f"convert the mesh to STL, OBJ or COLLADA",
            file,
        ) from None


def faces(file: Path) -> tuple[Array, NDArray[np.int64]]:
    """Points of a mesh, shape (n, 3), and its triangles, shape (m, 3), in the file's own axes."""
    try:
        import trimesh

        mesh: Any = trimesh.load(file, force="mesh")
        points, triangles = np.asarray(mesh.vertices, float), np.asarray(mesh.faces, np.int64)
    except Exception as problem:  # its readers raise anything
        raise ModelError(
            f"faces of the mesh cannot be read ({problem}); convert it to STL or OBJ", file
        ) from None
    if len(triangles) == 0:
        raise ModelError("mesh has no faces; expected at least one triangle", file)
    return points, triangles


# ---- their hull -------------------------------------------------------------------------------


def convex_hull(points: ArrayLike, file: Path | None = None) -> Convex:
    """Convex hull of points [m], shape (n, 3), with outward triangles;
    flat ones are thickened first.
    """
    points = np.asarray(points, float)
    if (
        points.ndim != 2
        or points.shape[1] != 3
        or len(points) == 0
        or not np.isfinite(points).all()
    ):
        raise ModelError(
            f"a hull was asked of points of shape {points.shape}; "
            f"expected at least one row of three finite numbers",
            file,
        )
    return hulls.solid(thickened(points), file)


def hull_of_file(file: Path) -> tuple[Convex, bool]:
    """Convex hull of a mesh file, and whether the mesh was flat and had to be thickened."""
    points = vertices(file)
    solid = thickened(points)
    hull = replace(hulls.solid(solid, file), from_file=np.eye(3, 4))
    return hull, solid is not points


def thickened(points: Array) -> Array:
    """The same array, or for a plane, a line or a point: the points moved both ways by 1/1000 of
    their size along each missing direction.

    So a flat foot plate becomes a plate, not a crash.
    """
    centred = points - points[0]
    reach = float(np.abs(centred).max()) or 1.0
    unit = centred / reach - (centred / reach).mean(axis=0)
    axes = np.linalg.eigh(unit.T @ unit)[1]
    extents = np.ptp(unit @ axes, axis=0) * reach
    size = float(extents.max()) or 1e-3
    for axis in axes.T[extents <= FLAT * max(size, float(np.abs(points).max()))]:
        points = np.concatenate([points + 1e-3 * size * axis, points - 1e-3 * size * axis])
    return points


def scaled(shape: Convex, scale: Array) -> Convex:
    """A hull with its axes multiplied; one mirrored by a negative factor turns its triangles, so
    that they stay outward. Multiplied by 1 it is the same object, so that it is known to be shared.
    """
    if (np.asarray(scale) == 1.0).all():
        return shape
    triangles = shape.triangles if np.prod(scale) > 0 else shape.triangles[:, ::-1]
    from_file = None if shape.from_file is None else np.diag(scale) @ shape.from_file
    return Convex(shape.vertices * scale, triangles, shape.file, from_file)
