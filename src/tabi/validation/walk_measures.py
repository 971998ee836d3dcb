"""How well a robot walks: where its feet land, against where they should.

A step is judged at the end of the double support that follows it, tick k. With X_s and X_o the
poses of the foot that landed and of the other one, and X* those of the plan,

    landing error = X_o⁻¹ X_s against X*_o⁻¹ X*_s                                               (1)
so that an error is not counted again in the steps after it. What piles up is told once, at the end:
the place between the feet against the planned one. Slip is how far a foot that stands alone goes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tabi.model.signals import Controller
from tabi.simulation.data import Data
from tabi.simulation.simulator import Simulator
from tabi.walking.footsteps import SIDES, other
from tabi.walking.gait_controller import GaitController
from tabi.walking.pattern import WalkingPattern
from tabi.walking.walker import Walker

Array = NDArray[np.float64]
Kind = TypeVar("Kind", bound=GaitController)
# ticks after a foot has lifted in which the other one takes the weight
TAKES_OVER = 2


@dataclass(frozen=True)
class WalkMeasures:
    """A walk against its plan.

    Attributes:
        planned, landed: steps. finished: whether the plan has ended.
        landing_m, landing_deg: worst of (1), along the ground and about the vertical.
        slip_m: of a foot that stands alone, worst.
        end_m, end_deg: of the place between the feet, where it is now: x, y, z and heading.
    """

    planned: int
    landed: int
    finished: bool
    landing_m: float
    landing_deg: float
    slip_m: float
    end_m: tuple[float, float, float]
    end_deg: float

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return asdict(self) | {"end_m": list(self.end_m)}


def measured(
    pattern: WalkingPattern, position: Array, rotation: Array, until: float = np.inf
) -> WalkMeasures:
    """Compare feet with their plan.

    Args:
        position, rotation: of the soles, left and right, tick by tick from the start,
            shapes (n, 2, 3) and (n, 2, 3, 3).
        until: when the robot fell [s after the start].
    """
    plan, gait = pattern.schedule, pattern.gait
    last = min(len(position), pattern.count, int(min(until / gait.tick, 1e9))) - 1
    after = round(gait.double_support / gait.tick) - 1
    yaw = np.arctan2(rotation[..., 1, 0], rotation[..., 0, 0])
    off, turned, slip = [], [], []
    for step, lift, land in zip(pattern.steps, plan.lift, plan.land, strict=True):
        k, s, o = land + after, SIDES.index(step.foot), SIDES.index(other(step.foot))
        if k > last:
            break
        there = _beside(position[k], yaw[k], s, o) - _beside(plan.position[k], plan.yaw[k], s, o)
        off.append(float(np.hypot(*there[:2])))
        turned.append(abs(_wrapped(there[3])))
        stood = position[land - 1, o] - position[lift + TAKES_OVER, o]
        slip.append(float(np.hypot(*stood[:2])))
    k = max(last, 0)
    end = (position[k] - plan.position[k]).mean(axis=0)
    heading = float(np.mean([_wrapped(yaw[k, i] - plan.yaw[k, i]) for i in range(2)]))
    return WalkMeasures(
        planned=len(pattern.steps),
        landed=len(off),
        finished=last >= pattern.count - 1,
        landing_m=max(off, default=0.0),
        landing_deg=float(np.degrees(max(turned, default=0.0))),
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


def _beside(position: Array, yaw: Array, s: int, o: int) -> Array:
    """Place and direction of foot s from foot o: x, y, z, yaw."""
    c, sn = np.cos(yaw[o]), np.sin(yaw[o])
    d = position[s] - position[o]
    return np.array([c * d[0] + sn * d[1], -sn * d[0] + c * d[1], d[2], yaw[s] - yaw[o]])


def _wrapped(angle: float) -> float:
    return float((angle + np.pi) % (2 * np.pi) - np.pi)


# ---- in a simulation ----------------------------------------------------------------------------


def walkers(sim: Simulator) -> dict[str, Walker]:
    """Walkers that drive robots, by the robots' names; also those inside of other controllers."""
    return driving(sim, Walker)


def driving(sim: Simulator, kind: type[Kind]) -> dict[str, Kind]:
    """Controllers of a kind that drive robots, by the robots' names; also inside of others."""
    found = {name: walker_of(driver.controller, kind) for name, driver in sim.drivers.items()}
    return {name: walker for name, walker in found.items() if walker is not None}


def walker_of(controller: Controller | None, kind: type[Kind] = Walker) -> Kind | None:
    """The walker that a controller is, or is around: ``Logged(Walker(…))``."""
    while controller is not None and not isinstance(controller, kind):
        controller = getattr(controller, "controller", None) or getattr(controller, "motion", None)
    return controller


class WalkWatch:
    """Follows the feet of all robots that walk, from now on.

    Args:
        sim: before its walks begin.
    """

    def __init__(self, sim: Simulator) -> None:
        self._walks = {name: _Track(sim, walker) for name, walker in walkers(sim).items()}

    def measured(self, fallen: Mapping[str, float]) -> dict[str, WalkMeasures]:
        """So far, by robot; ``fallen``: when robots fell [s]."""
        return {
            name: track.measured(fallen.get(name, np.inf)) for name, track in self._walks.items()
        }


class _Track:
    """The feet of one robot, once in every tick."""

    def __init__(self, sim: Simulator, walker: Walker) -> None:
        self.sim, self.pattern, self.start = sim, walker.pattern, sim.time
        self.feet = [walker.pattern.robot.feet[side] for side in SIDES]
        n = walker.pattern.count
        self.position, self.rotation, self.count = np.empty((n, 2, 3)), np.empty((n, 2, 3, 3)), 0
        self._look(sim.data)
        sim.every(max(1, round(walker.pattern.gait.tick / sim.dt)), self._look)

    def _look(self, data: Data) -> None:
        if self.count < len(self.position):
            for i, foot in enumerate(self.feet):
                X = self.sim.pose(foot)
                self.position[self.count, i], self.rotation[self.count, i] = X.p, X.R
            self.count += 1

    def measured(self, fallen: float) -> WalkMeasures:
        n = self.count
        turns = in_sole_axes(self.pattern, self.rotation[:n])
        return measured(self.pattern, self.position[:n], turns, fallen - self.start)
