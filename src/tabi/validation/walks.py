"""``tabi validate walks``: does any biped from a file walk, without a number of its own?

Each robot is read as ``tabi.load`` reads it, gets what its file leaves out (gains; soles, if it is
one that is known; an IMU on its base and a force sensor in each foot) and is put on the ground. It
walks with the gait of ``gait_for``, twice: following the pattern blindly, and with the stabiliser.
Legs that cannot make such steps get smaller ones: the first of

    length and lift × 1, ¾, ½ and centre of mass as it stands, then 3 % and 6 % lower            (1)
that inverse kinematics, travel and motors allow; feet that stand inside of each other's outlines go
as far apart as they need to pass. A robot that its file does not describe, or that has no such
legs, is refused with a reason: it is named, and counts neither way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tabi._errors import ModelError, TabiError
from tabi.model.robot import Robot
from tabi.robots.files import load, quietly
from tabi.robots.known import complete
from tabi.spatial.transform import Transform, translation
from tabi.validation.walk_trial import Walked, try_walk
from tabi.walking import Biped, Footstep, Gait, Stabiliser, gait_for, walk, walking_pattern
from tabi.walking.footsteps import SIDES

STEPS = 10
# (1)
SHARES, HEIGHTS = (1.0, 0.75, 0.5), (1.0, 0.97, 0.94)
# between soles that pass each other [m]
APART = 0.01
# what a walk with the stabiliser may be off [m]: a landing, and a foot that stands; following
# blindly is as good as the motors' gains
LANDING, SLIP = 5e-3, 5e-3
WALKS, FALLS, REFUSED = "walks", "falls", "refused"


def stage(file: Path) -> Robot:
    """A robot from a file, standing, with the sensors that a stabiliser needs."""
    with quietly():
        robot = complete(load(file, base="floating"))
        if not robot.feet:
            # files without shapes for contacts may have some to be seen
            robot = complete(load(file, base="floating", collision="visual"))
    robot.stand_on_ground()
    add_sensors(robot)
    return robot


def add_sensors(robot: Robot) -> None:
    """An IMU on the base and a force sensor in each foot, where there is none."""
    kinds = [(sensor.kind, sensor.body) for sensor in robot.sensors.values()]
    if not any(kind == "imu" for kind, _ in kinds):
        robot.add_sensor("walking_imu", "imu", robot.base)
    for side in SIDES:
        if side in robot.feet and ("force", robot.feet[side].body) not in kinds:
            robot.add_sensor(f"{side}_walking_force", "force", robot.feet[side].body)


def plan(robot: Robot, steps: int) -> tuple[Gait, list[Footstep]]:
    """The gait of (1) and footsteps for it.

    Raises:
        ModelError: of the first gait tried, where none can be walked.
    """
    biped = Biped(robot)
    own, stance = gait_for(biped), _apart(biped)
    refused: ModelError | None = None
    for height in HEIGHTS:
        for share in SHARES:
            gait = replace(
                own,
                length=round(share * own.length, 3),
                lift=share * own.lift,
                centre_height=height * own.centre_height,
            )
            footsteps = walk(stance, steps, gait.length)
            try:
                walking_pattern(biped, footsteps, gait)
            except ModelError as fault:
                refused = refused or fault
            else:
                return gait, footsteps
    assert refused is not None
    raise refused


def _apart(biped: Biped) -> dict[str, Transform]:
    """Soles as they stand, or wide enough apart to pass each other."""
    inner = [biped.outline["left"][:, 1].min(), -biped.outline["right"][:, 1].max()]
    left, right = (biped.stance[side] for side in SIDES)
    gap = float(left.R[:, 1] @ (left.p - right.p)) + sum(inner)
    more = max(0.0, 0.5 * (APART - gap))
    return {
        side: translation(sign * more * biped.stance[side].R[:, 1]) @ biped.stance[side]
        for side, sign in zip(SIDES, (1.0, -1.0), strict=True)
    }


def check(file: Path, steps: int = STEPS) -> dict[str, Any]:
    """How the robot in a file walks, as plain data."""
    row: dict[str, Any] = {"file": file.name, "outcome": REFUSED, "reason": ""}
    try:
        robot = stage(file)
        gait, footsteps = plan(robot, steps)
        own = gait_for(robot)
        row |= {
            "robot": robot.name,
            "mass_kg": robot.mass,
            "length_m": gait.length,
            "step_time_s": gait.step_time,
            "share_of_length": gait.length / own.length,
            "share_of_height": gait.centre_height / own.centre_height,
        }
        walks = {
            name: told(try_walk(robot, footsteps, stabiliser, gait=gait))
            for name, stabiliser in (("open loop", None), ("stabiliser", Stabiliser()))
        }
    except TabiError as fault:
        return row | {"reason": str(fault)}
    fine = all(one["walks"] for one in walks.values())
    reasons = [one["fault"] or one["stopped"] for one in walks.values()]
    reason = next((one for one in reasons if one), "")
    return row | {"outcome": WALKS if fine else FALLS, "reason": reason, "walks": walks}


def told(found: Walked) -> dict[str, Any]:
    """A walk as plain data."""
    return {
        "walks": bool(found.walked),
        "steps": found.steps,
        "fell_s": found.fell,
        "fault": found.fault,
        "stopped": found.stopped,
        "landing_m": found.landing,
        "slip_m": found.slip,
        "tilt_rad": found.tilt,
        "least_height_m": found.height,
        "missed": found.missed,
        "times_real_time": found.speed,
    }


def validate(
    files: Sequence[Path],
    steps: int = STEPS,
    progress: Callable[[str, int, int], None] = lambda what, done, count: None,
) -> dict[str, Any]:
    """All of them; an interrupt keeps what is done."""
    rows: list[dict[str, Any]] = []
    interrupted = False
    files = robot_files(files)
    progress("robots", 0, len(files))
    try:
        for file in files:
            rows.append(check(file, steps))
            progress("robots", len(rows), len(files))
    except KeyboardInterrupt:
        interrupted = True
    walked = [row["walks"] for row in rows if "walks" in row]
    within = all(one["walks"] and one["missed"] == 0 for row in walked for one in row.values())
    within &= all(
        row["stabiliser"]["landing_m"] < LANDING and row["stabiliser"]["slip_m"] < SLIP
        for row in walked
    )
    return {
        "steps": steps,
        "robots": rows,
        "walk": sum(row["outcome"] == WALKS for row in rows),
        "within": within,
        "interrupted": interrupted,
    }


def robot_files(paths: Sequence[Path]) -> list[Path]:
    """Files as they are, and of folders all URDF files in them."""
    found: list[Path] = []
    for path in paths:
        found += sorted(path.rglob("*.urdf")) if path.is_dir() else [path]
    return found


def text(result: dict[str, Any]) -> str:
    """The figures for a terminal."""
    lines = [
        "robot                           steps of          open loop: mm off, slipped, × time"
        "   stabiliser: mm off, slipped, × time"
    ]
    for row in result["robots"]:
        start = f"{row['file'][:30]:<30}  "
        if "walks" not in row:
            lines += [f"{start}{row['outcome']}", f"    {row['reason']}"]
            continue
        start += f"{row['length_m']:.3f} m, {row['step_time_s']:.2f} s  "
        lines.append(start + "  ".join(_line(one) for one in row["walks"].values()))
        if row["reason"]:
            lines.append(f"    {row['reason']}")
    count = len(result["robots"])
    lines += ["", f"{result['walk']} of {count} walk {result['steps']} steps, with and without"]
    lines.append("all of them within" if result["within"] else "NOT WITHIN what is allowed")
    if result["interrupted"]:
        lines.append("interrupted: these are the robots done before")
    return "\n".join(lines)


def _line(one: dict[str, Any]) -> str:
    if not one["walks"]:
        when = np.nan if one["fell_s"] is None else one["fell_s"]
        return f"fell at {when:5.2f} s after {one['steps']:2d} steps"
    return (
        f"{one['steps']:3d} steps  {1e3 * one['landing_m']:6.2f}  {1e3 * one['slip_m']:6.2f}  "
        f"{one['times_real_time']:5.1f}"
    )
