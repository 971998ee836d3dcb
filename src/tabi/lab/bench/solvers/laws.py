"""``tabi bench laws``: the older laws beside the exact one, on the same contact problems.

Friction pyramids with 4 to 32 facets and no friction at all against the round cone; ``answers``
describes how each is solved, checked and timed.

Slip: when one contact begins to slide, and where its friction points, over all directions. Series:
plates, towers and piles with more and more contacts. Family: members of tabi's family. Cart: HRP-2
pushing a loaded cart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from tabi.contact import BodyProblem, solve_bodies, solve_pyramid
from tabi.contact.lemke import pyramid
from tabi.lab import family
from tabi.lab.bench.solvers import solver
from tabi.lab.bench.solvers.answers import (
    COARSE,
    EXACT,
    FACETS,
    LIST,
    MOST_ROWS,
    NONE,
    PYRAMIDS,
    SWEEPS,
    TOLERANCE,
    by_all,
    law_problem,
)
from tabi.lab.family import piles, stacks
from tabi.lab.family.case import STEP
from tabi.lab.study import Benchmark, BenchPart, Column, constant_settings, table

# points of the plates, boxes of the towers (four points each), bodies of the piles
SIZES = {
    "plate": (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96),
    "tower": (1, 2, 3, 4, 6, 8, 12, 16, 24),
    "pile": (1, 2, 3, 5, 8, 12, 18, 27, 36),
}
KINDS = ("stance", "rocking", "slide", "fall", "plate", "pile", "tower", "chain")


class LawsBench(Benchmark, name="laws"):
    """The older laws by Lemke, friction pyramids and no friction, against the exact one."""

    sizes: Mapping[str, Sequence[int]] = field(default_factory=lambda: SIZES)
    # of each kind of the family
    cases_of_a_kind: int = 6
    # whether the cart is simulated
    cart: bool = True

    constants = constant_settings(
        tolerance=TOLERANCE, sweeps=SWEEPS, most_rows=MOST_ROWS, step=STEP
    )

    def parts(self) -> Iterator[BenchPart]:
        """Slip, series, family and cart."""
        yield BenchPart("slip", "slip", lambda: [slip(k) for k in FACETS])
        for name, numbers in self.sizes.items():
            yield BenchPart(("series", name), f"{name}s", series, (name, numbers))
        yield BenchPart("family", "family", errors_of_members, (self.cases_of_a_kind,))
        if self.cart:
            yield BenchPart("", "cart", pushed_cart)

    def figures(self, rows: Sequence[Any]) -> dict[str, Any]:
        """Return all parts, and the number of contacts from which on each law is faster."""
        result = super().figures(rows)
        crossed = {name: crossovers(series) for name, series in result.get("series", {}).items()}
        return result | {"crossover": crossed}

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines for a terminal."""
        yield f"{result['hardware']['processor']}, one core; tabi {result['versions']['tabi']}"
        yield ""
        yield "one contact, over all directions:"
        for s in result["slip"]:
            yield (
                f"  {s['facets']:>2} facets: slip begins too early by up to "
                f"{_percent(s['early_worst'])} (1 − cos π/k: {_percent(s['early_limit'])}), "
                f"sliding friction is off by up to {_percent(s['sliding_worst'])} (2 sin π/2k: "
                f"{_percent(s['sliding_limit'])})"
            )
        for name, rows in result["series"].items():
            yield ""
            yield f"{name}: median time; error of the motion"
            yield from table(SERIES_COLUMNS, rows)
            for ours, crossing in result["crossover"][name].items():
                parts = ", ".join(f"{theirs}: {x['wins']}" for theirs, x in crossing.items())
                yield f"  contacts with which {ours} is faster: {parts}"
        f = result["family"]
        yield ""
        yield f"family, {f['problems']} problems: error of the motion"
        for name, x in f["laws"].items():
            yield (
                f"  {name:<12} median {_percent(x['median'])}, "
                f"nine in ten below {_percent(x['nine_in_ten'])}, worst {_percent(x['worst'])}; "
                f"{x['solved']} solved; residual in the median {x['residual_median']:.1e} m/s, "
                f"{x['force_residual_N_median']:.2g} N"
            )
        for how, row in result.get("cart", {}).items():
            yield ""
            yield f"cart, {row['contacts']} points, tangents {how}"
            yield from (f"  {name:<36} {_cart(x)}" for name, x in row["laws"].items())
        if "cart" in result:
            took = 1e3 * result["cart_by_bodies_seconds"]
            yield f"  in the space of bodies the list of attempts takes {took:.3g} ms"


