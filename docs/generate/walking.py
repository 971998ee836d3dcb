"""Draws the figures and writes the tables of the page on walking from what was measured.

python docs/generate/walking.py [FOLDER]

FOLDER, docs/measured if not given, has what these commands print:

    tabi validate walking --json > walking.json
    tabi validate walks ROBOTS… --json > walks.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from filling import BLUE, DOCS, GREY, ORANGE, PICTURES, plain, table, write
from matplotlib.figure import Figure
from saving import save_figure

TITLES = {
    "3 sharp": "joints that follow exactly, sharp stabiliser (as Fig. 6)",
    "4": "servos with rotor inertias (as Fig. 7)",
}
ROWS = {
    "1": ("rigid", "no", "exact"),
    "2": ("rubber", "no", "exact"),
    "3": ("rubber", "own gains", "exact"),
    "4": ("rubber", "own gains", "servos"),
    "3 sharp": ("rubber", "sharp", "exact"),
    "4 sharp": ("rubber", "sharp", "servos"),
}


# ---- figures ------------------------------------------------------------------------------------


def foot_force(result: dict[str, Any]) -> Figure:
    """Vertical force on both feet of HRP-1S, with exact joints and with servos."""
    one = result["robots"]["hrp1s"]
    figure = Figure(figsize=(9.0, 5.4), layout="constrained")
    rows = figure.subplots(2, 1, sharex=True, sharey=True)
    for axes, (key, title) in zip(rows, TITLES.items(), strict=True):
        curve = one["curves"][key]
        time = np.array(curve["time_s"]) - curve["time_s"][0]
        for side, color in (("left", BLUE), ("right", ORANGE)):
            axes.plot(time, curve[f"{side}_force_n"], color=color, lw=0.9, label=f"{side} foot")
        axes.axhline(one["force"]["4"]["weight_n"], color=GREY, lw=0.8, ls="--", label="weight")
        axes.set(title=title, ylabel="vertical force [N]")
        plain(axes)
    rows[0].legend(frameon=False, fontsize=8, loc="upper right")
    rows[-1].set_xlabel("time [s]; HRP-1S, three steps")
    return figure


def roll_torque(result: dict[str, Any]) -> Figure:
    """Torque about the roll axis at the force sensors of HRP-2, as in figure 10."""
    curve = result["robots"]["hrp2"]["curves"]["4"]
    time = np.array(curve["time_s"]) - curve["time_s"][0]
    figure = Figure(figsize=(9.0, 3.2), layout="constrained")
    axes = figure.subplots()
    for side, color in (("left", BLUE), ("right", ORANGE)):
        axes.plot(time, curve[f"{side}_roll_nm"], color=color, lw=1.1, label=f"{side} foot")
    axes.axhline(0.0, color=GREY, lw=0.8)
    axes.set(xlabel="time [s]; HRP-2, row 4, three steps", ylabel="torque about x [N·m]")
    axes.legend(frameon=False, fontsize=8, loc="upper right")
    plain(axes)
    return figure


def boundary(result: dict[str, Any]) -> Figure:
    """Stiffness of the rubber from which HRP-2 walks without a stabiliser."""
    found = result["robots"]["hrp2"]["boundary"]
    edges = {key: edge for key, edge in found["edges"].items() if edge["falls"] is not None}
    figure = Figure(figsize=(8.0, 3.4), layout="constrained")
    axes = figure.subplots()
    at = np.arange(len(edges))[::-1]
    middle = [np.sqrt(edge["falls"] * edge["walks"]) for edge in edges.values()]
    axes.barh(at, middle, color=BLUE, height=0.6)
    axes.axvline(found["mgh_nm_rad"], color=GREY, ls="--", lw=1)
    axes.text(1.1 * found["mgh_nm_rad"], at[0] + 0.42, "m g h", fontsize=8, color=GREY)
    axes.set_yticks(at, labels=list(edges))
    axes.set(xlabel="rubber about roll and pitch from which HRP-2 walks blindly [N·m/rad]")
    plain(axes)
    return figure


# ---- tables -------------------------------------------------------------------------------------


def matrix(result: dict[str, Any]) -> str:
    rows = []
    for name, one in result["robots"].items():
        for key, row in one["rows"].items():
            found = "walks" if row["walks"] else f"falls after {row['steps']} steps"
            ratio = "–" if row["shake_ratio"] is None else f"{row['shake_ratio']:.1f}"
            cells = [f"{name}, row {key}", *ROWS[key], row["published"], found]
            cells += [f"{1e3 * row['landing_m']:.2f} mm" if row["walks"] else "–"]
            rows.append([*cells, f"{row['shake_n']:.0f} N", ratio])
    head = ["", "feet", "stabiliser", "joints", "published", "found", "landing"]
    return table([*head, "shake", "× row 4"], rows)


def edges(result: dict[str, Any]) -> str:
    kinds = list(result["robots"]["hrp2"]["boundary"]["edges"])
    names, rows = list(result["robots"]), []
    for kind in kinds:
        cells = [kind]
        for name in names:
            found = result["robots"][name]["boundary"]
            edge, mgh = found["edges"].get(kind), found["mgh_nm_rad"]
            told = "–" if edge is None else "none found"
            if edge is not None and edge["falls"] is not None:
                told = f"{edge['falls']:,.0f} to {edge['walks']:,.0f} ({edge['walks'] / mgh:.1f})"
            cells.append(told)
        rows.append(cells)
    return table(["", *(f"{name} [N·m/rad] (× m g h)" for name in names)], rows)


def robots(result: dict[str, Any]) -> str:
    rows, refused = [], []
    for row in result["robots"]:
        if "walks" not in row:
            refused.append(f"- `{row['file']}`: {_brief(row['reason'])}")
            continue
        cells = [f"`{row['file']}`", f"{row['mass_kg']:.0f} kg"]
        cells.append(f"{row['length_m']:.3f} m, {row['step_time_s']:.2f} s")
        for one in row["walks"].values():
            fell = one["fell_s"] is not None
            cells.append(f"fell after {one['steps']}" if fell else f"{one['steps']}")
            cells += [f"{1e3 * one[key]:.2f}" for key in ("landing_m", "slip_m", "end_m")]
        rows.append(cells)
    measured = ["landing [mm]", "slip [mm]", "end [mm]"]
    head = ["robot", "mass", "step", "open loop: steps", *measured, "stabiliser: steps", *measured]
    made = table(head, rows)
    return made + "\n\nNot walked:\n\n" + "\n".join(refused)


def _brief(reason: str) -> str:
    """A reason without the folder of the file that it names."""
    first, *rest = reason.split(", line ")
    return f"line {rest[0]}" if rest and first.startswith("/") else reason


def main() -> None:
    """All figures and tables."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "measured"
    walking, walks = (
        json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("walking", "walks")
    )
    figures = {
        "foot-force": foot_force(walking),
        "roll-torque": roll_torque(walking),
        "boundary": boundary(walking),
    }
    for name, figure in figures.items():
        file = PICTURES / "walking" / f"{name}.png"
        save_figure(figure, file)
    page = DOCS / "walking.md"
    tables = {"matrix": matrix(walking), "boundary": edges(walking), "robots": robots(walks)}
    for name, made in tables.items():
        if page.is_file():
            write(page, name, made)
        else:
            print(f"\n{name}\n{made}")


if __name__ == "__main__":
    main()
