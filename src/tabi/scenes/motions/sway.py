"""Shifting the weight from side to side."""

from __future__ import annotations

from math import radians

from tabi import control
from tabi.model.controllers.signals import ControlLaw
from tabi.model.robot import Robot
from tabi.scenes.keys.motions import MotionKeys
from tabi.scenes.keys.types import Bend, Hertz
from tabi.scenes.places import Places


class Sway(MotionKeys, frozen=True, kw_only=True, tag_field="kind", tag="sway"):
    """Shift the weight from side to side; for bipeds, from half-sitting.

    Attributes:
        angle_deg: how far hips and ankles roll
        frequency_hz: sways a second
    """

    angle_deg: Bend = 3.0
    frequency_hz: Hertz = 0.5

    def controller(self, scene: Places, robot: Robot, i: int) -> ControlLaw:
        """``control.sway``, with angles in radians."""
        with scene.at("robots", i, "motion"):
            return control.sway(robot, radians(self.angle_deg), self.frequency_hz)
