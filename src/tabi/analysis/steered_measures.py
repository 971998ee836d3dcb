"""How a robot walks that is steered: steps, margin to falling, speeds against those it was told.

Speeds are means over the time T in which it was told to walk. With the pose X_k of the place
between its soles at tick k, yaw ψ_k,

    speed = 1/T Σ Rᵀ(ψ_k) (p_{k+1} − p_k),   turn = 1/T Σ (ψ_{k+1} − ψ_k)                       (1)
so that forwards is where the robot faced. It is slower than it was told by what the first and last
steps take, and by what its soles slip.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.analysis.walk_measures import driving
from tabi.simulation.simulator import Simulator
from tabi.step.data import Data
from tabi.walking.plan.footsteps import SIDES
from tabi.walking.steered.walker import SteeredWalker

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SteeredMeasures:
    """A steered walk.

    Attributes:
        landed: steps. stands: whether it stands on both feet at the end, and is to.
        finished: whether it neither fell nor gave the walk up. stopped: why it did, or None.
        margin_m, least_margin_m: how far its capture point is from where nothing can catch it, at
            the end and at worst; 0 after a fall.
        walked_s: how long it was told to walk.
        told_m_s, told_deg_s: means of what it was told: forwards, to the left; turning to the left.
        speed_m_s, speed_deg_s: (1), likewise.
    """

    landed: int
    stands: bool
    finished: bool
    stopped: str | None
    margin_m: float
    least_margin_m: float
    walked_s: float
    told_m_s: tuple[float, float]
    told_deg_s: float
    speed_m_s: tuple[float, float]
    speed_deg_s: float

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        pairs = {"told_m_s": list(self.told_m_s), "speed_m_s": list(self.speed_m_s)}
        return asdict(self) | pairs


class SteeredWatch:
    """Follows all robots that are steered, from now on.

    Args:
        sim: with their controllers.
    """

    def __init__(self, sim: Simulator) -> None:
        self._walks = {
            name: _Track(sim, walker) for name, walker in driving(sim, SteeredWalker).items()
        }

    def measured(self, fallen: Mapping[str, float]) -> dict[str, SteeredMeasures]:
        """So far, by robot; ``fallen``: when robots fell [s]."""
        return {
            name: track.measured(fallen.get(track.robot)) for name, track in self._walks.items()
        }


class _Track:
    """One robot, looked at once in every tick."""

    def __init__(self, sim: Simulator, walker: SteeredWalker) -> None:
        self.sim, self.walker, self.robot = sim, walker, walker.biped.robot.name
        self.feet = [walker.biped.robot.feet[side] for side in SIDES]
        # turn of each foot's frame from the way its sole points
        self.turned = [
            _yaw(sim.pose(foot).R) - _yaw(walker.biped.stance[side].R)
            for foot, side in zip(self.feet, SIDES, strict=True)
        ]
        self.tick = walker.gait.tick
        self.time, self.least = 0.0, inf
        self.told, self.moved = np.zeros(3), np.zeros(3)
        self.before = self._place()
        sim.every(max(1, round(self.tick / sim.dt)), self._look)

    def _place(self) -> Array:
        """x, y [m] and yaw [rad] between the soles."""
        poses = [self.sim.pose(foot) for foot in self.feet]
        left, right = (_yaw(X.R) - t for X, t in zip(poses, self.turned, strict=True))
        middle = 0.5 * (poses[0].p + poses[1].p)
        return np.array([*middle[:2], right + 0.5 * _wrapped(left - right)])

    def _look(self, data: Data) -> None:
        now, told = self._place(), self.walker.steering
        x, y, turn = now - self.before
        c, s = np.cos(self.before[2]), np.sin(self.before[2])
        self.before = now
        self.least = min(self.least, self.walker.margin)
        # also while the last steps bring its feet together
        if not self.walker.stands:
            self.moved += (c * x + s * y, -s * x + c * y, _wrapped(turn))
        if any(told):
            self.time += self.tick
            self.told += self.tick * np.array(told)

    def measured(self, fell_at: float | None) -> SteeredMeasures:
        walker, T, fallen = self.walker, max(self.time, self.tick), fell_at is not None
        stopped = walker.reason if walker.stopped else None
        if fallen:
            stopped = f"{self.robot} fell at {fell_at:.3g} s, after {walker.landed} steps"
        told, speed = (x / T if self.time else np.zeros(3) for x in (self.told, self.moved))
        return SteeredMeasures(
            landed=walker.landed,
            stands=walker.stands and not fallen,
            finished=stopped is None,
            stopped=stopped,
            margin_m=0.0 if fallen else walker.margin,
            least_margin_m=0.0 if fallen else min(self.least, walker.margin),
            walked_s=round(self.time, 9),
            told_m_s=(float(told[0]), float(told[1])),
            told_deg_s=float(np.degrees(told[2])),
            speed_m_s=(float(speed[0]), float(speed[1])),
            speed_deg_s=float(np.degrees(speed[2])),
        )


def _yaw(R: Array) -> float:
    return float(np.arctan2(R[1, 0], R[0, 0]))


def _wrapped(angle: float) -> float:
    return float((angle + np.pi) % (2 * np.pi) - np.pi)
