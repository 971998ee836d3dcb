"""Colliding meshes cut into convex pieces, by CoACD: approximate convex decomposition with
collision-aware concavity (Wei, Liu, Ling, Su, ACM Transactions on Graphics 41, 2022).

A hull fills what a mesh leaves open: the inside of a bracket, the place between two fingers. The
package ``coacd`` cuts a mesh until no piece is more concave than a threshold; the hulls of the
pieces collide instead. Feet keep their hulls, so that soles stay as they are.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np

from tabi._errors import ModelError
from tabi.formats import mesh
from tabi.model.body import Body
from tabi.model.robot import Robot
from tabi.model.shape import Convex, Shape

# how concave a piece may be, in parts of its mesh's size; and how hard cuts are searched for
CONCAVITY = 0.1
SEARCH = {
    "mcts_iterations": 30,
    "mcts_nodes": 10,
    "resolution": 500,
    "preprocess_resolution": 30,
    "seed": 0,
}


def cut(robot: Robot, whole: set[Body]) -> None:
    """Put convex pieces in the place of colliding meshes, with a note.

    Args:
        whole: bodies that keep their hulls.
    """
    coacd, started = _package(), time.perf_counter()
    if os.environ.get("TABI_QUIET") != "1":
        text = f"cutting the meshes of {robot.name} into convex pieces, some seconds each"
        print(f"tabi: {text} …", file=sys.stderr, flush=True)
    made: dict[Any, list[Convex] | None] = {}
    meshes, pieces, unsplit = 0, 0, set()
    for body in robot.bodies:
        shapes: list[Shape] = []
        for shape in body.shapes:
            hull = shape.geometry
            parts = None
            if shape.collides and isinstance(hull, Convex) and body not in whole:
                key = (hull.file, None if hull.from_file is None else hull.from_file.tobytes())
                if key not in made:
                    made[key] = _pieces(hull, coacd)
                parts = made[key]
                if parts is None:
                    unsplit.add(hull.file.name if hull.file else f"a shape of {body.name!r}")
                else:
                    meshes, pieces = meshes + 1, pieces + len(parts)
            shapes += [shape] if parts is None else [replace(shape, geometry=p) for p in parts]
        body.shapes = shapes
    if meshes:
        robot.notes.append(
            f"{meshes} collision meshes were cut into {pieces} convex pieces by coacd, each at "
            f"most {CONCAVITY:g} of its mesh's size concave, in {time.perf_counter() - started:.0f}"
            f' s; feet keep their hulls (collision="decomposed")'
        )
    if unsplit:
        robot.notes.append(
            f"{len(unsplit)} hulls were not cut, because no faces can be read of them: "
            f"{', '.join(sorted(unsplit)[:4])}{' …' if len(unsplit) > 4 else ''}"
        )


def _package() -> Any:
    try:
        import coacd
    except ImportError:
        raise ModelError(
            'collision="decomposed" needs the package coacd to cut meshes into convex pieces; '
            "pip install coacd"
        ) from None
    coacd.set_log_level("error")
    return coacd


def _pieces(hull: Convex, coacd: Any) -> list[Convex] | None:
    """Convex pieces of a hull's file; None where its faces cannot be read."""
    if hull.file is None or hull.from_file is None:
        return None
    try:
        vertices, triangles = mesh.faces(hull.file)
    except ModelError:
        return None
    vertices_ = vertices @ hull.from_file[:, :3].T + hull.from_file[:, 3]
    if np.linalg.det(hull.from_file[:, :3]) < 0:
        triangles = triangles[:, ::-1]
    parts = coacd.run_coacd(coacd.Mesh(vertices_, triangles), threshold=CONCAVITY, **SEARCH)
    return [mesh.convex_hull(points, hull.file) for points, _ in parts]
