"""``tabi validate walks``: does any biped from a file walk, without a number of its own?

Each robot is read as ``tabi.load`` reads it, gets what its file leaves out (``robots.bipeds``) and
is put on the ground. It walks with the gait of ``gait_for``, or the first smaller one that its legs
allow, twice: following the pattern blindly, and with the stabiliser. A robot that its file does not
describe, or that has no such legs, is refused with a reason: it is named, and counts neither way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from tabi._errors import TabiError
from tabi.analysis.walk_trial import Walked, try_walk
from tabi.lab.study import Argument, Column, Criterion, Option, Validator, table
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
    """Return how the robot in a file walks, as plain data."""
    row: dict[str, Any] = {"file": file.name, "outcome": REFUSED, "reason": ""}
    try:
        robot = stage(file)
        gait, footsteps = plan(robot, steps)
        default = gait_for(robot)
        row |= {
            "robot": robot.name,
            "mass_kg": robot.mass,
            "length_m": gait.length,
            "step_time_s": gait.step_time,
            "share_of_length": gait.length / default.length,
            "share_of_height": gait.centre_height / default.centre_height,
        }
        walks = {
            name: walk_row(try_walk(robot, footsteps, stabiliser, gait=gait))
            for name, stabiliser in (("open loop", None), ("stabiliser", Stabiliser()))
        }
    except TabiError as fault:
        # the row names the file already
        return row | {"reason": str(fault).removeprefix(f"{file}, ")}
    fine = all(walk["walks"] for walk in walks.values())
    reasons = [walk["fault"] or walk["stopped"] for walk in walks.values()]
    reason = next((walk for walk in reasons if walk), "")
    return row | {"outcome": WALKS if fine else FALLS, "reason": reason, "walks": walks}


def walk_row(walk: Walked) -> dict[str, Any]:
    """Return a walk as plain data."""
    return {
        "walks": bool(walk.walked),
        "steps": walk.steps,
        "fell_s": walk.fell,
        "fault": walk.fault,
        "stopped": walk.stopped,
        "landing_m": walk.landing,
        "slip_m": walk.slip,
        "end_m": walk.end,
        "tilt_rad": walk.tilt,
        "least_height_m": walk.height,
        "missed": walk.missed,
        "times_real_time": walk.speed,
    }


class Walks(Validator, name="walks"):
    """Let bipeds from files walk, with gaits from their own legs: does each, with a stabiliser and
    without?
    """

    files: Annotated[
        list[Path],
        Argument(help="URDF, MJCF, .wrl or .body files, or folders of URDF files."),
    ]
    steps: Annotated[int, Option(min=1, help="Of each walk.")] = STEPS

    unit = "robots"
    criteria = (
        Criterion.of(
            lambda r: sum(not walk["walks"] for row in walked(r) for walk in row.values()),
            "all walk",
            at_most=0,
        ),
        Criterion.of(
            lambda r: sum(walk["missed"] for row in walked(r) for walk in row.values()),
            "no step misses its tolerance",
            at_most=0,
        ),
        *(
            Criterion.of(
                lambda r, key=key: max((w["stabiliser"][key] for w in walked(r)), default=0.0),
                f"with the stabiliser, {words} [m]",
                at_most=most,
            )
            for key, words, most in (
                ("landing_m", "feet land in their places", LANDING),
                ("slip_m", "feet that stand do not slip", SLIP),
            )
        ),
    )

    def cases(self) -> list[Path]:
        """Return what is measured case by case."""
        return robot_files(self.files)

    def measure(self, case: Path) -> dict[str, Any]:
        """Measure one case and return its row."""
        return check(case, self.steps)

    def figures(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return the figures of all rows."""
        walk = sum(row["outcome"] == WALKS for row in rows)
        return {"steps": self.steps, "robots": list(rows), "walk": walk}

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines for a terminal."""
        yield "open loop and stabiliser: steps, mm off, slipped, × time"
        yield from table(COLUMNS, result["robots"], "", _reason)
        yield ""
        count = len(result["robots"])
        yield f"{result['walk']} of {count} walk {result['steps']} steps, with and without"
        yield "all of them within" if result["within"] else "NOT WITHIN what is allowed"


def walked(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Walks of all robots that were not refused."""
    return [row["walks"] for row in result["robots"] if "walks" in row]


def robot_files(paths: Sequence[Path]) -> list[Path]:
    """Files as they are, and of folders all URDF files in them."""
    result: list[Path] = []
    for path in paths:
        result += sorted(path.rglob("*.urdf")) if path.is_dir() else [path]
    return result


def _gait(row: dict[str, Any]) -> str:
    return f"{row['length_m']:.3f} m, {row['step_time_s']:.2f} s" if "walks" in row else REFUSED


def _reason(row: dict[str, Any]) -> list[str]:
    return [f"  {row['reason']}"] if row["reason"] else []


def _walk(row: dict[str, Any], which: str) -> str:
    if "walks" not in row:
        return ""
    walk = row["walks"][which]
    if not walk["walks"]:
        when = np.nan if walk["fell_s"] is None else walk["fell_s"]
        return f"fell at {when:5.2f} s after {walk['steps']:2d} steps"
    return (
        f"{walk['steps']:3d} steps  {1e3 * walk['landing_m']:6.2f}  {1e3 * walk['slip_m']:6.2f}  "
        f"{walk['times_real_time']:5.1f}"
    )


COLUMNS = (
    Column("robot", lambda row: row["file"][:30]),
    Column("steps of", _gait),
    Column("open loop", lambda row: _walk(row, "open loop")),
    Column("stabiliser", lambda row: _walk(row, "stabiliser")),
)
