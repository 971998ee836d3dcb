"""The last push that a robot got: its largest force, its direction, and how near it came to falling
since.

A push is all that acts from outside, the mouse's spring or a force that was ordered, until nothing
does for ``MAX_PAUSE_S``. It is looked at between a few steps, so that none is missed.
"""

from __future__ import annotations

from math import atan2, hypot, pi
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tabi.model.lookup import link_of
from tabi.model.robot import Robot

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]
# a force after a longer pause is a new push; smaller forces are none
MAX_PAUSE_S, MIN_FORCE_N = 0.3, 1.0
WORDS = (
    "forwards",
    "forwards left",
    "left",
    "backwards left",
    "backwards",
    "backwards right",
    "right",
    "forwards right",
)


class LastPush:
    """The last push on one robot.

    Attributes:
        force: the largest of the last push, in the world's axes [N], shape (3,); None before any.
        direction: seen from the robot. start, end: of the push [s].
        margin: the smallest since it began [m]; None of a robot that reports none.
    """

    def __init__(self, sim: Simulator, robot: Robot) -> None:
        self._robot = robot
        self._bodies = {link_of(sim.world, sim.model, body).body for body in robot.bodies} - {0}
        self.force: Array | None = None
        self.direction, self.start, self.end = "", 0.0, 0.0
        self.margin: float | None = None

    def update(self, sim: Simulator, walker: Any = None) -> None:
        """Take the pushes of the steps since the last call."""
        # those that were over before the last step are gone
        last = sim.data.steps - 1
        acting = [
            push.force
            for push in sim.pushes
            if push.link.body in self._bodies and push.start <= last
        ]
        force = np.sum(acting, axis=0) if acting else np.zeros(3)
        if sim.time < self.end:
            self.force, self.margin = None, None
        if float(np.linalg.norm(force)) > MIN_FORCE_N:
            if self.force is None or sim.time - self.end > MAX_PAUSE_S:
                self.force, self.start, self.margin = np.zeros(3), sim.time, None
            self.end = sim.time
            if np.linalg.norm(force) > np.linalg.norm(self.force):
                self.force, self.direction = force, self._direction(sim, force)
        if self.force is not None and walker is not None:
            margin = float(walker.margin)
            self.margin = margin if self.margin is None else min(self.margin, margin)

    def _direction(self, sim: Simulator, force: Array) -> str:
        """Return the direction of a force as words, seen from the robot."""
        across = np.array([0.0, 1.0])
        if {"left", "right"} <= self._robot.feet.keys():
            left, right = (sim.pose(self._robot.feet[side]).p for side in ("left", "right"))
            across = (left - right)[:2]
        level = hypot(force[0], force[1])
        if abs(force[2]) > 2.0 * level:
            return "up" if force[2] > 0 else "down"
        angle = atan2(force[1], force[0]) - atan2(-across[0], across[1])
        return WORDS[round(4.0 * angle / pi) % 8]

    def line(self) -> str:
        """For the panel; empty before any push."""
        if self.force is None:
            return ""
        words = f"last push: **{np.linalg.norm(self.force):.0f} N** {self.direction}"
        if self.margin is None:
            return words
        return f"{words}, least margin since **{1e3 * self.margin:.0f} mm**"
