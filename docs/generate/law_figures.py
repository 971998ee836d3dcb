"""Draws the figures and writes the tables of the page on the older laws from what the
bench has measured.

python docs/generate/law_figures.py [FOLDER]

FOLDER, docs/measured if not given, has what this command prints:

    tabi bench laws --json > laws.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from filling import DOCS, PICTURES, plain, short, table, write
from matplotlib.figure import Figure
from saving import save_figure

from tabi.contact import solve_pyramid
from tabi.lab.bench.solvers.answers import COARSE, EXACT, FACETS, LIST, NONE, PYRAMIDS

SHADES = dict(zip(FACETS, ("#f4b26b", "#e8833a", "#bf5b17", "#7f3b08"), strict=True))
STYLES: dict[str, dict[str, Any]] = {
    LIST: {"color": "tab:blue", "marker": "o"},
    EXACT: {"color": "tab:green", "marker": "s"},
    COARSE: {"color": "tab:green", "marker": "s", "ls": ":", "markerfacecolor": "white"},
    NONE: {"color": "0.5", "marker": "^", "ls": "--"},
    **{name: {"color": SHADES[k], "marker": "D"} for k, name in PYRAMIDS.items()},
}
TITLES = {
    "plate": "a plate on a ring of points",
    "tower": "a tower of boxes, one pushed",
    "pile": "a pile of balls and blocks",
}


# ---- figures --------------------------------------------------------------------------------


def one_contact() -> Figure:
    """The section of the pyramids, the push at which one contact begins to slip,
    and where its friction points.
    """
    figure = Figure(figsize=(11.0, 3.8), layout="constrained")
    section, early, off = figure.subplots(1, 3, width_ratios=(1, 1.35, 1.35))
    angle = np.linspace(0, 2 * np.pi, 721)
    section.plot(np.cos(angle), np.sin(angle), color="0.2", lw=1.5, label="cone")
    degrees = np.linspace(0, 90, 721)
    for k in FACETS[:3]:
        corners = 2 * np.pi * np.arange(k + 1) / k
        section.plot(np.cos(corners), np.sin(corners), color=SHADES[k], lw=1.5, label=PYRAMIDS[k])
    sector = {k: np.radians(degrees) % (2 * np.pi / k) - np.pi / k for k in FACETS}
    for k in FACETS:
        early.plot(
            degrees,
            np.cos(np.pi / k) / np.cos(sector[k]),
            color=SHADES[k],
            lw=1.5,
            label=PYRAMIDS[k],
        )
        # from the middle between two edges to the nearest of them
        off.plot(
            degrees,
            np.degrees(np.where(sector[k] > 0, np.pi / k, -np.pi / k) - sector[k]),
            color=SHADES[k],
            lw=1.5,
        )
    for k in (4, 8):
        at = np.arange(3.0, 90, 7)
        early.plot(at, [threshold(k, x) for x in at], "o", color=SHADES[k], markersize=3.5)
        off.plot(at, [friction_turn(k, x) for x in at], "o", color=SHADES[k], markersize=3.5)
    section.set(aspect="equal", xticks=[], yticks=[], title="friction, seen from above")
    section.spines[:].set_visible(False)
    section.legend(frameon=False, fontsize=8, loc="center")
    early.set(
        xlabel="direction of the push [°]",
        ylabel="of μ N",
        title="the push that begins to move it",
        xticks=range(0, 91, 15),
    )
    off.set(
        xlabel="direction of the slide [°]",
        ylabel="[°]",
        title="friction is turned by",
        xticks=range(0, 91, 15),
    )
    early.axhline(1, color="0.2", lw=1)
    off.axhline(0, color="0.2", lw=1)
    early.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0.0, 0.02))
    for axes in (early, off):
        plain(axes)
    return figure


def threshold(facets: int, degrees: float) -> float:
    """Push at which a contact with μ N = 1 begins to slip."""
    way, low, high = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))]), 0.5, 1.2
    for _ in range(30):
        middle = 0.5 * (low + high)
        u = solve_pyramid(
            np.eye(3), [*(middle * way), -2.0], 0.5, order="ttn", facets=facets
        ).velocity
        low, high = (middle, high) if np.abs(u).max() < 1e-9 else (low, middle)
    return low


def friction_turn(facets: int, degrees: float) -> float:
    """Angle from the line of the slide to the friction of a fast contact [°]."""
    x, y = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    f = -solve_pyramid(np.eye(3), [1e6 * x, 1e6 * y, -2.0], 0.5, order="ttn", facets=facets).impulse
    return float(np.degrees(np.arctan2(x * f[1] - y * f[0], x * f[0] + y * f[1])))


def times(result: dict[str, Any]) -> Figure:
    """Time against contacts for every law; what is not solved stands above."""
    figure = Figure(figsize=(11.5, 4.6), layout="constrained")
    panels = figure.subplots(1, 3, sharey=True)
    for axes, (name, rows) in zip(panels, result["series"].items(), strict=True):
        for law, style in STYLES.items():
            found = [(r["contacts"], r["laws"][law]) for r in rows if law in r["laws"]]
            solved = [(n, 1e3 * x["seconds"]) for n, x in found if x["solved"]]
            axes.loglog(*zip(*solved, strict=True), markersize=4, lw=1.3, label=law, **style)
            failed = [n for n, x in found if not x["solved"]]
            axes.plot(failed, np.full(len(failed), 2.5e3), "x", color=style["color"], markersize=6)
        axes.set(title=TITLES[name], xlabel="contacts", ylim=(2e-4, 5e3))
        axes.set_xticks([1, 2, 4, 8, 16, 32, 64], minor=False)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter("")
        plain(axes)
    panels[0].set_ylabel("median time [ms]; × not solved")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return figure


# ---- tables ---------------------------------------------------------------------------------


def percent(x: float) -> str:
    return "0" if x < 1e-5 else f"{100 * x:.2g}\u00a0%"


def slip(result: dict[str, Any]) -> str:
    names = (
        "early_limit",
        "early_worst",
        "early_mean",
        "sliding_limit",
        "sliding_worst",
        "sliding_mean",
    )
    rows = [[str(s["facets"]), *(percent(s[name]) for name in names)] for s in result["slip"]]
    return table(
        [
            "facets",
            "slips early: 1 − cos π/k",
            "worst",
            "mean",
            "sliding: 2 sin π/2k",
            "worst",
            "mean",
        ],
        rows,
    )


def family(result: dict[str, Any]) -> str:
    names = ("median", "nine_in_ten", "worst")
    rows = [
        [
            law,
            *(percent(x[name]) for name in names),
            f"{x['residual_median']:.0e} m/s",
            f"{x['force_residual_N_median']:.2g} N",
            str(x["solved"]),
        ]
        for law, x in result["family"]["laws"].items()
    ]
    return table(
        [
            "law",
            "motion off, median",
            "9 in 10 below",
            "worst",
            "residual, median",
            "as a force",
            "solved",
        ],
        rows,
    )


def cart(result: dict[str, Any]) -> str:
    straight, turned = (found["laws"] for found in result["cart"].values())
    rows = [
        [
            law,
            str(x["rows"]),
            short(x["seconds"]),
            *(
                f"{percent(y['motion_error'])}, {y['force_residual_N']:.2g} N"
                for y in (x, turned[law])
            ),
        ]
        for law, x in straight.items()
        if law != COARSE
    ]
    return table(
        [
            "law",
            "rows",
            "time",
            "motion off, residual: tangents along the axes",
            "turned at random",
        ],
        rows,
    )


def crossover(result: dict[str, Any]) -> str:
    rows = []
    for law in (EXACT, COARSE, LIST):
        for name, found in result["crossover"].items():
            rows.append([f"{law}: {name}s", *(found[law][k]["wins"] for k in PYRAMIDS.values())])
    return table(["faster than a pyramid with", *PYRAMIDS.values()], rows)


TABLES = {"slip": slip, "family": family, "cart": cart, "crossover": crossover}


def main() -> None:
    """All figures and tables."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "measured"
    data = json.loads((folder / "laws.json").read_text(encoding="utf-8"))
    for name, figure in {"laws_contact.svg": one_contact(), "laws_time.svg": times(data)}.items():
        save_figure(figure, PICTURES / name)
        print(f"{name}: {(PICTURES / name).stat().st_size / 1000:.0f} kB")
    for name, make in TABLES.items():
        write(DOCS / "laws.md", name, make(data))


if __name__ == "__main__":
    main()
