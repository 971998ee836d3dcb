"""Squats of a biped."""

from __future__ import annotations

from math import radians

from tabi import control
from tabi.model.controllers.signals import ControlLaw
from tabi.model.robot import Robot
from tabi.scenes.keys.motions import MotionKeys
from tabi.scenes.keys.types import Bend, Hertz
from tabi.scenes.places import Places


class Squat(MotionKeys, frozen=True, kw_only=True, tag_field="kind", tag="squat"):
    """Bend the knees and stretch them, again and again; for bipeds, from half-sitting.

    Attributes:
        depth_deg: half of how far the knees bend
        frequency_hz: squats a second
    """

    depth_deg: Bend = 17.0
    frequency_hz: Hertz = 0.5

    def controller(self, scene: Places, robot: Robot, i: int) -> ControlLaw:
        """``control.squat``, with angles in radians."""
        with scene.at("robots", i, "motion"):
            return control.squat(robot, radians(self.depth_deg), self.frequency_hz)
