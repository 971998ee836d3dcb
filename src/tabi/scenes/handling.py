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

# default rate of controllers that read force sensors
RATE_HZ = 200.0
# the button that shuts grippers
GRIPS = 1


def reacts_to_hands(keys: RobotKeys) -> bool:
    """Whether a robot reacts to people's hands."""
    return bool(keys.complies) or keys.notices is not None or keys.grip_on_button


class Handled(Places, Protocol):
    """Builder of a scene with ``hands``: those of people, as its robots see them."""

    hands: Presence


def with_hands(
    builder: Handled, robot: Robot, keys: RobotKeys, i: int, does: ControlLaw
) -> ControlLaw:
    """Return a motion with compliant arms, jaws that grip, and a head that looks."""
    hands = builder.hands
    arms = _arms(builder, robot, keys, i)
    led = isinstance(keys.motion, SteeredWalkKeys) and keys.motion.led
    if led:
        with builder.at("robots", i, "motion", "led"):
            walker: Any = does
            does = walking.LedWalker(walker, *arms)
    if keys.grip_nm:
        with builder.at("robots", i, "grip_nm"):
            when = (lambda: hands.pressed(GRIPS)) if keys.grip_on_button else None
            hands.obeyed = hands.obeyed or keys.grip_on_button
            does = control.grip(robot, keys.grip_nm, motion=does, when=when)
    elif keys.grip_on_button:
        with builder.at("robots", i, "grip_on_button"):
            raise ModelError(
                "no jaw is named; expected grip_nm with the efforts of those that shut"
            )
    parts = [] if led else list(arms)
    if keys.notices is not None:
        parts.append(_head(builder, robot, keys, i, hands))
    return control.together(robot, does, *parts) if parts else does


def _arms(builder: Places, robot: Robot, keys: RobotKeys, i: int) -> list[Any]:
    arms = []
    for k, arm in enumerate(keys.complies):
        with builder.at("robots", i, "complies", k):
            law = (arm.mass_kg_m2, arm.damping_nms_rad)
            # jaws are shut by their own law
            joints = arm.joints
            if joints is None and keys.grip_nm:
                limb = control.compliance(robot, arm.body, *law).joints
                joints = tuple(name for name in limb if name not in keys.grip_nm)
            arms.append(control.compliance(robot, arm.body, *law, joints=joints))
    return arms


def _head(
    builder: Places, robot: Robot, robot_keys: RobotKeys, i: int, hands: Presence
) -> ControlLaw:
    keys = robot_keys.notices
    assert keys is not None
    with builder.at("robots", i, "notices"):
        if keys.always:
            touch: Any = lambda time, measurement: True  # noqa: E731
        else:
            touch = control.touch_detector(robot, keys.sensors, force=keys.force_n)
        return control.attend(robot, keys.head, lambda time: hands.probe, touch)
