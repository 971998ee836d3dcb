"""Standing up of a robot that fell: upright, facing as before, near where it lies.

With R the rotation of its base since the start and u = R z the direction of its head now, the
smallest rotation S of u to the vertical leaves a rotation about the vertical alone,

    S u = z,   S R = R_z(ψ),   ψ: its heading                                                    (1)
so a robot on its face or on its back faces as before it fell. It is placed above its centre of
mass, or at the nearest place around where

    soles: the ground under all their corners is as high within ``LEVEL_TOLERANCES_M``
        (2)
    boxes of its bodies are free of those of all else, and above the ground                      (3)
Boxes have edges along the axes of the world, so that some free places are not found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import atan2, cos, pi, sin

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi._renamed import RenamedAttribute
from tabi.model.body import Body
from tabi.model.ground_height import ground_height
from tabi.model.robot import Robot
from tabi.model.shape import Box, HalfSpace, HeightField, Shape
from tabi.model.world import World
from tabi.spatial.transform import Transform, about, z_to

Array = NDArray[np.float64]
# radius of the search, and distance of its rings [m]; places in a ring
MAX_DISTANCE_M, RING_DISTANCE_M, DIRECTIONS = 3.0, 0.1, 12
# difference of height of the ground under the soles [m]: preferred, and largest
LEVEL_TOLERANCES_M = (5e-3, 0.03)
# overlap of boxes up to which they are free [m]
TOLERANCE_M = 1e-3
GROUND = (HalfSpace, Box, HeightField)


@dataclass(frozen=True)
class StoodUp:
    """Result of standing up a robot.

    Attributes:
        robot: its name. base: its pose now.
        away: horizontal distance of that from where it lay [m].
        displacement: from where it stood at the start to where it stands now.
        released: bodies whose bonds were released.
    """

    robot: str
    base: Transform
    away: float
    displacement: Transform
    released: tuple[str, ...] = ()

    moved = RenamedAttribute("displacement")

    def __str__(self) -> str:
        x, y, _ = self.base.p + 0.0
        far = f"{self.away:.2f} m from where it lay" if self.away > 0.005 else "where it lay"
        released = f"; it let go of {' and '.join(self.released)}" if self.released else ""
        return f"{self.robot} stands again at x {x:.2f} m, y {y:.2f} m, {far}{released}"


def stand(
    world: World,
    robot: Robot,
    start: Mapping[Body, Transform],
    now: Mapping[Body, Transform],
    centre: Array,
) -> StoodUp:
    """Compute where a robot stands again.

    Args:
        start: poses of its bodies as it stood at the start.
        now: poses of all moving bodies.
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
    heading_turn = about((0, 0, 1), heading(now[robot.base].R @ standing[robot.base].R.T))
    standing = {body: heading_turn @ X for body, X in standing.items()}
    soles = _soles(robot, standing)
    middle = np.append(0.5 * (soles[:, :2].min(axis=0) + soles[:, :2].max(axis=0)), 0.0)
    lowest = soles[:, 2].min()
    robot_boxes = boxes(standing) - np.tile([*middle[:2], lowest], 2)
    place = _free_place(world, robot, soles[:, :2] - middle[:2], robot_boxes, now, centre)
    X = Transform(np.eye(3), place - middle - [0.0, 0.0, lowest])
    base = X @ standing[robot.base]
    away = float(np.hypot(*(place - centre)[:2]))
    return StoodUp(robot.name, base, away, X @ heading_turn @ level)


def heading(R: Array) -> float:
    """Return ψ of (1) [rad]."""
    left = z_to(R[:, 2]).T @ R
    return atan2(left[1, 0], left[0, 0])


def boxes(placements: Mapping[Body, Transform]) -> Array:
    """Return least and largest x, y, z of the collision shapes of bodies [m], shape (n, 6)."""
    return _boxes((X, body.collision_shapes()) for body, X in placements.items())


def _boxes(posed_shapes: Iterable[tuple[Transform, list[Shape]]]) -> Array:
    rows = []
    for X, shapes in posed_shapes:
        for shape in shapes:
            high = [shape.support(X.R.T @ d) for d in np.eye(3)]
            low = [-shape.support(-(X.R.T @ d)) for d in np.eye(3)]
            rows.append(np.concatenate([X.p + low, X.p + high]))
    return np.array(rows).reshape(-1, 6)


def _soles(robot: Robot, X: Mapping[Body, Transform]) -> Array:
    """Return the corners of all feet in the world [m], or of the box around a robot without any."""
    if robot.feet:
        return np.vstack([X[foot.body] @ foot.corners() for foot in robot.feet.values()])
    around = boxes(X)
    (x, y, z), (far, wide, _) = around[:, :3].min(axis=0), around[:, 3:].max(axis=0)
    return np.array([(x, y, z), (far, y, z), (far, wide, z), (x, wide, z)])


def _free_place(
    world: World,
    robot: Robot,
    soles: Array,
    robot_boxes: Array,
    now: Mapping[Body, Transform],
    centre: Array,
) -> Array:
    """Return the nearest place for the middle of the soles by (2) and (3) [m], shape (3,)."""
    height = ground_height(world)
    obstacles = boxes({body: X for body, X in now.items() if body not in robot.bodies})
    solid = [s for s in world.fixed.shapes if s.collides and not isinstance(s.geometry, GROUND)]
    obstacles = np.vstack([obstacles, _boxes([(Transform(), solid)])])
    uneven = any(isinstance(s.geometry, GROUND[1:]) for s in world.fixed.shapes if s.collides)
    for rough in LEVEL_TOLERANCES_M:
        for place in _places_around(centre[:2]):
            ground = [height(*(place + corner)) for corner in soles]
            if max(ground) - min(ground) > rough:
                continue
            at = np.array([*place, max(ground)])
            here = robot_boxes + np.tile(at, 2)
            if not _overlap(here, obstacles) and not (
                uneven and _ground_reaches_into(here, height)
            ):
                return at
    raise ModelError(
        f"robot {robot.name!r} has no free and level place to stand within {MAX_DISTANCE_M:g} m of "
        "where it lies; move what is around it, or reset the simulation"
    )


def _places_around(middle: Array) -> Iterator[Array]:
    """Yield a place, and those in rings around it [m]."""
    yield middle
    for k in range(1, round(MAX_DISTANCE_M / RING_DISTANCE_M) + 1):
        for i in range(DIRECTIONS):
            angle = 2 * pi * i / DIRECTIONS
            yield middle + k * RING_DISTANCE_M * np.array([cos(angle), sin(angle)])


def _overlap(a: Array, b: Array) -> bool:
    """Whether a box of a overlaps one of b."""
    low = np.maximum(a[:, None, :3], b[None, :, :3])
    high = np.minimum(a[:, None, 3:], b[None, :, 3:])
    return bool((high - low > TOLERANCE_M).all(axis=2).any())


def _ground_reaches_into(robot_boxes: Array, height: Callable[[float, float], float]) -> bool:
    """Whether the ground reaches into a box, at its corners, edges or middle."""
    for box in robot_boxes:
        for x in np.linspace(box[0], box[3], 3):
            for y in np.linspace(box[1], box[4], 3):
                if height(x, y) > box[2] + TOLERANCE_M:
                    return True
    return False
