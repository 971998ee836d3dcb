"""Points of COLLADA files.

Node transforms and the metre unit are applied. The up axis is not: URDF gives meshes in the axes of
their link, and RViz and Pinocchio (coal) read them so; turning a mesh by its ``up_axis`` would lay
down the feet of robots made for them. (coal leaves the unit out too; RViz applies it, as the file
asks. Files in metres, the usual ones, agree with both.)
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.spatial.transform import about

Array = NDArray[np.float64]
_FACES = ("triangles", "polylist", "polygons", "tristrips", "trifans")
_MAX_DEPTH = 64


def points(data: bytes, file: Path) -> Array:
    """Points that faces of a COLLADA file use [m], shape (n, 3)."""
    # a mesh may hold more than the 10 MB of text that the parser allows by default;
    # entities, the real danger, stay off
    root = etree.fromstring(
        data, etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    )
    by_id = {e.get("id"): e for e in root.iter(etree.Element) if e.get("id")}
    unit = root.find("{*}asset/{*}unit")
    metres = float(unit.get("meter", "1")) if unit is not None else 1.0
    if not (np.isfinite(metres) and metres > 0):
        message = f"mesh has a unit of {metres} metres; expected a positive number"
        raise ModelError(message, file, unit.sourceline)
    instance = root.find("{*}scene/{*}instance_visual_scene")
    scene = (
        root.find("{*}library_visual_scenes/{*}visual_scene")
        if instance is None
        else _target(instance, by_id, file)
    )
    has_scene = scene is not None
    parts = (
        list(_placed_points(scene, by_id, file))
        if has_scene
        else [_geometry_points(g, by_id, file) for g in root.iter("{*}geometry")]
    )
    return metres * np.concatenate(parts) if parts else np.zeros((0, 3))


def _placed_points(scene: Any, by_id: dict, file: Path) -> Iterator[Array]:
    """Points of every geometry in a scene, through the transforms of the nodes above it."""
    cache: dict[Any, Array] = {}
    todo = [(scene, np.eye(4), 0)]
    while todo:
        node, M, depth = todo.pop()
        if depth > _MAX_DEPTH:
            raise ModelError(
                f"mesh nests its nodes more than {_MAX_DEPTH} deep; a node may not hold itself",
                file,
                node.sourceline,
            )
        M = M @ _node_matrix(node, file)
        for child in node.iterchildren(etree.Element):
            tag = etree.QName(child).localname
            if tag == "node":
                todo.append((child, M, depth + 1))
            elif tag == "instance_node":
                todo.append((_target(child, by_id, file), M, depth + 1))
            elif tag == "instance_geometry":
                geometry = _target(child, by_id, file)
                if geometry not in cache:
                    cache[geometry] = _geometry_points(geometry, by_id, file)
                yield cache[geometry] @ M[:3, :3].T + M[:3, 3]


def _node_matrix(node: Any, file: Path) -> Array:
    M = np.eye(4)
    for step in node.iterchildren("{*}matrix", "{*}translate", "{*}rotate", "{*}scale", "{*}skew"):
        tag, values, T = etree.QName(step).localname, numbers(step.text), np.eye(4)
        count = {"matrix": 16, "rotate": 4}.get(tag, 3)
        if tag == "skew" or len(values) != count or not np.isfinite(values).all():
            raise ModelError(
                f"mesh has a <{tag}> of {len(values)} numbers; "
                f"expected a matrix, translate, rotate or scale",
                file,
                step.sourceline,
            )
        if tag == "matrix":
            T = values.reshape(4, 4)
        elif tag == "translate":
            T[:3, 3] = values
        elif tag == "scale":
            T[:3, :3] = np.diag(values)
        elif values[:3].any():
            T[:3, :3] = about(values[:3], np.radians(values[3])).R
        M = M @ T
    return M


def _geometry_points(geometry: Any, by_id: dict, file: Path) -> Array:
    """The points of a geometry that its faces use."""
    parts = []
    for faces in geometry.iterfind("{*}mesh/*"):
        if not isinstance(faces.tag, str) or etree.QName(faces).localname not in _FACES:
            continue
        inputs = {i.get("semantic"): i for i in faces.iterfind("{*}input")}
        corner = inputs.get("VERTEX")
        if corner is None:
            raise ModelError(
                "mesh has faces without a VERTEX input; export it again", file, faces.sourceline
            )
        stride = 1 + max(int(i.get("offset", "0")) for i in faces.iterfind("{*}input"))
        points = _positions(_target(corner, by_id, file), by_id, file)
        for p in faces.iterfind("{*}p"):
            index = (
                numbers(p.text).astype(int).reshape(-1, stride)[:, int(corner.get("offset", "0"))]
            )
            used = np.zeros(len(points), bool)
            if index.size and not 0 <= index.min() <= index.max() < len(points):
                raise ModelError(
                    f"mesh has a face with point {index.max()}; expected 0 to {len(points) - 1}",
                    file,
                    p.sourceline,
                )
            used[index] = True
            parts.append(points[used])
    return np.concatenate(parts) if parts else np.zeros((0, 3))


def _positions(vertex: Any, by_id: dict, file: Path) -> Array:
    """The coordinates behind a <vertices> element."""
    position = next(
        (i for i in vertex.iterfind("{*}input") if i.get("semantic") == "POSITION"), None
    )
    source = vertex if position is None else _target(position, by_id, file)
    values, accessor = source.find("{*}float_array"), source.find("{*}technique_common/{*}accessor")
    if values is None:
        raise ModelError(
            "mesh has a source of positions without float_array; export it again",
            file,
            source.sourceline,
        )
    stride = 3 if accessor is None else int(accessor.get("stride", "3"))
    return numbers(values.text).reshape(-1, stride)[:, :3]


def _target(element: Any, by_id: dict, file: Path) -> Any:
    reference = element.get("url") or element.get("source") or ""
    if reference[1:] not in by_id or reference[:1] != "#":
        tag = etree.QName(element).localname
        raise ModelError(
            f"mesh has an <{tag}> that points at {reference!r}; "
            f"expected the id of an element of this file",
            file,
            element.sourceline,
        )
    return by_id[reference[1:]]


def numbers(text: str | None) -> Array:
    """The numbers of a text with spaces between them; ValueError where it holds anything else."""
    with warnings.catch_warnings():
        # older versions of NumPy only warn of text that is not a number, and stop there
        warnings.simplefilter("error", DeprecationWarning)
        try:
            return np.fromstring(text or "", sep=" ")
        except DeprecationWarning:
            raise ValueError("text that is not a number") from None
