"""Soles with fewer corners.

Soles from CAD have dozens of corners along their roundings, and each may be a contact point. Of the
corners round a sole those stay that are needed for every other one to lie within a distance ε of
the edge between two that stay (``spatial.coarser_outline``), for two kinds of outlines of each of a
foot's hulls: of the corners in the sole's plane, on which the foot stands, and of the outermost
ones up to 2 mm above it, over which it tips. All edges are in what is left of the hull. So in every
direction the support polygon ends at most ε earlier than it did, and never later; over the edge the
robot tips earlier by ε over the height of its centre of mass at most; and the plane is where it
was.

A foot that has no plane, or a small one, rests on corners of different heights. There heights count
ten times: the foot leans by ε/10 over the width of the sole at most, which is again about ε over
the height of the centre of mass.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.model import hulls
from tabi.model.body import Body, Foot
from tabi.model.feet.sole_finding import sole_of
from tabi.model.robot import Robot
from tabi.model.shape import Convex
from tabi.spatial.coarser_outline import coarser, outlines
from tabi.spatial.polygon import polygon_area, polygon_width
from tabi.spatial.transform import Transform

Array = NDArray[np.float64]
Rows = NDArray[np.int64]
# ε [m], at most this part of the outline's width
TOLERANCE, SHARE = 1e-3, 0.02
# weight of heights against lengths across, where the plane is less than this share of the sole
HEIGHT_WEIGHT, MIN_PLANE_SHARE = 10.0, 0.5
# vertices this part of a hull's size off the sole's plane are in it
FLAT = 1e-6
# corners of a sole's outline may lie that far above its lowest point, as those that it was made of
SOLE_BAND_M, TOLERANCE_BAND_M = 2e-3, 1e-9


def soles_of(robot: Robot) -> dict[Body, list[tuple[Foot, Transform]]]:
    """For each body that moves with a foot: the feet and X_BF of their frames."""
    X = robot.placements(robot.at_zero())
    link: dict[Body, Body] = {}
    for body in robot.bodies:
        carrier = body.parent if body.joint.kind == "fixed" else None
        link[body] = link[carrier] if carrier else body
    feet: dict[Body, list[tuple[Foot, Transform]]] = {}
    for foot in robot.feet.values():
        X_WF = X[foot.body] @ foot.placement
        for body in robot.bodies:
            if link[body] is link[foot.body]:
                feet.setdefault(body, []).append((foot, X[body].inverse() @ X_WF))
    return feet


def in_soles(hull: Convex, placement: Transform, soles: Sequence[tuple[Foot, Transform]]) -> Rows:
    """Rows of the vertices in the planes of soles, or at corners of their outlines."""
    selected = np.zeros(len(hull.vertices), bool)
    for foot, X_BF in soles:
        selected |= _in_sole(_seen(hull, placement, X_BF), foot)
    return np.flatnonzero(selected)


def thin(robot: Robot, tolerance: float) -> list[Foot]:
    """Leave out the corners of soles that are not needed, with a note; returns the feet that lost
    some and whose polygons are those of their shapes, for ``trim``.
    """
    soles = soles_of(robot) if tolerance > 0 else {}
    shown = [foot for foot in robot.feet.values() if _shows(foot)]
    made: dict[Any, tuple[Convex, Convex]] = {}
    before, after, lost = dict.fromkeys(robot.feet, 0), dict.fromkeys(robot.feet, 0), 0.0
    for body, feet in soles.items():
        for shape in body.collision_shapes():
            hull = shape.geometry
            if not isinstance(hull, Convex):
                continue
            needless, loss = _needless(hull, shape.placement, feet, tolerance)
            # bodies that share a hull go on sharing it
            key = (id(hull), frozenset(needless))
            if key not in made:
                # the hull too, for a number is only its own while it lives
                made[key] = (hulls.without(hull, sorted(needless)), hull)
            shape.geometry = new = made[key][0]
            lost = max(lost, loss if new is not hull else 0.0)
            for sole in feet:
                name = sole[0].name
                before[name] += len(in_soles(hull, shape.placement, [sole]))
                after[name] += len(in_soles(new, shape.placement, [sole]))
    fewer = [name for name in robot.feet if after[name] < before[name]]
    if fewer:
        each = ", ".join(f"{name} from {before[name]} to {after[name]}" for name in fewer)
        robot.notes.append(
            f"soles have fewer corners, {each}: outlines moved inwards by at most "
            f"{1e3 * lost:.2f} mm (sole_tolerance=0 keeps them)"
        )
    return [foot for foot in shown if foot.name in fewer]


def trim(feet: Sequence[Foot]) -> None:
    """Give feet the polygons that their shapes show."""
    for foot in feet:
        foot.polygon = sole_of(foot.name, foot.body, foot.placement.R.T).polygon


def _shows(foot: Foot) -> bool:
    """Whether a foot's polygon is the one of its shapes, and was not given."""
    with suppress(ModelError):
        polygon = sole_of(foot.name, foot.body, foot.placement.R.T).polygon
        return (
            polygon.shape == foot.polygon.shape
            and np.abs(polygon - foot.polygon).max() <= TOLERANCE_BAND_M
        )
    return False


def _seen(hull: Convex, placement: Transform, X_BF: Transform) -> Array:
    """Vertices in the frame of a foot."""
    return (X_BF.inverse() @ placement) @ hull.vertices


def _in_plane(points: Array) -> NDArray[np.bool_]:
    return np.abs(points[:, 2]) <= FLAT * float(np.ptp(points, axis=0).max())


def _low(points: Array) -> NDArray[np.bool_]:
    return np.abs(points[:, 2]) < SOLE_BAND_M + TOLERANCE_BAND_M


def _in_sole(points: Array, foot: Foot) -> NDArray[np.bool_]:
    """Which vertices of one hull, seen from a foot, are in its plane or at its outline."""
    selected = _in_plane(points)
    for row in np.flatnonzero(_low(points)):
        away = np.abs(foot.polygon - points[row, :2]).max(axis=1)
        selected[row] |= bool((away <= TOLERANCE_BAND_M).any())
    return selected


def _needless(
    hull: Convex, placement: Transform, soles: Sequence[tuple[Foot, Transform]], tolerance: float
) -> tuple[set[int], float]:
    """Rows of the vertices of soles that can be left out, and how far outlines move inwards [m]."""
    removable, stay, lost = set[int](), set[int](), 0.0
    for foot, X_BF in soles:
        points = _seen(hull, placement, X_BF)
        plane, low = _in_plane(points), _in_sole(points, foot) & _low(points)
        flat, above = (outlines(points, np.flatnonzero(rows)) for rows in (plane, low & ~plane))
        whole = outlines(points, np.flatnonzero(low))
        # no foot leans on corners above its plane while that is most of the sole
        stands = _area(points, flat) >= MIN_PLANE_SHARE * _area(points, whole)
        steep = 1.0 if stands else HEIGHT_WEIGHT
        for loop, steepness in [(loop, HEIGHT_WEIGHT) for loop in flat] + [
            (loop, steep) for loop in above
        ]:
            most = min(tolerance, SHARE * polygon_width(points[loop, :2]))
            corners, loss = coarser(points[loop] * [1.0, 1.0, steepness], most)
            removable |= set(loop.tolist())
            stay |= set(loop[corners].tolist())
            lost = max(lost, loss)
    return removable - stay, lost


def _area(points: Array, loops: list[Rows]) -> float:
    """Area within the outermost of some outlines [m²]; 0 if there is none."""
    return polygon_area(points[loops[0], :2]) if loops else 0.0
