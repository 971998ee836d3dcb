"""The controller of a walk: a pattern that is followed, with a stabiliser or without."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import expect
from tabi.estimation.estimator import Estimator
from tabi.walking.balance.stabiliser_tables import StabiliserGains
from tabi.walking.balance.ticks import (
    PlannedWalk,
    StabilisedWalk,
    planned_tick,
    stabilised_tick,
)
from tabi.walking.gait_controller import GaitController
from tabi.walking.plan.pattern import WalkingPattern

Array = NDArray[np.float64]


class Walker(GaitController):
    """Drives a robot along a walking pattern: a controller, to be asked once in every tick of the
    gait, ``rate=1/gait.tick``. It reads encoders, IMU and foot sensors, and no truth. A simulator
    asks it within its compiled loop; called as a function it says the same.

    Args:
        pattern: made by ``walking_pattern``.
        stabiliser: gains of its loops; None follows the pattern blindly.
        estimator: of the body's inclination; the robot's own sensors unless given.
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
        return self._begin(self.pattern, self.stabiliser)

    def _changing(self, walk: Any) -> list[Any]:
        own = [walk.stop, walk.gap, walk.halted.reference] if self.stabiliser is not None else []
        return [*super()._changing(walk), *own]

    @property
    def stopped(self) -> bool:
        """Whether it gave the walk up: it stands on both feet, or has fallen."""
        return self.fell or self._halted

    @property
    def _halted(self) -> bool:
        return isinstance(self._walk, StabilisedWalk) and bool(self._walk.stop[0] >= 0)

    @property
    def reason(self) -> str:
        """Why it gave the walk up; "" where it did not."""
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
        """Of the pattern, that the last command was for."""
        now = self._walk.progress.tick[0]
        if self._halted:
            now = self._walk.stop[0]
        elif self.fell:
            now = self._walk.progress.fell[0]
        return int(np.clip(now, 0, self.pattern.count - 1))

    @property
    def finished(self) -> bool:
        """Whether it was led to the end of the pattern, and did not give it up before."""
        return self.tick >= self.pattern.count - 1 and not self.stopped

    @property
    def zmp(self) -> Array:
        """That the stabiliser wanted last, or that is planned [m], shape (2,)."""
        walk = self._walk
        planned = self.pattern.zmp[self.tick]
        return (walk.loop.zmp[:2] if isinstance(walk, StabilisedWalk) else planned).copy()

    @property
    def centre_of_mass(self) -> Array:
        """As it is estimated, or as it is planned [m], shape (3,)."""
        walk = self._walk
        planned = self.pattern.centre[self.tick]
        return (walk.loop.centre[:3] if isinstance(walk, StabilisedWalk) else planned).copy()
