"""Margins of a robot to its limits in every step, and where they are smallest.

    torque     1 − |τ|/τ_max(q̇), a part of what the motor can give
    speed      1 − |q̇|/q̇_max
    travel     distance of a joint from the nearer end of its travel [rad or m]
    friction   1 − ‖f_t‖/(μ f_n) of a foot
    pressure   distance of a foot's centre of pressure from the edge of its sole [m]
    fall       height of the base above half of where it started [m]
    collision  gap to what it should not touch [m], among points that are within reach

Motors, friction and edges of soles may be at their limits for a moment when a foot lands or leaves:
their margin counts where it persists for ``HOLD_TIME_S``,

    m(t) = max over [t − HOLD_TIME_S, t] of the margin,   least m = min over t                  (1)
friction of a foot only while it carries a tenth of the weight, and its centre of pressure only
while it carries most of it, the other foot may land on its edge. All others count at once. μ is the
coefficient of sliding, also where a foot sticks by a larger one.

A robot may touch with its feet, and with jaws that grip and the hands that carry them, what does
not belong to it; with other bodies what they touch when the motion begins, as hands on a cart.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabi.model import lookup
from tabi.model.robot import Robot
from tabi.observation.foot_state import FootState
from tabi.simulation.simulator import Simulator
from tabi.step.data import Data

Array = NDArray[np.float64]
# how long a limit may be met when a foot lands [s]; shares of the weight from which the friction of
# a foot counts, and from which the robot stands on it
HOLD_TIME_S, FRICTION_LOAD_SHARE, STANCE_LOAD_SHARE = 0.01, 0.1, 0.6
INFINITY = np.inf
# units, and margins that are nothing: a foot that slides uses all of its friction but for the
# tolerance of the forces
KINDS = {
    "torque": ("of the limit", 1e-3),
    "speed": ("of the limit", 1e-3),
    "travel": ("rad", 1e-5),
    "friction": ("of the limit", 1e-3),
    "pressure": ("m", 1e-4),
    "fall": ("m", 0.0),
    "collision": ("m", 1e-6),
}


@dataclass(frozen=True)
class Margin:
    """The least margin of one kind.

    Attributes:
        name: one of KINDS. margin: in ``unit``; None where nothing came near, or no limit is known.
        at_s: when. where: joint, foot or bodies. within: whether the limit was kept.
    """

    name: str
    unit: str
    margin: float | None
    at_s: float | None
    where: str
    within: bool


class MarginWatch:
    """Record the margins of a robot from now on, in every step.

    Args:
        sim: before the motion. robot: of its world. jaws: joints of those that grip.
        stands: share of the weight from which the centre of pressure of a foot counts.
    """

    def __init__(
        self,
        sim: Simulator,
        robot: Robot,
        jaws: Collection[str] = (),
        stands: float = STANCE_LOAD_SHARE,
    ) -> None:
        self.sim, self.robot, self._stands_from = sim, robot, stands
        dof = sim.model.arrays.dof
        self._rows = lookup.joint_rows(sim.model, robot)
        self._names = lookup.freedoms(robot)
        self._dof = {name: dof[name][self._rows].copy() for name in dof.dtype.names or ()}
        self._q = self._dof["q"].astype(int)
        self._feet = list(robot.feet)
        world, model = sim.world, sim.model
        grips = [body for body in robot.bodies if body.joint.name in jaws]
        hands = [body.parent for body in grips if body.parent is not None]
        touching = (*robot.feet.values(), *grips, *hands)
        self._touching = {lookup.link_of(world, model, thing).body for thing in touching}
        # a base that is fixed is part of the world
        self._bodies = {lookup.link_of(world, model, body).body for body in robot.bodies} - {0}
        mass = model.arrays.body["mass"][list(self._bodies)].sum()
        self._weight = float(mass * np.linalg.norm(model.arrays.gravity))
        self._half = 0.5 * (float(sim.position(robot.base)[2]) - sim.world.ground_height)
        self._floating = robot.base.joint.kind == "floating"
        self.fell: float | None = None
        self.times: list[float] = []
        self._joints: list[tuple[Array, Array, Array]] = []
        self._standing: list[tuple[list[float], list[float]]] = []
        self._heights: list[float] = []
        self._allowed: set[frozenset[int]] | None = None
        self._near: tuple[float, float, str] = (INFINITY, 0.0, "")
        sim.every(1, self._look)

    # ---- in every step ----------------------------------------------------------------------

    def _look(self, data: Data) -> None:
        self.times.append(data.time)
        self._joints.append(self._joint_margins(data))
        feet = [self.sim.foot(self.robot.feet[name]) for name in self._feet]
        self._standing.append(([self._rubs(f) for f in feet], [self._stands(f) for f in feet]))
        height = float(self.sim.position(self.robot.base)[2]) - self.sim.world.ground_height
        self._heights.append(height - self._half if self._floating else INFINITY)
        if self.fell is None and self._heights[-1] < 0:
            self.fell = data.time
        self._touch(data)

    def _rubs(self, foot: FootState) -> float:
        loaded = foot.normal_force >= FRICTION_LOAD_SHARE * self._weight and foot.friction > 0
        return 1.0 - foot.friction_share if loaded else INFINITY

    def _stands(self, foot: FootState) -> float:
        loaded = foot.normal_force > self._stands_from * self._weight
        return foot.margin if loaded and foot.margin is not None else INFINITY

    def _joint_margins(self, data: Data) -> tuple[Array, Array, Array]:
        d, q, v = self._dof, data.q[self._q], data.v[self._rows]
        effort = self.sim.joint_torques(self.robot)
        limit = np.minimum(d["effort_limit"], d["stall_effort"])
        driving = effort * v > 0
        line = np.where(driving, 1.0 - np.abs(v) / d["no_load_speed"], 1.0)
        with np.errstate(invalid="ignore"):
            falling = np.where(np.isfinite(d["stall_effort"]), d["stall_effort"] * line, INFINITY)
        limit = np.maximum(np.minimum(limit, falling), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            torque = np.where(np.isfinite(limit), 1.0 - np.abs(effort) / limit, INFINITY)
            torque = np.where((limit == 0) & (effort == 0), INFINITY, torque)
            top = d["velocity_limit"]
            speed = np.where(np.isfinite(top) & (top > 0), 1.0 - np.abs(v) / top, INFINITY)
        return torque, speed, np.minimum(q - d["lower"], d["upper"] - q)

    def _touch(self, data: Data) -> None:
        """Update the smallest gap between bodies that should not touch [m]."""
        rows, shapes, links = data.contact, data.model.shapes, data.model.links
        gaps: list[tuple[float, frozenset[int], str]] = []
        for a, b, gap in zip(rows["shape_a"], rows["shape_b"], rows["gap"], strict=True):
            ends = [links[shapes[int(k)].link] for k in (a, b)]
            of_robot = [end.body in self._bodies for end in ends]
            may = any(end.body in self._touching for end in ends)
            if not any(of_robot) or (may and not all(of_robot)):
                continue
            pair = frozenset(end.body for end in ends)
            names = [
                e.name if e.body else shapes[int(k)].name for e, k in zip(ends, (a, b), strict=True)
            ]
            gaps.append((float(gap), pair, " and ".join(names)))
        if self._allowed is None:
            self._allowed = {pair for gap, pair, _ in gaps if gap <= KINDS["collision"][1]}
        for gap, pair, names in gaps:
            # the first collision is kept
            if self._near[0] <= KINDS["collision"][1]:
                break
            if pair not in self._allowed and gap < self._near[0]:
                self._near = (gap, data.time, names)

    # ---- afterwards -------------------------------------------------------------------------

    def margins(self) -> Iterator[Margin]:
        """Yield the smallest margin of each kind."""
        if not self.times:
            return
        torque, speed, travel = (np.array(x) for x in zip(*self._joints, strict=True))
        dt = self.sim.dt
        joints, feet = self._names, [f"{name} foot" for name in self._feet]
        yield self._least("torque", hold_filtered(torque, dt), joints)
        yield self._least("speed", speed, joints)
        yield self._least("travel", travel, joints)
        for k, name in enumerate(("friction", "pressure")):
            rows = np.array([row[k] for row in self._standing])
            yield self._least(name, hold_filtered(rows, dt), feet)
        heights = np.array(self._heights)[:, None]
        yield self._least("fall", heights, [self.robot.base.name])
        yield self._nearest()

    def of_joints(self, name: str) -> dict[str, float]:
        """Return the smallest margin of each joint in "torque", "speed" or "travel"; infinite where
        no limit is known.
        """
        if not self._joints:
            return {}
        k = ("torque", "speed", "travel").index(name)
        rows = np.array([row[k] for row in self._joints])
        rows = hold_filtered(rows, self.sim.dt) if name == "torque" else rows
        return dict(zip(self._names, rows.min(axis=0).tolist(), strict=True))

    def _nearest(self) -> Margin:
        (gap, at, names), (unit, nothing) = self._near, KINDS["collision"]
        if not np.isfinite(gap):
            return Margin("collision", unit, None, None, "", True)
        return Margin("collision", unit, gap, round(at, 9), names, gap > nothing)

    def _least(self, name: str, rows: Array, where: Sequence[str]) -> Margin:
        unit, nothing = KINDS[name]
        if rows.size == 0 or not np.isfinite(rows).any():
            return Margin(name, unit, None, None, "", True)
        # where a limit is met, the first time
        met = np.flatnonzero((rows <= nothing).any(axis=1))
        k = int(met[0]) if len(met) else int(np.argmin(rows.min(axis=1)))
        j = int(np.argmin(rows[k]))
        margin, at = float(rows[k, j]), self.times[k]
        if name == "travel" and self.robot.joint(where[j]).kind == "prismatic":
            unit = "m"
        return Margin(name, unit, margin, round(at, 9), where[j], margin > nothing)


def hold_filtered(rows: Array, dt: float, over: float = HOLD_TIME_S) -> Array:
    """Return m(t) of (1): in each column the largest of the last ``over`` seconds, infinite before
    there are so many.
    """
    n = max(1, round(over / dt))
    if rows.shape[1] == 0 or len(rows) < n:
        return np.full(rows.shape, INFINITY)
    window = np.lib.stride_tricks.sliding_window_view(rows, n, axis=0).max(axis=-1)
    return np.concatenate([np.full((n - 1, rows.shape[1]), INFINITY), window])
