"""What a simulator keeps: its state, a saved moment, and who drives its robots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabi.model.robot import Robot
from tabi.model.signals import Command, Controller
from tabi.simulation.motors import Push

Array = NDArray[np.float64]


@dataclass(frozen=True)
class State:
    """Configuration, velocity and time."""

    q: Array
    v: Array
    time: float


@dataclass(frozen=True)
class Saved:
    """A state with all that the next step reads, for ``Simulator.restore``."""

    q: Array
    v: Array
    steps: int
    points: NDArray[np.void]
    touch: NDArray[np.void]
    target: NDArray[np.void]
    bond: NDArray[np.void]
    pushes: tuple[Push, ...]
    worst: dict[str, float]
    names: tuple[str, ...]


@dataclass
class Driver:
    """A controller at its own rate: it is asked every ``every`` steps; rows: degrees of freedom of its robot, names: their joints."""

    robot: Robot
    controller: Controller
    every: int
    rows: NDArray[np.int64]
    names: tuple[str, ...]
    last: Command | None = None