def series(name: str, numbers: Sequence[int]) -> list[dict[str, Any]]:
    """Problems of one kind with more and more contacts, by every law."""
    return [by_all(law_problem(SERIES[name](n), n)) for n in numbers]


def errors_of_members(count: int) -> dict[str, Any]:
    """Members of the family by every law, without times."""
    return errors(by_all(law_problem(p, k), timed=False) for k, p in enumerate(members(count)))


def pushed_cart() -> dict[str, Any]:
    """The cart by every law, and as the simulator does it, without W."""
    p = cart_problem()
    # the first one compiles
    seconds = np.median([solve_bodies(p, TOLERANCE).seconds for _ in range(8)][1:])
    return {
        "cart": {
            "along the axes of the world": by_all(law_problem(p, None), most_rows=3 * MOST_ROWS),
            "turned at random": by_all(law_problem(p, 1), most_rows=3 * MOST_ROWS, timed=False),
        },
        "cart_by_bodies_seconds": float(f"{seconds:.3g}"),
    }


# ---- problems -------------------------------------------------------------------------------


def tower(count: int) -> BodyProblem:
    """Boxes on each other, one of them pushed out."""
    twist = np.zeros((count, 6))
    twist[count // 2, 3:5] = 0.3, 0.2
    size = np.tile([0.2, 0.15, 0.1], (count, 1))
    return stacks.stack(np.full(count, 3.0), size, np.zeros((count, 2)), np.full(count, 0.5), twist)


def pile(count: int) -> BodyProblem:
    """Balls and blocks in a heap, moving slowly."""
    return piles.pile(count, 0.3, 0.1, 0.8, np.random.default_rng(count))


SERIES: dict[str, Callable[[int], BodyProblem]] = {
    "plate": solver.plate,
    "tower": tower,
    "pile": pile,
}


def members(count: int) -> Iterator[BodyProblem]:
    """Yield problems of each kind of the family with few enough contacts."""
    for kind in KINDS:
        for case in family.cases(kind, count, 5):
            if (
                case.bodies is not None
                and pyramid.rows_of(case.contact_count, FACETS[-1]) <= MOST_ROWS
            ):
                yield case.bodies


def cart_problem() -> BodyProblem:
    """The contacts of HRP-2 while it pushes the cart."""
    from tabi.scenes import cart
    from tabi.simulation.simulator import Simulator

    world, robot, *_ = cart.build()
    sim = Simulator(world)
    sim.set_controller(robot, cart.push(robot, 0.1, 0.4))
    sim.run(0.3)
    result = sim.problem()
    assert result is not None
    return result


# ---- sums -----------------------------------------------------------------------------------


def slip(facets: int, angles: int = 100) -> dict[str, float]:
    """One contact pushed in all directions: by how much slip begins too early,
    and how far the friction of sliding is from the round cone's.
    """
    mu, early, off = 0.5, [], []
    # one sector after the other, never just between two edges: there both push
    for turn, part in enumerate(np.linspace(0.005, 0.995, angles)):
        angle = 2 * np.pi / facets * (turn + part)
        direction = np.array([np.cos(angle), np.sin(angle)])
        low, high = 0.5, 1.5
        for _ in range(25):
            middle = 0.5 * (low + high)
            push = [*(middle * mu * direction), -1.0]
            u = solve_pyramid(np.eye(3), push, mu, order="ttn", facets=facets).velocity
            low, high = (middle, high) if np.abs(u).max() < 1e-9 else (low, middle)
        early.append(1 - low)
        slid = solve_pyramid(np.eye(3), [*(1e3 * direction), -1.0], mu, order="ttn", facets=facets)
        off.append(np.linalg.norm(slid.impulse[:2] / mu + direction))
    worst = {"early_worst": float(max(early)), "sliding_worst": float(max(off))}
    mean = {"early_mean": float(np.mean(early)), "sliding_mean": float(np.mean(off))}
    limits = {
        "early_limit": float(1 - np.cos(np.pi / facets)),
        "sliding_limit": float(2 * np.sin(0.5 * np.pi / facets)),
    }
    return {"facets": facets} | {
        name: float(f"{x:.4g}") for name, x in (worst | mean | limits).items()
    }


def crossovers(rows: list[dict[str, Any]]) -> dict[str, dict[str, dict[str, Any]]]:
    """For each way to the round cone and each other law:
    the contacts with which it is faster, and from which on it stays so, None for never.
    """
    result: dict[str, dict[str, dict[str, Any]]] = {}
    for ours in (LIST, EXACT, COARSE):
        result[ours] = {}
        for theirs in (NONE, *PYRAMIDS.values()):
            compared, wins, since = [], [], None
            for row in (r for r in rows if theirs in r["laws"]):
                a, b, n = row["laws"].get(ours), row["laws"][theirs], row["contacts"]
                compared.append(n)
                if a is not None and a["solved"] and a["seconds"] < b["seconds"]:
                    wins.append(n)
                    since = n if since is None else since
                else:
                    since = None
            result[ours][theirs] = {"since": since, "wins": spans(wins, compared)}
    return result


def spans(selected: list[int], numbers: list[int]) -> str:
    """Describe a subset of a list of numbers: "all", "none", or where they begin and end."""
    if len(selected) in (0, len(numbers)):
        return "all" if selected else "none"
    ends: list[list[int]] = []
    for k, n in enumerate(numbers):
        if n in selected:
            if k and numbers[k - 1] in selected:
                ends[-1][1] = n
            else:
                ends.append([n, n])
    return ", ".join(f"{a}" if a == b else f"{a} to {b}" for a, b in ends)


def errors(rows: Iterator[dict[str, Any]]) -> dict[str, Any]:
    """Error of the motion by each law, over problems in which it is solved."""
    drawn, table = list(rows), {}
    for name in (NONE, *PYRAMIDS.values()):
        solved = [r["laws"][name] for r in drawn if r["laws"][name]["solved"]]
        motion = [f["motion_error"] for f in solved]
        table[name] = {
            "solved": len(solved),
            "median": float(f"{np.median(motion):.3g}"),
            "nine_in_ten": float(f"{np.quantile(motion, 0.9):.3g}"),
            "worst": float(f"{max(motion):.3g}"),
            "residual_median": float(f"{np.median([f['residual'] for f in solved]):.3g}"),
            "force_residual_N_median": float(
                f"{np.median([f['force_residual_N'] for f in solved]):.3g}"
            ),
        }
    return {"problems": len(drawn), "laws": table}


# ---- words ----------------------------------------------------------------------------------


SERIES_COLUMNS = (
    Column("contacts", "contacts", "d"),
    *(
        Column(
            name.replace(", as near as 8 facets", " ~ 8"),
            lambda row, name=name: _cell(row["laws"].get(name)),
        )
        for name in (LIST, EXACT, COARSE, NONE, *PYRAMIDS.values())
    ),
)


def _cell(x: dict[str, Any] | None) -> str:
    if x is None:
        return "–"
    return (
        f"{1e3 * x['seconds']:.3g} ms {_percent(x['motion_error'])}"
        if x["solved"]
        else "not solved"
    )


def _cart(x: dict[str, Any]) -> str:
    spent = "" if x["seconds"] is None else f"{1e3 * x['seconds']:.3g} ms, "
    state = "" if x["solved"] else "NOT SOLVED, "
    return (
        f"{x['rows']:>5} rows, {state}{spent}{x['residual']:.1e} m/s, "
        f"{x['force_residual_N']:.2g} N, motion off by {_percent(x['motion_error'])}"
    )


def _percent(x: float) -> str:
    return f"{100 * x:.2g} %" if x >= 1e-5 else "0 %"
