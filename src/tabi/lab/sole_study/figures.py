"""Figures of a study of soles: both curves against the first key, and the front."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

from tabi.lab.sole_study.front import StudyPoint, compromise, front
from tabi.reporting.figures import COLOURS, plain
from tabi.runs.sweep_figure import label, named

Grid = dict[str, list[str]]
IMPACT, LEANT = "peak acceleration at impact [m/s²]", "inclination of the waist [°]"
# values that span more are drawn on a logarithmic scale
DECADE = 10.0
# letters that stand for words in legends
SIZE = {"fontsize": 8}


def families(grid: Grid) -> list[dict[str, str]]:
    """Values of the keys after the second: a pair of curves for each."""
    rest = list(grid)[2:]
    return [
        dict(zip(rest, values, strict=True)) for values in product(*(grid[key] for key in rest))
    ]


def curves(grid: Grid, points: Sequence[StudyPoint], family: dict[str, str]) -> Any:
    """Peak and inclination against the first key, a curve for each value of the second, as a
    figure of matplotlib. Hollow marks change with the step; crosses below are falls.
    """
    from matplotlib.figure import Figure

    shown = [
        point
        for point in points
        if all(point.parameters[key] == value for key, value in family.items())
    ]
    x_key, *second = list(grid)[:2]
    at = sorted(grid[x_key], key=float)
    figure = Figure(figsize=(7.2, 3.1), layout="constrained")
    axes = figure.subplots(1, 2)
    for k, value in enumerate(grid[second[0]] if second else [""]):
        colour = COLOURS[k % len(COLOURS)]
        mine = {
            point.parameters[x_key]: point
            for point in shown
            if not second or point.parameters[second[0]] == value
        }
        row = [mine[text] for text in at if text in mine]
        words = named(second[0], value) if second else None
        for ax, name in zip(axes, ("impact", "inclination"), strict=True):
            _curve(ax, x_key, row, name, colour, words)
    for ax, words in zip(axes, (IMPACT, LEANT), strict=True):
        _dress(ax, label(x_key), words, _logarithmic(at))
        ax.set_ylim(bottom=0.0)
    if second and len(grid[second[0]]) > 1:
        axes[0].legend(frameon=False, fontsize=7)
    if family:
        values = ", ".join(named(key, value) for key, value in family.items())
        figure.suptitle(plain(values), fontsize=9)
    return figure


def _curve(
    ax: Any, x_key: str, row: list[StudyPoint], name: str, colour: str, words: str | None
) -> None:
    stands = [p for p in row if not p.falls and getattr(p.run, name) is not None]
    x, y = ([float(p.parameters[x_key]) for p in stands], [getattr(p.run, name) for p in stands])
    legend = None if words is None else plain(words)
    ax.plot(x, y, color=colour, linewidth=1.3, label=legend)
    for p, u, v in zip(stands, x, y, strict=True):
        face = colour if p.counts else "white"
        ax.plot([u], [v], "o", color=colour, markerfacecolor=face, markersize=4.5)
    fell = [float(p.parameters[x_key]) for p in row if p.falls]
    # at the lower edge, whatever the scale
    where = ax.get_xaxis_transform()
    ax.plot(fell, [0.03] * len(fell), "x", color=colour, transform=where, markersize=5)


def pareto(points: Sequence[StudyPoint]) -> Any:
    """All points that stand, the front, and the compromise, as a figure of matplotlib."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 3.6), layout="constrained")
    ax = figure.subplots()
    for p in points:
        if not p.falls and p.run.impact is not None and p.run.inclination is not None:
            face = "#9aa3af" if p.counts else "white"
            ax.plot([p.run.impact], [p.run.inclination], "o", color="#9aa3af", markerfacecolor=face)
    best, compromise_point = front(points), compromise(points)
    ax.plot(*_columns(best), "o-", color=COLOURS[0], linewidth=1.2, label="front")
    if compromise_point is not None:
        values = ", ".join(named(key, value) for key, value in compromise_point.parameters.items())
        ax.plot(
            *_columns([compromise_point]),
            "*",
            color=COLOURS[1],
            markersize=15,
            label=plain(f"compromise: {values}"),
        )
        ax.legend(frameon=False, fontsize=7)
    _dress(ax, IMPACT, LEANT, False)
    return figure


def _columns(points: Sequence[StudyPoint]) -> tuple[list[float], list[float]]:
    return [p.place[0] for p in points], [p.place[1] for p in points]


def _logarithmic(texts: list[str]) -> bool:
    values = [float(text) for text in texts]
    return min(values) > 0 and max(values) / min(values) >= DECADE * (1 - 1e-9)


def _dress(ax: Any, x: str, y: str, log: bool) -> None:
    ax.set_xlabel(plain(x), **SIZE)
    ax.set_ylabel(plain(y), **SIZE)
    if log:
        ax.set_xscale("log")
    ax.tick_params(labelsize=7)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, alpha=0.3)
    ax.margins(x=0.05, y=0.1)


def number(value: float | None, form: str = ".3g") -> str:
    """Return a number as a cell of a table, – if there is none."""
    return "–" if value is None or not math.isfinite(value) else format(value, form)
