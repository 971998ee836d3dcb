"""The parts that a step is built from: forces, kinds of rows, and a law of contact.

A part is a module, or any object, with kernels of these names. ``own`` is what the part itself
remembers between steps (its plain function ``memory(model)`` makes it; none without that function);
t, d, s: ``Tables``, ``StepData`` and ``StepWorkspace``; h: the step [s].

A **force** adds to the joint forces:

    load(own, t, d, s, h)                     adds to s.applied and s.added
    judge(own, t, d, s, h, tolerance, guess)  after contacts: how many guesses were wrong, and the
                                              largest error [m/s or rad/s]
    finish(own, t, d, s, h)                   once, when the velocities of the end are known

A **kind of rows** adds points, and makes three rows of the problem from each:

    withhold(own, t, d, count, s)             leaves out contact points; returns how many stay
    add(own, t, d, count, s, h)               adds points behind ``count``; returns how many there
                                              are then, also if too many
    fill(own, t, d, e, s, x, group, h)        the row x of the problem from the point e
    warm_start(own, t, d, e, s, x, found)     impulses to begin with, from the row ``found`` of
                                              d.memory.contact, −1 for new ones
    revise(own, t, d, s, group, tolerance, turn)   after a group was solved: changes its
                                              coefficients; returns how many, and their error [m/s]

A **law** solves a group of contacts:

    allocate(points, bodies, blocks)          plain function: its scratch, s.law; if that has a
                                              ``budget``, it is the one of the step
    prepare(p, work)                          returns how many blocks it needs
    solve(p, t, tolerance, impulse, work)     returns iterations, attempt, and whether it failed
    CERTIFIED                                 whether its solutions obey Coulomb's law exactly
    look(own, t, d, s, g, h)                  optional: before group g is solved; what the law wants
                                              to know of its points, into its scratch
    tie(s, count)                             optional: points whose bodies belong to one group
                                              without touching, into s.groups.tied
    velocities(p, l, u, s)                    optional: velocities u of impulses l, where they are
                                              not those of rigid bodies
    CONTACTS                                  optional: the kind of rows that finds and fills
                                              contacts, in place of ``rows.contacts``
    FORCES, ROWS, BONDS                       optional: parts that come with it, and whether it
                                              solves rows of bonds although it is not certified:
                                              very many are left to it, not eliminated
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.contact import bodies
from tabi.jit import kernel
from tabi.model.compiled import Model
from tabi.step.tables import NO_MEMORY

FORCE = ("load", "judge", "finish")
ROWS = ("withhold", "add", "fill", "warm_start", "revise")
LAW = ("allocate", "prepare", "solve", "CERTIFIED")


def name_of(part: Any) -> str:
    """The name of a part: its NAME, or that of its module."""
    return getattr(part, "NAME", getattr(part, "__name__", type(part).__name__)).rpartition(".")[2]


def check(forces: tuple[Any, ...], rows: tuple[Any, ...], law: Any) -> None:
    """Refuse a part that lacks something, or two of one name."""
    for what, parts, needed in (
        ("force", forces, FORCE),
        ("kind of rows", rows, ROWS),
        ("law of contact", (law,), LAW),
    ):
        seen: set[str] = set()
        for part in parts:
            name = name_of(part)
            missing = [item for item in needed if not hasattr(part, item)]
            if missing:
                raise ModelError(
                    f"{what} {name!r} has no {', '.join(map(repr, missing))}; "
                    f"expected {', '.join(map(repr, needed))}"
                )
            if name in seen:
                raise ModelError(
                    f"{what} {name!r} is there twice; give one of them another NAME, "
                    "or leave it out"
                )
            seen.add(name)


class Kernels(NamedTuple):
    """Kernels of all parts, in their order."""

    load: tuple[Any, ...]
    judge: tuple[Any, ...]
    finish: tuple[Any, ...]
    withhold: tuple[Any, ...]
    add: tuple[Any, ...]
    fill: tuple[Any, ...]
    warm_start: tuple[Any, ...]
    revise: tuple[Any, ...]
    look: Any
    tie: Any
    velocities: Any
    prepare: Any
    solve: Any
    certified: bool


def kernels(forces: tuple[Any, ...], rows: tuple[Any, ...], law: Any) -> Kernels:
    """What a step is compiled from."""
    of_forces = (tuple(getattr(force, name) for force in forces) for name in FORCE)
    of_rows = (tuple(getattr(kind, name) for kind in rows) for name in ROWS)
    look = getattr(law, "look", no_look)
    tie = getattr(law, "tie", no_tie)
    velocities = getattr(law, "velocities", rigid_velocities)
    of_law = (look, tie, velocities, law.prepare, law.solve, bool(law.CERTIFIED))
    return Kernels._make((*of_forces, *of_rows, *of_law))


def memory(parts: tuple[Any, ...], model: Model) -> tuple[NDArray[Any], ...]:
    """What each part remembers itself, as it begins."""
    return tuple(p.memory(model) if hasattr(p, "memory") else NO_MEMORY for p in parts)


# ---- for parts that have nothing to do there ----------------------------------------------------


@kernel(inline=True)
def right(own, t, d, s, h, tolerance, guess):
    """``judge`` of a force that guesses nothing."""
    return 0, 0.0


@kernel(inline=True)
def nothing(own, t, d, s, h):
    """``load`` or ``finish`` of a force without one."""


@kernel(inline=True)
def no_look(own, t, d, s, g, h):
    """``look`` of a law that needs the problem alone."""


@kernel(inline=True)
def no_tie(s, count):
    """``tie`` of a law under which only touching joins."""
    for e in range(count):
        s.groups.tied[e] = 0


@kernel(inline=True)
def rigid_velocities(p, l, u, s):
    """``velocities`` of a law between rigid bodies."""
    bodies.velocities(p, l, u, s.check_wrench, s.check_twist)


@kernel(inline=True)
def keep_all(own, t, d, count, s):
    """``withhold`` of rows that leave contacts alone."""
    return count


@kernel(inline=True)
def unchanged(own, t, d, s, group, tolerance, turn):
    """``revise`` of rows whose coefficients stay."""
    return 0, 0.0


@kernel(inline=True)
def worse(a, b):
    """The larger of two errors; a NaN wins, and stays."""
    return a if b <= a or a != a else b


# ---- one kernel from those of several parts -----------------------------------------------------
# ``at`` is the place of the first part's own memory


def in_turn(kernels, at):
    """All of them, one after the other."""
    first, last = kernels[0], len(kernels) == 1
    rest = first if last else in_turn(kernels[1:], at + 1)

    @kernel(inline=True)
    def run(t, d, *others):
        first(d.memory.own[at], t, d, *others)
        if not last:
            rest(t, d, *others)

    return run


def judged(kernels, at):
    """All of them: the sum of what they count, and the largest of their errors."""
    if not kernels:
        return _all_right
    first, rest = kernels[0], judged(kernels[1:], at + 1)

    @kernel(inline=True)
    def judge(t, d, *others):
        wrong, error = first(d.memory.own[at], t, d, *others)
        more, worst = rest(t, d, *others)
        return wrong + more, worse(error, worst)

    return judge


@kernel(inline=True)
def _all_right(t, d, *others):
    """Nothing is left to be judged."""
    return 0, 0.0


def counted(kernels, at, number=0):
    """All of them, each handed the count that the last one returned; new points are of its kind."""
    if not kernels:
        return _same_count
    first, rest = kernels[0], counted(kernels[1:], at + 1, number + 1)

    @kernel(inline=True)
    def count_on(t, d, count, s, *others):
        total = first(d.memory.own[at], t, d, count, s, *others)
        for e in range(count, min(total, s.kind.shape[0])):
            s.kind[e] = number
        # where they do not fit, more need not be looked for
        if total > s.kind.shape[0]:
            return total
        return rest(t, d, total, s, *others)

    return count_on


@kernel(inline=True)
def _same_count(t, d, count, s, *others):
    """No kind is left."""
    return count


def chosen(kernels, at, number=0):
    """The one whose kind the point e is of."""
    first = kernels[0]

    @kernel(inline=True)
    def only(t, d, e, s, *others):
        first(d.memory.own[at], t, d, e, s, *others)

    if len(kernels) == 1:
        return only
    rest = chosen(kernels[1:], at + 1, number + 1)

    @kernel(inline=True)
    def either(t, d, e, s, *others):
        if s.kind[e] == number:
            first(d.memory.own[at], t, d, e, s, *others)
        else:
            rest(t, d, e, s, *others)

    return either


class Assembled(NamedTuple):
    """Kernels of a step, each made of those of all its parts.

    Attributes:
        load, judge, finish: of all forces. find_contacts: adds contact points; add_others: those of
            other kinds behind them; add_joints: those of joints, the last kind.
        withhold, revise, fill, warm_start: of all kinds of rows.
        look, tie, velocities, prepare, solve, certified: of the law.
    """

    load: Any
    judge: Any
    finish: Any
    find_contacts: Any
    add_others: Any
    add_joints: Any
    withhold: Any
    revise: Any
    fill: Any
    warm_start: Any
    look: Any
    tie: Any
    velocities: Any
    prepare: Any
    solve: Any
    certified: bool


def assembled(k: Kernels) -> Assembled:
    """The kernels of a step from those of its parts."""
    # parts remember in the order of ``Step.parts``: forces, kinds of rows, the law
    rows_at, last = len(k.load), len(k.add) - 1
    law_at = rows_at + len(k.add)
    return Assembled(
        load=in_turn(k.load, 0),
        judge=judged(k.judge, 0),
        finish=in_turn(k.finish, 0),
        find_contacts=counted(k.add[:1], rows_at),
        add_others=counted(k.add[1:last], rows_at + 1, 1),
        add_joints=counted(k.add[last:], rows_at + last, last),
        withhold=counted(k.withhold, rows_at),
        revise=judged(k.revise, rows_at),
        fill=chosen(k.fill, rows_at),
        warm_start=chosen(k.warm_start, rows_at),
        look=in_turn((k.look,), law_at),
        tie=k.tie,
        velocities=k.velocities,
        prepare=k.prepare,
        solve=k.solve,
        certified=k.certified,
    )
