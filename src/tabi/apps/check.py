"""``tabi check``: is a motion safe for a robot? See ``analysis.motion_check``.

Exit codes: 0, feasible; 1, not; 2, the motion or an option cannot be, and nothing was done;
130, interrupted, with what was found until then.
"""

from __future__ import annotations

import json
from math import degrees
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tabi import TabiError
from tabi.apps.robots import Base, Feet, named
from tabi.apps.run import Settings, all_settings
from tabi.apps.showing import Json
from tabi.reporting.terminal import bar, interrupt, print_now

if TYPE_CHECKING:
    from tabi.analysis.motion_check import CheckedMotion

WORDS = {
    "torque": "joint torque",
    "speed": "joint speed",
    "travel": "joint travel",
    "friction": "friction of the feet",
    "pressure": "centre of pressure to the sole's edge",
    "fall": "height above a fall",
    "collision": "gap to what it should not touch",
}
# where there is no margin
NONE = {
    "friction": "no foot carried the robot",
    "pressure": "no foot carried most of the weight",
    "fall": "its base is fixed",
    "collision": "never near",
}
MotionArgument = Annotated[
    str,
    typer.Argument(
        help="A pattern, .pos of OpenHRP or .seq of Choreonoid; or a scene, built in or a file."
    ),
]


def check(
    motion: MotionArgument,
    robot: Annotated[
        str | None,
        typer.Option(
            help="Of a pattern: hrp2, hrp1s, hoap2, cb, or a path to a robot's file. "
            "Of a scene: the robot's name in it, where there are several."
        ),
    ] = None,
    feet: Feet = None,
    base: Base = None,
    smooth: Annotated[
        float | None, typer.Option(help="Low-pass over the digits of a pattern [Hz].")
    ] = None,
    settings: Settings = None,
    time: Annotated[
        float | None, typer.Option(help="How long a scene runs [s]; by default what it says.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Judge a motion, also with other friction, other masses and late commands;
    exit code 1 if it is not feasible.
    """
    from tabi.analysis import motion_check
    from tabi.analysis.motion_variation import VARIATIONS

    if Path(motion).suffix in motion_check.PATTERNS:
        if settings or time is not None:
            raise TabiError(f"{motion} is a pattern; --set and --time are for scenes: leave it out")
        motion_ = _pattern(Path(motion), robot, (feet, base), smooth)
    else:
        if feet or base or smooth is not None:
            raise TabiError(f"{motion} is a scene; --foot, --base and --smooth are for patterns")
        from tabi import scenes

        motion_ = motion_check.of_scene(scenes.load(motion, all_settings(settings, time)), robot)
    total = len(VARIATIONS) * motion_.duration
    with bar("runs", total, "{task.completed:.1f} of {task.total:g} s") as move, interrupt() as end:

        def look(run: int, now: float) -> bool:
            move(run * motion_.duration + now, VARIATIONS[run].name)
            return bool(end)

        result = motion_check.check(motion_, VARIATIONS, look)
    print_now(json.dumps(result, indent=2) if as_json else text(result))
    if result["interrupted"]:
        raise typer.Exit(130)
    if not result["feasible"]:
        raise typer.Exit(1)


def _pattern(
    file: Path,
    robot: str | None,
    how: tuple[list[str] | None, str | None],
    smooth: float | None,
) -> CheckedMotion:
    from tabi.analysis import motion_check

    if robot is None:
        raise TabiError(f"{file} is a pattern of joints; say of which robot with --robot")
    return motion_check.of_pattern(file, named(robot, *how), smooth)


# ---- in words -----------------------------------------------------------------------------------


def text(result: dict[str, Any]) -> str:
    """Format all runs as a table, with the smallest margins and a verdict."""
    verdict = "feasible" if result["feasible"] else "NOT FEASIBLE"
    if result["interrupted"]:
        verdict = "interrupted, no verdict"
    lines = [f"{result['motion']} on {result['robot']}, {result['duration_s']:g} s: {verdict}"]
    if result["refused"]:
        return "\n".join([*lines, f"  {result['refused']}"])
    if result["runs"]:
        lines += ["", *_table(result["runs"]), "", "  smallest margins of all runs"]
    lines += [f"  {_line(margin)}" for margin in result["least"]]
    for run in result["runs"]:
        if run["fallen_at_s"] is not None:
            lines.append(f"  {run['run']}: FELL at {run['fallen_at_s']:g} s")
        if run["missed_steps"]:
            lines.append(f"  {run['run']}: {run['missed_steps']} STEPS DID NOT CONVERGE")
        if run["stopped"]:
            lines.append(f"  {run['run']}: STOPPED: {run['stopped']}")
    return "\n".join(lines)


def _table(runs: list[dict[str, Any]]) -> list[str]:
    kinds = [margin["name"] for margin in runs[0]["margins"]]
    rows = [["", *kinds]]
    for run in runs:
        cells = {
            entry["name"]: amount(entry) + ("" if entry["within"] else " !")
            for entry in run["margins"]
        }
        rows.append([run["run"], *(cells.get(kind, "–") for kind in kinds)])
    wide = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        f"  {row[0]:<{wide[0]}}"
        + "".join(f"  {c:>{w}}" for c, w in zip(row[1:], wide[1:], strict=True))
        for row in rows
    ]


def _line(margin: dict[str, Any]) -> str:
    what = WORDS[margin["name"]]
    if margin["margin"] is None:
        return f"{what}: {NONE.get(margin['name'], 'no limit is known')}"
    left = f"{amount(margin)}, {margin['where']} at {margin['at_s']:g} s, {margin['run']}"
    return f"{what}: {left}" + ("" if margin["within"] else "; LIMIT MET")


def amount(margin: dict[str, Any]) -> str:
    """Format a margin with its unit; a dash where there is none."""
    x, unit = margin["margin"], margin["unit"]
    if x is None:
        return "–"
    # without the sign of a zero
    if unit == "of the limit":
        return f"{round(100 * x, 1) + 0.0:g} %"
    if unit == "rad":
        return f"{round(degrees(x), 2) + 0.0:g}°"
    return f"{round(1e3 * x, 2) + 0.0:g} mm"
