"""Measures of a steered walk: steps, margin to falling, measured against commanded speeds.

Speeds are means over the time T in which the command was to walk. With the pose X_k midway
between the soles at tick k, yaw ψ_k,

    speed = 1/T Σ Rᵀ(ψ_k) (p_{k+1} − p_k),   turn = 1/T Σ (ψ_{k+1} − ψ_k)                       (1)
so that forwards is where the robot faced. It is slower than commanded because of the first and last
steps and of the slip of its soles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._renamed import renamed_attributes
from tabi.analysis.walk_measures import driving
from tabi.simulation.simulator import Simulator
from tabi.step.data import Data
from tabi.walking.plan.footsteps import SIDES
from tabi.walking.steered.walker import SteeredWalker

Array = NDArray[np.float64]
# keys of JSON that differ from the attribute
KEYS = {"commanded_m_s": "told_m_s", "commanded_deg_s": "told_deg_s"}


@renamed_attributes(told_m_s="commanded_m_s", told_deg_s="commanded_deg_s")
@dataclass(frozen=True)
class SteeredMeasures:
    """Measures of a steered walk.

    Attributes:
        landed: steps. stands: whether it stands on both feet at the end, as commanded.
        finished: whether it neither fell nor gave the walk up. stopped: why it did, or None.
        margin_m, least_margin_m: how far its capture point is from where nothing can catch it, at
            the end and at worst; 0 after a fall.
        walked_s: duration of the commands to walk.
        commanded_m_s, commanded_deg_s: mean command: forwards, to the left; turning to the left.
        speed_m_s, speed_deg_s: (1), likewise.
    """

    landed: int
    stands: bool
    finished: bool
    stopped: str | None
    margin_m: float
    least_margin_m: float
    walked_s: float
    commanded_m_s: tuple[float, float]
    commanded_deg_s: float
    speed_m_s: tuple[float, float]
    speed_deg_s: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        pairs = {"commanded_m_s": list(self.commanded_m_s), "speed_m_s": list(self.speed_m_s)}
        return {KEYS.get(name, name): x for name, x in (asdict(self) | pairs).items()}


class SteeredWatch:
    """Record the walks of all steered robots from now on.

    Args:
        sim: with their controllers.
    """

    def __init__(self, sim: Simulator) -> None:
        self._walks = {
            name: _Track(sim, walker) for name, walker in driving(sim, SteeredWalker).items()
        }

    def measured(self, fallen: Mapping[str, float]) -> dict[str, SteeredMeasures]:
        """Return the measures so far, by robot; ``fallen``: when robots fell [s]."""
        return {
            name: track.measured(fallen.get(track.robot)) for name, track in self._walks.items()
        }


class _Track:
    """One robot, looked at once in every tick."""

    def __init__(self, sim: Simulator, walker: SteeredWalker) -> None:
        self.sim, self.walker, self.robot = sim, walker, walker.biped.robot.name
        self.feet = [walker.biped.robot.feet[side] for side in SIDES]
        # yaw of each foot's frame from the direction of its sole [rad]
        self.foot_yaw = [
            _yaw(sim.pose(foot).R) - _yaw(walker.biped.stance[side].R)
            for foot, side in zip(self.feet, SIDES, strict=True)
        ]
        self.tick = walker.gait.tick
        self.time, self.least = 0.0, inf
        self.commanded, self.moved_by = np.zeros(3), np.zeros(3)
        self.before = self._place()
        sim.every(max(1, round(self.tick / sim.dt)), self._look)

    def _place(self) -> Array:
        """x, y [m] and yaw [rad] between the soles."""
        poses = [self.sim.pose(foot) for foot in self.feet]
        left, right = (_yaw(X.R) - t for X, t in zip(poses, self.foot_yaw, strict=True))
        middle = 0.5 * (poses[0].p + poses[1].p)
        return np.array([*middle[:2], right + 0.5 * _wrapped(left - right)])

    def _look(self, data: Data) -> None:
        now, command = self._place(), self.walker.steering
        x, y, turn = now - self.before
        c, s = np.cos(self.before[2]), np.sin(self.before[2])
        self.before = now
        self.least = min(self.least, self.walker.margin)
        # also while the last steps bring its feet together
        if not self.walker.stands:
            self.moved_by += (c * x + s * y, -s * x + c * y, _wrapped(turn))
        if any(command):
            self.time += self.tick
            self.commanded += self.tick * np.array(command)

    def measured(self, fell_at: float | None) -> SteeredMeasures:
        walker, T, fallen = self.walker, max(self.time, self.tick), fell_at is not None
        stopped = walker.reason if walker.stopped else None
        if fallen:
            stopped = f"{self.robot} fell at {fell_at:.3g} s, after {walker.landed} steps"
        command, speed = (
            x / T if self.time else np.zeros(3) for x in (self.commanded, self.moved_by)
        )
        return SteeredMeasures(
            landed=walker.landed,
            stands=walker.stands and not fallen,
            finished=stopped is None,
            stopped=stopped,
            margin_m=0.0 if fallen else walker.margin,
            least_margin_m=0.0 if fallen else min(self.least, walker.margin),
            walked_s=round(self.time, 9),
            commanded_m_s=(float(command[0]), float(command[1])),
            commanded_deg_s=float(np.degrees(command[2])),
            speed_m_s=(float(speed[0]), float(speed[1])),
            speed_deg_s=float(np.degrees(speed[2])),
        )


def _yaw(R: Array) -> float:
    return float(np.arctan2(R[1, 0], R[0, 0]))


def _wrapped(angle: float) -> float:
    return float((angle + np.pi) % (2 * np.pi) - np.pi)
