"""``tabi compare``: a scene by tabi and by another engine, side by side:
paths, forces, creep, overlap, energy.

Exit codes: 0, both ran to the end, whatever they found; 1, one of them broke down; 2, the scene
cannot be compared, and nothing was done; 130, interrupted, with what was found until then.
"""

from __future__ import annotations

import json
import time as clock
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any

import typer

from tabi.apps.run import SceneArgument, Settings
from tabi.apps.showing import machine
from tabi.apps.stamp import stamped
from tabi.lab.columns import Column, table
from tabi.reporting.outputs import check_figure
from tabi.reporting.terminal import bar, interrupt

Row = tuple[str, ...]

# maximum number of bodies in the tables
MAX_BODIES = 12


def compare(
    scene: SceneArgument,
    settings: Settings = None,
    time: Annotated[
        float | None, typer.Option(help="How long [s]; by default what the scene says.")
    ] = None,
    referee: Annotated[
        str, typer.Option("--with", help="The other engine: mujoco or pinocchio.")
    ] = "mujoco",
    figure: Annotated[
        Path | None, typer.Option(help="Draw both runs into this file: .png, .pdf or .svg.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Run a scene in tabi and in another engine, and say how far apart they are."""
    from tabi import scenes

    if figure is not None:
        check_figure(figure)
    loaded = scenes.load(
        scene, [*(settings or []), *([] if time is None else [f"duration_s={time!r}"])]
    )
    from tabi.lab import referee as experiment

    with (
        bar("both engines", loaded.duration, "{task.completed:.2f} of {task.total:g} s") as advance,
        interrupt() as interrupted,
    ):
        start = clock.monotonic()

        def look(now: float) -> bool:
            advance(now, f"{now / max(clock.monotonic() - start, 1e-9):.2f} × real time")
            return bool(interrupted)

        comparison = experiment.measure(loaded, referee, look)
    # of one row there is nothing to draw
    if figure is not None and comparison.result["steps"] > 0:
        from tabi.lab.commands.compare_figure import draw

        draw(figure, comparison)
    print(
        json.dumps(hardware() | comparison.result, indent=2)
        if as_json
        else text(comparison.result),
        flush=True,
    )
    if comparison.result["interrupted"]:
        raise typer.Exit(130)
    if comparison.result["fault"]:
        raise typer.Exit(1)


def hardware() -> dict[str, Any]:
    """The machine and the revision, for figures that depend on them."""
    return stamped({"hardware": machine()["hardware"]})


# ---- in words -----------------------------------------------------------------------------------


def text(result: dict[str, Any]) -> str:
    """The figures for a terminal."""
    ended = "interrupted after" if result["interrupted"] else "ran"
    lines = [f"{result['scene']}: {result['title']}", f"  {result['verdict']}"]
    lines.append(
        f"  {ended} {result['time_s']:g} s in {result['steps']} steps; "
        f"forces and creep after {result['settled_after_s']:g} s"
    )
    for name, engine in result["engines"].items():
        settings = ", ".join(_setting(key, value) for key, value in engine["settings"].items())
        us = engine["microseconds_per_step"]
        lines.append(
            f"  {name} {engine['version']}: {settings}"
            + (f"; {us:g} µs a step, called from Python" if us is not None else "")
        )
        lines += [f"    {note}" for note in engine["notes"]]
    titles = ("", *result["engines"], "apart")
    columns = [Column(title, itemgetter(k)) for k, title in enumerate(titles)]
    return "\n".join([*lines, "", *table(columns, _rows(result))])


def _rows(result: dict[str, Any]) -> list[Row]:
    """Words, the figure of each engine, and how far apart they are."""
    a, b = result["engines"].values()
    apart = result["differences"]
    rows = [*_body_rows(apart["bodies"], a, b), *_foot_rows(apart["feet"], a, b)]
    weight = (
        f"{_number(apart['ground_force_mean_n'])} N in the mean; weight {result['weight_n']:.3f} N"
    )
    force, deep = [x["ground_force_n"] for x in (a, b)], [x["penetration_mm"] for x in (a, b)]
    rows.append(("force of the ground [N]", *(f"{x['mean']:.3f}" for x in force), weight))
    rows.append(("its flicker [N]", *(_number(x["flicker"]) for x in force), ""))
    rows.append(("deepest overlap [mm]", *(_number(x["largest"]) for x in deep), ""))
    rows.append(("overlap in the mean [mm]", *(_number(x["mean"]) for x in deep), ""))
    difference = f"{_number(apart['energy_largest_j'])} J at most"
    rows.append(
        ("energy at the end [J]", *(f"{x['energy_j']['end']:.4f}" for x in (a, b)), difference)
    )
    for robot in sorted({robot for x in (a, b) for robot in x["fallen_at_s"]}):
        fell = [x["fallen_at_s"] for x in (a, b)]
        when = (f"{x[robot]:g}" if robot in x else "stands" for x in fell)
        rows.append((f"{robot} falls at [s]", *when, ""))
    return rows


def _body_rows(apart: dict[str, Any], a: dict[str, Any], b: dict[str, Any]) -> Iterator[Row]:
    for name, far in list(apart.items())[:MAX_BODIES]:
        difference = (
            f"{_number(far['largest_mm'])} mm at {far['at_s']:g} s, "
            f"{_number(far['end_mm'])} mm at the end"
        )
        drifts = (_number(x["bodies"][name]["drift_mm_s"]) for x in (a, b))
        yield (f"{name}: drift at the end [mm/s]", *drifts, difference)
    if len(apart) > MAX_BODIES:
        yield (f"and {len(apart) - MAX_BODIES} bodies more", "", "", "")


def _foot_rows(apart: dict[str, Any], a: dict[str, Any], b: dict[str, Any]) -> Iterator[Row]:
    for name, far in apart.items():
        feet = [engine["feet"][name] for engine in (a, b)]
        difference = (
            f"{_number(far['load_mean_n'])} N in the mean, "
            f"force {_number(far['force_largest_n'])} N at most"
        )
        yield (f"foot {name}: load [N]", *(f"{foot['load_n']:.3f}" for foot in feet), difference)
        yield (f"foot {name}: flicker [N]", *(_number(foot["flicker_n"]) for foot in feet), "")
        yield (f"foot {name}: creep [mm/s]", *(_number(foot["creep_mm_s"]) for foot in feet), "")
        if far["pressure_mean_mm"] is not None:
            difference = (
                f"{_number(far['pressure_mean_mm'])} mm in the mean, "
                f"{_number(far['pressure_largest_mm'])} mm at most"
            )
            yield (f"foot {name}: centre of pressure", "", "", difference)


def _number(x: float | None) -> str:
    """Three digits; of what is next to nothing one, and a dash for what there is not."""
    if x is None:
        return "–"
    return "0" if x == 0 else f"{x:.3g}" if abs(x) >= 1e-3 else f"{x:.0e}"


def _setting(key: str, value: Any) -> str:
    """A setting in words, with its unit."""
    words, unit = (
        (key.removesuffix("_m_s"), " m/s")
        if key.endswith("_m_s")
        else (key.removesuffix("_s"), " s")
        if key.endswith("_s")
        else (key, "")
    )
    return f"{words} {_plain(value)}{unit}"


def _plain(value: Any) -> str:
    return (
        " ".join(f"{x:g}" for x in value)
        if isinstance(value, list)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )
