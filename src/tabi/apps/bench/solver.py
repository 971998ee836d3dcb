"""``tabi bench solver``: tabi's own seeded family of contact problems, what a sweep costs, and stances with a warm start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tabi.apps.bench import race


def family(count: int, seed: int) -> Iterator[Any]:
    """About ``count`` cases in the proportions of the family, which has a thousand; at least one of every kind."""
    from tabi.validation.family import everything

    return everything(seed, count / 1000)


def measure(cases: Iterable[Any], tolerance: float = 1e-8, others: tuple[str, ...] = ()) -> dict[str, Any]:
    """All figures, as plain data.

    Args:
        cases: with ``name``, ``kind`` and ``problem()``.
        others: methods of Siconos.
    """
    result = race.run((race.Entry(case.name, case.kind, case.problem()) for case in cases), tolerance, others)
    if not result["interrupted"]:
        result |= {"sweep": sweep_cost(), "warm_stances": warm_stances()}
    return result


def sweep_cost() -> list[dict[str, float]]:
    """Cost of a sweep against the number of contacts for a fixed number of bodies: contacts, microseconds; empty where not measured."""
    return []


def warm_stances() -> dict[str, dict[str, float]]:
    """Eight foot contacts with a warm start: for each kind of stance median, mean and largest time [µs]; empty where not measured."""
    return {}


def text(result: dict[str, Any]) -> str:
    """The figures for a terminal."""
    lines = [race.text(result)]
    for kind, counts in result["summary"]["kinds"].items():
        solved = ", ".join(f"{name} {n}/{counts['problems']}" for name, n in counts.items() if name != "problems")
        lines.append(f"{kind}, solved: {solved}")
    lines += [f"a sweep over {row['contacts']:g} contacts: {row['microseconds']:.1f} µs" for row in result.get("sweep", [])]
    for kind, row in result.get("warm_stances", {}).items():
        lines.append(f"warm, {kind}: " + ", ".join(f"{name} {value:.2f} µs" for name, value in row.items()))
    return "\n".join(lines)
