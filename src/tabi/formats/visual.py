"""Visual shapes that collide, for files whose links have no collision shapes.

Many files are made for pictures only. A link without any colliding shape gets those that are seen:
primitives as they are, of each mesh its convex hull.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from tabi._errors import ModelError
from tabi.formats import mesh
from tabi.model.body import Body
from tabi.model.robot import Robot
from tabi.model.shape import Convex, Geometry, HalfSpace, HeightField, MeshFile, Shape


def let_collide(robot: Robot) -> None:
    """Give bodies without a colliding shape their visual ones, with a note."""
    bare = [body for body in robot.bodies if not body.collision_shapes()]
    hulls: dict[Path, Convex | ModelError] = {}
    made: dict[Body, list[Shape]] = {}
    for body in bare:
        seen = [s for s in body.shapes if s.visible and not s.collides]
        forms = [(s, _form(s.geometry, hulls)) for s in seen]
        made[body] = [
            replace(s, geometry=form, collides=True, visible=False) for s, form in forms if form
        ]
        if made[body]:
            body.shapes += made[body]
            # what was missing has found its substitute
            robot.missing_meshes.pop(body.name, None)
    names = [body.name for body, shapes in made.items() if shapes]
    if names:
        robot.notes.append(
            f"stand-in: {len(names)} links without a collision shape collide as they look: "
            f"{', '.join(map(repr, names[:4]))}{' …' if len(names) > 4 else ''} "
            f'(collision="visual")'
        )
    robot.notes.extend(
        f"visual mesh {file.name} cannot be made to collide: {problem}"
        for file, problem in hulls.items()
        if isinstance(problem, ModelError)
    )


def _form(geometry: Geometry | MeshFile, hulls: dict[Path, Convex | ModelError]) -> Geometry | None:
    """Collision shape for a visual shape; None where nothing can collide."""
    if not isinstance(geometry, MeshFile):
        return None if isinstance(geometry, (HalfSpace, HeightField)) else geometry
    if geometry.file not in hulls:
        try:
            hulls[geometry.file] = mesh.hull_of_file(geometry.file)[0]
        except ModelError as problem:
            hulls[geometry.file] = problem
    hull = hulls[geometry.file]
    return mesh.scaled(hull, np.array(geometry.scale)) if isinstance(hull, Convex) else None
