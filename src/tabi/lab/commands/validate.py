"""``tabi validate``: is it right? Each subcommand runs one experiment at full size,
prints what it found, and ends with 1 if it failed.

A new one is a function under ``@app.command()`` that imports what it needs when it runs,
and hands its result to ``show``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tabi.apps.showing import Json, progress_bar, show
from tabi.lab.commands import validate_balance
from tabi.lab.papers.command import papers

app = typer.Typer(
    help="Run the experiments that show whether it is right.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def _run(experiment: Any, as_json: bool, *args: Any, **settings: Any) -> None:
    """Validate with a progress bar, and show what was found."""
    with progress_bar() as report:
        result = experiment.validate(*args, **settings, progress=report)
    show(result, experiment.text, as_json, passed=result["within"])


@app.command()
def humanoids(
    robot: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="A robot beside hrp2: path to a URDF, MJCF, .wrl or .body file; may be repeated.",
        ),
    ] = None,
    foot: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=BODY",
            help="Declare a foot of the one robot given; may be repeated.",
        ),
    ] = None,
    poses: Annotated[
        int,
        typer.Option(
            min=1,
            help="Perturbed poses to start each motion from; a fifth to squat, a quarter to fall.",
        ),
    ] = 1000,
    keep: Annotated[
        Path | None,
        typer.Option(help="Folder for the contact problems of steps that miss, in FCLib form."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Stand, squat, slide and fall from perturbed poses: is every step certified to 1e-8 m/s?"""
    from tabi import ModelError
    from tabi.apps.robots import named
    from tabi.lab.validate import humanoids

    if foot and len(robot or []) != 1:
        raise ModelError(
            f"--foot was given with {len(robot or [])} robots; "
            "expected one --robot that it belongs to"
        )
    if keep is not None and keep.exists() and not keep.is_dir():
        raise ModelError(f"--keep {keep} is a file; expected a folder")
    robots = [named("hrp2"), *(named(path, foot, gains=False) for path in robot or [])]
    # what is wrong with a robot is said before the first one has run
    for one in robots:
        humanoids.stage(one)
    with progress_bar() as report:
        result = humanoids.measure(robots, poses, keep, report)
    show(result, humanoids.text, as_json, passed=result["total"]["within"])


