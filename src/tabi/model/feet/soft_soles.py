"""Soft soles under a robot's feet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, unknown
from tabi.model import soft
from tabi.model.body import Foot, convex_outline
from tabi.model.kinematic_tree import KinematicTree
from tabi.model.pad import Pad
from tabi.model.shape import Shape
from tabi.spatial.transform import translation

Array = NDArray[np.float64]
# how far a sole may reach over the plate that it is glued to [m]
MAX_OVERHANG_M = 1e-6


def add_soles(
    robot: KinematicTree, feet: Iterable[str] | None, layers: Any, options: dict[str, Any]
) -> dict[str, Shape]:
    """Glue a sole under each foot, of its outline unless ``options`` has another; the foot's frame
    goes down to the new ground face. Returns the shapes by the names of their feet.
    """
    if not robot.feet:
        raise ModelError(
            f"robot {robot.name!r} has no feet to put soles under; declare them, "
            'as in tabi.load(path, feet={"left": "L_FOOT", "right": "R_FOOT"})'
        )
    names = list(robot.feet) if feet is None else list(feet)
    for name in names:
        if name not in robot.feet:
            raise unknown("foot", name, robot.name, robot.feet)
        if any(isinstance(s.geometry, Pad) for s in robot.feet[name].body.shapes):
            raise ModelError(f"foot {name!r} of {robot.name} has a soft sole already")
    options = dict(options)
    outline = options.pop("outline", None)
    made = {}
    for name in names:
        foot = robot.feet[name]
        polygon = foot.polygon if outline is None else np.asarray(outline, float)
        _check_outline(foot, polygon)
        sole = soft.made_of(polygon, layers, options)
        surface = soft.surface_of(foot.body.collision_shapes())
        made[name] = soft.pad_shape(sole, foot.placement, surface, f"sole of {name}")
        foot.body.glue(made[name], sole.inertia)
        low = float(sole.ground_points[:, 2].min())
        foot.placement = foot.placement @ translation((0.0, 0.0, low))
        foot.polygon = convex_outline(name, sole.ground_points[sole.flat][:, :2])
    return made


def _check_outline(foot: Foot, outline: Array) -> None:
    """Refuse an outline that reaches over the foot's plate, or is none."""
    hull = convex_outline(foot.name, outline)
    edges = np.roll(foot.polygon, -1, axis=0) - foot.polygon
    outwards = np.column_stack([edges[:, 1], -edges[:, 0]])
    outwards /= np.linalg.norm(edges, axis=1)[:, None]
    over = (outwards @ hull.T - np.sum(outwards * foot.polygon, axis=1)[:, None]).max()
    if over > MAX_OVERHANG_M:
        raise ModelError(
            f"the outline of the soft sole reaches {1e3 * over:.2g} mm over the plate of foot "
            f"{foot.name!r}; expected one inside of it: nothing would hold it there"
        )
