"""``tabi bench solver``: tabi's own seeded family of contact problems, what a sweep costs, and stances with a warm start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from tabi.apps.bench import loops, race
from tabi.apps.bench.timing import microseconds
from tabi.contact import bodies
from tabi.validation.family import cases, everything, plates


def family(count: int, seed: int) -> Iterator[Any]:
    """About ``count`` cases in the proportions of the family, which has a thousand; at least one of every kind."""
    return everything(seed, count / 1000)


def measure(cases: Iterable[Any], tolerance: float = 1e-8, others: tuple[str, ...] = ()) -> dict[str, Any]:
    """All figures, as plain data.

    Args:
        cases: with ``name``, ``kind``, ``bodies`` and ``problem()``.
        others: methods of Siconos.
    """
    result = race.run((race.Entry(c.name, c.kind, c.problem(), c.bodies or c.problem()) for c in cases), tolerance, others)
    if not result["interrupted"]:
        result |= {"sweep": sweep_cost(), "warm_stances": warm_stances()}
    return result


def sweep_cost(sizes: tuple[int, ...] = (8, 16, 32, 64, 128, 256, 512, 1024)) -> list[dict[str, float]]:
    """Cost of a sweep over one plate on more and more points: contacts, microseconds."""
    rows = []
    for count in sizes:
        p = plates.plate(count, 0.5, np.array([0.0, 0.0, 0.3, 0.1, 0.0, 0.0]), np.random.default_rng(count))
        impulse, work = np.zeros(3 * count), bodies.allocate(count, 1)
        bodies.local_blocks(p, work)
        times = microseconds({"sweep": lambda n, p=p, x=impulse, w=work: loops.sweeps(n, p, x, w)}, 15, 0.002)["sweep"]
        rows.append({"contacts": float(count), "microseconds": float(np.median(times))})
    return rows


def warm_stances(count: int = 60, tolerance: float = 1e-8) -> dict[str, dict[str, float]]:
    """Foot contacts with the warm start of the step before: for each kind median, mean and largest time [µs], in a compiled loop."""
    found = {}
    for kind in ("stance", "slide", "fall"):
        times = []
        for case in cases(kind, count, 0):
            if case.bodies is None or case.warm is None:
                continue
            p, warm, impulse = case.bodies, case.warm, case.warm.copy()
            work, goal = bodies.allocate(len(p.mu), len(p.start) - 1), tolerance * float(np.abs(p.q).max())
            runs = {"solve": lambda n, p=p, l=warm, g=goal, x=impulse, w=work: loops.warm_solves(n, p, l, g, x, w)}
            times.append(float(np.median(microseconds(runs, 7, 0.0005)["solve"])))
        found[kind] = {"problems": float(len(times)), "median": float(np.median(times)), "mean": float(np.mean(times)), "largest": max(times)}
    return found


def text(result: dict[str, Any]) -> str:
    """The figures for a terminal."""
    lines = [race.text(result)]
    for kind, counts in result["summary"]["kinds"].items():
        solved = ", ".join(f"{name} {n}/{counts['problems']}" for name, n in counts.items() if name != "problems")
        lines.append(f"{kind}, solved: {solved}")
    lines += [f"a sweep over {row['contacts']:g} contacts: {row['microseconds']:.1f} µs" for row in result.get("sweep", [])]
    for kind, row in result.get("warm_stances", {}).items():
        lines.append(f"warm, {kind}: " + ", ".join(f"{name} {value:.2f} µs" for name, value in row.items() if name != "problems"))
    return "\n".join(lines)
