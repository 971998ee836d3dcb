"""The sole of a body as its collision shapes show it.

With all joints at zero it is the outline of everything within BAND of the lowest point. Feet of
some files lean there, by what their zero pose is off, so that this is an edge. They rest on the
plane that bears them when they are pressed down in their middle (x₀, y₀): of all planes below
their points, the highest there,

    max a x₀ + b y₀ + c,   a x + b y + c ≤ z of all points,   |a|, |b| ≤ tan LEAN            (1)
and the sole is what lies within BAND of that.
"""

from __future__ import annotations

from math import radians, tan

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.model.body import Body, Foot, convex_outline
from tabi.model.shape import Capsule, Cylinder, MeshFile, Shape, Smooth, Sphere
from tabi.spatial.polygon import polygon_width
from tabi.spatial.transform import Transform

Array = NDArray[np.float64]
# of a sole above its lowest point; soles narrower than that are edges or points [m]
BAND, MIN_WIDTH_M = 2e-3, 0.03
# the most that a foot leans in the zero pose [rad]
LEAN = radians(5.0)
# cylinders that lie lean by less than 45°
MAX_LYING_COSINE = 0.7


def sole_of(name: str, body: Body, R_WB: Array) -> Foot:
    """The sole of a body as its shapes show it.

    Args:
        R_WB: the body's orientation with all joints at zero; the foot frame takes the world's axes
            there, or z the normal of (1).
    """
    shapes = body.collision_shapes()
    if not shapes:
        raise ModelError(
            f"body {body.name!r} is declared the foot {name!r} but has no collision shape to find "
            f"a sole in; give a polygon"
        )
    candidates: list[Foot] = []
    faults: list[ModelError] = []
    for lines, leaning in ((True, False), (True, True), (False, False)):
        points = np.concatenate([_undersides(shape, R_WB, lines) for shape in shapes])
        try:
            R_WF = _plane(points) if leaning else np.eye(3)
            candidates.append(_resting(name, body, points, R_WF, R_WB))
        except ModelError as fault:
            faults.append(fault)
            continue
        if polygon_width(candidates[-1].polygon) >= MIN_WIDTH_M:
            return candidates[-1]
    if not candidates:
        raise faults[0]
    return candidates[0]


def _resting(name: str, body: Body, points: Array, R_WF: Array, R_WB: Array) -> Foot:
    """The sole of points [m] in the world's axes, in a frame of its own.

    Args:
        R_WF: z is the normal of the ground.
    """
    seen = points @ R_WF
    lowest = seen[:, 2].min()
    outline = seen[seen[:, 2] < lowest + BAND][:, :2]
    if len(outline) < 3:
        raise ModelError(
            f"body {body.name!r} is declared the foot {name!r} but touches the ground in fewer "
            f"than three points; give a polygon"
        )
    R_BF = R_WB.T @ R_WF
    placement = Transform(R_BF, R_BF @ np.array([0.0, 0.0, lowest]))
    return Foot(name, body, placement, convex_outline(name, outline))


def _plane(points: Array) -> Array:
    """Axes whose z is the normal of (1), x ahead."""
    from scipy.optimize import linprog

    middle = 0.5 * (points[:, :2].min(axis=0) + points[:, :2].max(axis=0))
    rows = np.column_stack([points[:, :2], np.ones(len(points))])
    steepest = tan(LEAN)
    sides = [(-steepest, steepest), (-steepest, steepest), (None, None)]
    result = linprog([-middle[0], -middle[1], -1.0], rows, points[:, 2], bounds=sides)
    if not result.success:
        return np.eye(3)
    a, b, _ = result.x
    z = np.array([-a, -b, 1.0]) / np.linalg.norm([a, b, 1.0])
    y = np.cross(z, [1.0, 0.0, 0.0])
    y = y / np.linalg.norm(y)
    return np.column_stack([np.cross(y, z), y, z])


def _undersides(shape: Shape, R_WB: Array, lines: bool) -> Array:
    """Points of a shape that the ground may touch, in the world's axes; balls and capsules touch it
    below their centres only, a smooth shape in its lowest point.

    Args:
        lines: a cylinder that lies touches it on the line below its axis, not within BAND of that.
    """
    g = shape.geometry
    assert not isinstance(g, MeshFile)
    if isinstance(g, (Sphere, Capsule)):
        half = 0.5 * g.length if isinstance(g, Capsule) else 0.0
        centres = shape.placement @ np.array([[0.0, 0.0, half], [0.0, 0.0, -half]])
        return centres @ R_WB.T - np.array([0.0, 0.0, g.radius])
    down = -(R_WB @ shape.placement.R)[2]
    if lines and isinstance(g, Cylinder) and abs(down[2]) < MAX_LYING_COSINE:
        rim = g.radius * np.array([*(down[:2] / np.linalg.norm(down[:2])), 0.0])
        end = np.array([0.0, 0.0, 0.5 * g.length])
        return (shape.placement @ np.stack([rim + end, rim - end])) @ R_WB.T
    if isinstance(g, Smooth):
        return (shape.placement @ g.support_point(down)[None]) @ R_WB.T
    return (shape.placement @ g.points()) @ R_WB.T
