"""Measures of a walk: where the feet land, against where they should.

A step is measured at the end of the double support that follows it, tick k. With X_s and X_o the
poses of the foot that landed and of the other one, and X* those of the plan,

    landing error = X_o⁻¹ X_s against X*_o⁻¹ X*_s                                               (1)
so that an error is not counted again in the steps after it. What accumulates counts at the end:
the place between the feet against the planned one. Slip is how far a foot that stands alone goes.

A step has landed if the foot is within LANDED_WITHIN_M of where it should be from the other foot,
as that stood when the step began: a robot that marches on the spot, or slides back under its steps,
has not made them. A walk is finished when all of its steps have landed, and the robot was neither
stopped nor fell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tabi.model.controllers.controller import nested
from tabi.model.controllers.signals import ControlLaw
from tabi.simulation.simulator import Simulator
from tabi.step.data import Data
from tabi.walking.gait_controller import GaitController
from tabi.walking.plan.footsteps import SIDES, other
from tabi.walking.plan.pattern import WalkingPattern
from tabi.walking.plan.schedule import Schedule
from tabi.walking.walker import Walker

Array = NDArray[np.float64]
Kind = TypeVar("Kind", bound=GaitController)
# a foot that lands farther from its plan has not made the step [m]
LANDED_WITHIN_M = 0.05
# ticks after a foot has lifted in which the other one takes the weight
TAKES_OVER = 2


@dataclass(frozen=True)
class WalkMeasures:
    """A walk against its plan.

    Attributes:
        planned, landed: steps. finished: whether all have landed, and the robot stands.
        stopped: why the walk ended without that; None where it did not, or goes on.
        landing_m, landing_deg: worst of (1), along the ground and about the vertical.
        slip_m: of a foot that stands alone, worst.
        end_m, end_deg: of the place between the feet, where it is now: x, y, z and heading.
    """

    planned: int
    landed: int
    finished: bool
    stopped: str | None
    landing_m: float
    landing_deg: float
    slip_m: float
    end_m: tuple[float, float, float]
    end_deg: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return asdict(self) | {"end_m": list(self.end_m)}


def measured(
    pattern: WalkingPattern,
    position: Array,
    rotation: Array,
    until: float = np.inf,
    given_up: str = "",
) -> WalkMeasures:
    """Compare feet with their plan.

    Args:
        position, rotation: of the soles, left and right, tick by tick from the start,
            shapes (n, 2, 3) and (n, 2, 3, 3).
        until: when the walk was stopped, or the robot fell [s after the start].
        given_up: why, where it was.
    """
    plan, gait = pattern.schedule, pattern.gait
    last = min(len(position), pattern.count, int(min(until / gait.tick, 1e9))) - 1
    after = round(gait.double_support / gait.tick) - 1
    yaw = np.arctan2(rotation[..., 1, 0], rotation[..., 0, 0])
    off, yaw_errors, slip, landed, ended = [], [], [], 0, last >= pattern.count - 1
    for step, lift, land in zip(pattern.steps, plan.lift, plan.land, strict=True):
        k, s, o = land + after, SIDES.index(step.foot), SIDES.index(other(step.foot))
        if k > last:
            break
        there = _beside(position[k], yaw[k], s, o) - _beside(plan.position[k], plan.yaw[k], s, o)
        off.append(float(np.hypot(*there[:2])))
        yaw_errors.append(abs(_wrapped(there[3])))
        stood = position[land - 1, o] - position[lift + TAKES_OVER, o]
        slip.append(float(np.hypot(*stood[:2])))
        landed += _step_error(plan, position, yaw, (s, o), (lift, k)) <= LANDED_WITHIN_M
    k = max(last, 0)
    end = (position[k] - plan.position[k]).mean(axis=0)
    heading = float(np.mean([_wrapped(yaw[k, i] - plan.yaw[k, i]) for i in range(2)]))
    return WalkMeasures(
        planned=len(pattern.steps),
        landed=landed,
        finished=ended and landed == len(pattern.steps) and not given_up,
        stopped=given_up or (_missed(len(pattern.steps), landed) if ended else None),
        landing_m=max(off, default=0.0),
        landing_deg=float(np.degrees(max(yaw_errors, default=0.0))),
        slip_m=max(slip, default=0.0),
        end_m=(float(end[0]), float(end[1]), float(end[2])),
        end_deg=float(np.degrees(heading)),
    )


def in_sole_axes(pattern: WalkingPattern, rotation: Array) -> Array:
    """Rotations of the soles, x ahead, from those of the robot's feet, whose axes may be others.

    Args:
        rotation: of the frames of left and right foot, from the start of the walk, where it stands
            as its pattern begins, shape (n, 2, 3, 3).
    """
    stance = np.array([pattern.biped.stance[side].R for side in SIDES])
    return rotation @ (np.swapaxes(rotation[0], -1, -2) @ stance)


def _missed(planned: int, landed: int) -> str | None:
    """Why a walk that went to its end has not made all of its steps."""
    if landed == planned:
        return None
    return (
        f"{planned - landed} of its {planned} steps landed more than "
        f"{1e3 * LANDED_WITHIN_M:g} mm from their plan"
    )


def _step_error(
    plan: Schedule, position: Array, yaw: Array, feet: tuple[int, int], ticks: tuple[int, int]
) -> float:
    """Return the error of a landing relative to the other foot, as at the start of the step
    [m].

    Args:
        feet: that which steps, the other one. ticks: the lift, and when the step is judged.
    """
    (s, o), (lift, k) = feet, ticks
    there = []
    for place, turn in ((position, yaw), (plan.position, plan.yaw)):
        both = np.empty((2, 3))
        both[s], both[o] = place[k, s], place[lift, o]
        there.append(_beside(both, turn[lift], s, o)[:3])
    return float(np.linalg.norm(there[0] - there[1]))


def _beside(position: Array, yaw: Array, s: int, o: int) -> Array:
    """Place and direction of foot s from foot o: x, y, z, yaw."""
    c, sn = np.cos(yaw[o]), np.sin(yaw[o])
    d = position[s] - position[o]
    return np.array([c * d[0] + sn * d[1], -sn * d[0] + c * d[1], d[2], yaw[s] - yaw[o]])


def _wrapped(angle: float) -> float:
    return float((angle + np.pi) % (2 * np.pi) - np.pi)


# ---- in a simulation ----------------------------------------------------------------------------


def walkers(sim: Simulator) -> dict[str, Walker]:
    """Walkers that drive robots, by the robots' names; also those inside of other controllers. The
    second one of a robot, in a sequence of walks, is named "hrp2, walk 2".
    """
    return driving(sim, Walker)


def driving(sim: Simulator, kind: type[Kind]) -> dict[str, Kind]:
    """Controllers of a kind that drive robots, by the robots' names; also inside of others."""
    controllers = {}
    for name, driver in sim.drivers.items():
        matching = [
            controller for controller in nested(driver.controller) if isinstance(controller, kind)
        ]
        controllers |= {
            (f"{name}, walk {k + 1}" if k else name): controller
            for k, controller in enumerate(matching)
        }
    return controllers


