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
# dashes of the lines of one engine
DASHES: tuple[Any, ...] = (
    "solid",
    (0, (5, 2)),
    (0, (1, 1.5)),
    (0, (6, 2, 1, 2)),
    (0, (3, 1, 1, 1, 1, 1)),
)
# s over which a speed is taken, and what is drawn of nothing on a logarithmic axis, in its unit:
# a nanometre
SPEED_INTERVAL_S, AXIS_FLOOR = 0.05, 1e-6
# points of a line: more than a figure has pixels; bodies drawn, at most
POINTS, MAX_DRAWN = 1500, 5
FLOOR = "mm, from 1e-6 on"


def draw(path: Path, comparison: Comparison) -> None:
    """The figure as a .png, .pdf or .svg file."""
    # slow to import, and only needed here; a Figure by itself needs no screen
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    figure = Figure(figsize=(10.0, 8.4), layout="constrained")
    panels = figure.subplots(3, 2, sharex=True).ravel()
    for ax, panel in zip(panels, (_paths, _apart, _forces, _energy, _creep, _overlap), strict=True):
        panel(ax, comparison)
        ax.grid(True, alpha=0.25, linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=8)
        ax.set_xmargin(0.0)
    for ax in panels[4:]:
        ax.set_xlabel("time [s]", fontsize=9)
    result = comparison.result
    figure.suptitle(
        f"{result['scene']}: {result['title']}".replace("$", r"\$"), fontsize=11, x=0.01, ha="left"
    )
    keys = [Line2D([], [], color=COLOURS[k], linewidth=2.5) for k in range(2)]
    figure.legend(
        keys,
        list(comparison.columns),
        loc="outside upper right",
        ncols=2,
        frameon=False,
        fontsize=9,
    )
    figure.savefig(path, dpi=150)


