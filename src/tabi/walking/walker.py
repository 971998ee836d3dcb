"""Controller of a planned walk: a pattern that is followed, with or without a stabiliser."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import expect
from tabi.estimation.estimator import Estimator
from tabi.walking.balance.stabiliser_tables import Reference, StabiliserGains
from tabi.walking.balance.ticks import (
    BalancedWalk,
    PlannedWalk,
    StabilisedWalk,
    planned_tick,
    stabilised_tick,
)
from tabi.walking.gait_controller import GaitController
from tabi.walking.plan.pattern import WalkingPattern

Array = NDArray[np.float64]


class Walker(GaitController):
    """Controller that drives a robot along a walking pattern, called once per tick of the gait,
    ``rate=1/gait.tick``. It reads encoders, IMU and foot sensors, and no ground truth. A simulator
    runs it within its compiled loop; called as a function it returns the same command.

    Args:
        pattern: result of ``walking_pattern``.
        stabiliser: gains of its loops; None: the pattern is followed without feedback.
        estimator: of the body's inclination; default: from the robot's sensors.

    Example: docs/walking.md
    """

    def __init__(
        self,
        pattern: WalkingPattern,
        stabiliser: StabiliserGains | None = None,
        estimator: Estimator | None = None,
    ) -> None:
        expect("the pattern of a Walker", pattern, WalkingPattern, "a walking_pattern(…)")
        gains = "None, tabi.walking.Stabiliser() or tabi.walking.DcmStabiliser()"
        expect("the stabiliser of a Walker", stabiliser, StabiliserGains | None, gains)
        self.pattern = pattern
        kernel: Any = planned_tick if stabiliser is None else stabilised_tick
        super().__init__(kernel, pattern.robot, pattern.gait.tick, stabiliser, estimator)

    def _fresh(self) -> PlannedWalk | StabilisedWalk:
        walk = self._begin(self.pattern, self.stabiliser)
        if not isinstance(walk, BalancedWalk):
            return walk
        reference = Reference(*(np.array(part[:2]) for part in walk.loop.reference))
        halted = walk.loop._replace(reference=reference)
        return StabilisedWalk(*walk, halted=halted, stop=np.full(1, -1), gap=np.zeros(2))

    def _changing(self, walk: Any) -> list[Any]:
        extra = [walk.stop, walk.gap, walk.halted.reference] if self.stabiliser is not None else []
        return [*super()._changing(walk), *extra]

    @property
    def stopped(self) -> bool:
        """Whether it aborted the walk: it stands on both feet, or has fallen."""
        return self.fell or self._halted

    @property
    def _halted(self) -> bool:
        return isinstance(self._walk, StabilisedWalk) and bool(self._walk.stop[0] >= 0)

    @property
    def reason(self) -> str:
        """Reason why the walk was aborted; "" otherwise."""
        if not self.stopped:
            return ""
        landed = sum(land <= self.tick for land in self.pattern.schedule.land)
        if self.fell:
            return (
                f"{self.pattern.robot.name} fell after {landed} of {len(self.pattern.steps)} steps"
            )
        return (
            f"{self.pattern.robot.name} stopped in double support after {landed} of "
            f"{len(self.pattern.steps)} steps: its capture point was "
            f"{1e3 * float(np.linalg.norm(self._walk.gap)):.0f} mm from the plan, more than the "
            "next sole could bring back"
        )

    @property
    def tick(self) -> int:
        """Tick of the pattern of the last command."""
        now = self._walk.progress.tick[0]
        if self._halted:
            now = self._walk.stop[0]
        elif self.fell:
            now = self._walk.progress.fell[0]
        return int(np.clip(now, 0, self.pattern.count - 1))

    @property
    def finished(self) -> bool:
        """Whether it reached the end of the pattern without aborting."""
        return self.tick >= self.pattern.count - 1 and not self.stopped

    @property
    def zmp(self) -> Array:
        """Last zero moment point requested by the stabiliser, or the planned one [m], shape
        (2,).
        """
        walk = self._walk
        planned = self.pattern.zmp[self.tick]
        return (walk.loop.zmp[:2] if isinstance(walk, StabilisedWalk) else planned).copy()

    @property
    def centre_of_mass(self) -> Array:
        """Estimated centre of mass, or the planned one [m], shape (3,)."""
        walk = self._walk
        planned = self.pattern.centre[self.tick]
        return (walk.loop.centre[:3] if isinstance(walk, StabilisedWalk) else planned).copy()
