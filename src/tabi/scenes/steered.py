"""A robot that is steered, from what a scene says: gait, stabiliser, commands at their times."""

from __future__ import annotations

from collections.abc import Sequence
from math import radians
from typing import Any

from tabi import walking
from tabi._errors import ModelError
from tabi.model.robot import Robot
from tabi.scenes.equipment import Places
from tabi.scenes.walk_keys import SteeredWalkKeys, SteerKeys
from tabi.scenes.walks import gait_of, stabiliser_of
from tabi.simulation.data import Data
from tabi.simulation.simulator import Simulator


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
    """Commands at their times, for ``sim.every``.

    Args:
        walker: with methods ``steer`` and ``stop``.
        commands: at growing times.
    """

    def __init__(self, walker: Any, commands: Sequence[SteerKeys]) -> None:
        self._walker, self._commands, self._last = walker, tuple(commands), -1

    def at(self, time: float) -> None:
        """Tell the command of a time [s], if it is another one than was told last; one that is
        past begins anew.
        """
        due = sum(command.at_s <= time + 1e-9 for command in self._commands) - 1
        if due != self._last and due >= 0:
            told = self._commands[due]
            if told.forward_m_s == told.sideways_m_s == told.turn_deg_s == 0.0:
                self._walker.stop()
            else:
                self._walker.steer(told.forward_m_s, told.sideways_m_s, radians(told.turn_deg_s))
        self._last = due

    def __call__(self, data: Data) -> None:
        """After a step."""
        self.at(data.time)


def schedule(sim: Simulator, robot: Robot, told: object) -> None:
    """Let the commands of a scene reach a robot that is steered; others have none."""
    if not isinstance(told, SteeredWalkKeys) or not told.steer:
        return
    controller: Any = sim.drivers[robot.name].controller
    # what grips is around it
    while not callable(getattr(controller, "steer", None)):
        controller = controller.motion
    script = SteeringScript(controller, told.steer)
    script.at(sim.time)
    sim.every(max(1, round(told.gait.tick_s / sim.dt)), script)
