"""``tabi compare``: a scene by tabi and by another engine, side by side: paths, forces, creep, overlap, energy.

Exit codes: 0, both ran to the end, whatever they found; 1, one of them broke down; 2, the scene cannot be compared, and nothing was done;
130, interrupted, with what was found until then.
"""

from __future__ import annotations

import json
import os
import time as clock
from pathlib import Path
from typing import Annotated, Any

import typer

from tabi.apps.outputs import check_figure
from tabi.apps.run import SceneArgument, Settings
from tabi.apps.terminal import bar, interrupt

# bodies told, at most
MOST = 12


def compare(
    scene: SceneArgument,
    settings: Settings = None,
    time: Annotated[float | None, typer.Option(help="How long [s]; by default what the scene says.")] = None,
    referee: Annotated[str, typer.Option("--with", help="The other engine: mujoco or pinocchio.")] = "mujoco",
    figure: Annotated[Path | None, typer.Option(help="Draw both runs into this file: .png, .pdf or .svg.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Run a scene in tabi and in another engine, and say how far apart they are."""
    from tabi import scenes

    if figure is not None:
        check_figure(figure)
    told = scenes.load(scene, [*(settings or []), *([] if time is None else [f"duration_s={time!r}"])])
    from tabi.validation import referee as experiment

    with bar("both engines", told.duration, "{task.completed:.2f} of {task.total:g} s") as advance, interrupt() as asked:
        start = clock.monotonic()

        def look(now: float) -> bool:
            advance(now, f"{now / max(clock.monotonic() - start, 1e-9):.2f} × real time")
            return bool(asked)

        found = experiment.measure(told, referee, look)
    # of one row there is nothing to draw
    if figure is not None and found.result["steps"] > 0:
        from tabi.apps.compare_figure import draw

        draw(figure, found)
    print(json.dumps(hardware() | found.result, indent=2) if as_json else text(found.result), flush=True)
    if found.result["interrupted"]:
        raise typer.Exit(130)
    if found.result["fault"]:
        raise typer.Exit(1)


def hardware() -> dict[str, Any]:
    """The machine, for figures that depend on it."""
    from tabi.apps.doctor import processor

    return {"hardware": {"processor": processor(), "cores": os.cpu_count(), "threads_used": 1}}


# ---- in words -----------------------------------------------------------------------------------


def text(result: dict[str, Any]) -> str:
    """The figures for a terminal."""
    ended = "interrupted after" if result["interrupted"] else "ran"
    lines = [f"{result['scene']}: {result['title']}", f"  {result['verdict']}"]
    lines.append(f"  {ended} {result['time_s']:g} s in {result['steps']} steps; forces and creep after {result['settled_after_s']:g} s")
    for name, engine in result["engines"].items():
        told = ", ".join(_setting(key, value) for key, value in engine["settings"].items())
        us = engine["microseconds_per_step"]
        lines.append(f"  {name} {engine['version']}: {told}" + (f"; {us:g} µs a step, called from Python" if us is not None else ""))
        lines += [f"    {note}" for note in engine["notes"]]
    table = [("", *result["engines"], "apart"), *_rows(result)]
    wide = [max(len(row[k]) for row in table) for k in range(4)]
    lines += ["", *("  " + f"{row[0]:<{wide[0]}}  {row[1]:>{wide[1]}}  {row[2]:>{wide[2]}}  {row[3]}".rstrip() for row in table)]
    return "\n".join(lines)


def _rows(result: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """Words, the figure of each engine, and how far apart they are."""
    a, b = result["engines"].values()
    apart, rows = result["differences"], []
    for name in list(apart["bodies"])[:MOST]:
        far = apart["bodies"][name]
        told = f"{_number(far['largest_mm'])} mm at {far['at_s']:g} s, {_number(far['end_mm'])} mm at the end"
        rows.append((f"{name}: drift at the end [mm/s]", *(_number(x["bodies"][name]["drift_mm_s"]) for x in (a, b)), told))
    if len(apart["bodies"]) > MOST:
        rows.append((f"and {len(apart['bodies']) - MOST} bodies more", "", "", ""))
    for name, far in apart["feet"].items():
        feet = [engine["feet"][name] for engine in (a, b)]
        told = f"{_number(far['load_mean_n'])} N in the mean, force {_number(far['force_largest_n'])} N at most"
        rows.append((f"foot {name}: load [N]", *(f"{foot['load_n']:.3f}" for foot in feet), told))
        rows.append((f"foot {name}: flicker [N]", *(_number(foot["flicker_n"]) for foot in feet), ""))
        rows.append((f"foot {name}: creep [mm/s]", *(_number(foot["creep_mm_s"]) for foot in feet), ""))
        if far["pressure_mean_mm"] is not None:
            told = f"{_number(far['pressure_mean_mm'])} mm in the mean, {_number(far['pressure_largest_mm'])} mm at most"
            rows.append((f"foot {name}: centre of pressure", "", "", told))
    weight = f"{_number(apart['ground_force_mean_n'])} N in the mean; weight {result['weight_n']:.3f} N"
    rows.append(("force of the ground [N]", *(f"{x['ground_force_n']['mean']:.3f}" for x in (a, b)), weight))
    rows.append(("its flicker [N]", *(_number(x["ground_force_n"]["flicker"]) for x in (a, b)), ""))
    rows.append(("deepest overlap [mm]", *(_number(x["penetration_mm"]["largest"]) for x in (a, b)), ""))
    rows.append(("overlap in the mean [mm]", *(_number(x["penetration_mm"]["mean"]) for x in (a, b)), ""))
    rows.append(("energy at the end [J]", *(f"{x['energy_j']['end']:.4f}" for x in (a, b)), f"{_number(apart['energy_largest_j'])} J at most"))
    for robot in sorted({robot for x in (a, b) for robot in x["fallen_at_s"]}):
        rows.append((f"{robot} falls at [s]", *(f"{x['fallen_at_s'][robot]:g}" if robot in x["fallen_at_s"] else "stands" for x in (a, b)), ""))
    return rows


def _number(x: float | None) -> str:
    """Three digits; of what is next to nothing one, and a dash for what there is not."""
    if x is None:
        return "–"
    return "0" if x == 0 else f"{x:.3g}" if abs(x) >= 1e-3 else f"{x:.0e}"


def _setting(key: str, value: Any) -> str:
    """A setting in words, with its unit."""
    words, unit = (key.removesuffix("_m_s"), " m/s") if key.endswith("_m_s") else (key.removesuffix("_s"), " s") if key.endswith("_s") else (key, "")
    return f"{words} {_plain(value)}{unit}"


def _plain(value: Any) -> str:
    return " ".join(f"{x:g}" for x in value) if isinstance(value, list) else f"{value:g}" if isinstance(value, float) else str(value)
