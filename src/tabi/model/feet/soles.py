"""Feet by their shapes: the lowest ends of two equal legs, where names do not determine them.

With all joints at zero the ends of a tree are its last moving links, with what is fixed to them.
Where such an end hangs on a link that reaches as low, it is a toe, and that link the end of the
leg. Two ends are feet if they are the lowest of all, stand side by side, and hang on as many
joints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.model.body import Body
from tabi.model.feet import names as foot_names
from tabi.model.feet.sole_finding import MIN_WIDTH_M, sole_of
from tabi.model.kinematic_tree import KinematicTree
from tabi.spatial.polygon import polygon_width
from tabi.spatial.transform import Transform

Array = NDArray[np.float64]
# ends that are so near to the lowest one are as low [m]
LEVEL = 0.01
CHOOSE = "give feet={…} to choose others"


@dataclass(frozen=True)
class End:
    """A last link, or what is fixed to it, with its lowest collision point [m], where its origin
    is, how many joints it hangs on, and the toes that hang on it.
    """

    body: Body
    lowest: float
    place: Array
    joints: int
    toes: list[str] = field(default_factory=list)


def add_feet(robot: KinematicTree) -> str:
    """Declare the feet "left" and "right" where shapes determine them.

    Returns:
        the reason why there are none, or "".
    """
    ends = list(_ends(robot).values())
    if not ends:
        return "no end of a limb has a collision shape"
    bottom = min(end.lowest for end in ends)
    low = [end for end in ends if end.lowest < bottom + LEVEL]
    names = ", ".join(repr(end.body.name) for end in low[:4])
    if len(low) != 2:
        return f"{len(low)} limbs reach the lowest point ({names}), not two legs"
    left, right = _sorted(robot, low)
    across, along = abs(left.place[1] - right.place[1]), abs(left.place[0] - right.place[0])
    if left.joints != right.joints or across < 2 * along or across < LEVEL:
        return f"the lowest limbs ({names}) are not two equal legs side by side"
    try:
        for side, end in (("left", left), ("right", right)):
            across = polygon_width(robot.add_foot(side, end.body).polygon)
            if across < MIN_WIDTH_M:
                raise ModelError(f"the sole of {end.body.name!r} is {1e3 * across:.0f} mm wide")
    except ModelError as problem:
        robot.feet.clear()
        return f"the lowest limbs end in points, not soles: {problem}"
    feet = f"left {left.body.name!r}, right {right.body.name!r}"
    robot.notes.append(
        f"feet found by shape: {feet}, the lowest ends of two equal legs"
        f"{note_of_toes(left.toes + right.toes)}; {CHOOSE}"
    )
    return ""


def note_of_toes(toes: list[str]) -> str:
    """Return the part of a note on toes that are not the feet."""
    return f", on which the toes {', '.join(map(repr, toes))} hang" if toes else ""


def _sorted(robot: KinematicTree, low: list[End]) -> list[End]:
    """Return left and right, by their names if these have sides."""
    names = {body.name for body in robot.bodies}
    by_side = {foot_names.side(end.body.name, names): end for end in low}
    if set(by_side) == {"left", "right"}:
        return [by_side["left"], by_side["right"]]
    return sorted(low, key=lambda end: -end.place[1])


def links(robot: KinematicTree) -> dict[Body, Body]:
    """Return the moving body of each body, itself or the one it is fixed to, or the base."""
    link: dict[Body, Body] = {}
    for body in robot.bodies:
        fixed = body.parent is not None and body.joint.kind == "fixed"
        link[body] = link[body.parent] if fixed else body
    return link


def lowest(body: Body, X_WB: Transform) -> float:
    """Height of the lowest collision point of a body [m], infinite without any."""
    down = X_WB.R.T @ np.array([0.0, 0.0, -1.0])
    reach = [shape.support(down) for shape in body.collision_shapes()]
    return float(X_WB.p[2]) - max(reach, default=-np.inf)


def lowest_bodies(robot: KinematicTree) -> dict[Body, tuple[Body, float]]:
    """Return the lowest body of each moving link with all joints at zero, and its height [m];
    without links that have no collision shapes.
    """
    X, lowest_by_link = robot.placements(robot.at_zero()), dict[Body, tuple[Body, float]]()
    for body, owner in links(robot).items():
        z = lowest(body, X[body])
        if z < np.inf and (owner not in lowest_by_link or z < lowest_by_link[owner][1]):
            lowest_by_link[owner] = body, z
    return lowest_by_link


def heel(robot: KinematicTree, toe: Body, low: Mapping[Body, tuple[Body, float]]) -> Body | None:
    """The body that a toe hangs on, if with all joints at zero it reaches as low, on a sole of its
    own that is not above the toe's.

    Args:
        low: of ``lowest_bodies``.
    """
    link = links(robot)
    above = None if (parent := link[toe].parent) is None else link[parent]
    if above is None or above is robot.base or above not in low or link[toe] not in low:
        return None
    body, height = low[above]
    if height >= low[link[toe]][1] + LEVEL:
        return None
    X = robot.placements(robot.at_zero())
    try:
        heel_sole, of_toe = (
            sole_of(body_of_sole.name, body_of_sole, X[body_of_sole].R)
            for body_of_sole in (body, toe)
        )
    except ModelError:
        return None
    middle = (X[body] @ heel_sole.corners()).mean(axis=0)
    p = (X[toe] @ of_toe.placement).inverse() @ middle
    return (
        None
        if polygon_width(heel_sole.polygon) < MIN_WIDTH_M or _inside(of_toe.polygon, p[:2])
        else body
    )


def _inside(polygon: Array, point: Array) -> bool:
    """Whether a point is in a convex polygon, counter-clockwise."""
    edges, to = np.roll(polygon, -1, axis=0) - polygon, point - polygon
    return bool((edges[:, 0] * to[:, 1] - edges[:, 1] * to[:, 0] >= 0.0).all())


def _ends(robot: KinematicTree) -> dict[Body, End]:
    """Return the ends of limbs by their moving links."""
    X, link, low = robot.placements(robot.at_zero()), links(robot), lowest_bodies(robot)
    carrying = {
        link[body.parent] for body, moving in link.items() if moving is body and body.parent
    }
    ends: dict[Body, End] = {}
    for owner, (body, z) in low.items():
        if owner in carrying or owner is robot.base:
            continue
        toes: list[str] = []
        if (under := heel(robot, body, low)) is not None:
            toes = [*ends[link[under]].toes] if link[under] in ends else []
            toes.append(body.name)
            body, owner, z = under, link[under], low[link[under]][1]
        joints, up = 0, owner
        while up.parent is not None:
            up, joints = link[up.parent], joints + 1
        ends[owner] = End(body, z, X[body].p, joints, toes)
    return ends
