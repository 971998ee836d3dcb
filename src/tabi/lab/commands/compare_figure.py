"""The figure of ``tabi compare``: six panels over time, tabi in blue,
the other engine in orange.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.lab.referee import Comparison
from tabi.reporting.figures import COLOURS

Array = NDArray[np.float64]
# lines of one engine, told apart by these
DASHES: tuple[Any, ...] = (
    "solid",
    (0, (5, 2)),
    (0, (1, 1.5)),
    (0, (6, 2, 1, 2)),
    (0, (3, 1, 1, 1, 1, 1)),
)
# s over which a speed is taken, and what is drawn of nothing on a logarithmic axis, in its unit:
# a nanometre
WHILE, NOTHING = 0.05, 1e-6
# points of a line: more than a figure has pixels; bodies drawn, at most
POINTS, DRAWN = 1500, 5
FLOOR = "mm, from 1e-6 on"


def draw(path: Path, found: Comparison) -> None:
    """The figure as a .png, .pdf or .svg file."""
    # slow to import, and only needed here; a Figure by itself needs no screen
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    figure = Figure(figsize=(10.0, 8.4), layout="constrained")
    panels = figure.subplots(3, 2, sharex=True).ravel()
    for ax, panel in zip(panels, (_paths, _apart, _forces, _energy, _creep, _overlap), strict=True):
        panel(ax, found)
        ax.grid(True, alpha=0.25, linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=8)
        ax.set_xmargin(0.0)
    for ax in panels[4:]:
        ax.set_xlabel("time [s]", fontsize=9)
    result = found.result
    figure.suptitle(
        f"{result['scene']}: {result['title']}".replace("$", r"\$"), fontsize=11, x=0.01, ha="left"
    )
    keys = [Line2D([], [], color=COLOURS[k], linewidth=2.5) for k in range(2)]
    figure.legend(
        keys, list(found.columns), loc="outside upper right", ncols=2, frameon=False, fontsize=9
    )
    figure.savefig(path, dpi=150)


def _lines(ax: Any, found: Comparison, values: dict[str, Array], names: list[str]) -> None:
    """One line for each engine and each of the names; they are told in grey, by their dashes."""
    step = max(1, len(found.time) // POINTS)
    for k, y in enumerate(values.values()):
        for j in range(len(names)):
            # tabi on top, and thinner: both are seen where they agree
            style = {"linewidth": 1.0 + 1.2 * k, "zorder": 4 - k, "alpha": 1.0 - 0.25 * k}
            ax.plot(
                found.time[::step],
                y[::step, j],
                color=COLOURS[k],
                linestyle=DASHES[j % len(DASHES)],
                **style,
            )
    _tell(ax, names)


def _tell(ax: Any, names: list[str]) -> None:
    from matplotlib.lines import Line2D

    if len(names) > 1:
        keys = [
            Line2D([], [], color="0.35", linestyle=DASHES[j % len(DASHES)], linewidth=1.2)
            for j in range(len(names))
        ]
        ax.legend(
            keys,
            [name.replace("$", r"\$") for name in names],
            fontsize=7,
            frameon=False,
            loc="best",
        )


def _head(ax: Any, title: str, unit: str) -> None:
    ax.set_title(title, fontsize=9, loc="left")
    ax.set_ylabel(unit, fontsize=8)


def _chosen(found: Comparison) -> list[int]:
    """Bodies that are drawn: those which are farthest apart, in their order."""
    far = [x["largest_mm"] for x in found.result["differences"]["bodies"].values()]
    return sorted(int(k) for k in np.argsort(far)[::-1][:DRAWN])


def _paths(ax: Any, found: Comparison) -> None:
    """Along that axis on which most happens."""
    own = _chosen(found)
    moved = {
        name: track["position"][:, own] - track["position"][:1, own]
        for name, track in found.columns.items()
    }
    axis = int(np.argmax(np.abs(next(iter(moved.values()))).max(axis=(0, 1))))
    far = max(float(np.abs(x[:, :, axis]).max()) for x in moved.values())
    scale, unit = (1.0, "m") if far >= 0.1 else (1e3, "mm")
    _lines(
        ax,
        found,
        {name: scale * x[:, :, axis] for name, x in moved.items()},
        [found.watched.names[k] for k in own],
    )
    _head(ax, f"Way from the start along {'xyz'[axis]}", unit)


def _apart(ax: Any, found: Comparison) -> None:
    own, (a, b) = _chosen(found), found.columns.values()
    gap = 1e3 * np.linalg.norm(a["position"][:, own] - b["position"][:, own], axis=2)
    step = max(1, len(found.time) // POINTS)
    for j in range(len(own)):
        ax.plot(
            found.time[::step],
            np.maximum(gap[::step, j], NOTHING),
            color="0.25",
            linestyle=DASHES[j % len(DASHES)],
            linewidth=1.2,
        )
    _tell(ax, [found.watched.names[k] for k in own])
    _logarithmic(ax, gap)
    _head(ax, "How far the engines are apart", FLOOR)


def _forces(ax: Any, found: Comparison) -> None:
    feet = found.watched.world.feet.names
    if feet:
        values = {name: track["wrench"][1:, :, 2] for name, track in found.columns.items()}
    else:
        values = {name: track["ground"][1:, 2:] for name, track in found.columns.items()}
    first = found.result["settled_after_s"]
    # the first row has no step behind it
    _lines(
        ax,
        found,
        {name: np.concatenate([y[:1], y]) for name, y in values.items()},
        feet or ["ground"],
    )
    late = np.concatenate([y[found.time[1:] >= first].ravel() for y in values.values()])
    low, high = np.percentile(late, (0.5, 99.5))
    # what happens at first, and blows, would hide all else
    room = max(0.15 * (high - low), 0.02 * abs(high), 1e-3)
    ax.set_ylim(low - room, high + room)
    _head(ax, "Load of the feet" if feet else "Force of the ground", "N, upwards")


def _energy(ax: Any, found: Comparison) -> None:
    _lines(
        ax,
        found,
        {
            name: (track["energy"] - track["energy"][0])[:, None]
            for name, track in found.columns.items()
        },
        ["all"],
    )
    _head(ax, "Energy since the start, kinetic and potential", "J")


def _creep(ax: Any, found: Comparison) -> None:
    feet, time = found.watched.world.feet.names, found.time
    if feet:
        start = int(np.searchsorted(time, found.result["settled_after_s"]))
        values = {}
        for name, track in found.columns.items():
            away = 1e3 * np.linalg.norm((track["foot"] - track["foot"][start])[:, :, :2], axis=2)
            values[name] = np.where(
                (time > time[start])[:, None], np.maximum(away, NOTHING), np.nan
            )
        title = f"Creep: way of the feet on the level since {time[start]:g} s"
        unit, names = FLOOR, feet
    else:
        own, lag = _chosen(found), max(1, round(WHILE / found.result["step_s"]))
        values = {}
        for name, track in found.columns.items():
            y = np.full((len(time), len(own)), np.nan)
            moved = np.linalg.norm(
                track["position"][lag:, own] - track["position"][:-lag, own], axis=2
            )
            y[lag:] = np.maximum(1e3 * moved / (lag * found.result["step_s"]), NOTHING)
            values[name] = y
        title, unit = f"Speed of the bodies, over {1e3 * WHILE:g} ms", "mm/s, from 1e-6 on"
        names = [found.watched.names[k] for k in own]
    _lines(ax, found, values, names)
    _logarithmic(ax, np.concatenate([y.ravel() for y in values.values()]))
    _head(ax, title, unit)


def _overlap(ax: Any, found: Comparison) -> None:
    depth = {
        name: np.maximum(1e3 * track["penetration"], NOTHING)[:, None]
        for name, track in found.columns.items()
    }
    _lines(ax, found, depth, ["all"])
    _logarithmic(ax, np.concatenate(list(depth.values())))
    _head(ax, "Deepest overlap", FLOOR)


def _logarithmic(ax: Any, values: Array) -> None:
    """A logarithmic axis down to nothing, if there is anything on it."""
    some = values[np.isfinite(values)]
    if some.size and some.max() > NOTHING:
        ax.set_yscale("log")
        ax.set_ylim(bottom=0.5 * max(NOTHING, float(some.min())))
