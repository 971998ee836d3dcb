"""Base of all motions of a scene file: keys, and the controller that they become."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import field

from tabi.scenes.keys.types import Angles, Keys, Slides, Word

if TYPE_CHECKING:
    from tabi.model.controllers.signals import ControlLaw
    from tabi.model.robot import Robot
    from tabi.scenes.places import Places
    from tabi.simulation.simulator import Simulator


class Posture(Keys, frozen=True, kw_only=True):
    """A pose, and joints that differ from it.

    Attributes:
        pose: one that the robot knows, or 'zero' for all joints at zero;
            default: half-sitting, where the robot can
        joints_deg: joints that turn, where they differ from the pose
        joints_m: joints that slide, where they differ from the pose
    """

    pose: Word | None = None
    joints_deg: Angles = field(default_factory=dict)
    joints_m: Slides = field(default_factory=dict)


class MotionKeys(Keys, frozen=True, kw_only=True):
    """Motion of a robot; one file for each in ``scenes.motions``."""

    # the key of a list of things with growing times, at_s
    timed: ClassVar[str] = ""
    # whether motors do anything, and whether the pose of the start is all that they hold
    powered: ClassVar[bool] = True
    holds: ClassVar[bool] = False

    @property
    def tick_s(self) -> float | None:
        """Time between two commands [s]; None for a command in every step."""
        return None

    def prepare(self, robot: Robot) -> None:
        """Give the robot what the motion needs, as sensors, where it has none."""

    def controller(self, scene: Places, robot: Robot, i: int) -> ControlLaw:
        """The controller of this motion, for robot number i of the scene."""
        raise NotImplementedError

    def schedule(self, sim: Simulator, robot: Robot) -> None:
        """Plan what happens to the controller during the run."""
