"""Footsteps in time: where each sole is and where the zero moment point should be, tick by tick.

A step is a double support, in which the zero moment point goes from one sole to the other in a
straight line, and a single support, in which it rests under the foot that stands and the other one
swings. With s from 0 to 1 along the swing and the quintic

    b(s) = s³ (10 − 15 s + 6 s²)                                                                (1)
which begins and ends at rest, a foot moves and turns from where it stood to where it lands by
b of the middle part of the swing, and rises above the higher of both places by the lift: up in the
share of the swing that the way up has of the whole way up and down. On its way up stairs it goes
ahead later, and on its way down it is above its place earlier: what is under its toes and heels is
an edge. A landing speed v is reached at the end of the way down.

The ground under the centre of mass is that of the lower of both feet at the end of a step: a robot
that climbs stretches the leg that stands above, one that goes down bends it first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi.spatial.transform import Transform, cross_matrix
from tabi.walking.plan.footsteps import SIDES, Footstep, other
from tabi.walking.plan.gait import Gait

Array = NDArray[np.float64]
BOTH, LEFT, RIGHT = 0, 1, 2
STANDS = {"left": LEFT, "right": RIGHT}
# of a swing: level motion begins and ends here; and waits for so much of the way up, or ends so
# much before the way down, of stairs
LEVEL, EDGE = (0.05, 0.9), 0.5
# least and largest share of a swing on the way up
TOP = (0.4, 0.6)


@dataclass(frozen=True, eq=False)
class Schedule:
    """A walk tick by tick, n of them.

    Attributes:
        zmp: reference, on the ground [m], shape (n, 3).
        position, rotation: of the soles, left and right, shapes (n, 2, 3) and (n, 2, 3, 3).
        ground: height under the centre of mass [m], shape (n,).
        support: BOTH, or the foot that stands alone, LEFT or RIGHT, shape (n,).
        lift, land: of each step, the first tick of its swing and the one after its last.
    """

    zmp: Array
    position: Array
    rotation: Array
    ground: Array
    support: NDArray[np.int64]
    lift: tuple[int, ...]
    land: tuple[int, ...]

    @property
    def yaw(self) -> Array:
        """Direction of each sole, without jumps [rad], shape (n, 2)."""
        R = self.rotation
        return np.unwrap(np.arctan2(R[:, :, 1, 0], R[:, :, 0, 0]), axis=0)


class _Writer:
    """Ticks so far."""

    def __init__(self, stance: Mapping[str, Transform], gait: Gait, zmp: Array, ground: float):
        self.gait, self.feet, self.zmp, self.ground = gait, dict(stance), zmp, ground
        self.rows: list[tuple[NDArray[Any], ...]] = []
        self.count = 0

    def add(
        self,
        duration: float,
        zmp: Array,
        ground: float,
        support: int = BOTH,
        swing: Footstep | None = None,
    ) -> None:
        """A phase in which the zero moment point goes to ``zmp``."""
        n = max(1, round(duration / self.gait.tick))
        s = np.arange(1, n + 1) / n
        position, rotation = np.empty((n, 2, 3)), np.empty((n, 2, 3, 3))
        for i, side in enumerate(SIDES):
            position[:, i], rotation[:, i] = self.feet[side].p, self.feet[side].R
            if swing is not None and swing.foot == side:
                way = swing_path(self.feet[side], swing.pose, s, n * self.gait.tick, self.gait)
                position[:, i], rotation[:, i] = way
        self.rows.append(
            (
                self.zmp + s[:, None] * (zmp - self.zmp),
                position,
                rotation,
                self.ground + quintic(s) * (ground - self.ground),
                np.full(n, support, np.int64),
            )
        )
        self.zmp, self.ground, self.count = zmp, ground, self.count + n
        if swing is not None:
            self.feet[swing.foot] = swing.pose


def schedule(
    steps: Sequence[Footstep], stance: Mapping[str, Transform], gait: Gait, centre: ArrayLike
) -> Schedule:
    """The ticks of a walk that begins with both feet on the ground; without steps the robot stands.

    Args:
        centre: of mass as it stands [m], above which the zero moment point begins.
    """
    low = min(X.p[2] for X in stance.values())
    start = np.array([*np.asarray(centre, float)[:2], low])
    write, lift, land = _Writer(stance, gait, start, low), [], []
    # one that takes no steps stands as it is
    write.add(gait.rest, _middle(write.feet, gait) if steps else start, low)
    for number, step in enumerate(steps):
        stands = other(step.foot)
        there = under(write.feet[stands], stands, gait)
        lower = min(write.feet[stands].p[2], step.pose.p[2])
        write.add(gait.double_support if number else gait.shift, there, write.ground)
        lift.append(write.count)
        write.add(gait.swing_time, there, lower, STANDS[stands], step)
        land.append(write.count)
    end = _middle(write.feet, gait) if steps else start
    write.add(gait.shift, end, min(X.p[2] for X in write.feet.values()))
    write.add(gait.rest, end, write.ground)
    columns = (np.concatenate(column) for column in zip(*write.rows, strict=True))
    return Schedule(*columns, tuple(lift), tuple(land))  # type: ignore[arg-type]


def under(sole: Transform, foot: str, gait: Gait) -> Array:
    """Where the zero moment point is to be under a sole that stands alone [m]."""
    ahead, outwards = gait.zmp
    return sole @ np.array([ahead, outwards if foot == "left" else -outwards, 0.0])


def _middle(feet: Mapping[str, Transform], gait: Gait) -> Array:
    return 0.5 * sum((under(feet[side], side, gait) for side in SIDES), np.zeros(3))


def quintic(s: ArrayLike) -> Array:
    """b of (1), 0 before and 1 after."""
    x = np.clip(s, 0.0, 1.0)
    return x**3 * (10.0 - 15.0 * x + 6.0 * x * x)


def way_along(s: ArrayLike) -> Array:
    """How much of a level way over the ground a foot has made at s of its swing."""
    return quintic((np.asarray(s) - LEVEL[0]) / (LEVEL[1] - LEVEL[0]))


def swing_path(
    start: Transform, end: Transform, s: Array, duration: float, gait: Gait
) -> tuple[Array, Array]:
    """Positions, shape (n, 3), and rotations, shape (n, 3, 3), of a sole that swings within
    ``duration`` [s].
    """
    begin, finish = start.p[2], end.p[2]
    top = max(begin, finish) + gait.lift
    turns = float(np.clip((top - begin) / (2 * top - begin - finish), *TOP))
    # a rise of nothing has no edge
    edge = EDGE * (finish - begin) / (abs(finish - begin) + gait.lift)
    first, last = LEVEL[0] + max(0.0, edge) * turns, LEVEL[1] + min(0.0, edge) * (1.0 - turns)
    along = quintic((s - first) / (last - first))
    p = start.p + along[:, None] * (end.p - start.p)
    up = begin + quintic(s / turns) * (top - begin)
    left = (1.0 - turns) * duration
    down = _way_down((s - turns) / (1.0 - turns), top, finish, left, gait.landing_speed)
    p[:, 2] = np.where(s < turns, up, down)
    phi = rotation_vector(start.R.T @ end.R)
    return p, np.array([start.R @ turned(a * phi) for a in along])


def _way_down(s: Array, top: float, end: float, duration: float, speed: float) -> Array:
    """Heights from the top, s = 0, to the end, s = 1, within ``duration`` [s]."""
    if speed == 0.0:
        return end + quintic(1.0 - s) * (top - end)
    # a cubic from rest at the top to the speed at the end
    drop, fast = top - end, speed * duration
    return top - (3.0 * drop - fast) * s**2 - (fast - 2.0 * drop) * s**3


def rotation_vector(R: Array) -> Array:
    """Axis times angle of a rotation by less than half a turn [rad]."""
    e = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine, cosine = float(np.linalg.norm(e)), 0.5 * (np.trace(R) - 1.0)
    return e if sine < 1e-9 else e * (np.arctan2(sine, cosine) / sine)


def turned(phi: Array) -> Array:
    """Rotation by |phi| [rad] about phi, after Rodrigues."""
    angle = float(np.linalg.norm(phi))
    if angle < 1e-12:
        return np.eye(3)
    K = cross_matrix(phi / angle)
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K
