"""Walking as steered: by commands at their times, by hand in the page, or led by the hands."""

from __future__ import annotations

from collections.abc import Sequence
from math import radians
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from tabi import walking
from tabi._errors import ModelError
from tabi.model.controllers.controller import with_method
from tabi.model.robot import Robot
from tabi.scenes.keys.types import Keys, Moment
from tabi.scenes.keys.walks import Speed
from tabi.scenes.places import Places
from tabi.scenes.walks import WalkingKeys, stabiliser_of
from tabi.simulation.simulator import Simulator
from tabi.step.data import Data
from tabi.walking.steered.walker import Steering


class SteerKeys(Keys, frozen=True, kw_only=True):
    """Commanded walk of a robot from some time on; all zero stops it.

    Attributes:
        at_s: when
        forward_m_s: speed ahead
        sideways_m_s: speed to the left
        turn_deg_s: how fast it turns to the left
    """

    at_s: Moment = 0.0
    forward_m_s: Speed = 0.0
    sideways_m_s: Speed = 0.0
    turn_deg_s: Annotated[float, Meta(ge=-360.0, le=360.0)] = 0.0


class SteeredWalkKeys(WalkingKeys, frozen=True, kw_only=True, tag_field="kind", tag="steered_walk"):
    """Walk as it is steered, by these commands and in the page by hand: footsteps are chosen while
    it walks; for bipeds with legs of six joints that stand.

    Attributes:
        steer: commands at growing times; it stands, and keeps its balance, before the first
        led: whether it walks where its hands that comply are pulled, instead of by commands
    """

    steer: Annotated[tuple[SteerKeys, ...], Meta(max_length=1000)] = ()
    led: bool = False

    timed: ClassVar[str] = "steer"

    def controller(self, scene: Places, robot: Robot, i: int) -> walking.SteeredWalker:
        """A walker that chooses its steps."""
        path = ("robots", i, "motion")
        biped, gait = self.legs_and_gait(scene, robot, path)
        with scene.at(*path):
            stabiliser = stabiliser_of(self.stabiliser)
            if stabiliser is None:
                raise ModelError(
                    "motion 'steered_walk' has no stabiliser; expected its gains, or true: where "
                    "steps lead depends on what is measured"
                )
            return walking.SteeredWalker(biped, gait, stabiliser)

    def schedule(self, sim: Simulator, robot: Robot) -> None:
        """Schedule the walker's commands at their times."""
        if self.steer:
            walker: Any = with_method(sim.drivers[robot.name].controller, "steer")
            script = SteeringScript(walker, self.steer)
            script.at(sim.time)
            sim.every(max(1, round(self.gait.tick_s / sim.dt)), script)


class SteeringScript:
    """Commands at their times, for ``sim.every``, until the robot is steered otherwise.

    Args:
        walker: with methods ``steer`` and ``stop``, and ``steering``: its current command.
        commands: at growing times.
    """

    def __init__(self, walker: Any, commands: Sequence[SteerKeys]) -> None:
        self._walker, self._commands = walker, tuple(commands)
        self._begin()

    def _begin(self) -> None:
        self._last, self._command, self._taken = -1, Steering(), False

    def at(self, time: float) -> None:
        """Command what is due at a time [s], if it differs from the last command; an earlier time
        starts again. Where the walker's command is not that of this script a user has taken it,
        and keeps it.
        """
        due = sum(command.at_s <= time + 1e-9 for command in self._commands) - 1
        if due < self._last:
            self._begin()
        elif due > self._last:
            self._taken = self._taken or self._walker.steering != self._command
        if due != self._last and not self._taken:
            self._command = self._steer(self._commands[due])
        self._last = due

    def _steer(self, command: SteerKeys) -> Steering:
        """Send a command to the walker; return what it does then."""
        if command.forward_m_s == command.sideways_m_s == command.turn_deg_s == 0.0:
            self._walker.stop()
        else:
            turn = radians(command.turn_deg_s)
            self._walker.steer(command.forward_m_s, command.sideways_m_s, turn)
        return self._walker.steering

    def __call__(self, data: Data) -> None:
        """Command what is due after a step."""
        self.at(data.time)
