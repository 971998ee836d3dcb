"""What motors are told, in an engine that does tabi's steps itself: positions that a command lets
them reach over a time move on their way here (``Command.over``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.simulation.simulator import Simulator


class Goals:
    """Targets of all motors of a simulator that stands still.

    Attributes:
        now: rows of ``tables.MOTOR``, with positions as they are told at the end of a step.
    """

    def __init__(self, sim: Simulator) -> None:
        self._sim, self._since = sim, 0.0
        self.now: NDArray[Any] = sim.data.command.motor.copy()
        self._start = self.now["position"].copy()

    def renew(self, time: float) -> None:
        """After controllers were asked at a time [s]."""
        self._start, self._since = self.now["position"].copy(), time
        self.now = self._sim.data.command.motor.copy()

    def move(self, end: float) -> bool:
        """To where they are at the end of a step [s]; whether any is on its way."""
        told = self._sim.data.command.motor
        way = told["until"] > 0
        if not way.any():
            return False
        length = told["until"][way] - self._since
        share = np.where(length > 0, (end - self._since) / np.where(length > 0, length, 1.0), 1.0)
        start = self._start[way]
        self.now["position"][way] = start + np.minimum(1.0, share) * (told["target"][way] - start)
        return True
