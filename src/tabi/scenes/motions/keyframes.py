"""Going from pose to pose."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from tabi import control
from tabi.model.controllers.signals import ControlLaw
from tabi.model.robot import Robot
from tabi.scenes import poses
from tabi.scenes.keys.motions import MotionKeys, Posture
from tabi.scenes.keys.types import Moment
from tabi.scenes.places import Places


class Keyframe(Posture, frozen=True, kw_only=True):
    """A pose at a time.

    Attributes:
        at_s: when
    """

    at_s: Moment


class Keyframes(MotionKeys, frozen=True, kw_only=True, tag_field="kind", tag="keyframes"):
    """Go from pose to pose, at rest in each.

    Attributes:
        frames: poses at growing times
        passing: whether joints pass through the poses between the first and the last on a smooth
            curve instead of coming to rest in each
    """

    frames: Annotated[tuple[Keyframe, ...], Meta(min_length=2, max_length=1000)]
    passing: bool = False

    timed: ClassVar[str] = "frames"

    def controller(self, scene: Places, robot: Robot, i: int) -> ControlLaw:
        """``control.keyframes`` through the poses."""
        path = ("robots", i, "motion", "frames")
        poses_at = [
            (frame.at_s, poses.goal(scene, robot, frame, (*path, k)))
            for k, frame in enumerate(self.frames)
        ]
        return control.keyframes(poses_at, self.passing)
