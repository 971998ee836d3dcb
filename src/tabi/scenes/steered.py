"""A robot that is steered, from what a scene says: gait, stabiliser, commands at their times."""

from __future__ import annotations

from collections.abc import Sequence
from math import radians
from typing import Any

from tabi import walking
from tabi._errors import ModelError
from tabi.model.controllers.controller import with_method
from tabi.model.robot import Robot
from tabi.scenes.equipment import Places
from tabi.scenes.keys.walks import SteeredWalkKeys, SteerKeys
from tabi.scenes.walks import gait_of, stabiliser_of
from tabi.simulation.simulator import Simulator
from tabi.step.data import Data
from tabi.walking.steered.walker import Steering


def walker(builder: Places, robot: Robot, told: SteeredWalkKeys, i: int) -> walking.SteeredWalker:
    """The controller of a robot that is steered."""
    path = ("robots", i, "motion")
    with builder.at(*path):
        biped = walking.Biped(robot)
    with builder.at(*path, "gait"):
        gait = gait_of(biped, told.gait)
    with builder.at(*path):
        stabiliser = stabiliser_of(told.stabiliser)
        if stabiliser is None:
            raise ModelError(
                "motion 'steered_walk' has no stabiliser; expected its gains, or true: where steps "
                "lead depends on what is measured"
            )
        return walking.SteeredWalker(biped, gait, stabiliser)


class SteeringScript:
    """Commands at their times, for ``sim.every``, until somebody else steers.

    Args:
        walker: with methods ``steer`` and ``stop``, and ``steering``: what it is told to do.
        commands: at growing times.
    """

    def __init__(self, walker: Any, commands: Sequence[SteerKeys]) -> None:
        self._walker, self._commands = walker, tuple(commands)
        self._begin()

    def _begin(self) -> None:
        self._last, self._told, self._taken = -1, Steering(), False

    def at(self, time: float) -> None:
        """Tell the command of a time [s], if it is another one than was told last; one that is
        past begins anew. Where the walker does other than it was told here a hand has taken it,
        and keeps it.
        """
        due = sum(command.at_s <= time + 1e-9 for command in self._commands) - 1
        if due < self._last:
            self._begin()
        elif due > self._last:
            self._taken = self._taken or self._walker.steering != self._told
        if due != self._last and not self._taken:
            self._told = self._tell(self._commands[due])
        self._last = due

    def _tell(self, command: SteerKeys) -> Steering:
        """What the walker does then."""
        if command.forward_m_s == command.sideways_m_s == command.turn_deg_s == 0.0:
            self._walker.stop()
        else:
            turn = radians(command.turn_deg_s)
            self._walker.steer(command.forward_m_s, command.sideways_m_s, turn)
        return self._walker.steering

    def __call__(self, data: Data) -> None:
        """After a step."""
        self.at(data.time)


def schedule(sim: Simulator, robot: Robot, told: object) -> None:
    """Let the commands of a scene reach a robot that is steered; others have none."""
    if not isinstance(told, SteeredWalkKeys) or not told.steer:
        return
    controller: Any = with_method(sim.drivers[robot.name].controller, "steer")
    script = SteeringScript(controller, told.steer)
    script.at(sim.time)
    sim.every(max(1, round(told.gait.tick_s / sim.dt)), script)