def walker_of(
    controller: ControlLaw | None,
    kind: type[Kind] = Walker,  # ty: ignore[invalid-parameter-default]
) -> Kind | None:
    """Return the walker that a controller is, or contains: ``Logged(Walker(…))``."""
    return next((inner for inner in nested(controller) if isinstance(inner, kind)), None)


class WalkWatch:
    """Follows the feet of all robots that walk, from now on.

    Args:
        sim: before its walks begin.
    """

    def __init__(self, sim: Simulator) -> None:
        self._walks = {name: _Track(sim, walker) for name, walker in walkers(sim).items()}

    def measured(self, fallen: Mapping[str, float]) -> dict[str, WalkMeasures]:
        """So far, by robot; ``fallen``: when robots fell [s]. Walks that have not begun are left
        out, unless none of the robot has.
        """
        return {
            name: track.measured(fallen.get(track.robot, np.inf))
            for name, track in self._walks.items()
            if track.walker.begun or name == track.robot
        }


class _Track:
    """The feet of one robot, once in every tick, from when its walker is first asked."""

    def __init__(self, sim: Simulator, walker: Walker) -> None:
        self.sim, self.walker, self.pattern = sim, walker, walker.pattern
        self.robot, self.tick = walker.pattern.robot.name, -1
        self.feet = [walker.pattern.robot.feet[side] for side in SIDES]
        n = walker.pattern.count
        self.position, self.rotation = np.empty((n, 2, 3)), np.empty((n, 2, 3, 3))
        self._begin()
        sim.every(max(1, round(walker.pattern.gait.tick / sim.dt)), self._look)

    def _begin(self) -> None:
        self.start, self.count = self.sim.time, 0
        self._keep()

    def _keep(self) -> None:
        if self.count < len(self.position):
            for i, foot in enumerate(self.feet):
                X = self.sim.pose(foot)
                self.position[self.count, i], self.rotation[self.count, i] = X.p, X.R
            self.count += 1

    def _look(self, data: Data) -> None:
        # before the walk, and after it was started again, this is its start
        before, self.tick = self.tick, self.walker.tick if self.walker.begun else -1
        if self.tick < 0 or self.tick < before:
            self._begin()
        else:
            self._keep()

    def measured(self, fallen: float) -> WalkMeasures:
        walker, n = self.walker, self.count
        until, given_up = fallen - self.start, ""
        if walker.stopped:
            until, given_up = min(until, (walker.tick + 1) * self.pattern.gait.tick), walker.reason
        turns = in_sole_axes(self.pattern, self.rotation[:n])
        measures = measured(self.pattern, self.position[:n], turns, until, given_up)
        if np.isfinite(fallen) and (not given_up or walker.fell):
            steps = f"{measures.landed} of {measures.planned} steps"
            why = f"{self.robot} fell at {fallen:.3g} s, after {steps}"
            return replace(measures, finished=False, stopped=why)
        return measures
