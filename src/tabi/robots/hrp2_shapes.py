"""Visible and colliding shapes of HRP-2: in the frames of its bodies,
right side and middle.

Contacts see one or two boxes, capsules or balls per body; armour plates are only drawn, close
around them. All sizes are ours, made to fit the joints, the places of the masses and the height:
the maker's meshes are not public.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from tabi.model.shape import Material, Shape
from tabi.robots import armour
from tabi.robots.armour import Color, invisible, pair, seen

# friction: the sole's is the mean of 50 pulls on a floor (Chardonnet et al. 2012); hand and covers
# are ESTIMATED, plastic on common things. A pillar gave 0.1 under the hand there: that belongs to
# the pair, see World.set_pair.
SOLE = Material("hrp2 sole", friction=0.983)
HAND = Material("hrp2 hand", friction=0.5)
COVER = Material("hrp2 cover", friction=0.4)

WHITE: Color = (0.80, 0.82, 0.85, 1.0)
SILVER: Color = (0.42, 0.45, 0.50, 1.0)
DARK: Color = (0.14, 0.15, 0.17, 1.0)
BLUE: Color = (0.13, 0.20, 0.44, 1.0)
VISOR: Color = (0.05, 0.06, 0.08, 1.0)
GLOW: Color = (0.20, 0.80, 1.0, 1.0)

box = functools.partial(armour.box, material=COVER, color=DARK)
ball = functools.partial(armour.ball, material=COVER)
cylinder = functools.partial(armour.cylinder, material=COVER)
capsule = functools.partial(armour.capsule, material=COVER)


def plate(color: Color, *sections: tuple[float, ...]) -> Shape:
    """Armour from rows (z, x from, x to, y from, y to, corner radius) [m], lowest first."""
    return armour.plate(sections, COVER, color)


def shapes_of(body: str) -> list[Shape]:
    """Shapes of a body of the right side or the middle, in its own frame;
    new ones at every call.
    """
    return SHAPES[body]()


# ---- middle -------------------------------------------------------------------------------------


def _waist() -> list[Shape]:
    skirt = plate(
        WHITE,
        (0.030, -0.100, 0.090, -0.120, 0.120, 0.030),
        (0.060, -0.122, 0.112, -0.148, 0.148, 0.035),
        (0.085, -0.126, 0.116, -0.152, 0.152, 0.035),
        (0.150, -0.120, 0.106, -0.138, 0.138, 0.030),
        (0.175, -0.108, 0.092, -0.120, 0.120, 0.030),
    )
    belly = plate(
        SILVER,
        (0.165, -0.105, 0.088, -0.100, 0.100, 0.030),
        (0.215, -0.112, 0.112, -0.120, 0.120, 0.035),
        (0.300, -0.108, 0.116, -0.120, 0.120, 0.035),
        (0.322, -0.098, 0.106, -0.110, 0.110, 0.030),
    )
    buckle = plate(
        BLUE, (0.080, 0.09, 0.124, -0.050, 0.050, 0.008), (0.140, 0.09, 0.116, -0.060, 0.060, 0.008)
    )
    panel = plate(
        DARK, (0.215, 0.09, 0.118, -0.060, 0.060, 0.008), (0.290, 0.09, 0.121, -0.056, 0.056, 0.008)
    )
    battery = plate(
        DARK,
        (0.095, -0.150, -0.100, -0.085, 0.085, 0.012),
        (0.115, -0.168, -0.100, -0.095, 0.095, 0.018),
        (0.280, -0.158, -0.090, -0.095, 0.095, 0.018),
    )
    touch = [
        invisible(box((-0.118, 0.108), (-0.142, 0.142), (0.045, 0.170))),
        invisible(box((-0.155, 0.112), (-0.112, 0.112), (0.170, 0.310))),
    ]
    return [*touch, skirt, belly, buckle, panel, battery]


def _spine() -> list[Shape]:
    return [
        seen(cylinder("z", 0.085, 0.075, (0.0, 0.0, -0.015), color=DARK)),
        seen(cylinder("y", 0.045, 0.20, (0.0, 0.0, 0.0), color=SILVER)),
    ]


def _chest() -> list[Shape]:
    trunk = plate(
        WHITE,
        (0.000, -0.118, 0.062, -0.105, 0.105, 0.030),
        (0.035, -0.140, 0.088, -0.138, 0.138, 0.040),
        (0.095, -0.165, 0.106, -0.176, 0.176, 0.045),
        (0.200, -0.166, 0.106, -0.190, 0.190, 0.050),
        (0.245, -0.154, 0.090, -0.178, 0.178, 0.050),
        (0.285, -0.125, 0.045, -0.130, 0.130, 0.045),
    )
    breast = plate(
        BLUE,
        (0.080, 0.05, 0.112, 0.008, 0.118, 0.012),
        (0.105, 0.05, 0.130, 0.008, 0.146, 0.018),
        (0.200, 0.05, 0.128, 0.008, 0.154, 0.022),
        (0.232, 0.04, 0.104, 0.008, 0.136, 0.018),
    )
    ribs = plate(
        DARK, (0.020, 0.04, 0.090, -0.070, 0.070, 0.010), (0.075, 0.04, 0.110, -0.100, 0.100, 0.010)
    )
    back = plate(
        SILVER,
        (0.055, -0.172, -0.140, -0.095, 0.095, 0.010),
        (0.080, -0.182, -0.150, -0.115, 0.115, 0.012),
        (0.205, -0.180, -0.150, -0.115, 0.115, 0.012),
        (0.230, -0.168, -0.140, -0.100, 0.100, 0.010),
    )
    collar = seen(cylinder("z", 0.075, 0.030, (-0.012, 0.0, 0.284), color=DARK))
    socket = seen(cylinder("x", 0.031, 0.026, (0.119, 0.0, 0.170), color=DARK))
    light = seen(cylinder("x", 0.021, 0.026, (0.122, 0.0, 0.170), color=GLOW))
    touch = [
        invisible(box((-0.165, 0.110), (-0.175, 0.175), (0.080, 0.255))),
        invisible(box((-0.130, 0.085), (-0.125, 0.125), (0.010, 0.080))),
    ]
    return [*touch, trunk, *pair(breast), ribs, back, collar, socket, light]


def _neck() -> list[Shape]:
    return [seen(cylinder("z", 0.042, 0.070, (0.0, 0.0, -0.005), color=DARK))]


def _head() -> list[Shape]:
    helmet = plate(
        WHITE,
        (0.012, -0.070, 0.055, -0.048, 0.048, 0.025),
        (0.035, -0.088, 0.078, -0.066, 0.066, 0.032),
        (0.070, -0.098, 0.090, -0.075, 0.075, 0.036),
        (0.120, -0.100, 0.090, -0.077, 0.077, 0.038),
        (0.155, -0.090, 0.070, -0.068, 0.068, 0.036),
        (0.177, -0.072, 0.045, -0.052, 0.052, 0.032),
        (0.187, -0.048, 0.018, -0.032, 0.032, 0.025),
    )
    visor = plate(
        VISOR,
        (0.068, 0.03, 0.096, -0.066, 0.066, 0.028),
        (0.080, 0.03, 0.103, -0.074, 0.074, 0.032),
        (0.118, 0.03, 0.102, -0.074, 0.074, 0.032),
        (0.132, 0.03, 0.090, -0.066, 0.066, 0.028),
    )
    chin = plate(
        SILVER,
        (0.008, 0.03, 0.070, -0.030, 0.030, 0.012),
        (0.050, 0.03, 0.094, -0.042, 0.042, 0.015),
    )
    crest = plate(
        BLUE,
        (0.120, -0.060, 0.098, -0.012, 0.012, 0.004),
        (0.160, -0.060, 0.078, -0.011, 0.011, 0.004),
        (0.187, -0.050, 0.035, -0.008, 0.008, 0.003),
    )
    eye = seen(ball(0.012, (0.096, 0.030, 0.100), color=GLOW))
    ear = seen(cylinder("y", 0.034, 0.024, (-0.005, 0.078, 0.085), color=BLUE))
    cap = seen(cylinder("y", 0.019, 0.032, (-0.005, 0.080, 0.085), color=SILVER))
    # the head ends 1.540 m above the soles: 0.105 + 0.600 + 0.3507 + 0.2973 + 0.187
    touch = invisible(box((-0.095, 0.090), (-0.074, 0.074), (0.020, 0.187)))
    return [touch, helmet, visor, chin, crest, *pair(eye), *pair(ear), *pair(cap)]


# ---- right arm ----------------------------------------------------------------------------------


def _shoulder() -> list[Shape]:
    return [
        seen(cylinder("y", 0.056, 0.10, (0.0, 0.075, 0.0), color=DARK)),
        seen(cylinder("y", 0.066, 0.03, (0.0, 0.075, 0.0), color=SILVER)),
    ]


def _shoulder_yoke() -> list[Shape]:
    pad = plate(
        WHITE,
        (-0.040, -0.062, 0.062, -0.078, 0.000, 0.030),
        (-0.010, -0.074, 0.074, -0.086, 0.026, 0.036),
        (0.030, -0.078, 0.078, -0.084, 0.038, 0.040),
        (0.065, -0.066, 0.066, -0.064, 0.040, 0.036),
        (0.088, -0.040, 0.040, -0.030, 0.030, 0.025),
    )
    stripe = plate(
        BLUE,
        (-0.022, -0.042, 0.042, -0.092, -0.060, 0.010),
        (0.025, -0.046, 0.046, -0.092, -0.060, 0.010),
        (0.052, -0.034, 0.034, -0.080, -0.050, 0.010),
    )
    return [ball(0.064, (0.0, 0.0, 0.0), color=DARK), pad, stripe]


def _upper_arm() -> list[Shape]:
    sleeve = plate(
        WHITE,
        (-0.205, -0.043, 0.043, -0.045, 0.043, 0.024),
        (-0.190, -0.051, 0.051, -0.052, 0.050, 0.028),
        (-0.105, -0.052, 0.052, -0.054, 0.051, 0.028),
        (-0.075, -0.043, 0.043, -0.046, 0.042, 0.024),
    )
    return [capsule(0.040, (0.0, 0.0, -0.070), (0.0, 0.0, -0.220), color=DARK), sleeve]


def _forearm() -> list[Shape]:
    guard = plate(
        WHITE,
        (-0.158, -0.040, 0.040, -0.042, 0.040, 0.022),
        (-0.135, -0.048, 0.050, -0.052, 0.048, 0.026),
        (-0.065, -0.052, 0.056, -0.055, 0.051, 0.028),
        (-0.035, -0.040, 0.045, -0.046, 0.042, 0.022),
    )
    stripe = plate(
        BLUE,
        (-0.130, -0.020, 0.026, -0.058, -0.040, 0.007),
        (-0.062, -0.024, 0.032, -0.061, -0.040, 0.007),
    )
    hinge = seen(cylinder("y", 0.046, 0.104, (0.0, 0.0, 0.0), color=SILVER))
    bone = capsule(0.036, (0.0, 0.0, -0.010), (0.0, 0.0, -0.200), color=DARK)
    return [bone, hinge, guard, stripe]


def _wrist() -> list[Shape]:
    cuff = plate(
        WHITE,
        (0.016, -0.033, 0.033, -0.033, 0.033, 0.018),
        (0.032, -0.042, 0.042, -0.042, 0.042, 0.022),
        (0.076, -0.044, 0.044, -0.044, 0.044, 0.022),
        (0.086, -0.040, 0.040, -0.040, 0.040, 0.020),
    )
    return [cuff, seen(cylinder("z", 0.026, 0.030, (0.0, 0.0, 0.010), color=DARK))]


def _wrist_yoke() -> list[Shape]:
    return [seen(cylinder("y", 0.026, 0.060, (0.0, 0.0, 0.0), color=SILVER))]


def _hand() -> list[Shape]:
    palm = plate(
        WHITE,
        (-0.120, -0.042, 0.042, -0.024, 0.020, 0.012),
        (-0.105, -0.046, 0.046, -0.028, 0.023, 0.015),
        (-0.050, -0.040, 0.040, -0.027, 0.023, 0.015),
        (-0.020, -0.027, 0.027, -0.022, 0.020, 0.012),
    )
    back = plate(
        BLUE,
        (-0.112, -0.033, 0.033, -0.032, -0.020, 0.005),
        (-0.062, -0.028, 0.028, -0.031, -0.020, 0.005),
    )
    fingers = [
        seen(capsule(0.0115, (x, -0.002, -0.115), (1.05 * x, 0.012, -0.172), color=DARK))
        for x in (-0.031, 0.0, 0.031)
    ]
    thumb = seen(capsule(0.0115, (0.030, 0.018, -0.062), (0.028, 0.044, -0.115), color=DARK))
    touch = invisible(box((-0.044, 0.044), (-0.028, 0.028), (-0.184, -0.030), material=HAND))
    return [touch, palm, back, *fingers, thumb]


# ---- right leg ----------------------------------------------------------------------------------


def _hip() -> list[Shape]:
    return [seen(cylinder("z", 0.052, 0.090, (0.0, 0.0, 0.015), color=DARK))]


def _hip_yoke() -> list[Shape]:
    return [
        seen(cylinder("x", 0.044, 0.11, (0.0, -0.004, -0.004), color=DARK)),
        seen(cylinder("y", 0.040, 0.07, (0.0, -0.045, 0.0), color=SILVER)),
    ]


def _thigh() -> list[Shape]:
    drum = seen(cylinder("y", 0.066, 0.086, (0.0, -0.080, 0.0), color=SILVER))
    cap = seen(cylinder("y", 0.046, 0.100, (0.0, -0.080, 0.0), color=BLUE))
    shell = plate(
        WHITE,
        (-0.272, -0.044, 0.046, -0.104, -0.020, 0.026),
        (-0.245, -0.056, 0.060, -0.113, -0.013, 0.032),
        (-0.110, -0.062, 0.070, -0.121, -0.020, 0.036),
        (-0.065, -0.058, 0.064, -0.119, -0.030, 0.034),
        (-0.035, -0.045, 0.048, -0.110, -0.046, 0.028),
    )
    stripe = plate(
        SILVER,
        (-0.235, 0.04, 0.066, -0.083, -0.043, 0.006),
        (-0.115, 0.04, 0.075, -0.091, -0.051, 0.006),
    )
    bone = capsule(0.046, (0.0, -0.074, -0.040), (0.0, -0.064, -0.265), color=DARK)
    return [bone, drum, cap, shell, stripe]


def _shank() -> list[Shape]:
    hinge = seen(cylinder("y", 0.050, 0.108, (0.0, -0.062, 0.0), color=DARK))
    cap = seen(cylinder("y", 0.036, 0.120, (0.0, -0.062, 0.0), color=SILVER))
    knee = plate(
        BLUE,
        (-0.075, 0.025, 0.066, -0.092, -0.030, 0.016),
        (-0.025, 0.025, 0.082, -0.105, -0.019, 0.022),
        (0.020, 0.025, 0.078, -0.102, -0.022, 0.022),
        (0.052, 0.025, 0.054, -0.088, -0.036, 0.014),
    )
    shin = plate(
        WHITE,
        (-0.256, -0.040, 0.044, -0.078, -0.006, 0.024),
        (-0.232, -0.052, 0.058, -0.090, 0.006, 0.030),
        (-0.120, -0.068, 0.070, -0.108, -0.008, 0.036),
        (-0.075, -0.064, 0.064, -0.108, -0.014, 0.034),
        (-0.045, -0.050, 0.048, -0.098, -0.024, 0.028),
    )
    calf = plate(
        SILVER,
        (-0.195, -0.070, -0.030, -0.076, -0.018, 0.012),
        (-0.125, -0.082, -0.030, -0.088, -0.024, 0.016),
        (-0.075, -0.074, -0.030, -0.086, -0.032, 0.014),
    )
    bone = capsule(0.042, (0.0, -0.061, -0.030), (0.002, -0.042, -0.225), color=DARK)
    return [bone, hinge, cap, knee, shin, calf]


def _ankle() -> list[Shape]:
    return [
        seen(cylinder("y", 0.035, 0.086, (0.0, 0.0, 0.0), color=SILVER)),
        seen(cylinder("z", 0.030, 0.070, (0.0, 0.0, 0.030), color=DARK)),
    ]


def _foot() -> list[Shape]:
    sole = box((-0.105, 0.135), (-0.079, 0.059), (-0.105, -0.085), material=SOLE)
    upper = plate(
        WHITE,
        (-0.086, -0.101, 0.131, -0.075, 0.055, 0.018),
        (-0.070, -0.103, 0.126, -0.075, 0.055, 0.026),
        (-0.050, -0.096, 0.085, -0.066, 0.046, 0.030),
        (-0.025, -0.068, 0.036, -0.050, 0.030, 0.026),
    )
    toe = plate(
        BLUE,
        (-0.084, 0.085, 0.1345, -0.064, 0.044, 0.018),
        (-0.068, 0.085, 0.130, -0.064, 0.044, 0.020),
        (-0.056, 0.085, 0.104, -0.058, 0.038, 0.008),
    )
    bearing = seen(cylinder("x", 0.028, 0.13, (-0.008, -0.004, -0.006), color=DARK))
    touch = invisible(box((-0.098, 0.105), (-0.070, 0.050), (-0.085, -0.045)))
    return [sole, touch, upper, toe, bearing]


SHAPES: dict[str, Callable[[], list[Shape]]] = {
    "waist": _waist,
    "spine": _spine,
    "chest": _chest,
    "neck": _neck,
    "head": _head,
    "right_shoulder": _shoulder,
    "right_shoulder_yoke": _shoulder_yoke,
    "right_upper_arm": _upper_arm,
    "right_forearm": _forearm,
    "right_wrist": _wrist,
    "right_wrist_yoke": _wrist_yoke,
    "right_hand": _hand,
    "right_hip": _hip,
    "right_hip_yoke": _hip_yoke,
    "right_thigh": _thigh,
    "right_shank": _shank,
    "right_ankle": _ankle,
    "right_foot": _foot,
}
