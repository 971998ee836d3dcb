"""Keys of a scene file about people's hands, and about robots that are touched; see ``things``
for the rules.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from tabi.scenes.keys.types import ZERO, Friction, Keys, Length, Moment, Turn, Turns, Vector, Word

Positive = Annotated[float, Meta(gt=0.0, le=1e6)]
Gain = Annotated[float, Meta(ge=0.0, le=1e6)]


class HandFrame(Keys, frozen=True, kw_only=True):
    """A hand at some time, for --device scripted.

    Attributes:
        at_s: when
        position_m: where it is, in the world
        rotation_deg: how it is turned, roll, pitch, yaw
        holds: whether it presses the button that holds on to a body, until the next frame
        grips: whether it presses the button that shuts the robot's grippers, until the next frame
    """

    at_s: Moment
    position_m: Vector
    rotation_deg: Turns = ZERO
    holds: bool = True
    grips: bool = False


class HandKeys(Keys, frozen=True, kw_only=True):
    """Hand of a person with a haptic device.

    Attributes:
        mode: attach holds on to a body while a button is pressed; touch is a ball that cannot enter
            bodies
        body: that it holds on to, of a robot or an object; default: the nearest one
        position_m: where the middle of the device is in the world
        yaw_deg: how the device is turned about the vertical
        scale: metres of the world for one of the device
        stiffness_n_m: of the spring between the hand and what it holds or touches
        turn_stiffness_nm_rad: of the spring that turns what it holds; 0 leaves it free to turn
        radius_m: of the ball that touches
        friction: of the ball that touches
        frames: what a scripted hand does, at growing times
        plays: whether it does so in every run, also without --device scripted
    """

    mode: Literal["attach", "touch"] = "attach"
    body: Word | None = None
    position_m: Vector = (0.5, 0.0, 1.0)
    yaw_deg: Turn = 0.0
    scale: Positive = 3.0
    stiffness_n_m: Positive = 300.0
    turn_stiffness_nm_rad: Gain = 0.0
    radius_m: Length = 0.005
    friction: Friction = 0.0
    frames: Annotated[tuple[HandFrame, ...], Meta(max_length=10_000)] = ()
    plays: bool = False


class ComplyKeys(Keys, frozen=True, kw_only=True):
    """Compliant arm that gives way to what pulls its hand, by its wrist's force sensor, and stays
    where it was pulled to.

    Attributes:
        body: the hand
        mass_kg_m2: that each joint shows
        damping_nms_rad: that each joint shows
        joints: that give way; default: those of the arm
    """

    body: Word
    mass_kg_m2: Positive = 0.3
    damping_nms_rad: Positive = 3.0
    joints: tuple[Word, ...] | None = None


class NoticeKeys(Keys, frozen=True, kw_only=True):
    """Detection of touches by a robot's force sensors; it looks at the hand.

    Attributes:
        head: body that turns to the hand
        force_n: from which on it notices
        sensors: that detect touches; default: all force sensors
        always: whether it looks at the hand without being touched
    """

    head: Word = "head"
    force_n: Positive = 8.0
    sensors: tuple[Word, ...] | None = None
    always: bool = False
