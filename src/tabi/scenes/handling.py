"""Robots that are touched, led and looked in the eye, from what a scene says."""

from __future__ import annotations

from typing import Any, Protocol

from tabi import control, walking
from tabi._errors import ModelError
from tabi.interaction.presence import Presence
from tabi.model.controllers.signals import ControlLaw
from tabi.model.robot import Robot
from tabi.scenes.keys.robots import RobotKeys
from tabi.scenes.motions.steered_walk import SteeredWalkKeys
from tabi.scenes.places import Places

# how often controllers that feel are asked, unless the motion says [Hz]
RATE = 200.0
# the button that shuts grippers
GRIPS = 1


def feels(told: RobotKeys) -> bool:
    """Whether a robot does something about hands."""
    return bool(told.complies) or told.notices is not None or told.grip_on_button


class Handled(Places, Protocol):
    """What is known of a scene: ``hands``, of people, as its robots see them."""

    hands: Presence


def answering(
    builder: Handled, robot: Robot, told: RobotKeys, i: int, does: ControlLaw
) -> ControlLaw:
    """A motion with arms that give way, jaws that grip, and a head that looks."""
    hands = builder.hands
    arms = _arms(builder, robot, told, i)
    led = isinstance(told.motion, SteeredWalkKeys) and told.motion.led
    if led:
        with builder.at("robots", i, "motion", "led"):
            walker: Any = does
            does = walking.LedWalker(walker, *arms)
    if told.grip_nm:
        with builder.at("robots", i, "grip_nm"):
            when = (lambda: hands.pressed(GRIPS)) if told.grip_on_button else None
            hands.obeyed = hands.obeyed or told.grip_on_button
            does = control.grip(robot, told.grip_nm, motion=does, when=when)
    elif told.grip_on_button:
        with builder.at("robots", i, "grip_on_button"):
            raise ModelError(
                "no jaw is named; expected grip_nm with the efforts of those that shut"
            )
    parts = [] if led else list(arms)
    if told.notices is not None:
        parts.append(_head(builder, robot, told, i, hands))
    return control.together(robot, does, *parts) if parts else does


def _arms(builder: Places, robot: Robot, told: RobotKeys, i: int) -> list[Any]:
    found = []
    for k, arm in enumerate(told.complies):
        with builder.at("robots", i, "complies", k):
            law = (arm.mass_kg_m2, arm.damping_nms_rad)
            # jaws are shut by their own law
            joints = arm.joints
            if joints is None and told.grip_nm:
                limb = control.compliance(robot, arm.body, *law).joints
                joints = tuple(name for name in limb if name not in told.grip_nm)
            found.append(control.compliance(robot, arm.body, *law, joints=joints))
    return found


def _head(builder: Places, robot: Robot, told: RobotKeys, i: int, hands: Presence) -> ControlLaw:
    keys = told.notices
    assert keys is not None
    with builder.at("robots", i, "notices"):
        if keys.always:
            touch: Any = lambda time, measurement: True  # noqa: E731
        else:
            touch = control.notices(robot, keys.sensors, force=keys.force_n)
        return control.attend(robot, keys.head, lambda time: hands.probe, touch)
