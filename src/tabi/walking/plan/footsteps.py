"""Footstep plans: straight, sideways, turning, in arcs, on stairs and stepping stones.

A plan displaces the frame between the feet, C, by the same D in each step, and the swing foot lands
beside it, as it stands beside C now:

    C ← C D,   X_foot = C X_C,foot                                                             (1)
The last step brings the feet together: it does not move C. The first foot is the one on the side to
which the robot walks or turns, otherwise the left one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import atan2, pi

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import ModelError, unknown
from tabi.spatial.transform import Transform, about, translation, z_to

Array = NDArray[np.float64]
SIDES = ("left", "right")


@dataclass(frozen=True, eq=False)
class Footstep:
    """A foot and the pose of its sole at landing, in the world.

    Examples:
        >>> step = tabi.walking.walk(tabi.walking.Biped(robot).stance, 2, length=0.2)[0]
        >>> step.foot
        'left'
    """

    foot: str
    pose: Transform

    def __post_init__(self) -> None:
        if self.foot not in SIDES:
            raise unknown("foot", str(self.foot), "a footstep", SIDES)
        if not np.isfinite([*self.pose.p, *self.pose.R.ravel()]).all():
            raise ModelError(
                f"the {self.foot} foot's landing is {self.pose}; expected finite numbers"
            )

    @property
    def yaw(self) -> float:
        """Direction of the foot, seen from above [rad]."""
        return atan2(self.pose.R[1, 0], self.pose.R[0, 0])

    def __repr__(self) -> str:
        x, y, z = self.pose.p
        return f"Footstep({self.foot} at {x:.3f}, {y:.3f}, {z:.3f} m, {np.degrees(self.yaw):.1f}°)"


def other(foot: str) -> str:
    """Return the foot on the other side."""
    return "right" if foot == "left" else "left"


def centre(stance: Mapping[str, Transform]) -> Transform:
    """Return the level frame between two feet, with their mean direction."""
    a, b = (stance[side] for side in SIDES)
    ahead = a.R[:, 0] / np.hypot(*a.R[:2, 0]) + b.R[:, 0] / np.hypot(*b.R[:2, 0])
    return translation(0.5 * (a.p + b.p)) @ about((0, 0, 1), atan2(ahead[1], ahead[0]))


def walk(
    stance: Mapping[str, Transform],
    count: int,
    length: float = 0.0,
    sideways: float = 0.0,
    turn: float = 0.0,
    rise: float = 0.0,
    first: str | None = None,
) -> list[Footstep]:
    """Plan ``count`` steps by the same displacement, the last of which brings the feet together.

    Args:
        stance: poses of the soles "left" and "right" now.
        length, sideways: displacement of the centre in each step, forwards and to the left [m];
            negative: backwards and to the right.
        turn: to the left [rad]. rise: upwards, as on stairs [m].
        first: foot of the first step.

    Examples:
        >>> steps = tabi.walking.walk(tabi.walking.Biped(robot).stance, 4, length=0.2)
        >>> [step.foot for step in steps]
        ['left', 'right', 'left', 'right']
    """
    _check_stance(stance)
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise ModelError(f"count of steps is {count!r}; expected a whole number ≥ 1")
    for name, value in {"length": length, "sideways": sideways, "turn": turn, "rise": rise}.items():
        if not np.isfinite(value):
            raise ModelError(f"{name} of a step is {value}; expected a finite number")
    to_the_right = sideways < 0 or (sideways == 0 and turn < 0)
    foot = first or ("right" if to_the_right else "left")
    if foot not in SIDES:
        raise unknown("foot", str(foot), "a walk", SIDES)
    C = centre(stance)
    beside = {side: C.inverse() @ stance[side] for side in SIDES}
    D = translation((length, sideways, rise)) @ about((0, 0, 1), turn)
    steps = []
    for k in range(count):
        if k < count - 1:
            C = C @ D
        steps.append(Footstep(foot, C @ beside[foot]))
        foot = other(foot)
    return steps


def stairs(
    stance: Mapping[str, Transform],
    treads: int,
    rise: float,
    depth: float,
    first: str = "left",
) -> list[Footstep]:
    """Plan steps up or down stairs, both feet on each tread before the next: one foot leads, the
    other joins.

    Args:
        treads: their number. rise: of each, negative downwards [m]. depth: from tread to tread [m].
        first: leading foot.

    Examples:
        >>> steps = tabi.walking.stairs(tabi.walking.Biped(robot).stance, 3, rise=0.05, depth=0.3)
    """
    _check_stance(stance)
    if isinstance(treads, bool) or not isinstance(treads, int | np.integer) or treads < 1:
        raise ModelError(f"count of treads is {treads!r}; expected a whole number ≥ 1")
    if not (np.isfinite(rise) and 0 < depth < np.inf):
        raise ModelError(
            f"stairs have a rise of {rise} m and a depth of {depth} m; expected a number and a "
            "positive one"
        )
    if first not in SIDES:
        raise unknown("foot", str(first), "stairs", SIDES)
    C = centre(stance)
    beside = {side: C.inverse() @ stance[side] for side in SIDES}
    steps = []
    for _ in range(treads):
        C = C @ translation((depth, 0.0, rise))
        steps += [Footstep(foot, C @ beside[foot]) for foot in (first, other(first))]
    return steps


def arc(
    stance: Mapping[str, Transform],
    radius: float,
    angle: float,
    length: float = 0.2,
    first: str | None = None,
) -> list[Footstep]:
    """Plan steps along a circle.

    Args:
        radius: of the circle of the centre [m]; angle: along it, to the left [rad].
        length: maximum length of a step along it [m].
        first: foot of the first step; default: the inner one.

    Examples:
        >>> steps = tabi.walking.arc(tabi.walking.Biped(robot).stance, radius=1.5, angle=0.8)
    """
    if not (np.isfinite(radius) and radius > 0 and np.isfinite(angle) and angle != 0):
        raise ModelError(
            f"arc has radius {radius} m and angle {angle} rad; expected a positive radius and an "
            "angle that is not 0"
        )
    if not length > 0:
        raise ModelError(f"length of a step is {length} m; expected a positive number")
    count = max(1, int(np.ceil(abs(angle) * radius / length - 1e-9)))
    turn = angle / count
    # the chord of a step, in the frame of its start
    ahead, aside = radius * np.sin(abs(turn)), radius * (1 - np.cos(turn)) * np.sign(turn)
    first = first or ("left" if turn > 0 else "right")
    return walk(stance, count + 1, ahead, float(aside), turn, first=first)


def stones(
    places: Iterable[tuple[str, ArrayLike]],
) -> list[Footstep]:
    """Return footsteps at specified landings: (foot, (x, y, yaw)) or (foot, (x, y, z, yaw)) [m,
    rad].

    Examples:
        >>> steps = tabi.walking.stones([("left", (0.2, 0.1, 0.0)), ("right", (0.2, -0.1, 0.0))])
    """
    steps = []
    for number, (foot, place) in enumerate(places, 1):
        x = np.asarray(place, float)
        if x.shape not in ((3,), (4,)):
            raise ModelError(
                f"stone {number} is {place!r}; expected x, y, yaw or x, y, z, yaw of the sole"
            )
        height = x[2] if len(x) == 4 else 0.0
        pose = translation((x[0], x[1], height)) @ about((0, 0, 1), float(x[-1]))
        steps.append(Footstep(foot, pose))
    return steps


def on_ground(
    steps: Iterable[Footstep], height: Callable[[float, float], float], outline: ArrayLike
) -> list[Footstep]:
    """Place steps on uneven ground: each sole on the plane that fits the ground under its corners,
    none of which is below it.

    Args:
        height: of the ground at x, y of the world [m].
        outline: corners of the sole in its plane [m], shape (n, 2).

    Examples:
        >>> biped = tabi.walking.Biped(robot)
        >>> steps = tabi.walking.walk(biped.stance, 4, length=0.2)
        >>> steps = tabi.walking.on_ground(steps, lambda x, y: 0.01, biped.outline["left"])
    """
    corners, raised = np.asarray(outline, float), []
    for step in steps:
        level = translation((*step.pose.p[:2], 0.0)) @ about((0, 0, 1), step.yaw)
        at = level @ np.column_stack([corners, np.zeros(len(corners))])
        z = np.array([height(float(x), float(y)) for x, y in at[:, :2]])
        # z = a + b x + c y about the sole's position
        rows = np.column_stack([np.ones(len(at)), at[:, :2] - step.pose.p[:2]])
        (a, b, c), *_ = np.linalg.lstsq(rows, z, rcond=None)
        a += max(0.0, float((z - rows @ (a, b, c)).max()))
        # the smallest rotation that takes the level onto the slope
        tilt = z_to((-b, -c, 1.0))
        raised.append(Footstep(step.foot, Transform(tilt @ level.R, np.array([*level.p[:2], a]))))
    return raised


def check(
    steps: Sequence[Footstep],
    stance: Mapping[str, Transform],
    outline: Mapping[str, ArrayLike],
    reach: float,
    climb: float = np.inf,
) -> None:
    """Reject a plan that cannot be walked, before the first step.

    Args:
        outline: corners of each sole [m], shape (n, 2).
        reach: maximum distance from one foot to the next along the ground [m]. climb: maximum
            height difference [m].
    """
    _check_stance(stance)
    feet = dict(stance)
    for number, step in enumerate(steps, 1):
        what = f"step {number}, {step.foot} foot,"
        if number > 1 and steps[number - 2].foot == step.foot:
            raise ModelError(f"{what} comes after one of the same foot; feet take turns")
        stands = feet[other(step.foot)]
        away, up = step.pose.p - stands.p, step.pose.p[2] - stands.p[2]
        if np.hypot(*away[:2]) > reach:
            raise ModelError(
                f"{what} is {np.hypot(*away[:2]):.3f} m from the other foot, out of reach; "
                f"expected at most {reach:.3f} m"
            )
        if abs(up) > climb:
            raise ModelError(
                f"{what} is {up:+.3f} m above the other foot; expected at most {climb:.3f} m"
            )
        here = _from_above(step.pose, outline[step.foot])
        there = _from_above(stands, outline[other(step.foot)])
        if overlap(here, there) > 0:
            raise ModelError(
                f"{what} lands {1e3 * overlap(here, there):.0f} mm into the other foot; step wider"
            )
        rotation = (step.yaw - atan2(stands.R[1, 0], stands.R[0, 0]) + pi) % (2 * pi) - pi
        if abs(rotation) > pi / 2:
            raise ModelError(
                f"{what} is turned by {np.degrees(rotation):.0f}° against the other foot; expected "
                "at most 90°"
            )
        feet[step.foot] = step.pose


def overlap(a: Array, b: Array) -> float:
    """Return the overlap depth of two convex polygons, shape (n, 2) [m]; negative: the gap along
    the edges' normals, where a line separates them.
    """
    depth = np.inf
    for polygon in (a, b):
        edges = np.roll(polygon, -1, axis=0) - polygon
        normals = np.column_stack([edges[:, 1], -edges[:, 0]])
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        first, second = a @ normals.T, b @ normals.T
        low = np.minimum(first.max(0), second.max(0)) - np.maximum(first.min(0), second.min(0))
        depth = min(depth, float(low.min()))
    return depth


def _from_above(pose: Transform, outline: ArrayLike) -> Array:
    """Return the corners of a sole, x and y in the world [m]."""
    corners = np.asarray(outline, float)
    return (pose @ np.column_stack([corners, np.zeros(len(corners))]))[:, :2]


def _check_stance(stance: Mapping[str, Transform]) -> None:
    missing = [side for side in SIDES if side not in stance]
    if missing:
        raise ModelError(
            f"stance has {', '.join(stance) or 'no feet'}; expected the feet 'left' and 'right'"
        )
