"""``tabi validate selection``: does constraint selection find the state that trying all finds?

Random feet: two polygons with a random inverse inertia, moving a little, lying flat, tilted, a
little inside of their planes or above them; the search starts from a random state. It has to end
with as few violations, rule by rule, as the best of all states has, and without any where some
state has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import numpy as np

from tabi.lab.study import Criterion, Option, Validator, progress
from tabi.step.laws.polygons import polygons, selection, selection_search
from tabi.step.laws.polygons.polygons import Polygons

TOLERANCE, STEP = 1e-9, 1e-3
# of a foot of some kilograms: turning [1/(kg·m²)] and moving [1/kg]
RESPONSE = (8.0, 8.0, 8.0, 0.4, 0.4, 0.4)


def random_feet(rng: np.random.Generator, corners: int, P: Polygons, feet: int = 2) -> None:
    """Fill P with feet of so many corners."""
    P.count[0], size = feet, 6 * feet
    scale = np.sqrt(np.tile(RESPONSE, feet))
    root = 0.35 * rng.normal(size=(size, size)) + np.eye(size)
    P.A[:size, :size] = scale[:, None] * (root @ root.T) * scale
    for f in range(feet):
        of_foot = slice(f * corners, (f + 1) * corners)
        angle = np.sort(rng.uniform(0, 2 * np.pi, corners))
        # no two corners in one place, and none far from a regular polygon
        angle = 0.5 * angle + 0.5 * np.linspace(0, 2 * np.pi, corners, endpoint=False)
        x, y = 0.12 * np.cos(angle), 0.06 * np.sin(angle)
        x, y = x - x.mean(), y - y.mean()
        twist = rng.normal(size=6) * (0.05, 0.05, 0.05, 0.02, 0.02, 0.01)
        twist[5] -= 0.01
        gap, slope = np.zeros(corners), rng.normal(size=2)
        kind = rng.integers(4)
        if kind == 1:
            gap = 0.02 * (slope[0] * x + slope[1] * y)
            gap -= gap.min()
        elif kind == 2:
            gap = 2e-3 * (slope[0] * x + slope[1] * y) + 1e-4 * rng.normal()
        elif kind == 3:
            gap = gap + 1e-3 * rng.normal()
        fit = np.linalg.lstsq(np.column_stack([np.ones(corners), x, y]), gap / STEP, rcond=None)[0]
        twist += (fit[2], -fit[1], 0, 0, 0, fit[0])
        P.start[f], P.start[f + 1], P.row[of_foot] = (
            of_foot.start,
            of_foot.stop,
            np.arange(of_foot.start, of_foot.stop),
        )
        P.x[of_foot], P.y[of_foot], P.gap[of_foot], P.b[6 * f : 6 * f + 6] = x, y, gap, twist
        P.free[of_foot] = twist[5] + twist[0] * y - twist[1] * x
        P.mu[f], P.span[f] = rng.choice([0.1, 0.4, 0.8]), np.hypot(x, y).max()


def compare(seed: int, corners: int, P: Polygons, s: selection.Search) -> dict[str, Any]:
    """One problem: violations that the search and trying all states end with."""
    rng = np.random.default_rng([seed, corners])
    random_feet(rng, corners, P)
    selection_search.begin(P, s, np.zeros(6 * corners))
    first = rng.integers(0, s.base[:2])
    s.state[:2] = first
    result, tried = selection_search.exact(P, s, TOLERANCE, True, len(s.heap))
    s.state[:2] = first
    quick, _ = selection_search.one_step(P, s, TOLERANCE, True)
    best, states = selection_search.every_state(P, s, TOLERANCE, True)
    return {"found": result, "best": best, "quick": quick, "tried": tried, "states": states}


class FootStates(Validator, name="selection"):
    """Select the contact states of random feet: is each as good as the best of all states?"""

    problems: Annotated[
        int, Option(min=1, help="Random states of two feet with 4 to 8 corners.")
    ] = 100_000
    large: Annotated[int, Option(min=0, help="And with 64 corners.")] = 1000

    unit = "problems"
    criteria = (
        Criterion.of(
            lambda result: sum(f["worse_than_all_states"] for f in result["figures"].values()),
            "no search ends worse than the best of all states",
            at_most=0,
        ),
        Criterion("figures", "there are problems", at_least=1),
    )

    def cases(self) -> Iterator[tuple[str, int, int, Any]]:
        """Number of a problem and corners, with room for feet of so many."""
        for name, count in (("4 to 8 corners", self.problems), ("64 corners", self.large)):
            room = {}
            for n in (4, 5, 6, 7, 8) if name == "4 to 8 corners" else (64,):
                P = polygons.allocate(2 * n, 3)
                room[n] = P, selection.allocate(P, (4 * n + 3) ** 2)
            sizes = list(room)
            for k in range(count):
                n = sizes[k % len(sizes)]
                yield name, k, n, room[n]
                if k % 100 == 99 or k == count - 1:
                    progress(name, k + 1, count)

    def measure(self, case: tuple[str, int, int, Any]) -> dict[str, Any]:
        """Measure one case and return its row."""
        name, k, n, room = case
        return {"name": name} | compare(k, n, *room)

    def figures(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Figures of small feet and of large ones."""
        names = dict.fromkeys(row["name"] for row in rows)
        return {"figures": {n: _figures([r for r in rows if r["name"] == n]) for n in names}}

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines for a terminal."""
        for name, f in result["figures"].items():
            yield (
                f"{f['problems']} problems of two feet with {name}, "
                f"{f['with_a_right_state']} with a state that violates nothing:"
            )
            yield f"  the search ended worse than all states in {f['worse_than_all_states']}"
            yield (
                f"  it tried {f['states_tried_median']:.0f} states in the median, "
                f"{f['states_tried_share']:.1%} of all on average"
            )
            yield f"  one step from a random state is as good in {f['one_step_as_good']}"


def _figures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    result, best, quick, tried, states = (
        np.array([row[name] for row in rows])
        for name in ("found", "best", "quick", "tried", "states")
    )
    return {
        "problems": len(rows),
        "with_a_right_state": int((best == 0).sum()),
        "worse_than_all_states": int((result != best).sum()),
        "states_tried_median": float(np.median(tried)),
        "states_tried_share": float(np.mean(tried / states)),
        "one_step_as_good": int((quick == best).sum()),
    }
