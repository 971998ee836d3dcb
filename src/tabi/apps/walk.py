"""``tabi walk``: a robot from a file walks straight on, with the gait that suits its legs.

What its file leaves out is added and reported (``robots.bipeds``). Before the walk begins, two of
its steps are tried in a world of their own, and all of them where its motors are too soft to hold
it, or its legs cannot roll their soles: a robot that falls there is rejected with the reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tabi import TabiError
from tabi.apps import run
from tabi.apps.robots import Collision, Feet, RobotArgument, StandIns, declared_feet
from tabi.reporting.terminal import print_now
from tabi.runs.play import play

if TYPE_CHECKING:
    from tabi.scenes import Scene
    from tabi.walking import WalkingPattern

# the scene that is made of the options, and where messages are in it
FILE = "walk.yaml"
IN_SCENE = re.compile(r"^walk\.yaml, line 1: (robots\.0(\.motion)?: )?")
# stiffness [N·m/rad]
MAX_GAINS = 1e7


def walk(
    robot: RobotArgument = "hrp2",
    steps: Annotated[int, typer.Option(min=1, max=1000, help="How many steps.")] = 10,
    length: Annotated[
        float | None,
        typer.Option(help="Length of each [m]; by default what suits the robot's legs."),
    ] = None,
    turn: Annotated[float, typer.Option(help="Turn of each to the left [°].")] = 0.0,
    gains: Annotated[
        float | None,
        typer.Option(
            help="Stiffness of all motors [N·m/rad], with a twentieth of a second of damping; "
            "by default the file's, or made up where it has none."
        ),
    ] = None,
    feet: Feet = None,
    stand_ins: StandIns = False,
    collision: Collision = "file",
    page: Annotated[bool, typer.Option("--page", help="Show it in the browser instead.")] = False,
    record: Annotated[
        Path | None, typer.Option(help="Write a recording (HDF5) into this file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
    port: Annotated[
        int | None,
        typer.Option(
            min=1, max=65535, help="Port of the page; by default 8080, or the next free one."
        ),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open a browser for the page.")] = True,
) -> None:
    """Let a robot from a file walk straight on; exit codes as of `tabi run`."""
    from tabi.analysis.walk_alone import DAMPING_TIME, REST, Advice, tried_first

    run.check_together(page, record, False, as_json)
    keys: dict[str, Any] = {"robot": _full_name(robot), "collision": collision}
    keys |= {"stand_ins": True} if stand_ins else {}
    keys |= {"feet": declared} if (declared := declared_feet(feet)) else {}
    if gains is not None:
        if not 0.0 < gains <= MAX_GAINS:
            raise TabiError(f"--gains is {gains:g}; expected a stiffness [N·m/rad] > 0 and ≤ 1e7")
        damping = DAMPING_TIME * gains
        keys["gains"] = {"stiffness_nm_rad": gains, "damping_nms_rad": damping}
    command = {"go": "steps", "turn_deg": turn} | ({} if length is None else {"length_m": length})
    advice = Advice("--length", "--gains", "--gains {0:g}")
    try:
        walker, pattern = tried_first(
            lambda count: _scene(keys, command, count, REST).simulator(), steps, advice
        )
    except TabiError as fault:
        # the user did not write the scene that the message refers to
        raise TabiError(IN_SCENE.sub("", str(fault))) from None
    if not as_json:
        for note in walker.notes:
            print_now(f"tabi: {walker.name}: {note}")
    extra = (steps - len(pattern.steps)) * pattern.gait.step_time
    scene = _scene(keys, command, steps, pattern.duration + extra + REST, _camera(pattern, steps))
    if page:
        run.open_page(scene, f"{walker.name} walks", port=port, browser=browser)
        return
    summary = play(scene, record, show=not as_json)
    print(json.dumps(summary.to_dict(), indent=2) if as_json else summary.text(), flush=True)
    if summary.code(False):
        raise typer.Exit(summary.code(False))


def _full_name(robot: str) -> str:
    """Return the name of a built-in robot, or the whole path of a file."""
    from tabi import robots

    if robot in robots.__all__:
        return robot
    path = Path(robot)
    if not path.is_file():
        raise TabiError(
            f"robot {robot!r} is neither built in ({', '.join(robots.__all__)}) nor a file; "
            "give a path to a URDF, MJCF, .wrl or .body file"
        )
    return str(path.resolve())


def _camera(pattern: WalkingPattern, steps: int) -> dict[str, list[float]]:
    """A view of the whole way, from the right side."""
    middle, height = 0.5 * steps * pattern.gait.length, pattern.gait.centre_height
    away = 2.5 * height + middle
    place, target = [middle + away, -away, 1.5 * height], [middle, 0.0, 0.8 * height]
    return {
        "position_m": [round(x, 3) for x in place],
        "look_at_m": [round(x, 3) for x in target],
    }


def _scene(
    keys: Mapping[str, Any],
    command: Mapping[str, Any],
    steps: int,
    duration: float,
    camera: Mapping[str, Any] | None = None,
) -> Scene:
    """A scene of the robot on level ground, walking."""
    from tabi import scenes

    motion = {"kind": "walk", "path": [{**command, "count": steps}]}
    contents: dict[str, Any] = {
        "title": f"{Path(str(keys['robot'])).stem} walks {steps} steps",
        "duration_s": round(duration, 3),
        "ground": {"friction": 0.8},
        "robots": [{**keys, "motion": motion}],
    }
    if camera is not None:
        contents["camera"] = camera
    # a text in JSON is one in YAML
    return scenes.loads(json.dumps(contents, ensure_ascii=False), FILE)
