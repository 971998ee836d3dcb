"""Where a robot that fell can stand again: upright, as it faced, near where it lies.

With R the rotation of its base from how it stood at the start and u = R z where its head points
now, the smallest turn S that takes u to the vertical leaves a turn about the vertical alone,

    S u = z,   S R = R_z(ψ),   ψ: where it faces                                                 (1)
so a robot on its face or on its back faces as it did before it fell. It is put above its centre of
mass, or at the nearest place around where

    soles: the ground under all their corners is as high within ``LEVEL``                        (2)
    boxes of its bodies are apart from those of all else, and above the ground                   (3)
Boxes have edges along the axes of the world: what is found is free, though not all that is free.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import atan2, cos, pi, sin

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.model.body import Body
from tabi.model.ground_height import ground_height
from tabi.model.robot import Robot
from tabi.model.shape import Box, HalfSpace, HeightField, Shape
from tabi.model.world import World
from tabi.spatial.transform import Transform, about, z_to

Array = NDArray[np.float64]
# m: how far around it looks, from ring to ring; directions in a ring
FARTHEST, APART, DIRECTIONS = 3.0, 0.1, 12
# m: how much the ground under the soles may differ, rather and at most
LEVEL = (5e-3, 0.03)
# m: boxes that overlap by less are apart
TOUCH = 1e-3
GROUND = (HalfSpace, Box, HeightField)


@dataclass(frozen=True)
class StoodUp:
    """A robot that was put back on its feet.

    Attributes:
        robot: its name. base: its pose now.
        away: how far that is from where it lay, over the ground [m].
        moved: from where it stood at the start to where it stands now.
        released: bodies that it held, and holds no longer.
    """

    robot: str
    base: Transform
    away: float
    moved: Transform
    released: tuple[str, ...] = ()

    def __str__(self) -> str:
        x, y, _ = self.base.p + 0.0
        far = f"{self.away:.2f} m from where it lay" if self.away > 0.005 else "where it lay"
        held = f"; it let go of {' and '.join(self.released)}" if self.released else ""
        return f"{self.robot} stands again at x {x:.2f} m, y {y:.2f} m, {far}{held}"


def stand(
    world: World,
    robot: Robot,
    start: Mapping[Body, Transform],
    now: Mapping[Body, Transform],
    centre: Array,
) -> StoodUp:
    """Where a robot stands again.

    Args:
        start: poses of its bodies as it stood at the start.
        now: poses of all bodies that move.
        centre: of its mass, now [m].

    Raises:
        ModelError: there is no free and level place around.
    """
    if robot.base.joint.kind != "floating":
        raise ModelError(
            f"robot {robot.name!r} is bolted to the world by its base {robot.base.name!r} and "
            "cannot fall; expected a floating base"
        )
    if not any(shape.collides for shape in world.fixed.shapes):
        raise ModelError(
            f"robot {robot.name!r} has nothing to stand on; add a ground: world.add_ground()"
        )
    # level soles, the lowest at z = 0 and their middle above the origin, facing as at the start
    up = sum((start[f.body].R @ f.placement.R[:, 2] for f in robot.feet.values()), np.zeros(3))
    level = Transform(z_to(up).T if np.linalg.norm(up) > 1e-6 else np.eye(3))
    standing = {body: level @ X for body, X in start.items()}
    turn = about((0, 0, 1), heading(now[robot.base].R @ standing[robot.base].R.T))
    standing = {body: turn @ X for body, X in standing.items()}
    soles = _soles(robot, standing)
    middle = np.append(0.5 * (soles[:, :2].min(axis=0) + soles[:, :2].max(axis=0)), 0.0)
    lowest = soles[:, 2].min()
    mine = boxes(standing) - np.tile([*middle[:2], lowest], 2)
    place = _free_place(world, robot, soles[:, :2] - middle[:2], mine, now, centre)
    X = Transform(np.eye(3), place - middle - [0.0, 0.0, lowest])
    base = X @ standing[robot.base]
    away = float(np.hypot(*(place - centre)[:2]))
    return StoodUp(robot.name, base, away, X @ turn @ level)


def heading(R: Array) -> float:
    """ψ of (1) [rad]."""
    left = z_to(R[:, 2]).T @ R
    return atan2(left[1, 0], left[0, 0])


def boxes(placements: Mapping[Body, Transform]) -> Array:
    """Least and largest x, y, z of what collides of bodies [m], shape (n, 6)."""
    return _boxes((X, body.collision_shapes()) for body, X in placements.items())


def _boxes(placed: Iterable[tuple[Transform, list[Shape]]]) -> Array:
    rows = []
    for X, shapes in placed:
        for shape in shapes:
            high = [shape.support(X.R.T @ d) for d in np.eye(3)]
            low = [-shape.support(-(X.R.T @ d)) for d in np.eye(3)]
            rows.append(np.concatenate([X.p + low, X.p + high]))
    return np.array(rows).reshape(-1, 6)


def _soles(robot: Robot, X: Mapping[Body, Transform]) -> Array:
    """Corners of all feet in the world; of the box around a robot without any."""
    if robot.feet:
        return np.vstack([X[foot.body] @ foot.corners() for foot in robot.feet.values()])
    own = boxes(X)
    (x, y, z), (far, wide, _) = own[:, :3].min(axis=0), own[:, 3:].max(axis=0)
    return np.array([(x, y, z), (far, y, z), (far, wide, z), (x, wide, z)])


def _free_place(
    world: World,
    robot: Robot,
    soles: Array,
    mine: Array,
    now: Mapping[Body, Transform],
    centre: Array,
) -> Array:
    """The nearest place for the middle of the soles by (2) and (3) [m], shape (3,)."""
    height = ground_height(world)
    others = boxes({body: X for body, X in now.items() if body not in robot.bodies})
    solid = [s for s in world.fixed.shapes if s.collides and not isinstance(s.geometry, GROUND)]
    others = np.vstack([others, _boxes([(Transform(), solid)])])
    uneven = any(isinstance(s.geometry, GROUND[1:]) for s in world.fixed.shapes if s.collides)
    for rough in LEVEL:
        for place in _around(centre[:2]):
            ground = [height(*(place + corner)) for corner in soles]
            if max(ground) - min(ground) > rough:
                continue
            at = np.array([*place, max(ground)])
            own = mine + np.tile(at, 2)
            if not _meet(own, others) and not (uneven and _inside(own, height)):
                return at
    raise ModelError(
        f"robot {robot.name!r} has no free and level place to stand within {FARTHEST:g} m of where "
        "it lies; move what is around it, or reset the simulation"
    )


def _around(middle: Array) -> Iterator[Array]:
    """A place, and those in rings around it [m]."""
    yield middle
    for k in range(1, round(FARTHEST / APART) + 1):
        for i in range(DIRECTIONS):
            angle = 2 * pi * i / DIRECTIONS
            yield middle + k * APART * np.array([cos(angle), sin(angle)])


def _meet(a: Array, b: Array) -> bool:
    """Whether a box of a overlaps one of b."""
    low = np.maximum(a[:, None, :3], b[None, :, :3])
    high = np.minimum(a[:, None, 3:], b[None, :, 3:])
    return bool((high - low > TOUCH).all(axis=2).any())


def _inside(own: Array, height: Callable[[float, float], float]) -> bool:
    """Whether the ground reaches into a box, at its corners, edges and middle."""
    for box in own:
        for x in np.linspace(box[0], box[3], 3):
            for y in np.linspace(box[1], box[4], 3):
                if height(x, y) > box[2] + TOUCH:
                    return True
    return False
