"""Draws the figure and writes the table of the page on real tosses from what the
command has measured.

python docs/generate/toss_figures.py [FOLDER]

FOLDER, docs/measured if not given, has what this command prints:

    tabi validate tosses PATH --json > tosses.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from filling import DOCS, PICTURES, write
from matplotlib.figure import Figure
from saving import save_figure

PICTURE = PICTURES / "tosses.svg"

NAMES = {"tabi": "tabi", "mujoco": "MuJoCo"}
STYLES: dict[str, dict[str, Any]] = {
    "tabi": {"color": "tab:blue"},
    "mujoco": {"color": "tab:orange", "ls": "--"},
}
PANELS = {
    "mean_position_m": ("position error [mm]", 1e3),
    "mean_angle_deg": ("angle error [°]", 1.0),
}


def quantiles(result: dict[str, Any]) -> Figure:
    """How many of the scored tosses have at most such an error, for both engines."""
    figure = Figure(figsize=(9.0, 3.6), layout="constrained")
    for axes, (what, (label, scale)) in zip(
        figure.subplots(1, 2, sharey=True), PANELS.items(), strict=True
    ):
        for name, style in STYLES.items():
            each = np.sort(result["engines"][name]["score"][what]["each"]) * scale
            axes.step(
                np.r_[0.0, each],
                100 * np.arange(len(each) + 1) / len(each),
                where="post",
                lw=1.6,
                label=NAMES[name],
                **style,
            )
        for level in (50, 90):
            axes.axhline(level, color="0.6", lw=0.8, ls=":")
        axes.set(
            xlabel=f"{label}, mean over the toss",
            xlim=(0, None),
            ylim=(0, 100),
            yticks=(0, 25, 50, 75, 90, 100),
        )
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(True, alpha=0.3)
    figure.axes[0].set_ylabel("tosses with at most this error [%]")
    figure.axes[0].legend(frameon=False, loc="lower right")
    return figure


def table(result: dict[str, Any]) -> str:
    """Both engines, with the mean over each toss and with its last sample."""
    head = ["", "position, median", "90 %", "angle, median", "90 %"]
    rows = []
    for which, said in (("mean", "mean over the toss"), ("last", "last sample")):
        for name in NAMES:
            score = result["engines"][name]["score"]
            p, a = score[f"{which}_position_m"], score[f"{which}_angle_deg"]
            # with spaces that do not break
            cells = [f"{1e3 * p[k]:.1f}\u00a0mm" for k in ("median", "nine_in_ten")] + [
                f"{a[k]:.1f}°" for k in ("median", "nine_in_ten")
            ]
            rows.append([f"{NAMES[name]}, {said}", *cells])
    lines = [head, [":--", *["--:"] * 4], *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def fitted(result: dict[str, Any]) -> str:
    """What the search has found."""
    rows = []
    for name in NAMES:
        found = result["engines"][name]
        values = ", ".join(f"{key} {value:.3g}" for key, value in found["parameters"].items())
        rows.append(f"| {NAMES[name]} | {values} | {found['loss']:.3f} | {found['evaluations']} |")
    return "\n".join(
        ["| | found | on the fitted half | evaluations |", "| :-- | :-- | --: | --: |", *rows]
    )


def main() -> None:
    """The figure and both tables."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "measured"
    data = json.loads((folder / "tosses.json").read_text(encoding="utf-8"))
    save_figure(quantiles(data), PICTURE)
    print(f"{PICTURE.name}: {PICTURE.stat().st_size / 1000:.0f} kB")
    write(DOCS / "tosses.md", "score", table(data))
    write(DOCS / "tosses.md", "fitted", fitted(data))


if __name__ == "__main__":
    main()
