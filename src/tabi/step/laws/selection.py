"""Constraint selection for the feet, and the exact law for all else.

Points in which the sole of a declared foot meets another body are put into its plane
(``rows.flat_soles``): they are corners of polygons (``polygons``), and
``polygons.selection`` selects what of each polygon is held. Contacts of other bodies, and bonds,
are solved with them in the same step, by the exact law (``polygons.held_polygons``).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import ModelError, unknown
from tabi.contact import bodies, ladder
from tabi.contact.bodies import BodyWork
from tabi.contact.bodies import prepare as prepare_bodies
from tabi.contact.rows import CONTACT
from tabi.jit import kernel
from tabi.jit.structure import Structure
from tabi.model.compiled import Model
from tabi.step.laws.polygons import (
    corner_forces,
    held_polygons,
    polygons,
    selection,
    selection_search,
)
from tabi.step.laws.polygons.held_polygons import HeldRows
from tabi.step.laws.polygons.polygon_states import corners, decode
from tabi.step.laws.polygons.polygons import Polygons
from tabi.step.laws.polygons.selection import Search
from tabi.step.rows import flat_soles

NAME = "selection"
MISSED = (
    "every state of the feet that was tried violates a rule, and the least violated one is used; "
    "take a shorter dt, or more candidates"
)
EXACT, ONE_STEP = "exact", "one-step"
MODES = (EXACT, ONE_STEP)
# iterations in which states and the contacts of other bodies agree
MAX_ITERATIONS = 8
# largest number of feet in a group, as their states are one number; others obey the exact law
MAX_FEET = 6


@dataclass(frozen=True)
class Selection:
    """Options for the selection of states of feet, for ``Simulator(contact=…)``.

    Attributes:
        mode: "exact", or "one-step": the last state is corrected once, at a bounded cost.
        pressure_rule: whether a foot tips over an edge when its pressure point is there, not
            earlier.
        candidates: states that are tried at most in a step; one that needs more does not converge.

    Examples:
        >>> sim = tabi.Simulator(world, contact=tabi.Selection(mode="one-step"))
    """

    mode: str = EXACT
    pressure_rule: bool = True
    candidates: int = 400

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise unknown("mode", str(self.mode), "constraint selection", MODES)
        if not isinstance(self.candidates, int) or self.candidates < 1:
            raise ModelError(
                f"candidates is {self.candidates!r}; expected a whole number ≥ 1, as 400"
            )


class SelectionWork(Structure):
    """Scratch of the exact law, of polygons and their states, and for the rows of a group whether
    they are of a foot, and their gaps [m].
    """

    bodies: BodyWork
    polygons: Polygons
    search: Search
    held_rows: HeldRows
    foot: NDArray[np.int64]
    gap: NDArray[np.float64]
    budget: NDArray[np.int64]


def polygon_work(
    points: int, count: int, blocks: int, most: int = polygons.MAX_POLYGONS
) -> dict[str, Any]:
    """Return the memory that all laws of feet need: of the exact law, of polygons, and of rows."""
    work = bodies.allocate(points, count, blocks)
    return {
        "bodies": work,
        "polygons": polygons.allocate(points, count, most),
        "held_rows": held_polygons.allocate(points),
        "foot": np.zeros(points, np.int64),
        "gap": np.zeros(points),
        "budget": work.budget,
    }


def feet_of(model: Model) -> NDArray[np.int64]:
    """Return the root of the tree of each moving body that is a foot, 0 for all others."""
    roots = np.zeros(model.body_count + 1, np.int64)
    for foot in model.feet.values():
        roots[foot.body] = model.arrays.body["root"][foot.body]
    # links that are fixed to the world are no feet
    roots[0] = 0
    return roots


def check_feet(model: Model, name: str) -> None:
    """Reject a world without feet."""
    if not feet_of(model).any():
        raise ModelError(
            f"contact={name!r} is a law of feet, and no robot of this world has any; declare them, "
            'as in tabi.load(path, feet={"left": "L_FOOT", "right": "R_FOOT"}), or take \'coulomb\''
        )


@kernel(inline=True)
def look(part_memory, t, d, s, g, h):
    """Store which rows of the group are of feet: those between a foot and another tree."""
    first, body = s.groups.start[g], t.model.body
    for x in range(first, s.groups.start[g + 1]):
        e = s.groups.order[x]
        a, b = s.points[e].a, s.points[e].b
        other = b == 0 or body[a].root != body[b].root
        s.law.foot[x - first] = (
            1 if other and s.kind[e] == 0 and (part_memory[a] > 0 or part_memory[b] > 0) else 0
        )
        s.law.gap[x - first] = s.points[e].gap


@kernel(inline=True)
def prepare(p, work):
    """Compute weights of the rows; returns the number of blocks that elimination would fill."""
    return prepare_bodies(p, work.bodies)


@kernel(inline=True)
def has_contact(p):
    """Whether a problem has contacts."""
    for k in range(p.kind.shape[0]):  # noqa: SIM110 - kernels have no generators
        if p.kind[k] == CONTACT:
            return True
    return False


@kernel(inline=True)
def has_other_rows_than(p, P):
    """Whether a problem has rows that are not of polygons."""
    for k in range(p.kind.shape[0]):  # noqa: SIM110 - kernels have no generators
        if P.owner[k] < 0:
            return True
    return False


@kernel
def exact_mode(P, s, tolerance, pressure, most):
    """Search exactly; returns violations that are left, and the number of states tried."""
    return selection_search.exact(P, s, tolerance, pressure, most)


@kernel
def one_step_mode(P, s, tolerance, pressure, most):
    """Correct the last state once; returns the same as ``exact_mode``."""
    return selection_search.one_step(P, s, tolerance, pressure)


@kernel(inline=True)
def update_states(P, s, before):
    """Store the states in ``before``; returns whether they are the same."""
    same = True
    for f in range(P.count[0]):
        same = same and before[f] == s.state[f]
        before[f] = s.state[f]
    return same


def law(options: Selection) -> SimpleNamespace:
    """Return the law with its options."""
    search = exact_mode if options.mode == EXACT else one_step_mode
    pressure, most = bool(options.pressure_rule), int(options.candidates)

    def allocate(points: int, count: int, blocks: int) -> SelectionWork:
        work = polygon_work(points, count, blocks, MAX_FEET)
        return SelectionWork(**work, search=selection.allocate(work["polygons"], most))

    @kernel(inline=True)
    def solve(p, t, tolerance, impulse, work):
        """Solve the impulses of a group; returns states tried, attempt, and whether it failed."""
        P, s, h = work.polygons, work.search, work.held_rows
        if has_contact(p):
            polygons.gather(p, work.foot, work.gap, P)
        else:
            P.count[0] = 0
        if P.count[0] == 0:
            done, attempt, error = ladder.solve_bodies(
                p, tolerance, impulse, work.bodies, t.attempts
            )
            return done, attempt, not error <= tolerance
        selection_search.begin(P, s, impulse)
        has_other_rows, wrong, done, attempt, failed = has_other_rows_than(p, P), 0, 0, 0, False
        for turn in range(MAX_ITERATIONS):
            if has_other_rows:
                polygons.gather(p, work.foot, work.gap, P)
                polygons.add_other_impulses(p, impulse, P)
            wrong, tried = search(P, s, tolerance, pressure, most)
            done += tried
            if not has_other_rows or (update_states(P, s, s.before) and turn > 0):
                break
            # with these states: the rest of the group, and polygons without it
            polygons.gather(p, work.foot, work.gap, P)
            held_polygons.hold(p, P, s, impulse, h)
            joined = held_polygons.problem(p, h)
            prepare_bodies(joined, work.bodies)
            steps, attempt, error = ladder.solve_bodies(
                joined, tolerance, h.impulse[: 3 * p.kind.shape[0]], work.bodies, t.attempts
            )
            done, failed = done + steps, not error <= tolerance
            for k in range(p.kind.shape[0]):
                if P.owner[k] < 0:
                    for c in range(3):
                        impulse[3 * k + c] = h.impulse[3 * k + c]
        for f in range(P.count[0]):
            n = P.start[f + 1] - P.start[f]
            kind, i, _ = decode(s.state[f], n)
            corner_forces.spread(P, f, s.wrench, i, corners(kind, n), impulse)
        # points that are no corners bear no load
        clear_inner(p, P, impulse, work.foot)
        return done, attempt, failed or wrong > 0

    return SimpleNamespace(
        NAME=NAME,
        CERTIFIED=False,
        MISSED=MISSED,
        BONDS=True,
        ROWS=(flat_soles.flat,),
        FOOT_BAND=flat_soles.MAX_HEIGHT_M,
        memory=feet_of,
        allocate=allocate,
        look=look,
        prepare=prepare,
        solve=solve,
    )


@kernel(inline=True)
def clear_inner(p, P, impulse, corner):
    """Clear impulses of points inside of polygons; ``corner`` is scratch over rows."""
    for k in range(p.kind.shape[0]):
        corner[k] = 0
    for c in range(P.start[P.count[0]]):
        corner[P.row[c]] = 1
    for k in range(p.kind.shape[0]):
        if P.owner[k] >= 0 and corner[k] == 0:
            for i in range(3):
                impulse[3 * k + i] = 0.0


def options_of(contact: Any) -> Selection | None:
    """Return the options of this law from an argument, None for other laws."""
    if isinstance(contact, Selection):
        return contact
    return Selection() if contact == NAME else None
