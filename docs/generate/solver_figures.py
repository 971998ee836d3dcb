"""Draws the figures and writes the tables of the page on the contact problem from what the
benches have measured.

python docs/generate/solver_figures.py [FOLDER]

FOLDER, docs/measured if not given, has what these commands print:

    tabi bench fclib FCLIB --dense --json > fclib.json
    tabi bench solver --count 150 --dense --json > solver.json
    tabi bench delassus --json > delassus.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from filling import BLUE, DOCS, GREEN, GREY, ORANGE, PICTURES, plain, short, table, write
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from saving import save_figure, shrink

from tabi.contact.cone import local
from tabi.lab.bench.solvers import delassus, profile, race

# ---- one contact ----------------------------------------------------------------------------


def one_contact() -> Figure:
    """The two cones with a slipping contact, and the three answers over all b."""
    figure = Figure(figsize=(9.0, 3.9), layout="constrained")
    cones, answers = figure.subplots(1, 2)
    draw_cones(cones, 0.6)
    draw_answers(answers, 0.6)
    return figure


def draw_cones(axes: Any, mu: float) -> None:
    high = 1.35
    axes.fill([0, -high / mu, high / mu], [0, high, high], color=ORANGE, alpha=0.16, lw=0)
    axes.fill([0, -mu * high, mu * high], [0, high, high], color=BLUE, alpha=0.25, lw=0)
    axes.text(0.0, 1.12, "K", ha="center", fontsize=14, color=BLUE)
    axes.text(1.22, 1.12, "K*", ha="center", fontsize=14, color="tab:red")
    slip, force = 1.1, 0.85
    arrow = {"arrowstyle": "-|>", "lw": 1.8, "shrinkA": 0, "shrinkB": 0}
    for end, start, colour in (
        ((-mu * force, force), (0, 0), BLUE),
        ((slip, 0), (0, 0), "0.2"),
        ((slip, mu * slip), (slip, 0), GREY),
        ((slip, mu * slip), (0, 0), "tab:red"),
    ):
        axes.annotate("", end, start, arrowprops=arrow | {"color": colour})
    axes.text(-mu * force - 0.05, force - 0.02, "λ", ha="right", fontsize=13, color=BLUE)
    axes.text(slip / 2, -0.13, "u", ha="center", fontsize=13)
    axes.text(slip + 0.04, 0.3, "Φ(u)", fontsize=12, color=GREY)
    axes.text(slip + 0.04, mu * slip, "u + Φ(u)", fontsize=12, color="tab:red")
    # the right angle between λ and u + Φ(u)
    a, b = np.array([-mu, 1]) / np.hypot(mu, 1), np.array([1, mu]) / np.hypot(mu, 1)
    axes.plot(*(0.12 * np.array([a, a + b, b])).T, color=GREY, lw=1)
    axes.axhline(0, color="0.6", lw=0.8, zorder=0)
    axes.set(
        xlim=(-1.3, 1.9),
        ylim=(-0.25, high),
        aspect="equal",
        xticks=[],
        yticks=[],
        title="a contact that slips",
    )
    axes.spines[:].set_visible(False)


def draw_answers(axes: Any, mu: float) -> None:
    W = (1.5, 0.0, 0.6, 1.5, 0.0, 1.0)
    x, n = np.linspace(-1.5, 1.5, 601), np.linspace(-1, 0.4, 281)
    kind = np.zeros((len(n), len(x)))
    for i, j in np.ndindex(kind.shape):
        impulse, alpha = local(W, mu, (float(x[j]), 0.0, float(n[i])), 0.0)
        kind[i, j] = 0.0 if impulse[2] == 0.0 else 2.0 if alpha > 0 else 1.0
    colours = ListedColormap(("0.93", "#bcd4ea", "#fbdcbd"))
    axes.imshow(
        kind,
        origin="lower",
        extent=(-1.5, 1.5, -1, 0.4),
        aspect="auto",
        interpolation="nearest",
        cmap=colours,
    )
    for where, word in (
        ((0.0, 0.2), "open"),
        ((-0.2, -0.7), "stick"),
        ((-1.05, -0.45), "slip"),
        ((0.9, -0.45), "slip"),
    ):
        axes.text(*where, word, ha="center", va="center", fontsize=12)
    axes.set(xlabel="b_t [m/s]", ylabel="b_n [m/s]", title="the answer to u = W λ + b")
    axes.spines[["top", "right"]].set_visible(False)


# ---- what was measured ----------------------------------------------------------------------


def sweeps(result: dict[str, Any]) -> Figure:
    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    axes = figure.add_subplot()
    found = result["sweep"]
    for name, colour in (("space of bodies", BLUE), ("W formed", ORANGE)):
        rows = found[name]["rows"]
        axes.loglog(
            [r["contacts"] for r in rows],
            [r["microseconds"] for r in rows],
            "o",
            color=colour,
            label=name,
        )
    line = found["space of bodies"]
    n = np.array([r["contacts"] for r in line["rows"]])
    words = (
        f"{line['microseconds_fixed']:.2f} µs + {1000 * line['microseconds_per_contact']:.0f} ns "
        "per contact"
    )
    axes.plot(
        n,
        line["microseconds_fixed"] + line["microseconds_per_contact"] * n,
        color=BLUE,
        lw=1.2,
        label=words,
    )
    square = found["W formed"]["rows"]
    m = np.array([r["contacts"] for r in square])
    axes.plot(
        m,
        square[-1]["microseconds"] * (m / m[-1]) ** 2,
        color=ORANGE,
        lw=1.2,
        ls=":",
        label="the square of the contacts",
    )
    axes.set(
        xlabel="contacts of one plate, all loaded",
        ylabel="one sweep [µs]",
        xticks=n,
        xticklabels=[f"{x:g}" for x in n],
    )
    axes.minorticks_off()
    axes.yaxis.set_major_formatter("{x:g}")
    axes.legend(frameon=False)
    plain(axes)
    return figure


def convergence(result: dict[str, Any]) -> Figure:
    figure = Figure(figsize=(9.5, 4.8), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (name, methods) in zip(panels, result["convergence"].items(), strict=True):
        for (method, rows), colour in zip(methods.items(), (ORANGE, GREEN, BLUE), strict=True):
            done, seconds = (np.array([r[key] for r in rows]) for key in ("iterations", "seconds"))
            # without what the call from Python costs, which a step does not pay
            each = 1e3 * np.polyfit(done, seconds, 1, w=1 / seconds)[0]
            # below that it is rounding
            error = [max(r["residual"], 1e-14) for r in rows]
            axes.loglog(
                each * done,
                error,
                "o-",
                markersize=3.5,
                color=colour,
                label=f"{method}: {1e3 * each:.3g} µs each",
            )
        axes.axhline(1e-8, color=GREY, lw=0.9, ls="--")
        axes.set(xlabel="time [ms]", title=name)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.16), fontsize=9)
        plain(axes)
    panels[0].set_ylabel("error, relative to ‖q‖∞")
    panels[0].set_ylim(1e-14, 3)
    return figure


def family(result: dict[str, Any]) -> Figure:
    """Time against size, a point for each problem; what is not solved stands above."""
    figure = Figure(figsize=(11.0, 4.0), layout="constrained")
    names = ("tabi auto", "tabi auto, matrix", "Siconos NSGS", "Siconos NSN_AC")
    for k, (axes, name) in enumerate(
        zip(figure.subplots(1, 4, sharex=True, sharey=True), names, strict=True)
    ):
        rows = [(row["contacts"], row["solvers"][name]) for row in result["problems"]]
        solved = [(n, 1e3 * f["seconds"]) for n, f in rows if f["converged"]]
        failed = [n for n, f in rows if not f["converged"]]
        axes.loglog(
            *zip(*solved, strict=True),
            "o",
            color=profile.STYLES[name][0],
            markersize=4,
            alpha=0.6,
            markeredgewidth=0,
        )
        axes.plot(failed, np.full(len(failed), 3e4), "x", color="tab:red", markersize=5, alpha=0.7)
        axes.set(
            title=f"{name}: {len(solved)} of {len(rows)}",
            xlabel="contacts",
            ylim=(1e-4, 8e4),
            xlim=(0.8, 500),
        )
        axes.title.set_fontsize(10)
        axes.xaxis.set_major_formatter("{x:g}")
        plain(axes)
        if k == 0:
            axes.set_ylabel("time to 1e-8 [ms]; × not solved")
    return figure


def race_profile(result: dict[str, Any], what: str) -> Figure:
    return profile.picture(race.contenders(result["problems"]), race.title(result, what))


# ---- tables ---------------------------------------------------------------------------------

SOLVERS = {
    "tabi auto": "tabi auto",
    "tabi auto, matrix": "tabi, matrix",
    "Siconos NSGS": "Siconos NSGS",
    "Siconos NSN_AC": "Siconos NSN_AC",
}
RIVALS = {
    "Siconos NSGS": "NSGS",
    "Siconos NSN_AC": "NSN_AC",
    "Siconos NSN_AC dense": "NSN_AC dense",
    race.FASTER: "the fastest of the three on each problem",
}
WARM = {
    "standing": "standing, settling",
    "squatting": "squatting, 1 Hz, 10 cm",
    "sliding": "sliding at 0.5 m/s, μ = 0.15",
    "family, stance": "stances of the family",
    "family, slide": "slides of the family",
    "family, fall": "falls of the family, 3 to 17 contacts",
}


def kinds(result: dict[str, Any]) -> str:
    rows = []
    for kind, row in result["summary"]["kinds"].items():
        low, high = row["contacts"]
        cells = [
            f"{row['solved'][name]}, {short(row['median_seconds'][name])}"
            if row["solved"][name]
            else "0"
            for name in SOLVERS
        ]
        rows.append(
            [kind, str(row["problems"]), str(low) if low == high else f"{low}–{high}", *cells]
        )
    return table(["kind", "problems", "contacts", *SOLVERS.values()], rows)


def duels(result: dict[str, Any]) -> str:
    sides = [result["summary"][side] for side in ("against", "matrix_against")]
    rows = [
        [word, *(f"{side[name]['faster']} of {side[name]['problems']}" for side in sides)]
        for name, word in RIVALS.items()
    ]
    return table(["faster than", "tabi auto", "tabi auto, matrix"], rows)


def warm(result: dict[str, Any]) -> str:
    rows = []
    for kind, word in WARM.items():
        row = result["warm_stances"][kind]
        times = [short(1e-6 * row[name]) for name in ("median", "mean", "largest")]
        rows.append(
            [word, *times, f"{row['median_iterations']:g}", f"{row['solved']} of {row['problems']}"]
        )
    return table(["", "median", "mean", "largest", "iterations", "solved"], rows)


def walls(result: dict[str, Any]) -> str:
    rows = []
    for row in result["walls"]:
        speed = f"{1e3 * row['speed']:g} mm/s" if row["speed"] else "at rest"
        solved = short(row["seconds"]) if row["converged"] else f"not solved, {row['residual']:.0e}"
        rows.append([f"{speed}, μ = {row['mu']:g}", solved, f"{row['iterations']:,}", row["by"]])
    return table(["speed of the bricks", "time", "iterations", "attempt"], rows)


TABLES = {"kinds": kinds, "duels": duels, "warm": warm, "walls": walls}


def main() -> None:
    """All figures and tables."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "measured"
    data = {
        name: json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("fclib", "solver", "delassus")
    }
    figures = {
        "one_contact.png": one_contact(),
        "sweeps.svg": sweeps(data["solver"]),
        "convergence.svg": convergence(data["solver"]),
        "family_times.png": family(data["solver"]),
        "profile_fclib.svg": race_profile(data["fclib"], "problems of FCLib"),
        "profile_family.svg": race_profile(data["solver"], "problems of the family"),
    }
    for name, figure in figures.items():
        # areas and many points are smaller as pixels
        save_figure(figure, PICTURES / name, dpi=130)
    delassus.figure(data["delassus"], PICTURES / "delassus.svg")
    shrink(PICTURES / "delassus.svg")
    for name in (*figures, "delassus.svg"):
        print(f"{name}: {(PICTURES / name).stat().st_size / 1000:.0f} kB")
    for name, make in TABLES.items():
        write(DOCS / "contact.md", name, make(data["solver"]))


if __name__ == "__main__":
    main()
