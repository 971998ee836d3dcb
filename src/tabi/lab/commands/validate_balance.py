"""Experiments of ``tabi validate`` on balance: pushes, rough ground, slippery ground."""

from __future__ import annotations

from typing import Annotated

import typer

from tabi.apps.showing import Json, progress_bar, show

Robot = Annotated[
    str, typer.Option(help="hrp2, hrp1s, g1, or a path to a URDF, MJCF, .wrl or .body file.")
]


def pushes(
    robot: Robot = "hrp2",
    quick: Annotated[
        bool, typer.Option("--quick", help="Four directions and two phases, limits roughly.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Push a robot that stands, with steps and without, and one that walks:
    how hard, against what a pendulum allows?
    """
    from tabi.lab.walking import pushes as experiment
    from tabi.lab.walking.rough_robots import rough_robot

    with progress_bar() as report:
        result = experiment.validate(rough_robot(robot), quick, report)
    show(result, experiment.text, as_json, passed=result["within"])


def rough_walks(
    robot: Robot = "hrp2",
    walks: Annotated[int, typer.Option(min=1, help="How many, each with its own seed.")] = 100,
    steps: Annotated[int, typer.Option(min=2, help="Of each walk.")] = 10,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    as_json: Json = False,
) -> None:
    """Walk over tilted and bumpy floors with masses that are not known, noise and delay:
    how many of a hundred are upright, with a stabiliser and without?
    """
    from tabi.lab.walking import rough_walks as experiment

    with progress_bar() as report:
        result = experiment.validate(robot, walks, steps, jobs, progress=report)
    show(result, experiment.text, as_json, passed=result["within"])


def slippery(robot: Robot = "hrp2", as_json: Json = False) -> None:
    """Walk over a slippery patch: does the gait that is slowed down for it cross without a slip,
    and what does the robot's own gait do?
    """
    from tabi.lab.walking import slippery_patch as experiment
    from tabi.lab.walking.rough_robots import rough_robot

    with progress_bar() as report:
        result = experiment.validate(rough_robot(robot), progress=report)
    show(result, experiment.text, as_json, passed=result["within"])
