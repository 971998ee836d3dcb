"""The colliding shapes of a robot from a file, made fit for a simulation.

Hulls of meshes lose the vertices that no contact can distinguish from their neighbours. What soles
lose is of ``sole_corners``: a robot stands on their corners, and those that are left stay as they
are, to the last digit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from tabi._errors import ModelError
from tabi.model import hulls
from tabi.model.robot import Robot
from tabi.model.shape import Convex
from tabi.robots import pieces, sole_corners

# what collides: what the file says, visual shapes where it says nothing, meshes cut into pieces
COLLISION = ("file", "visual", "decomposed")
# how far a surface may move inwards, and as a share of the hull's smallest extent
TOLERANCE_M, MAX_INWARD_SHARE = 1e-3, 0.1


class ShapeKeys(TypedDict, total=False):
    """Keywords of ``tabi.load`` about shapes."""

    collision: str
    hull_tolerance: float
    sole_tolerance: float
    max_points: int | None


@dataclass(frozen=True)
class Settings:
    """Settings of ``tabi.load`` for shapes, checked."""

    collision: str = COLLISION[0]
    hull_tolerance: float = TOLERANCE_M
    sole_tolerance: float = sole_corners.TOLERANCE
    max_points: int | None = None

    def __post_init__(self) -> None:
        if self.collision not in COLLISION:
            raise ModelError(
                f"collision is {self.collision!r}; expected one of {', '.join(COLLISION)}: what "
                f"the file says, visual shapes where it says nothing, or meshes cut into pieces"
            )
        for name, what in (("hull_tolerance", "hulls"), ("sole_tolerance", "soles")):
            value = getattr(self, name)
            if not _is_number(value) or not 0 <= value < np.inf:
                raise ModelError(
                    f"{name} is {value!r}; expected a length in metres, for example 0.001, or 0 to "
                    f"keep {what} as they are"
                )
        if self.max_points is not None and not (
            _is_number(self.max_points) and self.max_points == int(self.max_points) >= 4
        ):
            raise ModelError(
                f"max_points is {self.max_points!r}; expected a whole number of vertices, 4 or "
                f"more, or None for any number"
            )


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, (int, float, np.number))
        and not isinstance(value, bool)
        and bool(np.isfinite(value))
    )


# ---- hulls with fewer vertices ------------------------------------------------------------------


def prepare(robot: Robot, how: Settings) -> list[str]:
    """Cut meshes into pieces where that is requested, and give soles fewer corners and hulls fewer
    vertices, with notes; return those to report.
    """
    if how.collision == "decomposed":
        pieces.cut(robot, set(sole_corners.soles_of(robot)))
    thinned = sole_corners.thin(robot, how.sole_tolerance)
    notes = simplify(robot, how)
    sole_corners.trim(thinned)
    return notes


def simplify(robot: Robot, how: Settings) -> list[str]:
    """Give the robot's hulls fewer vertices, with a note; return notes to report."""
    if how.hull_tolerance == 0 and how.max_points is None:
        return []
    soles = sole_corners.soles_of(robot)
    made: dict[Any, tuple[Convex, float, Convex]] = {}
    before = after = count = 0
    lost = beyond = 0.0
    for body in robot.bodies:
        most = None if body in soles else how.max_points
        for shape in body.collision_shapes():
            hull = shape.geometry
            if not isinstance(hull, Convex):
                continue
            rows = sole_corners.in_soles(hull, shape.placement, soles.get(body, []))
            tolerance = min(how.hull_tolerance, MAX_INWARD_SHARE * _thickness(hull))
            # bodies that share a hull go on sharing it
            key = (id(hull), rows.tobytes(), most)
            if key not in made:
                # the hull too, for a number is only its own while it lives
                made[key] = (*hulls.simplified(hull, tolerance, most, rows), hull)
            new, loss, _ = made[key]
            shape.geometry = new
            if new is not hull:
                count, lost = count + 1, max(lost, loss)
                before += len(hull.vertices)
                after += len(new.vertices)
                beyond = max(beyond, loss - tolerance)
    return _note(robot, (count, before, after), lost, beyond > 0)


def _note(robot: Robot, counts: tuple[int, int, int], lost: float, beyond: bool) -> list[str]:
    count, before, after = counts
    if count == 0:
        return []
    which = "1 convex hull was" if count == 1 else f"{count} convex hulls were"
    note = (
        f"{which} simplified, from {before} to {after} vertices: surfaces moved inwards by at most "
        f"{1e3 * lost:.2f} mm"
    )
    robot.notes.append(f"{note} (hull_tolerance=0 keeps them)")
    return [f"{note}, more than hull_tolerance because of max_points"] if beyond else []


def _thickness(hull: Convex) -> float:
    """Least extent along the hull's own axes [m]."""
    centred = hull.vertices - hull.vertices.mean(axis=0)
    return float(np.ptp(centred @ np.linalg.eigh(centred.T @ centred)[1], axis=0).min())
