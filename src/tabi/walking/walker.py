"""The controller of a walk: a pattern that is followed, with a stabiliser or without.

Motors are told where to be at the next tick, how fast to go there, and the efforts of the pattern:
position loops alone would lag behind.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi._jit import entry
from tabi.control.estimator import Estimator
from tabi.model.signals import Command, Measurement
from tabi.walking.footsteps import SIDES
from tabi.walking.pattern import WalkingPattern, body_of
from tabi.walking.stabiliser import stabilise
from tabi.walking.stabiliser_tables import Stabiliser, loop_of

Array = NDArray[np.float64]


class Walker:
    """Drives a robot along a walking pattern: a controller, to be asked once in every tick of the
    gait, ``rate=1/gait.tick``. It reads encoders, IMU and foot sensors, and no truth.

    Args:
        pattern: made by ``walking_pattern``.
        stabiliser: gains of its loops; None follows the pattern blindly.
        estimator: of the body's inclination; the robot's own sensors unless given.

    Attributes:
        tick: of the pattern, that the last command was for.
        finished: whether the pattern has ended.
    """

    def __init__(
        self,
        pattern: WalkingPattern,
        stabiliser: Stabiliser | None = None,
        estimator: Estimator | None = None,
    ) -> None:
        self.pattern, self.stabiliser = pattern, stabiliser
        self._estimator: Estimator | None = None
        if stabiliser is not None:
            self._estimator = Estimator(pattern.robot) if estimator is None else estimator
            missing = [side for side in SIDES if side not in self._estimator.feet]
            if missing:
                raise ModelError(
                    f"foot {missing[0]!r} of {pattern.robot.name} has no force sensor; a "
                    "stabiliser needs one: "
                    f'robot.add_sensor("{missing[0]}_force", "force", '
                    f'robot.feet["{missing[0]}"].body)'
                )
            self._order = [self._estimator.feet.index(side) for side in SIDES]
        self.reset()

    def reset(self) -> None:
        """Begin the walk anew with the next measurement."""
        self._start: float | None = None
        self.tick, self._last = 0, self.pattern.position[0].copy()
        place = self.pattern.biped.model.arrays.dof["q"][body_of(self.pattern.biped).v_at]
        self._q_at = place
        if self.stabiliser is not None:
            self._loop = loop_of(self.pattern, self.stabiliser)
            args = (self.pattern.biped.model.arrays, self._loop, 0)
            self._stabilise = entry(stabilise, *args)
            self._estimator.reset()  # type: ignore[union-attr]

    @property
    def finished(self) -> bool:
        """Whether the robot stands at the end of the pattern."""
        return self.tick >= self.pattern.count - 1

    def __call__(self, time: float, measurement: Measurement) -> Command:
        """The command until the next tick."""
        if self._start is None or time < self._start:
            self.reset()
            self._start = time
        T, walk = self.pattern.gait.tick, self.pattern
        k = self.tick = min(round((time - self._start) / T), walk.count - 1)
        if self.stabiliser is None:
            q = walk.position[min(k + 1, walk.count - 1)]
        else:
            q = self._stabilised(time, measurement, k)
        last, self._last = self._last, q
        effort = walk.effort[k] if self.stabiliser is None else walk.effort[k] + self._loop.effort
        return Command(position=q, velocity=(q - last) / T, effort=effort, over=T)

    def _stabilised(self, time: float, measurement: Measurement, k: int) -> Array:
        loop, state = self._loop, self._estimator.update(time, measurement)  # type: ignore[union-attr]
        loop.attitude[:], loop.turning[:] = state.base[:9], state.base[15:]
        loop.joint[:], loop.joint_velocity[:] = state.felt.q, state.felt.v
        loop.wrench[:] = state.felt.wrench[self._order]
        self._stabilise(self.pattern.biped.model.arrays, loop, k)
        return loop.answer[self._q_at]

    @property
    def zmp(self) -> Array:
        """That the stabiliser wanted last, or that is planned [m], shape (2,)."""
        return (self._loop.zmp if self.stabiliser else self.pattern.zmp[self.tick])[:2].copy()
