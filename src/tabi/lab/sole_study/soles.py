"""``tabi study soles``: which material a sole should be of, after Chardonnet et al. (2008), Fig. 5.

A robot walks over a grid of materials, in two series: ``pattern`` follows its pattern by the
motors' loops alone, without stabiliser and without the bush of its ankles, as the paper did it;
``stabiliser`` has both. Every point is run with the scene's step and with half of it. What counts,
the front and the compromise: ``front``; how peaks and inclination are measured:
``tabi.analysis.impact_measures``.

Runs end as rows in a folder, as those of ``tabi sweep``: the same command goes on where it was
left. Exit codes are those of ``tabi sweep``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from tabi import TabiError
from tabi.apps import sweep_command as command
from tabi.apps.run import Settings, all_settings
from tabi.apps.sweep_command import Where
from tabi.lab.sole_study.series import SERIES, SERIES_KEY, STEP, STUDY_STEP, Grid, Selection, places
from tabi.reporting.outputs import check_plotting, check_writable
from tabi.runs.pool import Task

# default scene and parameters
SCENE = "soft-soles"
OVER = (
    "robots.0.soles.young_modulus_pa=2e5,3.6e5,6.3e5,1.1e6,2e6,3.6e6,6.3e6,1.1e7,2e7",
    "robots.0.soles.poisson_ratio=0.3,0.4,0.45",
)

app = typer.Typer(
    help="Sweeps that answer a question of a paper, with a report.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def studies() -> None:
    """Options of every study."""


@app.command()
def soles(
    scene: Annotated[
        str, typer.Argument(help="A built-in scene or a scene file in which a robot walks.")
    ] = SCENE,
    over: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUES",
            help="As in tabi sweep, the key along the curves first, then the key of the curves; "
            "by default Young's modulus and Poisson's ratio of the soles.",
        ),
    ] = None,
    settings: Settings = None,
    time: command.Time = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the results; by default SCENE-study, here.")
    ] = None,
    where: Where = None,
    report: Annotated[
        Path | None, typer.Option(help="The report, an HTML file; by default in the folder.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Walk on a grid of soles: peaks of acceleration against the waist's inclination,
    and the compromise.
    """
    from tabi import scenes
    from tabi.lab.sole_study import findings, page
    from tabi.runs import executor, storage

    fixed, grid = all_settings(settings, time), command.read_grid(list(over or OVER))
    base = scenes.load(scene, fixed)
    steps = check(scene, fixed, grid, step_of(fixed, base.contents.simulation.step_s))
    folder, wanted = out or Path(f"{base.name}-study"), places(grid, steps)
    if report is not None:
        check_writable(report)
        check_plotting()
    with (
        executor.open_executor(where, base) as run_all,
        storage.opened(folder, base, [SERIES_KEY, STEP, *grid]) as results,
    ):
        run = lambda selection: task(scene, fixed, selection)  # noqa: E731
        stopped, lost = executor.work(run_all, wanted, run, results)
        rows = results.of(wanted)
    study = findings.SoleStudy(base, fixed, grid, steps, folder, rows, lost, bool(stopped))
    file = report or folder / "report.html"
    file.write_text(page.page(study), encoding="utf-8")
    data = study.to_dict() | {"report": str(file)}
    print(json.dumps(data, indent=2) if as_json else study.text(file), flush=True)
    if code := study.code():
        raise typer.Exit(code)


def step_of(fixed: list[str], scene_step: float) -> float:
    """Return the step [s]: that of the study, unless the settings have one: that of the scene."""
    is_set = any(setting.partition("=")[0].strip() == STEP for setting in fixed)
    return scene_step if is_set else STUDY_STEP


def check(scene: str, fixed: list[str], grid: Grid, step: float) -> tuple[str, str]:
    """Read and build everything once; the step and half of it, as settings."""
    for name, settings in SERIES.items():
        reserved = {setting.partition("=")[0] for setting in settings} | {STEP}
        fixed_keys = {setting.partition("=")[0].strip() for setting in fixed}
        for key in [key for key in reserved if key in grid or key in fixed_keys - {STEP}]:
            raise TabiError(f"{key} is set by the study itself, in its series {name}; leave it out")
    command.check_apart(fixed, grid)
    first = next(iter(grid))
    try:
        list(map(float, grid[first]))
    except ValueError:
        raise TabiError(
            f"--over {first} is first, along the curves, and its values are not numbers; "
            "expected numbers, or another key first"
        ) from None
    steps = (command.shortest(step), command.shortest(0.5 * step))
    # with half the step one of them is as good as all
    first_values = {key: values[:1] for key, values in grid.items()}
    for settings in SERIES.values():
        for h, several in zip(steps, (grid, first_values), strict=True):
            outcomes = command.check(scene, [*fixed, *settings, f"{STEP}={h}"], several)
            if not any(name.startswith("impact_m_s2.") for name in outcomes):
                raise TabiError(
                    f"no robot of {scene} walks by a pattern, and only those have impacts; "
                    "take a scene with a motion of kind walk"
                )
    return steps


def task(scene: str, fixed: list[str], selection: Selection) -> Task:
    """Return the run of a combination of parameters."""
    values = {key: value for key, value in selection.items() if key != SERIES_KEY}
    settings = command.with_values([*fixed, *SERIES[selection[SERIES_KEY]]], values)
    return Task(scene, settings, selection, None)
