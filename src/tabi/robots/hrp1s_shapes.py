"""Visible and colliding shapes of HRP-1S: plain boxes and capsules in the frames of its bodies,
right side and middle.

All sizes are ESTIMATED, made to fit the joints and the height; nothing of the maker's is public.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from tabi.model.shape import Material, Shape
from tabi.robots import armour
from tabi.robots.armour import Color, seen

# friction: ESTIMATED, as HRP-2's
SOLE = Material("hrp1s sole", friction=0.983)
HAND = Material("hrp1s hand", friction=0.5)
COVER = Material("hrp1s cover", friction=0.4)

WHITE: Color = (0.86, 0.87, 0.88, 1.0)
GREY: Color = (0.45, 0.47, 0.50, 1.0)
DARK: Color = (0.13, 0.14, 0.16, 1.0)

box = functools.partial(armour.box, material=COVER, color=WHITE)
capsule = functools.partial(armour.capsule, material=COVER, color=WHITE)
cylinder = functools.partial(armour.cylinder, material=COVER, color=DARK)

# bounds in x, y, z [m] of a hand's fingers, from their joint
FINGERS = ((-0.045, 0.045), (-0.012, 0.012), (-0.075, -0.004))


def shapes_of(body: str) -> list[Shape]:
    """Shapes of a body of the right side or the middle, in its own frame;
    new ones at every call.
    """
    return SHAPES[body]()


# ---- middle -------------------------------------------------------------------------------------


def _trunk() -> list[Shape]:
    hips = box((-0.125, 0.115), (-0.150, 0.150), (0.050, 0.185), color=GREY)
    chest = box((-0.140, 0.150), (-0.190, 0.190), (0.185, 0.640))
    backpack = box((-0.310, -0.140), (-0.180, 0.180), (0.240, 0.680))
    panel = seen(box((0.145, 0.156), (-0.110, 0.110), (0.380, 0.560), color=DARK))
    return [hips, chest, backpack, panel]


def _neck() -> list[Shape]:
    return [seen(cylinder("z", 0.045, 0.070, (0.0, 0.0, -0.005)))]


def _head() -> list[Shape]:
    # the head ends 1.600 m above the soles, where HRP-2's, enlarged, ends
    helmet = box((-0.105, 0.095), (-0.085, 0.085), (0.021, 0.187 * 1.600 / 1.540))
    visor = seen(box((0.060, 0.102), (-0.070, 0.070), (0.055, 0.145), color=DARK))
    return [helmet, visor]


# ---- right arm ----------------------------------------------------------------------------------


def _shoulder() -> list[Shape]:
    return [seen(cylinder("y", 0.058, 0.110, (0.0, 0.070, 0.0)))]


def _shoulder_yoke() -> list[Shape]:
    return [armour.ball(0.070, (0.0, 0.0, 0.0), COVER, WHITE)]


def _upper_arm() -> list[Shape]:
    return [capsule(0.048, (0.0, 0.0, -0.075), (0.0, 0.0, -0.220))]


def _forearm() -> list[Shape]:
    hinge = seen(cylinder("y", 0.050, 0.108, (0.0, 0.0, 0.0)))
    return [capsule(0.044, (0.0, 0.0, -0.012), (0.0, 0.0, -0.205)), hinge]


def _wrist() -> list[Shape]:
    return [seen(cylinder("z", 0.032, 0.060, (0.0, 0.0, 0.020)))]


def _wrist_yoke() -> list[Shape]:
    return [seen(cylinder("y", 0.028, 0.064, (0.0, 0.0, 0.0), color=GREY))]


def _hand() -> list[Shape]:
    return [box((-0.045, 0.045), (-0.030, 0.030), (-0.115, -0.030), material=HAND, color=DARK)]


def _fingers() -> list[Shape]:
    return [box(*FINGERS, material=HAND, color=DARK)]


# ---- right leg ----------------------------------------------------------------------------------


def _hip() -> list[Shape]:
    return [seen(cylinder("z", 0.055, 0.095, (0.0, 0.0, 0.015)))]


def _hip_yoke() -> list[Shape]:
    return [seen(cylinder("y", 0.044, 0.075, (0.0, -0.045, 0.0), color=GREY))]


def _thigh() -> list[Shape]:
    drum = seen(cylinder("y", 0.068, 0.092, (0.0, -0.083, 0.0), color=GREY))
    return [capsule(0.054, (0.0, -0.077, -0.042), (0.0, -0.066, -0.272)), drum]


def _shank() -> list[Shape]:
    hinge = seen(cylinder("y", 0.054, 0.116, (0.0, -0.064, 0.0)))
    return [capsule(0.048, (0.0, -0.063, -0.032), (0.002, -0.044, -0.228)), hinge]


def _ankle() -> list[Shape]:
    return [seen(cylinder("y", 0.036, 0.090, (0.0, 0.0, 0.0), color=GREY))]


def _foot() -> list[Shape]:
    # its bottom is the sole: HRP-2's, enlarged
    k = 1.600 / 1.540
    sole = box(
        (-0.105 * k, 0.135 * k), (-0.079 * k, 0.059 * k), (-0.105 * k, -0.088), material=SOLE
    )
    upper = box((-0.100, 0.110), (-0.072, 0.052), (-0.088, -0.045))
    return [sole, upper]


SHAPES: dict[str, Callable[[], list[Shape]]] = {
    "trunk": _trunk,
    "neck": _neck,
    "head": _head,
    "right_shoulder": _shoulder,
    "right_shoulder_yoke": _shoulder_yoke,
    "right_upper_arm": _upper_arm,
    "right_forearm": _forearm,
    "right_wrist": _wrist,
    "right_wrist_yoke": _wrist_yoke,
    "right_hand": _hand,
    "right_fingers": _fingers,
    "right_hip": _hip,
    "right_hip_yoke": _hip_yoke,
    "right_thigh": _thigh,
    "right_shank": _shank,
    "right_ankle": _ankle,
    "right_foot": _foot,
}
