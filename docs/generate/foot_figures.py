"""Draws the figures and writes the tables of the page on the foot from what the bench has measured.

python docs/generate/foot_figures.py [FOLDER]

FOLDER, docs/measured if not given, has what this command prints:

    tabi bench foot --json > foot.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from filling import DOCS, PICTURES, plain, table, write
from matplotlib.figure import Figure
from saving import save_figure

BLUE, PURPLE, GREEN, RED = "#1f5fbf", "#8e44ad", "#2a9d4a", "#c0392b"
FALLS = {"pressure rule": "with the pressure rule", "without it": "without it"}
# what is shown of a fall [s]
SHOWN = (0.6, 1.8)
STATES = ("none", "vertex", "edge", "face")
MODES = {"exact": RED, "one-step": GREEN}
MARKERS = {2: "o", 4: "s", 6: "^"}


# ---- figures ------------------------------------------------------------------------------------


def fall_over_toes(result: dict[str, Any]) -> Figure:
    """Pressure point, normal force and state of a foot over time, as in Moraud's figure 6."""
    figure = Figure(figsize=(9.0, 7.2), layout="constrained")
    rows = figure.subplots(4, 1, sharex=True, height_ratios=(3, 1, 3, 1))
    for k, (name, title) in enumerate(FALLS.items()):
        track = {key: np.array(x) for key, x in result["toes"][name]["track"].items()}
        time, (above, below) = track["time_s"], rows[2 * k : 2 * k + 2]
        force = above.twinx()
        lines = [
            *above.plot(time, track["forward_mm"], color=BLUE, label="pressure point, forwards"),
            *above.plot(time, track["sideways_mm"], color=PURPLE, label="sideways"),
            *force.plot(time, track["normal_force_N"], color=GREEN, lw=1, label="normal force"),
        ]
        above.axhline(135, color="0.6", lw=0.8, ls="--")
        above.text(SHOWN[0] + 0.01, 137, "front edge of the sole", fontsize=8, color="0.4")
        above.set(ylabel="[mm]", ylim=(-20, 165), title=title)
        force.set(ylabel="[N]", ylim=(0, 600))
        below.step(time, track["state"], color=RED, where="pre", lw=1.4, label="state")
        below.set(yticks=range(4), yticklabels=STATES, ylim=(-0.3, 3.4), xlim=SHOWN)
        tips = result["toes"][name]["tips_s"]
        below.text(tips + 0.02, 2.7, f"{tips:.3f} s", fontsize=8, color=RED)
        if k == 0:
            above.legend(handles=lines, frameon=False, fontsize=8, loc="center right")
        for axes in (above, below):
            plain(axes)
        force.spines[["top"]].set_visible(False)
    rows[-1].set_xlabel("time [s]; one foot of HRP-2")
    return figure


