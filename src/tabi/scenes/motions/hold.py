"""Staying in the pose of the start."""

from __future__ import annotations

from typing import ClassVar

from tabi import control
from tabi.model.controllers.signals import ControlLaw
from tabi.model.robot import Robot
from tabi.scenes import poses
from tabi.scenes.keys.motions import MotionKeys
from tabi.scenes.places import Places


class Hold(MotionKeys, frozen=True, kw_only=True, tag_field="kind", tag="hold"):
    """Stay in the pose."""

    holds: ClassVar[bool] = True

    def controller(self, scene: Places, robot: Robot, i: int) -> ControlLaw:
        """The pose, without passive joints: it may put them somewhere to start from, but nothing
        holds them there.
        """
        pose = poses.pose(scene, robot, scene.contents.robots[i], ("robots", i))
        return control.hold({n: q for n, q in pose.items() if not robot.joint(n).passive})
