"""A simulation that is a little other than its model: friction, masses, and commands that are late.

Controllers keep what they were made with: a pattern, or a stabiliser, planned for the nominal
robot has to do for one that is 5 % heavier. Coefficients of all pairs of surfaces are multiplied by
one factor, masses and tensors of all moving bodies by another.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import ceil
from typing import Any

from tabi.model.controllers.controller import Controller
from tabi.model.controllers.signals import Command, ControlLaw, Measurement
from tabi.simulation.simulator import Simulator


@dataclass(frozen=True)
class MotionVariation:
    """Differences of a run from the nominal model.

    Attributes:
        friction, mass: factors. delay: of commands [s].
    """

    friction: float = 1.0
    mass: float = 1.0
    delay: float = 0.0

    @property
    def name(self) -> str:
        """Name of the variation in words."""
        words = [
            f"{what} {100 * (factor - 1):+.0f} %"
            for what, factor in (("friction", self.friction), ("masses", self.mass))
            if factor != 1
        ]
        if self.delay:
            words.append(f"commands {1e3 * self.delay:g} ms late")
        return ", ".join(words) or "as it is"


# one at a time
VARIATIONS = (
    MotionVariation(),
    MotionVariation(friction=0.8),
    MotionVariation(friction=1.2),
    MotionVariation(mass=0.95),
    MotionVariation(mass=1.05),
    MotionVariation(delay=0.002),
    MotionVariation(delay=0.005),
)


def vary(sim: Simulator, how: MotionVariation) -> None:
    """Change a simulation that has not begun, with its controllers."""
    for column in ("friction", "static_friction"):
        sim.model.pairs[column] *= how.friction
    for column in ("mass", "inertia"):
        sim.model.arrays.body[column] *= how.mass
    if not how.delay:
        return
    for driver in list(sim.drivers.values()):
        late = LateCommands(driver.controller, driver.every, how.delay, sim.dt)
        sim.set_controller(driver.robot, late, truth=driver.truth)


class LateCommands(Controller):
    """A controller whose commands are delayed by a whole number of steps of the simulation. Before
    the first one the robot holds its pose.

    Args:
        controller: asked in every ``every``-th step, as it would be.
        delay: [s]. dt: of the simulation [s].
    """

    MEMORY = ("_waiting", "_last")

    def __init__(self, controller: ControlLaw, every: int, delay: float, dt: float) -> None:
        self.controller, self._every, self._dt = controller, every, dt
        self.steps = ceil(delay / dt - 1e-6)
        self._still = Command()
        self.reset()

    @property
    def inner(self) -> tuple[Any, ...]:
        """The controller whose commands are delayed."""
        return (self.controller,)

    def reset(self) -> None:
        """Drop the commands that wait and reset the controller."""
        self._waiting: deque[tuple[int, Any]] = deque()
        self._last: Any = self._still
        super().reset()

    def __call__(self, time: float, measurement: Measurement) -> Command:
        """Return the newest command that has arrived."""
        step = round(time / self._dt)
        if step % self._every == 0:
            self._waiting.append((step + self.steps, self.controller(time, measurement)))
        while self._waiting and self._waiting[0][0] <= step:
            self._last = self._waiting.popleft()[1]
        return self._last
