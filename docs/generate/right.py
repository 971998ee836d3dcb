"""Fills the page "Is it right?": runs the closed forms and the box on a slope,
and reads what the long experiments have found.

python docs/generate/right.py [FOLDER]

FOLDER, docs/measured if not given, has what these commands print:

    tabi validate humanoids --robot JVRC1.urdf --robot SIMPLE_HUMANOID.urdf --json > humanoids.json
    tabi validate worlds --json > worlds.json
    tabi validate impacts --json > impacts.json

Closed forms and slope take half a minute. Without MuJoCo the figure of the slope stays as it is.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Iterator
from math import radians
from pathlib import Path
from typing import Any

import numpy as np
from filling import BLUE, DOCS, GREEN, GREY, ORANGE, PICTURES, plain, table, write
from matplotlib.figure import Figure
from saving import save_figure

import tabi
from tabi.lab.closed_forms import FAMILIES, Check
from tabi.lab.closed_forms.case import with_box

PAGE = DOCS / "right.md"
NAMES = {"hrp2": "HRP-2", "jvrc1": "JVRC-1", "simple_humanoid": "simple_humanoid"}
# ms; the page's step is 1 ms
STEPS = (8.0, 4.0, 2.0, 1.0, 0.5, 0.25)


def digits(x: float, least: float = 1e-12) -> str:
    """One digit and the power of ten; below that it is rounding,
    and another machine's would differ.
    """
    if x < least:
        return f"< {digits(least)}"
    return re.sub(r"e([-+])0*(\d)", lambda e: f"e{'−' if e[1] == '-' else ''}{e[2]}", f"{x:.0e}")


def short(x: float) -> str:
    return f"{x:.6g}".replace("-", "−").replace("e−0", "e−")


def micrometres(x: float) -> str:
    um = 1e6 * x
    return "< 0.01" if um < 0.01 else f"{um:.2g}" if um < 10 else f"{um:,.0f}"


# ---- what was measured before ---------------------------------------------------------------


def humanoids(found: dict[str, Any]) -> str:
    rows = []
    for name, robot in found["robots"].items():
        for motion, m in robot["motions"].items():
            counts = [f"{m['runs']:,}", f"{m['steps']:,}", str(len(m["missed"]))]
            errors = [
                digits(m["worst_residual"]),
                digits(m["worst_rechecked"]),
                micrometres(m["worst_penetration_m"]),
            ]
            rows.append(
                [
                    f"{NAMES.get(name, name)}, {motion}",
                    *counts,
                    *errors,
                    str(m["most_contacts"]),
                    f"{m['fallen']:,}",
                ]
            )
    total = found["total"]
    rows.append(
        ["**all**", "", f"**{total['steps']:,}**", f"**{total['missed']}**", "", "", "", "", ""]
    )
    head = [
        "robot, motion",
        "runs",
        "steps",
        "not converged",
        "worst error [m/s]",
        "last step again [m/s]",
        "overlap [µm]",
        "contacts",
        "fallen",
    ]
    return table(head, rows)


def misses(found: dict[str, Any]) -> str:
    """Every step that did not converge, by name; and the worst of the joints' own laws,
    where these were at work.
    """
    joints = max(
        (
            m.get("worst_joint_residual", 0.0)
            for robot in found["robots"].values()
            for m in robot["motions"].values()
        ),
        default=0.0,
    )
    words = (
        f"Laws of the joints (limits, friction) were off by {digits(joints)} rad/s at most."
        if joints
        else "No joint had limits in these runs."
    )
    rows = [
        [
            f"{NAMES.get(name, name)}, {motion}",
            str(x["seed"]),
            str(x["step"]),
            digits(x["residual"]),
        ]
        for name, robot in found["robots"].items()
        for motion, m in robot["motions"].items()
        for x in m["missed"]
    ]
    if not rows:
        return f"None of the {found['total']['steps']:,} steps failed to converge. {words}"
    return table(["not converged", "seed", "step", "error [m/s]"], rows) + f"\n\n{words}"


def weights(found: dict[str, Any]) -> str:
    rows = []
    for name, robot in found["robots"].items():
        weight, given = robot["weight_N"], robot["on_feet_after_5_s_N"]
        rows.append(
            [
                NAMES.get(name, name),
                f"{weight:.4f}",
                f"{given:.4f}",
                f"{1e3 * abs(given - weight):.2g}",
            ]
        )
    return table(["robot", "m g [N]", "on both feet [N]", "difference [mN]"], rows)


def worlds(found: dict[str, Any]) -> str:
    head = [
        "worlds",
        "steps",
        "not converged",
        "not numbers",
        "deepest overlap [mm]",
        "energy gained [J]",
    ]
    counts = [f"{found[key]:,}" for key in ("worlds", "steps", "missed", "nan")]
    return table(
        head,
        [[*counts, f"{1e3 * found['worst_penetration']:.2g}", f"{found['energy_gained']:.2g}"]],
    )


def impacts(found: dict[str, Any]) -> str:
    head = [
        "impacts",
        "throws",
        "points that bounced",
        "restitution lowered",
        "not converged",
        "gained energy",
        "largest gain, of the kinetic energy",
    ]
    counts = [
        f"{found[key]:,}" for key in ("impacts", "throws", "points", "lowered", "missed", "gained")
    ]
    return table(head, [[*counts, digits(max(found["worst_change"], 0.0))]])


def dynamics() -> str:
    """Worst figures of the tables on the page about dynamics."""
    rows = []
    page = (DOCS / "dynamics.md").read_text(encoding="utf-8")
    for name, words in (
        ("humanoids", "humanoids, 100 states each"),
        ("example-robots", "one robot of every package of example-robot-data"),
    ):
        part = re.search(rf"<!-- table {name}.*?<!-- end {name} -->", page, re.DOTALL)
        assert part
        cells = [
            line.strip("| ").split(" | ")
            for line in part[0].splitlines()
            if re.match(r"\| (?!:--|robot )", line)
        ]
        columns = np.array(
            [[float(x.replace("−", "-").replace("–", "nan")) for x in row[2:7]] for row in cells]
        )
        rows.append([words, str(len(cells)), *(digits(x, 0.0) for x in np.nanmax(columns, axis=0))])
    return table(
        [
            "",
            "robots",
            "ABA",
            "RNEA",
            "CRBA",
            "residual of M a = τ − b",
            "Pinocchio against itself",
        ],
        rows,
    )


# ---- closed forms ---------------------------------------------------------------------------


def closed_forms(results: dict[str, list[tuple[str, str, list[Check]]]]) -> str:
    parts = []
    for family, cases in results.items():
        rows = []
        for name, law, checks in cases:
            for k, c in enumerate(checks):
                first = [name, law.replace("|", "∣")] if k == 0 else ["", ""]
                yes = c.tolerance == 0.0
                expected = (
                    ("yes" if c.expected else "no")
                    if yes
                    else f"{short(c.expected)} {c.unit}".strip()
                )
                rows.append(
                    [
                        *first,
                        c.what,
                        expected,
                        "none" if yes else digits(c.error),
                        "–" if yes else digits(c.tolerance),
                    ]
                )
        head = ["case", "law", "checked", "expected", "error", "allowed"]
        lines = table(head, rows).splitlines()
        # words to the left
        lines[1] = "| :-- | :-- | :-- | --: | --: | --: |"
        parts += [f"**{family[0].upper()}{family[1:]}**", "\n".join(lines)]
    return "\n\n".join(parts)


def orders(results: dict[str, list[tuple[str, str, list[Check]]]]) -> Figure:
    """Errors against h of all closed forms that have a rate."""
    figure = Figure(figsize=(8.6, 4.0), layout="constrained")
    axes = figure.add_subplot()
    h = 1e-3 * np.array(STEPS)
    rates = [
        (name, c)
        for cases in results.values()
        for name, _, checks in cases
        for c in checks
        if c.error_at is not None
    ]
    for k, (name, check) in enumerate(rates):
        assert check.error_at is not None
        unit = "mJ" if "energy" in check.what else "mm"
        error = 1e3 * np.array([check.error_at(x) for x in h])
        # open marks: some errors are the same
        style = {"marker": "osD^vo*"[k % 7], "markersize": 9 - k, "fillstyle": "none", "lw": 1.0}
        axes.loglog(1e3 * h, error, color=f"C{k}", label=f"{name} [{unit}]", **style)
    axes.plot(1e3 * h, 0.25e3 * h, color=GREY, lw=4, alpha=0.3, zorder=0, label="proportional to h")
    axes.set(
        xlabel="step h [ms]", ylabel="error", xticks=STEPS, xticklabels=[f"{x:g}" for x in STEPS]
    )
    axes.minorticks_off()
    axes.yaxis.set_major_formatter("{x:g}")
    axes.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    plain(axes)
    return figure


# ---- a box on a slope -----------------------------------------------------------------------

# settings of MuJoCo's options; its own cone is the pyramid
MUJOCO = {
    "MuJoCo as it comes (pyramid)": {"cone": 0},
    "MuJoCo, elliptic cone": {},
    "MuJoCo, elliptic, impratio 100": {"impratio": 100.0},
    "MuJoCo, elliptic, 10 no-slip iterations": {"noslip_iterations": 10},
}
TIMES = np.unique(np.round(np.geomspace(10, 10_000, 40)).astype(int))


def slope() -> dict[str, np.ndarray]:
    """Distance [m] that a box has crept at the times TIMES [ms]: 10°, μ = 0.5, h = 1 ms."""
    import mujoco

    world, box = with_box(radians(10), 0.5)
    crept = {}
    for name, options in MUJOCO.items():
        m = tabi.to_mujoco(world)
        m.opt.timestep = 1e-3
        for option, value in options.items():
            setattr(m.opt, option, value)
        d = mujoco.MjData(m)
        mujoco.mj_resetDataKeyframe(m, d, 0)
        crept[name] = np.array(
            list(_walk(lambda n, m=m, d=d: mujoco.mj_step(m, d, n), lambda d=d: float(d.qpos[0])))
        )
    for tolerance in (1e-8, 1e-10):
        sim = tabi.Simulator(world, tolerance=tolerance)
        name = f"tabi, tolerance {tolerance:g}".replace("e-0", "e-") + " m/s"
        crept[name] = np.array(
            list(
                _walk(
                    lambda n, sim=sim: sim.run(n * 1e-3),
                    lambda sim=sim: float(sim.position(box)[0]),
                )
            )
        )
    return crept


def _walk(advance: Any, place: Any) -> Iterator[float]:
    now = 0
    for t in TIMES:
        advance(int(t) - now)
        now = int(t)
        yield place()


def creep(crept: dict[str, np.ndarray]) -> Figure:
    figure = Figure(figsize=(7.6, 4.6), layout="constrained")
    axes = figure.add_subplot()
    styles = [
        (ORANGE, "-"),
        (ORANGE, "--"),
        (ORANGE, "-."),
        (ORANGE, ":"),
        (BLUE, "-"),
        (GREEN, "-"),
    ]
    for (name, x), (colour, line) in zip(crept.items(), styles, strict=True):
        axes.loglog(
            1e-3 * TIMES, np.maximum(np.abs(x), 1e-18), line, color=colour, lw=1.8, label=name
        )
    for tolerance, colour in ((1e-8, BLUE), (1e-10, GREEN)):
        axes.plot(
            1e-3 * TIMES, tolerance * 1e-3 * TIMES, color=colour, lw=0.8, alpha=0.6, dashes=(1, 2)
        )
    axes.text(1.2, 2.2e-8, "1e-8 m/s", color=BLUE, fontsize=9)
    axes.text(1.2, 2.2e-10, "1e-10 m/s", color=GREEN, fontsize=9)
    axes.set(xlabel="time [s]", ylabel="crept [m]", ylim=(1e-21, 1e-1))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.legend(frameon=False, fontsize=9, loc="lower right")
    plain(axes)
    return figure


def creeping(crept: dict[str, np.ndarray]) -> str:
    speeds = {name: 1e6 * abs(float(x[-1])) / 10.0 for name, x in crept.items()}
    return table(
        ["", "mean speed in 10 s [µm/s]"],
        [[name, f"{v:.3g}" if v > 0.1 else digits(v, 1e-6)] for name, v in speeds.items()],
    )


# ---- writing --------------------------------------------------------------------------------


MEASURED = {
    "certified": ("humanoids", humanoids),
    "missed": ("humanoids", misses),
    "weights": ("humanoids", weights),
    "worlds": ("worlds", worlds),
    "impacts": ("impacts", impacts),
}


def main() -> None:
    """Everything that can be made here."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "measured"
    for name, (file, make) in MEASURED.items():
        path = folder / f"{file}.json"
        if path.is_file():
            write(PAGE, name, make(json.loads(path.read_text(encoding="utf-8"))))
        else:
            print(f"{name} stays as it is: {path} is not there")
    write(PAGE, "against-pinocchio", dynamics())
    results = {
        family: [(c.name, c.law, list(c.run())) for c in cases]
        for family, cases in FAMILIES.items()
    }
    write(PAGE, "closed-forms", closed_forms(results))
    figures = {"orders.svg": orders(results)}
    if importlib.util.find_spec("mujoco"):
        crept = slope()
        write(PAGE, "creep", creeping(crept))
        figures["creep.svg"] = creep(crept)
    for name, figure in figures.items():
        save_figure(figure, PICTURES / name)
    wrong = [
        f"{name}, {c.what}"
        for cases in results.values()
        for name, _, checks in cases
        for c in checks
        if not c.holds
    ]
    if wrong:
        raise SystemExit(f"{len(wrong)} checks do not hold: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