def _lines(ax: Any, comparison: Comparison, values: dict[str, Array], names: list[str]) -> None:
    """Draw a line for each engine and name; a grey legend explains the dashes."""
    step = max(1, len(comparison.time) // POINTS)
    for k, y in enumerate(values.values()):
        for j in range(len(names)):
            # tabi on top, and thinner: both are seen where they agree
            style = {"linewidth": 1.0 + 1.2 * k, "zorder": 4 - k, "alpha": 1.0 - 0.25 * k}
            ax.plot(
                comparison.time[::step],
                y[::step, j],
                color=COLOURS[k],
                linestyle=DASHES[j % len(DASHES)],
                **style,
            )
    _add_dash_legend(ax, names)


def _add_dash_legend(ax: Any, names: list[str]) -> None:
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


def _drawn_bodies(comparison: Comparison) -> list[int]:
    """Bodies that are drawn: those which are farthest apart, in their order."""
    far = [x["largest_mm"] for x in comparison.result["differences"]["bodies"].values()]
    return sorted(int(k) for k in np.argsort(far)[::-1][:MAX_DRAWN])


def _paths(ax: Any, comparison: Comparison) -> None:
    """Paths along the axis with the largest motion."""
    drawn = _drawn_bodies(comparison)
    displacement = {
        name: track["position"][:, drawn] - track["position"][:1, drawn]
        for name, track in comparison.columns.items()
    }
    axis = int(np.argmax(np.abs(next(iter(displacement.values()))).max(axis=(0, 1))))
    far = max(float(np.abs(x[:, :, axis]).max()) for x in displacement.values())
    scale, unit = (1.0, "m") if far >= 0.1 else (1e3, "mm")
    _lines(
        ax,
        comparison,
        {name: scale * x[:, :, axis] for name, x in displacement.items()},
        [comparison.watched.names[k] for k in drawn],
    )
    _head(ax, f"Way from the start along {'xyz'[axis]}", unit)


def _apart(ax: Any, comparison: Comparison) -> None:
    drawn, (a, b) = _drawn_bodies(comparison), comparison.columns.values()
    gap = 1e3 * np.linalg.norm(a["position"][:, drawn] - b["position"][:, drawn], axis=2)
    step = max(1, len(comparison.time) // POINTS)
    for j in range(len(drawn)):
        ax.plot(
            comparison.time[::step],
            np.maximum(gap[::step, j], AXIS_FLOOR),
            color="0.25",
            linestyle=DASHES[j % len(DASHES)],
            linewidth=1.2,
        )
    _add_dash_legend(ax, [comparison.watched.names[k] for k in drawn])
    _logarithmic(ax, gap)
    _head(ax, "How far the engines are apart", FLOOR)


def _forces(ax: Any, comparison: Comparison) -> None:
    feet = comparison.watched.world.feet.names
    if feet:
        values = {name: track["wrench"][1:, :, 2] for name, track in comparison.columns.items()}
    else:
        values = {name: track["ground"][1:, 2:] for name, track in comparison.columns.items()}
    first = comparison.result["settled_after_s"]
    # the first row has no step behind it
    _lines(
        ax,
        comparison,
        {name: np.concatenate([y[:1], y]) for name, y in values.items()},
        feet or ["ground"],
    )
    late = np.concatenate([y[comparison.time[1:] >= first].ravel() for y in values.values()])
    low, high = np.percentile(late, (0.5, 99.5))
    # what happens at first, and blows, would hide all else
    room = max(0.15 * (high - low), 0.02 * abs(high), 1e-3)
    ax.set_ylim(low - room, high + room)
    _head(ax, "Load of the feet" if feet else "Force of the ground", "N, upwards")


def _energy(ax: Any, comparison: Comparison) -> None:
    _lines(
        ax,
        comparison,
        {
            name: (track["energy"] - track["energy"][0])[:, None]
            for name, track in comparison.columns.items()
        },
        ["all"],
    )
    _head(ax, "Energy since the start, kinetic and potential", "J")


def _creep(ax: Any, comparison: Comparison) -> None:
    feet, time = comparison.watched.world.feet.names, comparison.time
    if feet:
        start = int(np.searchsorted(time, comparison.result["settled_after_s"]))
        values = {}
        for name, track in comparison.columns.items():
            away = 1e3 * np.linalg.norm((track["foot"] - track["foot"][start])[:, :, :2], axis=2)
            values[name] = np.where(
                (time > time[start])[:, None], np.maximum(away, AXIS_FLOOR), np.nan
            )
        title = f"Creep: way of the feet on the level since {time[start]:g} s"
        unit, names = FLOOR, feet
    else:
        drawn, lag = (
            _drawn_bodies(comparison),
            max(1, round(SPEED_INTERVAL_S / comparison.result["step_s"])),
        )
        values = {}
        for name, track in comparison.columns.items():
            y = np.full((len(time), len(drawn)), np.nan)
            displacement = np.linalg.norm(
                track["position"][lag:, drawn] - track["position"][:-lag, drawn], axis=2
            )
            y[lag:] = np.maximum(
                1e3 * displacement / (lag * comparison.result["step_s"]), AXIS_FLOOR
            )
            values[name] = y
        title, unit = (
            f"Speed of the bodies, over {1e3 * SPEED_INTERVAL_S:g} ms",
            "mm/s, from 1e-6 on",
        )
        names = [comparison.watched.names[k] for k in drawn]
    _lines(ax, comparison, values, names)
    _logarithmic(ax, np.concatenate([y.ravel() for y in values.values()]))
    _head(ax, title, unit)


def _overlap(ax: Any, comparison: Comparison) -> None:
    depth = {
        name: np.maximum(1e3 * track["penetration"], AXIS_FLOOR)[:, None]
        for name, track in comparison.columns.items()
    }
    _lines(ax, comparison, depth, ["all"])
    _logarithmic(ax, np.concatenate(list(depth.values())))
    _head(ax, "Deepest overlap", FLOOR)


def _logarithmic(ax: Any, values: Array) -> None:
    """A logarithmic axis down to nothing, if there is anything on it."""
    finite = values[np.isfinite(values)]
    if finite.size and finite.max() > AXIS_FLOOR:
        ax.set_yscale("log")
        ax.set_ylim(bottom=0.5 * max(AXIS_FLOOR, float(finite.min())))
