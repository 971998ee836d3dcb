"""The parts that a step is built from: forces, kinds of rows, and a law of contact.

A part is a module, or any object, with kernels of these names. ``part_memory`` is the array that
the part keeps between steps (made by its plain function ``memory(model)``, if it has one); t, d, s:
``Tables``, ``StepData`` and ``StepWorkspace``; h: the step [s].

A **force** adds to the joint forces:

    load(part_memory, t, d, s, h)             adds to s.applied and s.added
    judge(part_memory, t, d, s, h, tolerance, guess)   after contacts: returns the number of wrong
                                              guesses and the largest error [m/s or rad/s]
    finish(part_memory, t, d, s, h)           once, when the velocities of the end are known

A **kind of rows** adds points, and makes three rows of the problem from each:

    withhold(part_memory, t, d, count, s)     removes contact points; returns how many stay
    add(part_memory, t, d, count, s, h)       adds points behind ``count``; returns the new count,
                                              also if it exceeds the memory
    fill(part_memory, t, d, e, s, x, group, h)   the row x of the problem from the point e
    warm_start(part_memory, t, d, e, s, x, previous)   initial impulses from the row ``previous`` of
                                              d.memory.contact, −1 for new points
    revise(part_memory, t, d, s, group, tolerance, turn)   after a group was solved: changes its
                                              coefficients; returns how many, and their error [m/s]

A **law** solves a group of contacts:

    allocate(points, bodies, blocks)          plain function: its scratch, s.law; if that has a
                                              ``budget``, it is the one of the step
    prepare(p, work)                          returns how many blocks it needs
    solve(p, t, tolerance, impulse, work)     returns iterations, attempt, and whether it failed
    CERTIFIED                                 whether its solutions obey Coulomb's law exactly
    look(part_memory, t, d, s, g, h)          optional: before group g is solved, stores data of its
                                              points in the scratch of the law
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
from tabi._renamed import renamed_in_module
from tabi.contact import bodies
from tabi.jit import kernel
from tabi.model.compiled import Model
from tabi.step.tables import NO_MEMORY

__getattr__ = renamed_in_module(
    __name__,
    {
        "keep_all": f"{__name__}.withhold_none",
        "nothing": f"{__name__}.no_action",
        "right": f"{__name__}.no_judge",
        "unchanged": f"{__name__}.no_revision",
    },
)

FORCE = ("load", "judge", "finish")
ROWS = ("withhold", "add", "fill", "warm_start", "revise")
LAW = ("allocate", "prepare", "solve", "CERTIFIED")


def name_of(part: Any) -> str:
    """The name of a part: its NAME, or that of its module."""
    return getattr(part, "NAME", getattr(part, "__name__", type(part).__name__)).rpartition(".")[2]


def check(forces: tuple[Any, ...], rows: tuple[Any, ...], law: Any) -> None:
    """Reject a part with a missing attribute, and two parts of one name."""
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
    """Kernels of all parts, in the order of the parts."""

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
    """Return the kernels of the parts of a step."""
    of_forces = (tuple(getattr(force, name) for force in forces) for name in FORCE)
    of_rows = (tuple(getattr(kind, name) for kind in rows) for name in ROWS)
    look = getattr(law, "look", no_look)
    tie = getattr(law, "tie", no_tie)
    velocities = getattr(law, "velocities", rigid_velocities)
    of_law = (look, tie, velocities, law.prepare, law.solve, bool(law.CERTIFIED))
    return Kernels._make((*of_forces, *of_rows, *of_law))


def memory(parts: tuple[Any, ...], model: Model) -> tuple[NDArray[Any], ...]:
    """Return the initial memory of each part."""
    return tuple(p.memory(model) if hasattr(p, "memory") else NO_MEMORY for p in parts)


# ---- defaults for parts -------------------------------------------------------------------------


@kernel(inline=True)
def no_judge(part_memory, t, d, s, h, tolerance, guess):
    """``judge`` of a force that guesses nothing."""
    return 0, 0.0


@kernel(inline=True)
def no_action(part_memory, t, d, s, h):
    """Do nothing: ``load`` or ``finish`` of a force without one."""


@kernel(inline=True)
def no_look(part_memory, t, d, s, g, h):
    """Do nothing: ``look`` of a law that reads the problem only."""


@kernel(inline=True)
def no_tie(s, count):
    """Tie nothing: ``tie`` of a law whose groups are of touching bodies only."""
    for e in range(count):
        s.groups.tied[e] = 0


@kernel(inline=True)
def rigid_velocities(p, l, u, s):
    """``velocities`` of a law between rigid bodies."""
    bodies.velocities(p, l, u, s.check_wrench, s.check_twist)


@kernel(inline=True)
def withhold_none(part_memory, t, d, count, s):
    """Keep all contacts: ``withhold`` of rows that remove none."""
    return count


@kernel(inline=True)
def no_revision(part_memory, t, d, s, group, tolerance, turn):
    """Change nothing: ``revise`` of rows with constant coefficients."""
    return 0, 0.0


@kernel(inline=True)
def worse(a, b):
    """Return the larger of two errors, NaN if one of them is NaN."""
    return a if b <= a or a != a else b


# ---- one kernel from those of several parts -----------------------------------------------------
# ``at`` is the index of the first part in ``Memory.parts``


def run_all(kernels, at):
    """Return a kernel that runs all kernels one after the other."""
    first, last = kernels[0], len(kernels) == 1
    rest = first if last else run_all(kernels[1:], at + 1)

    @kernel(inline=True)
    def run(t, d, *args):
        first(d.memory.parts[at], t, d, *args)
        if not last:
            rest(t, d, *args)

    return run


def judge_all(kernels, at):
    """Return a kernel that adds up the counts of all kernels, with their largest error."""
    if not kernels:
        return _nothing_left
    first, rest = kernels[0], judge_all(kernels[1:], at + 1)

    @kernel(inline=True)
    def judge(t, d, *args):
        wrong, error = first(d.memory.parts[at], t, d, *args)
        rest_wrong, worst = rest(t, d, *args)
        return wrong + rest_wrong, worse(error, worst)

    return judge


@kernel(inline=True)
def _nothing_left(t, d, *args):
    """Return no wrong guess and no error."""
    return 0, 0.0


def add_all(kernels, at, number=0):
    """Return a kernel that passes the count from kernel to kernel; new points get its kind."""
    if not kernels:
        return _unchanged_count
    first, rest = kernels[0], add_all(kernels[1:], at + 1, number + 1)

    @kernel(inline=True)
    def count_on(t, d, count, s, *args):
        total = first(d.memory.parts[at], t, d, count, s, *args)
        for e in range(count, min(total, s.kind.shape[0])):
            s.kind[e] = number
        # no further points where memory is exceeded
        if total > s.kind.shape[0]:
            return total
        return rest(t, d, total, s, *args)

    return count_on


@kernel(inline=True)
def _unchanged_count(t, d, count, s, *args):
    """Return the count as it is, behind the last kind."""
    return count


def dispatch_by_kind(kernels, at, number=0):
    """Return a kernel that calls the one for the kind of the point e."""
    first = kernels[0]

    @kernel(inline=True)
    def only(t, d, e, s, *args):
        first(d.memory.parts[at], t, d, e, s, *args)

    if len(kernels) == 1:
        return only
    rest = dispatch_by_kind(kernels[1:], at + 1, number + 1)

    @kernel(inline=True)
    def either(t, d, e, s, *args):
        if s.kind[e] == number:
            first(d.memory.parts[at], t, d, e, s, *args)
        else:
            rest(t, d, e, s, *args)

    return either


class Assembled(NamedTuple):
    """Kernels of a step, each combined from those of all its parts.

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


def assemble_kernels(k: Kernels) -> Assembled:
    """Return the kernels of a step, combined from those of its parts."""
    # memories are in the order of ``Step.parts``: forces, kinds of rows, the law
    rows_at, last = len(k.load), len(k.add) - 1
    law_at = rows_at + len(k.add)
    return Assembled(
        load=run_all(k.load, 0),
        judge=judge_all(k.judge, 0),
        finish=run_all(k.finish, 0),
        find_contacts=add_all(k.add[:1], rows_at),
        add_others=add_all(k.add[1:last], rows_at + 1, 1),
        add_joints=add_all(k.add[last:], rows_at + last, last),
        withhold=add_all(k.withhold, rows_at),
        revise=judge_all(k.revise, rows_at),
        fill=dispatch_by_kind(k.fill, rows_at),
        warm_start=dispatch_by_kind(k.warm_start, rows_at),
        look=run_all((k.look,), law_at),
        tie=k.tie,
        velocities=k.velocities,
        prepare=k.prepare,
        solve=k.solve,
        certified=k.certified,
    )
