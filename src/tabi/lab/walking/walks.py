"""``tabi validate walks``: does any biped from a file walk, without a number of its own?

Each robot is read as ``tabi.load`` reads it, gets what its file leaves out (``robots.bipeds``) and
is put on the ground. It walks with the gait of ``gait_for``, or the first smaller one that its legs
allow, twice: following the pattern blindly, and with the stabiliser. A robot that its file does not
describe, or that has no such legs, is refused with a reason: it is named, and counts neither way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tabi._errors import TabiError
from tabi.analysis.walk_trial import Walked, try_walk
from tabi.model.robot import Robot
from tabi.robots.bipeds import add_sensors, apart, fitted_pattern, load_biped
from tabi.robots.files import quietly
from tabi.walking import Biped, Footstep, Gait, Stabiliser, gait_for, walk

STEPS = 10
# what a walk with the stabiliser may be off [m]: a landing, and a foot that stands; following
# blindly is as good as the motors' gains
LANDING, SLIP = 5e-3, 5e-3
WALKS, FALLS, REFUSED = "walks", "falls", "refused"


def stage(file: Path) -> Robot:
    """A robot from a file, standing, with the sensors that a stabiliser needs."""
    with quietly():
        robot = load_biped(file)
        # a walk balances
        robot.stand_on_ground()
    add_sensors(robot)
    return robot


def plan(robot: Robot, steps: int) -> tuple[Gait, list[Footstep]]:
    """The gait of a walk straight on, and its footsteps.

    Raises:
        ModelError: of the first gait tried, where none can be walked.
    """
    biped = Biped(robot)
    stance = apart(biped)
    pattern = fitted_pattern(biped, gait_for(biped), lambda gait: walk(stance, steps, gait.length))
    return pattern.gait, list(pattern.steps)


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
        # the row names the file already
        return row | {"reason": str(fault).removeprefix(f"{file}, ")}
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
        "end_m": found.end,
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
