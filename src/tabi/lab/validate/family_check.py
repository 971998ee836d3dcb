"""``tabi validate family``: how many problems of the family are solved, without a limit of work and
with that of a step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from tabi.contact import solve_bodies, solve_problem
from tabi.lab.family import Case, everything
from tabi.lab.study import Criterion, Option, Validator, progress
from tabi.step.budget import DEFAULT

TOLERANCE = 1e-8


def solved(case: Case, budget: int | None) -> bool:
    """Whether a case is certified, from zero impulses; without bodies there is no budget."""
    if case.bodies is None:
        return solve_problem(case.problem(), TOLERANCE).converged
    return solve_bodies(case.bodies, TOLERANCE, budget=budget).converged


class FamilyCheck(Validator, name="family"):
    """Solve a seeded family of contact problems: is each certified to 1e-8,
    and how many within the budget of a step?
    """

    problems: Annotated[
        int, Option(min=12, help="About so many contact problems, of twelve kinds.")
    ] = 150
    seed: Annotated[int, Option(min=0, help="Of the generator.")] = 3

    unit = "problems"
    criteria = (
        Criterion("problems", "there are problems", at_least=1),
        Criterion("unsolved", "each is solved", at_most=0),
    )

    def cases(self) -> Iterator[Case]:
        """At least one of each kind."""
        for count, case in enumerate(everything(self.seed, self.problems / 1000)):
            progress(self.unit, count, self.problems)
            yield case

    def measure(self, case: Case) -> tuple[str, bool, bool]:
        """A name, and whether it is solved, without a budget and with it."""
        return case.name, solved(case, None), solved(case, DEFAULT)

    def figures(self, rows: Sequence[tuple[str, bool, bool]]) -> dict[str, Any]:
        """Return the figures of all rows."""
        unsolved = [name for name, solved, _ in rows if not solved]
        over_budget = [name for name, _, in_time in rows if not in_time]
        return {
            "problems": len(rows),
            "solved": len(rows) - len(unsolved),
            "solved_within_budget": len(rows) - len(over_budget),
            "budget": DEFAULT,
            "unsolved": unsolved,
            "over_budget": over_budget,
        }

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines for a terminal."""
        r = result
        yield f"{r['solved']} of {r['problems']} problems solved to {TOLERANCE:g} of ‖q‖∞"
        yield (
            f"{r['solved_within_budget']} of {r['problems']} within the budget of a step, "
            f"{r['budget']:,} looks at contacts"
        )
        yield from (f"  not solved: {name}" for name in r["unsolved"])
        late = [name for name in r["over_budget"] if name not in r["unsolved"]]
        yield from (f"  over budget: {name}" for name in late)
