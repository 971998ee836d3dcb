"""Preparation of a biped from a file to walk, where its file leaves something out: every addition
is a note of the robot.

Sensors of a stabiliser are an IMU on the base and a force sensor in each foot. Legs that cannot
make the steps of ``gait_for`` get smaller ones: the first of

    length and lift × 1, ¾, ½ and centre of mass as it stands, then 3 % and 6 % lower            (1)
that inverse kinematics, travel and motors allow; feet that stand inside of each other's outlines go
as far apart as they need to pass.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tabi._errors import ModelError
from tabi.model.feet import legs
from tabi.model.robot import Robot
from tabi.robots.files import load
from tabi.robots.known import complete
from tabi.spatial.transform import Transform, translation
from tabi.walking import Biped, Footstep, Gait, WalkingPattern, walking_pattern
from tabi.walking.plan.footsteps import SIDES

# (1)
SHARES, HEIGHTS = (1.0, 0.75, 0.5), (1.0, 0.97, 0.94)
# smallest distance of soles that pass each other
MIN_SOLE_GAP_M = 0.01
# a leg that is longer than this share of thigh and shank together is stretched
MAX_LEG_EXTENSION = 0.99


def load_biped(path: str | Path, **options: Any) -> Robot:
    """Load a robot from a file, to walk: its base floats, and it has the soles that its file leaves
    out if it is one that is known; shapes that are seen collide where the file has no others.

    Args:
        options: keywords of ``tabi.load``, which come first.
    """
    keywords: dict[str, Any] = {"base": "floating"}
    keywords |= {key: value for key, value in options.items() if value is not None}
    robot = complete(load(path, **keywords))
    bend_knees(robot)
    if not robot.feet and keywords.get("collision", "file") == "file":
        keywords["collision"] = "visual"
        seen = complete(load(path, **keywords))
        if seen.feet:
            bend_knees(seen)
            seen.notes.append(
                "stand-in: it has no shapes that collide under its feet, so what is seen collides"
            )
            return seen
    return robot


def bend_knees(robot: Robot) -> None:
    """Half-sitting with bent knees in place of a pose of the file that stretches them: legs that
    are stretched reach no step.
    """
    if "half_sitting" not in robot.poses or not {"left", "right"} <= set(robot.feet):
        return
    with suppress(ModelError):
        X = robot.placements(robot.positions("half_sitting"))
        pair = legs.find(robot)
        places = {body.joint.name: X[body].p for body in robot.bodies}
        if all(
            np.linalg.norm(places[leg.hip.joint] - places[leg.ankle.joint])
            < MAX_LEG_EXTENSION * (leg.thigh + leg.shank)
            for leg in pair
        ):
            return
        robot.poses["half_sitting"] = legs.half_sitting(robot)
        robot.notes.append(
            "stand-in: the pose of its file stretches its knees, so it bends them, to walk"
        )


def add_sensors(robot: Robot) -> None:
    """An IMU on the base and a force sensor in each foot, where there is none."""
    kinds = [(sensor.kind, sensor.body) for sensor in robot.sensors.values()]
    added = []
    if not any(kind == "imu" for kind, _ in kinds):
        added.append(robot.add_sensor("walking_imu", "imu", robot.base).name)
    for side in SIDES:
        if side in robot.feet and ("force", robot.feet[side].body) not in kinds:
            name = f"{side}_walking_force"
            added.append(robot.add_sensor(name, "force", robot.feet[side].body).name)
    if added:
        robot.notes.append(f"stand-in: sensors to walk with were added: {', '.join(added)}")


def fitted_pattern(
    biped: Biped,
    own_gait: Gait,
    footsteps: Callable[[Gait], Sequence[Footstep]],
    fixed: Collection[str] = (),
) -> WalkingPattern:
    """A walk in the first gait of (1) in which the robot can walk it.

    Args:
        own: gait that is tried first. footsteps: of a gait.
        fixed: names of its numbers that stay as they are.

    Raises:
        ModelError: of the first gait tried, where none can be walked.
    """
    refused: ModelError | None = None
    for gait in _gaits(own_gait, fixed):
        try:
            pattern = walking_pattern(biped, footsteps(gait), gait)
        except ModelError as fault:
            refused = refused or fault
            continue
        if gait != own_gait:
            biped.robot.notes.append(
                f"stand-in: its legs cannot make steps of {own_gait.length:g} m, so they are "
                f"{gait.length:g} m long with the centre of mass {gait.centre_height:.3g} m high"
            )
        return pattern
    assert refused is not None
    raise refused


def _gaits(own_gait: Gait, fixed: Collection[str]) -> Iterator[Gait]:
    """Yield the gaits (1) to try."""
    for height in HEIGHTS:
        for share in SHARES:
            scaled = {
                "length": round(share * own_gait.length, 3),
                "lift": share * own_gait.lift,
                "centre_height": height * own_gait.centre_height,
            }
            yield replace(own_gait, **{name: x for name, x in scaled.items() if name not in fixed})


def apart(biped: Biped) -> dict[str, Transform]:
    """Soles as they stand, or wide enough apart to pass each other."""
    inner = [biped.outline["left"][:, 1].min(), -biped.outline["right"][:, 1].max()]
    left, right = (biped.stance[side] for side in SIDES)
    gap = float(left.R[:, 1] @ (left.p - right.p)) + sum(inner)
    extra = max(0.0, 0.5 * (MIN_SOLE_GAP_M - gap))
    return {
        side: translation(sign * extra * biped.stance[side].R[:, 1]) @ biped.stance[side]
        for side, sign in zip(SIDES, (1.0, -1.0), strict=True)
    }
