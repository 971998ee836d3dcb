"""Drawing of the panels of ``curves`` in one figure: panels over time above each other, feet side
by side.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi.reporting.curves import Curve, Panel
from tabi.reporting.outputs import check_figure
from tabi.reporting.pressure_scale import SCALE, STEPS

# colours that colour-blind readers can distinguish (Wong 2011)
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
STYLES: dict[str, dict[str, Any]] = {
    "solid": {"linewidth": 1.3},
    "marks": {"linewidth": 1.3, "marker": "o", "markersize": 3.5, "clip_on": False},
    "dashed": {"linewidth": 1.0, "linestyle": (0, (4, 2))},
    # thousands of marks are a picture inside of a drawing, else it would be megabytes
    "dots": {"linestyle": "none", "marker": ".", "markersize": 2.0, "rasterized": True},
    "steps": {"linewidth": 1.3, "drawstyle": "steps-post"},
    "band": {"linewidth": 5.0, "drawstyle": "steps-post", "alpha": 0.35, "solid_capstyle": "butt"},
    "crosses": {"linestyle": "none", "marker": "x", "markersize": 4.0, "markeredgewidth": 0.9},
    "limit": {"linewidth": 1.0, "linestyle": ":", "color": "#B00020"},
}


def draw(path: Path, panels: list[Panel], title: str = "") -> None:
    """The figure as a .png, .pdf or .svg file."""
    check_figure(path)
    picture(panels, title).savefig(path, dpi=160)


def picture(panels: list[Panel], title: str = "") -> Any:
    """The figure, as one of matplotlib."""
    # slow to import, and only needed here; a Figure by itself needs no screen
    from matplotlib.figure import Figure

    planes = [p for p in panels if p.outline is not None]
    lines = [p for p in panels if p.outline is None and p.face is None]
    maps = {
        p.scale: [panel for panel in panels if panel.scale == p.scale] for p in panels if p.face
    }
    heights = ([3.2] if planes else []) + [2.4] * len(maps) + [panel.height for panel in lines]
    figure = Figure(figsize=(7.2, 0.5 + sum(heights)), layout="constrained")
    grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    if title:
        figure.suptitle(plain(title), fontsize=10)
    if planes:
        cells = grid[0].subgridspec(1, len(planes))
        axes = [figure.add_subplot(cells[0, k]) for k in range(len(planes))]
        for panel, ax in zip(planes, axes, strict=True):
            colours = _plane(ax, panel)
        bar = figure.colorbar(colours, ax=axes, shrink=0.8, pad=0.02)
        bar.set_label("time [s]", size=8)
        bar.ax.tick_params(labelsize=7)
    for k, (scale, faces) in enumerate(maps.items()):
        _maps(figure, grid[k + bool(planes)], faces, scale)
    first: Any = None
    for k, panel in enumerate(lines):
        first = figure.add_subplot(grid[k + bool(planes) + len(maps)], sharex=first)
        _curves(first, panel, last=k == len(lines) - 1)
    figure.align_ylabels()
    return figure


def draw_map(
    path: Path,
    values: tuple[Any, Any, Any],
    labels: tuple[str, str, str],
    title: str,
    log: bool = False,
) -> None:
    """Numbers over a plane, as a file: x (n,), y (m,), z (m, n), NaN where there is none;
    labels of the three.
    """
    from matplotlib.colors import LogNorm
    from matplotlib.figure import Figure

    check_figure(path)
    (x, y, z), figure = values, Figure(figsize=(7.2, 4.8), layout="constrained")
    columns, rows, ax = np.argsort(x), np.argsort(y), figure.add_subplot()
    shown = np.ma.masked_invalid(z[rows][:, columns])
    log = log and bool((shown > 0).any())
    colours = ax.pcolormesh(
        x[columns],
        y[rows],
        shown,
        shading="nearest",
        cmap="viridis",
        norm=LogNorm() if log else None,
    )
    _dress(ax, Panel("map", title, "", labels[1], []))
    ax.grid(False)
    ax.set_xlabel(plain(labels[0]))
    bar = figure.colorbar(colours, ax=ax, pad=0.02)
    bar.set_label(plain(labels[2]), size=8)
    bar.ax.tick_params(labelsize=7)
    figure.savefig(path, dpi=160)


def _curves(ax: Any, panel: Panel, last: bool) -> None:
    labelled = [
        curve for curve in panel.curves if curve.style != "dashed" or not _has_twin(panel, curve)
    ]
    for curve in panel.curves:
        style = {"color": COLOURS[curve.place % len(COLOURS)]} | STYLES[curve.style]
        ax.plot(curve.x, curve.y, label=plain(curve.label) if curve in labelled else None, **style)
    if panel.log:
        ax.set_yscale("log")
        ax.margins(y=0.12)
    low, high = ax.get_ylim()
    if high - low < panel.least:
        middle = 0.5 * (low + high)
        ax.set_ylim(middle - 0.5 * panel.least, middle + 0.5 * panel.least)
    if panel.ticks:
        ax.set_yticks(range(len(panel.ticks)), panel.ticks)
        ax.set_ylim(-0.4, len(panel.ticks) - 0.6)
    _dress(ax, panel)
    ax.set_xlabel(panel.x_label if last else "")
    ax.tick_params(labelbottom=last)
    ax.set_xmargin(0.0)
    if len(labelled) > 1:
        ax.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _has_twin(panel: Panel, curve: Curve) -> bool:
    """Whether a dashed line is the target of a solid one, whose colour says enough."""
    return curve.label.endswith(", target") and any(
        other.label == curve.label.removesuffix(", target") for other in panel.curves
    )


def _plane(ax: Any, panel: Panel) -> Any:
    outline, curve = panel.outline, panel.curves[0]
    assert outline is not None
    closed = np.concatenate([outline, outline[:1]])
    ax.fill(*outline.T, color="#EEF1F6", zorder=0)
    ax.plot(*closed.T, color="#444444", linewidth=1.2)
    ax.plot(curve.x, curve.y, color="#AAAAAA", linewidth=0.5, zorder=1)
    colours = ax.scatter(
        curve.x,
        curve.y,
        c=panel.colour_by,
        s=5,
        cmap="viridis",
        zorder=2,
        linewidths=0,
        rasterized=True,
    )
    # a foot that hardly touches has its pressure anywhere
    low, high = outline.min(axis=0), outline.max(axis=0)
    margin = 0.15 * (high - low).max()
    ax.set_xlim(low[0] - margin, high[0] + margin)
    ax.set_ylim(low[1] - margin, high[1] + margin)
    ax.set_aspect("equal", adjustable="box")
    _dress(ax, panel)
    ax.set_xlabel(panel.x_label)
    return colours


def _maps(figure: Any, cell: Any, panels: list[Panel], scale: str) -> None:
    """Draw numbers on the faces of soft soles, side by side, in colours of one scale."""
    from matplotlib.colors import LinearSegmentedColormap

    shades = [(at, tuple(c / 255 for c in rgb)) for at, rgb in zip(STEPS, SCALE, strict=True)]
    cells, axes = cell.subgridspec(1, len(panels)), []
    most = max([float(panel.face[2].max()) for panel in panels if panel.face] + [1e-9])
    for k, panel in enumerate(panels):
        assert panel.face is not None
        axes.append(ax := figure.add_subplot(cells[0, k]))
        points, triangles, values = panel.face
        options: dict[str, Any] = {"shading": "gouraud", "vmin": 0.0, "vmax": most}
        options["cmap"] = LinearSegmentedColormap.from_list("pressure", shades)
        colours = ax.tripcolor(*points.T, values, triangles=triangles, rasterized=True, **options)
        for edge in rim(triangles):
            ax.plot(*points[edge].T, color="#444444", linewidth=0.8)
        ax.set_aspect("equal", adjustable="datalim")
        _dress(ax, panel)
        ax.grid(False)
        ax.set_xlabel(panel.x_label)
    bar = figure.colorbar(colours, ax=axes, shrink=0.9, pad=0.02)
    bar.set_label(plain(scale), size=8)
    bar.ax.tick_params(labelsize=7)


def rim(triangles: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the edges of one triangle only, pairs of points."""
    edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    unique_edges, count = np.unique(edges, axis=0, return_counts=True)
    return unique_edges[count == 1]


def _dress(ax: Any, panel: Panel) -> None:
    ax.set_title(plain(panel.title), fontsize=9, loc="left")
    ax.set_ylabel(plain(panel.y_label), fontsize=8)
    ax.xaxis.label.set_size(8)
    ax.tick_params(labelsize=7)
    ax.grid(True, alpha=0.25, linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)


def plain(words: str) -> str:
    """Return words of a file for a label, in which a dollar would begin a formula."""
    return words.replace("$", r"\$")[:120]
