"""Walking led by the hand: pulls on the hands steer the walk.

Arms yield by ``control.compliance``; the measured pull f in the axes of the robot's heading,
low-pass filtered, steers the walk:

    (v_x, v_y, ω) = k s(f)·(1, side, turn),   s(f) = f max(0, 1 − F/|f|)                         (1)
with a dead zone F, so that the weight of a resting hand causes no step. The robot walks after a
forward pull and turns towards a sideways one. When the pull is below F for a while, it stops.

Reference: Chardonnet (2012), eq. 16, for the arms.
"""

from __future__ import annotations

from math import hypot
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, real
from tabi.control.complying import Compliance
from tabi.control.filters import Butterworth
from tabi.control.merging import together
from tabi.model.controllers.controller import Controller
from tabi.model.controllers.signals import Command, Measurement
from tabi.walking.steered.walker import SteeredWalker

Array = NDArray[np.float64]
# cut-off frequency of the filter [Hz]; time without a pull after which the robot stops [s]
CUTOFF_HZ, STOP_DELAY_S = 1.5, 0.6


class LedWalker(Controller):
    """A controller that walks where its hands are pulled.

    Args:
        walker: controller of the steps. arms: ``control.compliance`` of its hands, which measure
            the pull.
        dead: dead zone F of (1) [N]. speed: k of (1) for walking [m/(s N)]; turn: for turning, by a
            sideways pull [rad/(s N)].

    Attributes:
        pull: f of (1) at the last call, forwards and to the left [N].

    Example: docs/haptics.md
    """

    MEMORY = ("pull", "_pull_time")

    def __init__(
        self,
        walker: SteeredWalker,
        *arms: Compliance,
        dead: float = 5.0,
        speed: float = 0.015,
        turn: float = 0.025,
    ) -> None:
        if not arms:
            raise ModelError(
                f"{walker.biped.robot.name} is led by no hand; "
                "expected control.compliance(robot, hand, …) of one or more"
            )
        for name, value in (("dead", dead), ("speed", speed), ("turn", turn)):
            if not 0.0 <= real(name, value) < np.inf:
                raise ModelError(f"{name} of a walk that is led is {value:g}; expected ≥ 0")
        self.walker, self.arms = walker, arms
        self._dead, self._gains = dead, (speed, turn)
        self._both = together(walker.biped.robot, walker, *arms)
        self._smooth = Butterworth(CUTOFF_HZ, rate=1.0 / walker.gait.tick, order=2)
        self.reset()

    @property
    def inner(self) -> tuple[Any, ...]:
        """The walker with its arms, and the filter of the pull."""
        return self._both, self._smooth

    def reset(self) -> None:
        """Restart the controller, standing."""
        super().reset()
        self.pull = np.zeros(2)
        # time of the last pull, while it walks after it
        self._pull_time: float | None = None

    def __call__(self, time: float, measurement: Measurement) -> Command:
        """Steer by the measured pull; call once in every tick of the gait."""
        command: Any = self._both(time, measurement)
        force = sum(arm.wrench[:2] for arm in self.arms)
        heading = self._heading()
        ahead, left = np.array([heading[0], heading[1]]), np.array([-heading[1], heading[0]])
        self.pull = self._smooth(np.array([ahead @ force, left @ force]))
        size = hypot(*self.pull)
        if size > self._dead:
            self._pull_time = time
            forward, sideways = self.pull * (1.0 - self._dead / size)
            speed, turn = self._gains
            self.walker.steer(speed * forward, 0.0, turn * sideways)
        elif self._pull_time is not None and time - self._pull_time > STOP_DELAY_S:
            self._pull_time = None
            self.walker.stop()
        return command

    def _heading(self) -> Array:
        """Return the direction of the robot's heading, by the base estimate of its arms."""
        ahead = self.arms[0].base.R[:2, 0]
        return ahead / max(float(np.linalg.norm(ahead)), 1e-9)
