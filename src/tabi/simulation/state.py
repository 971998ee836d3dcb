"""Moments of a simulation: what a person sees of one, and one that can be gone back to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.simulation.pushes import Push
from tabi.simulation.tables import StepData

Array = NDArray[np.float64]


@dataclass(frozen=True)
class State:
    """Configuration, velocity and time."""

    q: Array
    v: Array
    time: float


@dataclass(frozen=True)
class Saved:
    """A moment with all that the next step reads, for ``Simulator.restore``.

    Attributes:
        data: a copy of state, command, memory and outcome.
        steps: done until then. pushes: that were told. worst: figures of the run.
        names: links of the world.
        controllers: what those with ``save_state`` gave, by robot.
    """

    data: StepData
    steps: int
    pushes: tuple[Push, ...]
    worst: dict[str, float]
    names: tuple[str, ...]
    controllers: Mapping[str, Any]

    def check(self, names: Iterable[str], now: StepData) -> None:
        """Refuse a moment of another world, or of other parts of the step."""
        names = tuple(names)
        if self.names != names or self.data.q.shape != now.q.shape:
            raise ModelError(
                f"saved state is of a world of {', '.join(self.names[:6])}; "
                f"expected this one of {', '.join(names[:6])}"
            )
        kinds = [[own.dtype for own in data.memory.own] for data in (self.data, now)]
        if kinds[0] != kinds[1]:
            raise ModelError(
                "saved state is of a simulator with other forces, rows or law; expected this one's"
            )
