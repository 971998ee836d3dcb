"""``tabi bench delassus``: the Delassus operator of HRP-2's contacts, five ways,
against the number of points.

Kinematics and the factors of ABA are at hand, as in a step; the direct way also has to build and
factor the mass matrix. ``figure`` redraws Fig. 3 of Chardonnet (2012): mean time over 20 random
sets of contacts, with the share of Ω, and the time against the number of points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np

import tabi
from tabi.dynamics import aba, kinematics, workspace
from tabi.dynamics.delassus import contacts_of, point_inertia
from tabi.jit import kernel
from tabi.lab.bench.timing import Blocks, medians, microseconds
from tabi.lab.study import Benchmark, BenchPart, Column, Option, constant_settings, head, table
from tabi.model.compiled import Model
from tabi.model.world import World

COUNTS = (1, 2, 4, 8, 16, 32, 64)
BODIES = (
    "right_foot",
    "left_foot",
    "right_hand",
    "left_hand",
    "right_shank",
    "left_shank",
    "right_forearm",
    "left_forearm",
    "chest",
    "waist",
)
SIMULATIONS = 20
TITLES = {
    "direct": "mass matrix",
    "points": "forces at points\n(Chardonnet 2006)",
    "branches": "branches\n(Chang, Khatib 2000)",
    "wrenches": "wrenches on bodies\n(Chardonnet 2012)",
    "chains": "chains\n(tabi)",
}
STEP = "Ω of a step"
# what Chardonnet (2012) says of the third against the first of his methods
PAPER = 6.5


def _loop(method: Any) -> Any:
    """A compiled loop around one way to Λ; a trace of the result goes back into the input,
    so nothing can be left out.
    """

    @kernel
    def run(count, m, w, p, k, out):
        for _ in range(count):
            method(m, w, p, k, out)
            w.dof[0].pivot += 1e-300 * out[0, 0]
            w.dof[0].added += 1e-300 * out[0, 0]

    return run


def _blocks_loop(method: Any) -> Any:
    """Return a compiled loop around one method for Ω, as ``_loop``."""

    @kernel
    def run(count, m, w, p, k, out):
        for _ in range(count):
            method(m, w, p, k)
            w.dof[0].pivot += 1e-300 * k.omega[0, 0, 0]

    return run


@kernel
def _factors(count, m, w, p, k, out):
    for _ in range(count):
        aba.factor(m, w)
        w.dof[0].added += 1e-300 * w.dof[0].pivot


LOOPS = {name: _loop(method) for name, method in point_inertia.WAYS.items()}
OMEGAS = {
    "branches": _blocks_loop(point_inertia.branch_blocks),
    "wrenches": _blocks_loop(point_inertia.wrench_blocks),
    "chains": _blocks_loop(point_inertia.chain_blocks),
}


class Bench:
    """HRP-2 half-sitting, and contacts drawn on it."""

    def __init__(self, blocks: int) -> None:
        self.blocks = blocks
        self.rng = np.random.default_rng(0)
        world = World()
        world.add_robot(tabi.robots.hrp2()).stand_on_ground()
        self.model: Model = world.compile()
        self.work = workspace.allocate(self.model)
        kinematics.positions(self.model.arrays, self.model.initial(), self.work)
        self.work.dof["added"] = self.model.arrays.dof["armature"]
        aba.factor(self.model.arrays, self.work)

    def times(self, points: int, bodies: int, loops: dict[str, Any]) -> dict[str, float]:
        """Median microseconds of each loop for points spread evenly over the first
        bodies of the list.
        """
        drawn = [(BODIES[i % bodies], 0.1 * self.rng.normal(size=3)) for i in range(points)]
        p = contacts_of(self.model, self.work, drawn, "body")
        k, out = point_inertia.allocate(self.model, p), np.zeros((3 * points, 3 * points))
        arguments = (self.model.arrays, self.work, p, k, out)

        def bound(loop: Any) -> Callable[[int], object]:
            return lambda count: loop(count, *arguments)

        measured = microseconds(
            {name: bound(loop) for name, loop in loops.items()}, self.blocks, block_seconds=2e-3
        )
        return medians(measured, 3)

    def factor_time(self) -> float:
        """Microseconds of the factors of ABA."""
        return self.times(1, 1, {"factor": _factors})["factor"]

    def rows(self, limit: int) -> list[dict[str, Any]]:
        """Every way for more and more points on so many bodies at most; Ω by itself too, which is
        all that a step needs.
        """
        ways = LOOPS | {STEP: OMEGAS["chains"]}
        sizes = [(n, min(n, limit)) for n in COUNTS]
        return [
            {"points": n, "bodies": b, "microseconds": self.times(n, b, ways)} for n, b in sizes
        ]


class DelassusBench(Benchmark, name="delassus"):
    """The Delassus operator of HRP-2's contacts, five ways against each other."""

    figure: Annotated[
        Path | None,
        Option(help="Draw time against contact points into this file: .png, .pdf or .svg."),
    ] = None
    blocks: Blocks = 31

    packages = ("numpy", "numba")
    constants = constant_settings(statistic="median of interleaved blocks", robot="hrp2")

    def parts(self) -> Iterator[BenchPart]:
        """Factors, more and more points, and random sets of contacts."""
        bench = Bench(self.blocks)
        yield BenchPart(("settings", "v_count"), "", lambda: bench.model.v_count)
        yield BenchPart("factor_microseconds", "", bench.factor_time)
        for name, limit in (("two_feet", 2), ("ten_bodies", 10)):
            yield BenchPart(name, name.replace("_", " "), bench.rows, (limit,))
        words = f"{SIMULATIONS} random sets of contacts"
        yield BenchPart("simulations", words, simulations, (bench,))

    def figures(self, rows: Sequence[Any]) -> dict[str, Any]:
        """Return the figures of all rows."""
        result = super().figures(rows)
        return result | {"settings": self.settings() | result.get("settings", {})}

    def draw(self, result: Mapping[str, Any], path: Path) -> None:
        """Fig. 3 of Chardonnet (2012) again."""
        figure(result, path)

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines for a terminal."""
        yield head(result)
        yield ""
        yield "Λ of HRP-2's contacts [µs], kinematics and ABA's factors at hand"
        sizes = [Column("points", "points", "d"), Column("bodies", "bodies", "d")]
        method_columns = [
            Column(method, f"microseconds.{method}", ".2f") for method in [*LOOPS, STEP]
        ]
        for name in ("two_feet", "ten_bodies"):
            yield from table([*sizes, *method_columns], result[name])
            yield ""
        yield f"means over {SIMULATIONS} random sets of contacts [µs]"
        mean = result["simulations"]
        for method, whole in mean["mean_microseconds"].items():
            omega = mean["mean_omega_microseconds"].get(method)
            yield f"  {method:<10} {whole:8.2f}" + (f"   of which Ω {omega:8.2f}" if omega else "")
        faster = ", ".join(
            f"{method} {ratio:g}" for method, ratio in mean["chains_faster_than"].items()
        )
        yield (
            f"wrenches are {mean['wrenches_faster_than_points']:g} × faster than points ({PAPER:g} "
            f"in the paper); chains against {faster}"
        )
        yield (
            "the factors of ABA, which all but the direct way use, "
            f"take {result['factor_microseconds']:.2f} µs and are there after the free motion"
        )


def simulations(bench: Bench) -> dict[str, Any]:
    """Means over random sets of contacts, as in Fig. 3 of Chardonnet (2012)."""
    sizes = []
    for _ in range(SIMULATIONS):
        bodies = int(bench.rng.integers(1, min(len(BODIES), COUNTS[-1]) + 1))
        sizes.append((int(bench.rng.integers(bodies, COUNTS[-1] + 1)), bodies))
    whole = [bench.times(n, c, LOOPS) for n, c in sizes]
    omega = [bench.times(n, c, OMEGAS) for n, c in sizes]
    return {
        "sizes": [{"points": n, "bodies": c} for n, c in sizes],
        "mean_microseconds": {
            name: round(float(np.mean([t[name] for t in whole])), 2) for name in LOOPS
        },
        "mean_omega_microseconds": {
            name: round(float(np.mean([t[name] for t in omega])), 2) for name in OMEGAS
        },
        "wrenches_faster_than_points": round(
            float(np.mean([t["points"] / t["wrenches"] for t in whole])), 2
        ),
        "the_same_in_the_paper": PAPER,
        "chains_faster_than": {
            name: round(float(np.mean([t[name] / t["chains"] for t in whole])), 2)
            for name in LOOPS
            if name != "chains"
        },
    }


def figure(result: Mapping[str, Any], path: Path) -> None:
    """Draw the figures into a file."""
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(13.0, 4.2), layout="constrained")
    (bars, *curves), mean = drawing.subplots(1, 3), result["simulations"]
    names = list(LOOPS)
    omega = [mean["mean_omega_microseconds"].get(method, 0.0) for method in names]
    bars.barh(
        [TITLES[method] for method in names],
        [mean["mean_microseconds"][method] for method in names],
        color="0.8",
        label="Λ",
    )
    bars.barh(
        [TITLES[method] for method in names], omega, color="0.35", height=0.5, label="of which Ω"
    )
    bars.set(
        xlabel="time [µs]",
        title=f"mean of {SIMULATIONS} sets of contacts\n(as Fig. 3 of Chardonnet 2012)",
    )
    bars.invert_yaxis()
    bars.legend(frameon=False)
    for axes, name, title in zip(
        curves,
        ("two_feet", "ten_bodies"),
        ("points on the feet", "points on up to ten bodies"),
        strict=True,
    ):
        rows = result[name]
        for method in [*names, STEP]:
            style = "k--" if method == STEP else "o-"
            axes.loglog(
                [row["points"] for row in rows],
                [row["microseconds"][method] for row in rows],
                style,
                markersize=4,
                label=method,
            )
        axes.set(
            xlabel="contact points",
            ylabel="time [µs]",
            title=title,
            xticks=COUNTS,
            xticklabels=COUNTS,
        )
        axes.minorticks_off()
        axes.grid(color="0.9")
    curves[0].legend(frameon=False)
    drawing.savefig(path, dpi=150)
