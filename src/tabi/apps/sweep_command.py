"""``tabi sweep``: one scene over a grid of values, in as many processes as there are cores.

The grid is the product of all ``--over``. Every combination is read, and every value built into a
world once, before anything runs. Runs end as rows in a folder (``storage``) in the order in which
they end; rows that are there are not run again, so the same command goes on where it was left, and
one with more values runs those that are new.

Exit codes: 0, all runs certified; 1, a run missed its tolerance or had to stop;
2, the sweep cannot be, and nothing was done; 130, interrupted, with all rows kept.
"""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Annotated

import typer

from tabi import TabiError
from tabi.apps.run import SceneArgument, Settings, all_settings
from tabi.reporting.terminal import bar
from tabi.runs.pool import Task
from tabi.runs.watch import watched

# runs of one sweep, and values of one key
MAX_RUNS = 100_000
# values of a key with which worlds are built beforehand
PREBUILT_VALUES = 6
Grid = dict[str, list[str]]
Over = Annotated[
    list[str],
    typer.Option(
        metavar="KEY=VALUES",
        help="Values with commas, or FROM:TO:COUNT; may be repeated for a grid.",
    ),
]
Time = Annotated[
    float | None, typer.Option(help="How long each run is [s]; by default what the scene says.")
]
Where = Annotated[
    str | None,
    typer.Option(
        "--jobs",
        "--cluster",
        metavar="N|tcp://HOST:PORT",
        help="Executor of the runs: so many processes, default: one for each core; "
        "or the workers of a Dask scheduler at this address.",
    ),
]
Drawn = Annotated[
    Path | None,
    typer.Option(help="Draw an outcome over the values: a .png, .pdf or .svg file."),
]
Plot = Annotated[
    str | None,
    typer.Option(
        help="Which outcome to draw, e.g. places.crate.x, fallen_at, impact, worst_residual."
    ),
]


