"""``tabi validate family``: how many problems of the family are solved, without a limit of work and
with that of a step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tabi.contact import solve_bodies, solve_problem
from tabi.lab.family import Case, everything
from tabi.step.budget import DEFAULT

TOLERANCE = 1e-8


def solved(case: Case, budget: int | None) -> bool:
    """Whether a case is certified, from zero impulses; without bodies there is no budget."""
    if case.bodies is None:
        return solve_problem(case.problem(), TOLERANCE).converged
    return solve_bodies(case.bodies, TOLERANCE, budget=budget).converged


def validate(
    problems: int = 150,
    seed: int = 3,
    progress: Callable[[str, int, int], None] = lambda what, done, count: None,
) -> dict[str, Any]:
    """Solve about so many problems, at least one of each kind; an interrupt keeps what is done."""
    found: dict[str, list[str]] = {"unsolved": [], "over_budget": []}
    count, interrupted = 0, False
    progress("problems", 0, problems)
    try:
        for case in everything(seed, problems / 1000):
            for name, budget in (("unsolved", None), ("over_budget", DEFAULT)):
                if not solved(case, budget):
                    found[name].append(case.name)
            count += 1
            progress("problems", count, problems)
    except KeyboardInterrupt:
        interrupted = True
    return {
        "problems": count,
        "solved": count - len(found["unsolved"]),
        "solved_within_budget": count - len(found["over_budget"]),
        "budget": DEFAULT,
        **found,
        "within": count > 0 and not found["unsolved"],
        "interrupted": interrupted,
    }


def text(result: dict[str, Any]) -> str:
    """The figures for a terminal."""
    r = result
    lines = [
        f"{r['solved']} of {r['problems']} problems solved to {TOLERANCE:g} of ‖q‖∞",
        f"{r['solved_within_budget']} of {r['problems']} within the budget of a step, "
        f"{r['budget']:,} looks at contacts",
        *(f"  not solved: {name}" for name in r["unsolved"]),
        *(f"  over budget: {name}" for name in r["over_budget"] if name not in r["unsolved"]),
    ]
    if r["interrupted"]:
        lines.append("interrupted: these are the problems done before")
    return "\n".join(lines)
