"""Draws the figure and writes the table of pushes of the page on balance from what was measured.

python docs/generate/balance.py [FOLDER]

FOLDER, docs/measured if not given, has what these commands print:

    tabi validate pushes --json > pushes-hrp2.json
    tabi validate pushes --robot JVRC1.urdf --json > pushes-jvrc1.json
    tabi validate pushes --robot g1 --json > pushes-g1.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from filling import BLUE, DOCS, GREEN, GREY, ORANGE, PICTURES, table, write
from matplotlib.figure import Figure
from saving import save_figure

ROBOTS = {"hrp2": "HRP-2", "jvrc1": "JVRC-1", "g1": "G1"}
TOWARDS = {0: "ahead", 45: "ahead, left", 90: "left", 135: "back, left", 180: "back"}
TOWARDS |= {225: "back, right", 270: "right", 315: "ahead, right"}


def polar(results: dict[str, dict[str, Any]]) -> Figure:
    """Limits by direction, ahead is up and left is left."""
    figure = Figure(figsize=(12.0, 4.6), layout="constrained")
    panels = figure.subplots(1, len(results), subplot_kw={"projection": "polar"})
    for axes, (name, result) in zip(panels, results.items(), strict=True):
        axes.set_theta_zero_location("N")
        _closed(axes, result["standing"], "bound_N", "m ω d/T", color=GREY, ls="--", lw=1.0)
        _closed(axes, result["stepping"], "bound_N", "with one step, (2)", color=GREY, ls=":", lw=1)
        _closed(axes, result["standing"], "limit_N", "standing", color=BLUE, marker="o", ms=4)
        _closed(axes, result["stepping"], "limit_N", "with steps", color=ORANGE, marker="o", ms=4)
        worst = list(worst_walks(result).items())
        rows = [{"direction_deg": degrees, "limit_N": limit} for degrees, limit in worst]
        _closed(axes, rows, "limit_N", "walking, worst phase", color=GREEN, marker="o", ms=4)
        axes.set_title(f"{ROBOTS[name]}, {result['mass_kg']:.0f} kg [N]", fontsize=10)
        axes.tick_params(labelsize=8)
        axes.set_rmin(0.0)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False, fontsize=9)
    return figure


def _closed(axes: Any, rows: list[dict[str, Any]], key: str, label: str, **how: Any) -> None:
    angle = [np.radians(row["direction_deg"]) for row in (*rows, rows[0])]
    axes.plot(angle, [row[key] for row in (*rows, rows[0])], label=label, **how)


def worst_walks(result: dict[str, Any]) -> dict[int, float]:
    """Of all phases, by direction [N]."""
    worst: dict[int, float] = {}
    for row in result["walking"]:
        degrees = row["direction_deg"]
        worst[degrees] = min(worst.get(degrees, np.inf), row["limit_N"])
    return worst


def limits(results: dict[str, dict[str, Any]]) -> str:
    """One row for each direction."""
    rows = []
    for k, row in enumerate(results["hrp2"]["standing"]):
        cells = [TOWARDS[row["direction_deg"]]]
        for result in results.values():
            for key in ("standing", "stepping"):
                one = result[key][k]
                crossing = "*" if one["crosses"] else ""
                cells.append(f"{one['limit_N']:.0f} N, {one['share']:.0%}{crossing}")
            cells.append(f"{worst_walks(result)[row['direction_deg']]:.0f} N")
        rows.append(cells)
    head = ["push towards"]
    for name in results:
        head += [f"{ROBOTS[name]}: standing", "with steps", "walking"]
    return table(head, rows)


def main() -> None:
    """The figure and the table."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "measured"
    results = {
        name: json.loads((folder / f"pushes-{name}.json").read_text(encoding="utf-8"))
        for name in ROBOTS
    }
    file = PICTURES / "walking" / "pushes.png"
    save_figure(polar(results), file)
    write(DOCS / "balance.md", "pushes", limits(results))


if __name__ == "__main__":
    main()