def sweep(
    scene: SceneArgument,
    over: Over,
    settings: Settings = None,
    time: Time = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the results; by default SCENE-sweep, here.")
    ] = None,
    where: Where = None,
    record: Annotated[
        bool, typer.Option("--record", help="Keep a recording of every run.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
    figure: Drawn = None,
    plot: Plot = None,
) -> None:
    """Run a scene over a grid of values, and tabulate how it went;
    repeat it to go on after an interrupt.
    """
    from tabi import scenes
    from tabi.runs import executor, storage, sweep_figure
    from tabi.runs import rows as tables

    if plot is not None and figure is None:
        raise TabiError("--plot says what to draw and --figure into which file; give both")
    fixed, grid = all_settings(settings, time), read_grid(over)
    check_apart(fixed, grid)
    base = scenes.load(scene, fixed)
    if figure is not None:
        sweep_figure.check(figure, grid)
    outcomes = check(scene, fixed, grid)
    if plot is not None:
        plot = tables.outcome(plot, outcomes)
    folder, wanted = out or Path(f"{base.name}-sweep"), combinations(grid)
    with (
        executor.open_executor(where, base, record) as run_all,
        storage.opened(folder, base, list(grid)) as results,
    ):

        def task(point: dict[str, str]) -> Task:
            file = results.file(point) if record else None
            return Task(scene, with_values(fixed, point), point, file)

        interrupted, lost = executor.work(run_all, wanted, task, results, record)
        rows = results.of(wanted)
        report = tables.SweepReport(base, fixed, grid, folder, rows, lost, bool(interrupted))
        if figure is not None and rows:
            drawn = plot or sweep_figure.most_varying_place(rows)
            sweep_figure.draw(
                figure, grid, rows, drawn, f"{base.name}: {sweep_figure.words(drawn)}"
            )
    print(json.dumps(report.to_dict(), indent=2) if as_json else report.text(), flush=True)
    if code := report.code():
        raise typer.Exit(code)


def check_apart(fixed: list[str], grid: Grid) -> None:
    """Refuse a key with one value and with several."""
    for setting in fixed:
        if (key := setting.partition("=")[0].strip()) in grid:
            raise TabiError(
                f"{key} is both set to one value and swept over several; keep one of the two"
            )


def read_grid(over: list[str]) -> Grid:
    """Keys and their values, as texts that ``--set`` takes."""
    grid: Grid = {}
    for words in over:
        key, equals, text = words.partition("=")
        key = ".".join(part.strip() for part in key.split("."))
        if not equals or not all(key.split(".")) or not text.strip():
            raise TabiError(
                f"--over {words!r} is not KEY=VALUES; for example --over "
                "ground.friction=0.2,0.4,0.8 or --over ground.friction=0.2:0.8:4"
            )
        if key in grid:
            raise TabiError(f"--over {key} is specified twice; give all its values at once")
        grid[key] = values(text, key)
    count = 1
    for choices in grid.values():
        count *= len(choices)
    if count > MAX_RUNS:
        raise TabiError(
            f"the sweep has {count} combinations; expected at most {MAX_RUNS}, take fewer values"
        )
    return grid


def values(text: str, key: str) -> list[str]:
    """Values between commas, but not between brackets, or evenly spaced ones from FROM:TO:COUNT;
    numbers in their shortest form.
    """
    from tabi.scenes.reader import NUMBER

    ends = [part.strip() for part in text.split(":")]
    if len(ends) == 3 and all(NUMBER.fullmatch(part) for part in ends):
        if not ends[2].isdecimal() or not 2 <= int(ends[2]) <= MAX_RUNS:
            raise TabiError(
                f"--over {key}={text}: the count is {ends[2]}; "
                f"expected a whole number from 2 to {MAX_RUNS}"
            )
        first, last, steps = Fraction(ends[0]), Fraction(ends[1]), int(ends[2]) - 1
        numbers = [shortest(float(first + (last - first) * k / steps)) for k in range(steps + 1)]
    elif len(ends) == 2 and all(NUMBER.fullmatch(part) for part in ends):
        raise TabiError(
            f"--over {key}={text} has no count; expected FROM:TO:COUNT, for example "
            f"--over {key}={ends[0]}:{ends[1]}:5, or values with commas"
        )
    else:
        numbers = [
            shortest(float(part)) if NUMBER.fullmatch(part) else part for part in split(text)
        ]
    for k, value in enumerate(numbers):
        if not value:
            raise TabiError(f"--over {key}={text}: a value between the commas is missing")
        if value in numbers[:k]:
            raise TabiError(f"--over {key}={text}: {value} is there twice; keep one")
    return numbers


def split(text: str) -> list[str]:
    """Split a text at commas outside of brackets and braces."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def shortest(number: float) -> str:
    """A number that reads as the same one."""
    return repr(number).removesuffix(".0")


def combinations(grid: Grid) -> list[dict[str, str]]:
    """Return all combinations of values, the last key fastest."""
    return [dict(zip(grid, point, strict=True)) for point in product(*grid.values())]


def with_values(fixed: list[str], point: dict[str, str]) -> list[str]:
    """Return the settings of one run."""
    return [*fixed, *(f"{key}={value}" for key, value in point.items())]


def ends(values: list[str]) -> set[str]:
    """Select some of many numbers, with the first and the last; all values that are not numeric."""
    try:
        numbers = len(values) > PREBUILT_VALUES and all(
            float(value) == float(value) for value in values
        )
    except ValueError:
        numbers = False
    if not numbers:
        return set(values)
    return {
        values[round(k * (len(values) - 1) / (PREBUILT_VALUES - 1))] for k in range(PREBUILT_VALUES)
    }


def check(name: str, fixed: list[str], grid: Grid) -> list[str]:
    """Read every combination, and build worlds with values from all over each key's range; the
    outcomes that a run has, by name.
    """
    from tabi import scenes
    from tabi.runs import rows as tables

    # what is built takes a tenth of a second, in which nothing else runs
    built = {
        (key, value)
        for key, values in grid.items()
        for value in values
        if value not in ends(values)
    }
    outcomes: dict[str, None] = {}
    everything = combinations(grid)
    with bar("checking", len(everything)) as move:
        for k, point in enumerate(everything):
            try:
                loaded = scenes.load(name, with_values(fixed, point))
                if not built.issuperset(point.items()):
                    built.update(point.items())
                    sim = loaded.simulator()
                    world = sim.world
                    robots = [
                        robot.name for robot in world.robots if robot.base.joint.kind == "floating"
                    ]
                    named = tables.outcomes(
                        robots, list(watched(loaded, world)), tables.of_walks(sim)
                    )
                    outcomes |= dict.fromkeys(named)
            except TabiError as fault:
                words = ", ".join(f"{key}={value}" for key, value in point.items())
                raise TabiError(f"the combination {words} cannot be: {fault}") from None
            move(k + 1)
    return list(outcomes)