@app.command()
def worlds(
    worlds: Annotated[
        int,
        typer.Option(
            min=1, help="Random worlds: shapes and trees dropped on grounds of all kinds."
        ),
    ] = 100,
    steps: Annotated[int, typer.Option(min=1, help="Steps of 1 ms of each.")] = 10_000,
    keep: Annotated[
        Path | None,
        typer.Option(help="Folder for the contact problems of steps that miss, in FCLib form."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Drop random shapes and trees: does anything break, tunnel, overlap,
    gain energy or miss its tolerance?
    """
    from tabi.lab.validate import worlds as experiment

    with progress_bar() as report:
        result = experiment.validate(worlds, steps, report, keep)
    show(result, experiment.text, as_json, passed=result["within"])


@app.command()
def soles(
    drops: Annotated[
        int, typer.Option(min=1, help="Blocks on soft soles that are dropped and twisted.")
    ] = 1000,
    as_json: Json = False,
) -> None:
    """Drop blocks on soft soles: does a step bring energy, and is the loss of first order?"""
    from tabi.lab.validate import soft_drops

    _run(soft_drops, as_json, drops)


@app.command()
def loops(
    chains: Annotated[int, typer.Option(min=1, help="Random closed chains.")] = 1000,
    as_json: Json = False,
) -> None:
    """Swing, drop and push closed chains: do steps miss, gain energy or take long?"""
    from tabi.lab.validate import closed_chains

    _run(closed_chains, as_json, chains)


@app.command()
def overlaps(
    starts: Annotated[int, typer.Option(min=1, help="Random starts.")] = 1000,
    as_json: Json = False,
) -> None:
    """Start bodies up to 2 cm inside each other: do they gain energy, or joints pass their ends?"""
    from tabi.lab.validate import overlaps as of_bodies

    _run(of_bodies, as_json, starts)


@app.command()
def passivity(as_json: Json = False) -> None:
    """Throw and press a haptic handle on walls that are only sampled: is the hand given energy?"""
    from tabi.lab.validate import haptic_passivity

    _run(haptic_passivity, as_json)


@app.command()
def haptics(
    failures: Annotated[int, typer.Option(min=1, help="Failures at random moments.")] = 100,
    as_json: Json = False,
) -> None:
    """Kill and stop a haptic device's service, its process and the simulation: does its force end
    in time, and does it come back?
    """
    from tabi.lab.validate import haptic_failures

    _run(haptic_failures, as_json, failures)


@app.command()
def robots(
    files: Annotated[
        list[Path], typer.Argument(help="URDF, MJCF, .wrl or .body files, as many as you like.")
    ],
    seconds: Annotated[float, typer.Option(min=0.1, help="How long each stands.")] = 10.0,
    as_json: Json = False,
) -> None:
    """Let robots from files stand and push them: does each, by one line, bear its weight?"""
    from tabi.lab.validate import robot_check

    _run(robot_check, as_json, files, seconds)


@app.command()
def trees(
    trees: Annotated[int, typer.Option(min=1, help="Worlds of one or two random trees.")] = 1000,
    steps: Annotated[int, typer.Option(min=1, help="Steps of 1 ms of each.")] = 100,
    as_json: Json = False,
) -> None:
    """Drop random trees with dry friction and stops in their joints, some with links inside of each
    other: does anything break, sink or miss its tolerance?
    """
    from tabi.lab.validate import dry_trees

    _run(dry_trees, as_json, trees, steps)


@app.command()
def family(
    problems: Annotated[
        int, typer.Option(min=12, help="About so many contact problems, of twelve kinds.")
    ] = 150,
    seed: Annotated[int, typer.Option(min=0, help="Of the generator.")] = 3,
    as_json: Json = False,
) -> None:
    """Solve a seeded family of contact problems: is each certified to 1e-8,
    and how many within the budget of a step?
    """
    from tabi.lab.validate import family_check

    _run(family_check, as_json, problems, seed)


@app.command()
def selection(
    problems: Annotated[
        int, typer.Option(min=1, help="Random states of two feet with 4 to 8 corners.")
    ] = 100_000,
    large: Annotated[int, typer.Option(min=0, help="And with 64 corners.")] = 1000,
    as_json: Json = False,
) -> None:
    """Select the contact states of random feet: is each as good as the best of all states?"""
    from tabi.lab.validate import foot_states

    _run(foot_states, as_json, problems, large)


@app.command()
def kinematics(
    targets: Annotated[
        int, typer.Option(min=1, help="Poses of feet and hands that each robot has to reach.")
    ] = 10_000,
    as_json: Json = False,
) -> None:
    """Make poses by forward kinematics: does inverse kinematics reach each to 1e-8 m and rad?"""
    from tabi.lab.validate import kinematics as experiment

    _run(experiment, as_json, targets)


@app.command()
def impacts(
    impacts: Annotated[int, typer.Option(min=1, help="Steps with impacts to look at.")] = 10_000,
    as_json: Json = False,
) -> None:
    """Throw random bodies at the ground and at each other:
    does an impact with friction bring energy?
    """
    from tabi.lab.validate import impacts as experiment

    _run(experiment, as_json, impacts)


@app.command()
def tosses(
    path: Annotated[
        Path,
        typer.Argument(
            help="An .npz file of recorded tosses (arrays toss_0, toss_1, …), or a folder of them."
        ),
    ],
    budget: Annotated[
        int, typer.Option(min=10, help="Evaluations that the search may have, for each engine.")
    ] = 150,
    as_json: Json = False,
) -> None:
    """Replay real tosses of a cube: is tabi, fitted on one half of them,
    as near to the other half as MuJoCo?
    """
    from tabi.lab.validate import tosses

    _run(tosses, as_json, path, budget)


@app.command()
def playback(
    folder: Annotated[
        Path,
        typer.Argument(
            help="A folder with robots/ and motions/: OpenHRP's sample robot, Choreonoid's SR1."
        ),
    ],
    as_json: Json = False,
) -> None:
    """Play walking patterns on the robots they were made for: does each walk without a slip,
    with the ZMP it was planned with?
    """
    from tabi.analysis import pattern_playback

    _run(pattern_playback, as_json, folder)


@app.command()
def external(
    kills: Annotated[int, typer.Option(min=1, help="Controllers to kill.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Of the moments.")] = 0,
    as_json: Json = False,
) -> None:
    """Kill a robot's controller, another process, at random moments: is anything lost,
    and does the robot do as asked?
    """
    from tabi.lab.validate import controller_kills as killed

    _run(killed, as_json, kills, seed)


@app.command()
def recordings(
    moments: Annotated[int, typer.Option(min=1, help="Kills, exits, exceptions, resets.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of the moments.")] = 0,
    as_json: Json = False,
) -> None:
    """Kill, exit, raise and reset at random moments while recording: is every step in the file,
    and does a report claim more than was recorded?
    """
    from tabi.lab.validate import recording_ends
    from tabi.reporting.report import contacts, findings

    with progress_bar() as report:
        result = recording_ends.validate(
            lambda run: findings.measure(run, contacts.touches(run)), moments, seed, report
        )
    show(result, recording_ends.text, as_json, passed=result["within"])


@app.command()
def first_contact(as_json: Json = False) -> None:
    """Let HRP-2 land on a sole with rubber above it: do both peaks of its force follow their laws,
    and does the force of a step go as on the robot?
    """
    from tabi.lab.walking import first_contact as experiment

    _run(experiment, as_json)


@app.command()
def walking(
    steps: Annotated[int, typer.Option(min=8, help="Of each walk.")] = 20,
    as_json: Json = False,
) -> None:
    """Walk HRP-1S and HRP-2 as Hirukawa (2003) did, with and without rubber, stabiliser and servos:
    do they walk, fall and shake as published?
    """
    from tabi.lab.walking import hirukawa_walk

    _run(hirukawa_walk, as_json, steps=steps)


@app.command()
def walks(
    files: Annotated[
        list[Path],
        typer.Argument(help="URDF, MJCF, .wrl or .body files, or folders of URDF files."),
    ],
    steps: Annotated[int, typer.Option(min=1, help="Of each walk.")] = 10,
    as_json: Json = False,
) -> None:
    """Let bipeds from files walk, with gaits from their own legs: does each, with a stabiliser and
    without?
    """
    from tabi.lab.walking import walks

    _run(walks, as_json, files, steps)


@app.command()
def stabilisers(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="URDF, MJCF, .wrl or .body files of robots that walk beside hrp2."),
    ] = None,
    steps: Annotated[int, typer.Option(min=2, help="Of each walk.")] = 8,
    as_json: Json = False,
) -> None:
    """Push HRP-2 standing on rubber and let it walk, with each stabiliser, with noise and delay:
    which push does it survive, and how do its feet land?
    """
    from tabi.lab.walking import stabilisers

    _run(stabilisers, as_json, files or (), steps)


for _command in (
    validate_balance.pushes,
    validate_balance.rough_walks,
    validate_balance.slippery,
    papers,
):
    app.command()(_command)
