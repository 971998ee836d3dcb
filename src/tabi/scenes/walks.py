"""A robot that walks, from what a scene says: footsteps, gait, stabiliser."""

from __future__ import annotations

from dataclasses import replace
from math import radians

from tabi import walking
from tabi._errors import ModelError
from tabi.model.ground_height import ground_height
from tabi.model.robot import Robot
from tabi.model.world import World
from tabi.robots.bipeds import add_sensors, apart, fitted_pattern
from tabi.scenes.equipment import Places
from tabi.scenes.keys.walks import (
    Arc,
    Climb,
    GaitKeys,
    StabiliserKeys,
    SteeredWalkKeys,
    Steps,
    Stones,
    WalkKeys,
    Way,
)
from tabi.spatial.transform import Transform
from tabi.walking.plan.footsteps import other

# key of a file → attribute of a gait
GAIT = {
    "step_time_s": "step_time",
    "double_support_s": "double_support",
    "lift_m": "lift",
    "centre_height_m": "centre_height",
    "zmp_m": "zmp",
    "shift_s": "shift",
    "rest_s": "rest",
    "landing_speed_m_s": "landing_speed",
    "tick_s": "tick",
}
# likewise, of all stabilisers, and of each kind alone
STABILISER = {
    "zmp_damping_1_s": "zmp_damping",
    "foot_adjusting_1_s": "foot_adjusting",
    "swing": "swing",
    "course": "course",
    "margin_m": "margin",
    "smoothing_s": "smoothing",
}
KINDS = {
    "hirukawa": (walking.Stabiliser, {"inclination": "inclination"}),
    "dcm": (
        walking.DcmStabiliser,
        {"poles_1_s": "poles", "lag_s": "lag", "leak_1_s": "leak", "friction": "friction"},
    ),
}


def walker(builder: Places, world: World, robot: Robot, told: WalkKeys, i: int) -> walking.Walker:
    """The controller of a robot's walk."""
    path = ("robots", i, "motion")
    with builder.at(*path):
        biped = walking.Biped(robot)
    with builder.at(*path, "gait"):
        gait = gait_of(biped, told.gait)

    def way(gait: walking.Gait) -> list[walking.Footstep]:
        stance, steps = apart(biped), []
        for k, piece in enumerate(told.path):
            with builder.at(*path, "path", k):
                last = steps[-1].foot if steps else None
                more = footsteps(piece, stance, gait, last)
                if told.on_ground:
                    height = ground_height(world)
                    more = [
                        walking.on_ground([step], height, biped.outline[step.foot])[0]
                        for step in more
                    ]
                stance |= {step.foot: step.pose for step in more}
                steps += more
        return steps

    with builder.at(*path):
        fixed = [name for key, name in GAIT.items() if getattr(told.gait, key) is not None]
        pattern = fitted_pattern(biped, gait, way, fixed)
        return walking.Walker(pattern, stabiliser_of(told.stabiliser))


def prepare(robot: Robot, told: object) -> None:
    """Give a robot the sensors that the stabiliser of its walk needs, where it has none."""
    if isinstance(told, WalkKeys | SteeredWalkKeys) and told.stabiliser is not False:
        add_sensors(robot)


def footsteps(
    piece: Way, stance: dict[str, Transform], gait: walking.Gait, last: str | None
) -> list[walking.Footstep]:
    """The steps of one piece of a path.

    Args:
        stance: poses of the soles before it. last: foot of the step before; None at the start.
    """
    turn = None if last is None else other(last)
    if isinstance(piece, Stones):
        ground = min(X.p[2] for X in stance.values())
        return walking.stones(
            (stone.foot, (*(*stone.position_m, ground)[:3], radians(stone.yaw_deg)))
            for stone in piece.places
        )
    if isinstance(piece, Climb):
        first = piece.first or turn or "left"
        return walking.stairs(stance, piece.treads, piece.rise_m, piece.depth_m, first)
    length = gait.length if piece.length_m is None else piece.length_m
    if isinstance(piece, Arc):
        angle = radians(piece.angle_deg)
        return walking.arc(stance, piece.radius_m, angle, length, piece.first or turn)
    assert isinstance(piece, Steps)
    return walking.walk(
        stance,
        piece.count,
        length,
        piece.sideways_m,
        radians(piece.turn_deg),
        piece.rise_m,
        piece.first or turn,
    )


def gait_of(biped: walking.Biped, told: GaitKeys) -> walking.Gait:
    """The robot's own gait, with what a file says otherwise."""
    given = {name: getattr(told, key) for key, name in GAIT.items()}
    return replace(
        walking.gait_for(biped), **{n: value for n, value in given.items() if value is not None}
    )


def stabiliser_of(told: bool | StabiliserKeys) -> walking.StabiliserGains | None:
    """The stabiliser; None where there is none."""
    if isinstance(told, bool):
        return walking.Stabiliser() if told else None
    made, own = KINDS[told.kind]
    for kind, (_, keys) in KINDS.items():
        wrong = [key for key in keys if kind != told.kind and getattr(told, key) is not None]
        if wrong:
            raise ModelError(
                f"key {wrong[0]!r} belongs to a stabiliser of kind {kind}, and this one is "
                f"{told.kind}; expected some of {', '.join([*own, *STABILISER])}"
            )
    given = {name: getattr(told, key) for key, name in {**STABILISER, **own}.items()}
    return made(**{name: value for name, value in given.items() if value is not None})


def rate_of(told: object) -> float | None:
    """How often a motion is asked for commands [Hz]; None: in every step."""
    return 1.0 / told.gait.tick_s if isinstance(told, WalkKeys | SteeredWalkKeys) else None
