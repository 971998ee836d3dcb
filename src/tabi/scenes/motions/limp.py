"""Falling down: no motor does anything."""

from __future__ import annotations

from typing import ClassVar

from tabi.model.controllers.signals import Command, ControlLaw
from tabi.model.robot import Robot
from tabi.scenes.keys.motions import MotionKeys
from tabi.scenes.places import Places


class Limp(MotionKeys, frozen=True, kw_only=True, tag_field="kind", tag="limp"):
    """No motor does anything."""

    powered: ClassVar[bool] = False

    def controller(self, scene: Places, robot: Robot, i: int) -> ControlLaw:
        """No effort, and no gains."""
        still = Command(effort=0.0, kp=0.0, kd=0.0)
        return lambda time, measurement: still
