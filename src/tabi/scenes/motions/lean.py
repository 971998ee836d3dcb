"""Leaning forwards."""

from __future__ import annotations

from math import radians

from tabi import control
from tabi.model.controllers.signals import ControlLaw
from tabi.model.robot import Robot
from tabi.scenes.keys.motions import MotionKeys
from tabi.scenes.keys.types import Bend, Duration
from tabi.scenes.places import Places


class Lean(MotionKeys, frozen=True, kw_only=True, tag_field="kind", tag="lean"):
    """Lean forwards in the ankles, and stay; for bipeds, from half-sitting.

    Attributes:
        angle_deg: how far
        duration_s: how long it takes
    """

    angle_deg: Bend = 5.0
    duration_s: Duration = 1.0

    def controller(self, scene: Places, robot: Robot, i: int) -> ControlLaw:
        """``control.lean``, with angles in radians."""
        with scene.at("robots", i, "motion"):
            return control.lean(robot, radians(self.angle_deg), self.duration_s)
