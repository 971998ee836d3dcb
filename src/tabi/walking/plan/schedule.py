"""Footsteps over time: pose of each sole and reference of the zero moment point, tick by tick.

A step is a double support, in which the zero moment point moves from one sole to the other in a
straight line, and a single support, in which it rests under the stance foot while the other foot
swings. With s from 0 to 1 along the swing and the quintic

    b(s) = s³ (10 − 15 s + 6 s²)                                                                (1)
which begins and ends at rest, a foot translates and rotates from lift-off to landing by b of the
middle part of the swing, and rises above the higher of both poses by the lift: the ascent takes its
share of the whole ascent and descent. Up stairs the foot moves ahead later, and down stairs it is
above its landing earlier, to clear the edge under toes and heels. A landing speed v is reached at
the end of the descent.

The ground under the centre of mass is that of the lower of both feet at the end of a step: a robot
that climbs stretches its upper leg, one that descends bends it first.
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
# shares of a swing: start and end of the level motion; on stairs it starts later by this share of
# the ascent, or ends earlier by this share of the descent
LEVEL, EDGE_SHARE = (0.05, 0.9), 0.5
# minimum and maximum share of a swing for the ascent
TOP = (0.4, 0.6)


@dataclass(frozen=True, eq=False)
class Schedule:
    """A walk as n ticks of soles, support and zero moment point.

    Attributes:
        zmp: reference, on the ground [m], shape (n, 3).
        position, rotation: of the soles, left and right, shapes (n, 2, 3) and (n, 2, 3, 3).
        ground: height under the centre of mass [m], shape (n,).
        support: BOTH, or the stance foot of a single support, LEFT or RIGHT, shape (n,).
        lift, land: of each step, the first tick of its swing and the one after its last.

    Example: ``pattern.schedule`` in docs/walking.md
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
        """Yaw of each sole, without jumps [rad], shape (n, 2)."""
        R = self.rotation
        return np.unwrap(np.arctan2(R[:, :, 1, 0], R[:, :, 0, 0]), axis=0)


class _Builder:
    """Builder of a schedule, phase by phase."""

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
        """Add a phase in which the zero moment point moves to ``zmp``."""
        n = max(1, round(duration / self.gait.tick))
        s = np.arange(1, n + 1) / n
        position, rotation = np.empty((n, 2, 3)), np.empty((n, 2, 3, 3))
        for i, side in enumerate(SIDES):
            position[:, i], rotation[:, i] = self.feet[side].p, self.feet[side].R
            if swing is not None and swing.foot == side:
                path = swing_path(self.feet[side], swing.pose, s, n * self.gait.tick, self.gait)
                position[:, i], rotation[:, i] = path
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
    """Compute the ticks of a walk that begins with both feet on the ground; without steps the robot
    stands.

    Args:
        centre: of mass as it stands [m], above which the zero moment point begins.
    """
    low = min(X.p[2] for X in stance.values())
    start = np.array([*np.asarray(centre, float)[:2], low])
    builder, lift, land = _Builder(stance, gait, start, low), [], []
    # without steps the robot stands as it is
    builder.add(gait.rest, _middle(builder.feet, gait) if steps else start, low)
    for number, step in enumerate(steps):
        stands = other(step.foot)
        there = under(builder.feet[stands], stands, gait)
        lower = min(builder.feet[stands].p[2], step.pose.p[2])
        builder.add(gait.double_support if number else gait.shift, there, builder.ground)
        lift.append(builder.count)
        builder.add(gait.swing_time, there, lower, STANDS[stands], step)
        land.append(builder.count)
    end = _middle(builder.feet, gait) if steps else start
    builder.add(gait.shift, end, min(X.p[2] for X in builder.feet.values()))
    builder.add(gait.rest, end, builder.ground)
    columns = (np.concatenate(column) for column in zip(*builder.rows, strict=True))
    return Schedule(*columns, tuple(lift), tuple(land))


def under(sole: Transform, foot: str, gait: Gait) -> Array:
    """Return the reference of the zero moment point under a sole in single support [m]."""
    ahead, outwards = gait.zmp
    return sole @ np.array([ahead, outwards if foot == "left" else -outwards, 0.0])


def _middle(feet: Mapping[str, Transform], gait: Gait) -> Array:
    return 0.5 * sum((under(feet[side], side, gait) for side in SIDES), np.zeros(3))


def quintic(s: ArrayLike) -> Array:
    """Return b of (1), 0 before and 1 after."""
    x = np.clip(s, 0.0, 1.0)
    return x**3 * (10.0 - 15.0 * x + 6.0 * x * x)


def level_progress(s: ArrayLike) -> Array:
    """Return the progress over the ground of a foot at s of its swing, 0 to 1."""
    return quintic((np.asarray(s) - LEVEL[0]) / (LEVEL[1] - LEVEL[0]))


def swing_path(
    start: Transform, end: Transform, s: Array, duration: float, gait: Gait
) -> tuple[Array, Array]:
    """Return positions, shape (n, 3), and rotations, shape (n, 3, 3), of a sole that swings within
    ``duration`` [s].
    """
    begin, finish = start.p[2], end.p[2]
    top = max(begin, finish) + gait.lift
    ascent = float(np.clip((top - begin) / (2 * top - begin - finish), *TOP))
    # without a height difference there is no edge
    edge = EDGE_SHARE * (finish - begin) / (abs(finish - begin) + gait.lift)
    first, last = LEVEL[0] + max(0.0, edge) * ascent, LEVEL[1] + min(0.0, edge) * (1.0 - ascent)
    along = quintic((s - first) / (last - first))
    p = start.p + along[:, None] * (end.p - start.p)
    up = begin + quintic(s / ascent) * (top - begin)
    left = (1.0 - ascent) * duration
    down = _descent((s - ascent) / (1.0 - ascent), top, finish, left, gait.landing_speed)
    p[:, 2] = np.where(s < ascent, up, down)
    phi = rotation_vector(start.R.T @ end.R)
    return p, np.array([start.R @ rotation_matrix(a * phi) for a in along])


def _descent(s: Array, top: float, end: float, duration: float, speed: float) -> Array:
    """Return heights from the top, s = 0, to the end, s = 1, within ``duration`` [s]."""
    if speed == 0.0:
        return end + quintic(1.0 - s) * (top - end)
    # a cubic from rest at the top to the speed at the end
    drop, fast = top - end, speed * duration
    return top - (3.0 * drop - fast) * s**2 - (fast - 2.0 * drop) * s**3


def rotation_vector(R: Array) -> Array:
    """Return axis times angle of a rotation by less than half a turn [rad]."""
    e = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine, cosine = float(np.linalg.norm(e)), 0.5 * (np.trace(R) - 1.0)
    return e if sine < 1e-9 else e * (np.arctan2(sine, cosine) / sine)


def rotation_matrix(phi: Array) -> Array:
    """Return the rotation by |phi| [rad] about phi, after Rodrigues."""
    angle = float(np.linalg.norm(phi))
    if angle < 1e-12:
        return np.eye(3)
    K = cross_matrix(phi / angle)
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K