def one_step_vs_exact(result: dict[str, Any]) -> Figure:
    """Time of a step along HRP-2's jump, and its mean over corners, as in Moraud's figure 8."""
    figure = Figure(figsize=(10.0, 6.4), layout="constrained")
    rows = {(row["feet"], row["corners"]): row for row in result["jump"]}
    corners = sorted({n for _, n in rows})
    grid = figure.add_gridspec(2, 3, height_ratios=(1, 1.3))
    shown, first = (corners[0], corners[len(corners) // 2], corners[-1]), None
    for k, n in enumerate(shown):
        axes = figure.add_subplot(grid[0, k], sharey=first)
        first = first or axes
        along = rows[2, n]["along"]
        block = result["settings"]["block_steps"] * result["settings"]["dt"]
        for mode, color in MODES.items():
            at = block * (np.arange(len(along[mode])) + 0.5)
            axes.plot(at, along[mode], color=color, lw=1.3, label=mode)
        axes.set(title=f"HRP-2, soles of {n} corners", xlabel="time of the jump [s]")
        plain(axes)
    first.set(ylabel="µs a step", ylim=(0, None))
    first.legend(frameon=False, fontsize=8)
    for k, (key, title) in enumerate(
        {"microseconds": "the whole step", "search_microseconds": "the selection alone"}.items()
    ):
        axes = figure.add_subplot(grid[1, :2] if k == 0 else grid[1, 2])
        for feet in sorted({f for f, _ in rows}):
            for mode, color in MODES.items():
                us = [rows[feet, n][key][mode] for n in corners]
                label = f"{mode}, {feet} feet" if k == 0 else None
                axes.loglog(
                    corners, us, color=color, marker=MARKERS[feet], ms=4, lw=1.2, label=label
                )
        axes.set(title=title, xlabel="corners of each sole", ylabel="µs, mean over a jump")
        axes.set_xticks(corners, labels=map(str, corners))
        axes.minorticks_off()
        plain(axes)
        if k == 0:
            axes.legend(frameon=False, fontsize=8, ncols=3, loc="upper left")
    return figure


# ---- tables -------------------------------------------------------------------------------------


def toes(result: dict[str, Any]) -> str:
    names = {"pressure rule": "selection", "without it": "without rule (1)", "coulomb": "coulomb"}
    rows = [
        [
            name,
            f"{sum(x['face_to_edge'].values())} of {sum(x['transitions'].values())}",
            f"{x['tips_s']:.3f} s",
            f"{x['ms_after_coulomb']:+.0f} ms",
            f"{x['margin_before_mm']:.2f} mm",
            f"{x['steps_before_the_edge']:.2f}",
            str(x["missed"]),
        ]
        for key, name in names.items()
        for x in [result["toes"][key]]
    ]
    head = ["law", "face to edge, of all transitions", "tips at", "after coulomb"]
    return table([*head, "inside the step before", "in steps", "not converged"], rows)


def agreement(result: dict[str, Any]) -> str:
    rows = []
    for name, x in result["against_coulomb"].items():
        wrench = (
            [f"{x['force_percent_of_weight']:.1g}\u00a0%", f"{x['torque_percent']:.1g}\u00a0%"]
            if "torque_percent" in x
            else ["–", "–"]
        )
        events = "others" if x["events_ms"] is None else f"{x['events_ms']:g} ms"
        rows.append([name, *wrench, f"{x['moved_mm']:.1g} mm", events])
    return table(["", "force, of the weight", "torque", "base moved", "events apart"], rows)


def jump(result: dict[str, Any]) -> str:
    rows = []
    for row in result["jump"]:
        us, alone, one = row["microseconds"], row["search_microseconds"], row["one_step"]
        rows.append(
            [
                f"{row['feet']} × {row['corners']}",
                f"{us['exact']:.0f}",
                f"{us['one-step']:.0f}",
                f"{row['ratio']:.2f}",
                f"{alone['exact']:.1f}",
                f"{alone['one-step']:.1f}",
                str(row["missed"]["exact"]),
                str(row["missed"]["one-step"]),
                f"{one['wrong_states']} of {row['steps']}",
                f"{one['largest_force_error']:.1f}",
            ]
        )
    head = ["feet × corners", "exact [µs]", "one-step [µs]", "ratio", "selection alone: exact"]
    head += ["one-step", "exact not converged", "one-step not converged", "one step wrong"]
    return table([*head, "largest force error [weights]"], rows)


TABLES = {"toes": toes, "agreement": agreement, "jump": jump}


def main() -> None:
    """All figures and tables."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "measured"
    data = json.loads((folder / "foot.json").read_text(encoding="utf-8"))
    figures = {"fall-over-toes": fall_over_toes(data), "one-step-vs-exact": one_step_vs_exact(data)}
    for name, figure in figures.items():
        file = PICTURES / "foot" / f"{name}.png"
        save_figure(figure, file)
    for name, make in TABLES.items():
        write(DOCS / "foot.md", name, make(data))


if __name__ == "__main__":
    main()
