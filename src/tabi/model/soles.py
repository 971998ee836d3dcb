"""Feet by their shapes: the lowest ends of two equal legs, where no names tell them.

With all joints at zero the ends of a tree are its last moving links, with what is fixed to them.
Two of them are feet if they are the lowest of all, stand side by side, and hang on as many joints.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabi._errors import ModelError
from tabi.model.body import Body
from tabi.model.kinematic_tree import KinematicTree
from tabi.spatial.polygon import polygon_width

# ends that are so near to the lowest one are as low [m]; soles narrower than that are points [m]
LEVEL, NARROW = 0.01, 0.03


@dataclass(frozen=True)
class End:
    """A last link, or what is fixed to it, with its lowest collision point [m]."""

    body: Body
    lowest: float
    place: np.ndarray
    joints: int


def add_feet(robot: KinematicTree) -> str:
    """Declare the feet "left" and "right" where shapes tell them.

    Returns:
        why there are none, or nothing.
    """
    ends = _ends(robot)
    if not ends:
        return "no end of a limb has a collision shape"
    bottom = min(end.lowest for end in ends)
    low = [end for end in ends if end.lowest < bottom + LEVEL]
    names = ", ".join(repr(end.body.name) for end in low[:4])
    if len(low) != 2:
        return f"{len(low)} limbs reach the lowest point ({names}), not two legs"
    left, right = sorted(low, key=lambda end: -end.place[1])
    across, along = abs(left.place[1] - right.place[1]), abs(left.place[0] - right.place[0])
    if left.joints != right.joints or across < 2 * along or across < LEVEL:
        return f"the lowest limbs ({names}) are not two equal legs side by side"
    try:
        for side, end in (("left", left), ("right", right)):
            width = polygon_width(robot.add_foot(side, end.body).polygon)
            if width < NARROW:
                raise ModelError(f"the sole of {end.body.name!r} is {1e3 * width:.0f} mm wide")
    except ModelError as problem:
        robot.feet.clear()
        return f"the lowest limbs end in points, not soles: {problem}"
    found = f"left {left.body.name!r}, right {right.body.name!r}"
    robot.notes.append(f"feet found by shape: {found}; give feet={{…}} to choose others")
    return ""


def _ends(robot: KinematicTree) -> list[End]:
    X = robot.placements(robot.at_zero())
    # the moving link that each body belongs to, and those that carry another one
    link: dict[Body, Body] = {}
    carrying: set[Body] = set()
    joints: dict[Body, int] = {}
    for body in robot.bodies:
        moves = body.parent is not None and body.joint.kind != "fixed"
        link[body] = body if moves or body.parent is None else link[body.parent]
        joints[body] = (joints[body.parent] if body.parent else 0) + moves
        if moves and body.parent is not None:
            carrying.add(link[body.parent])
    lowest: dict[Body, End] = {}
    for body in robot.bodies[1:]:
        owner = link[body]
        if owner in carrying or owner is robot.base:
            continue
        down = X[body].R.T @ np.array([0.0, 0.0, -1.0])
        for shape in body.collision_shapes():
            z = float(X[body].p[2]) - shape.support(down)
            if owner not in lowest or z < lowest[owner].lowest:
                lowest[owner] = End(body, z, X[body].p, joints[body])
    return list(lowest.values())
