"""Contact problems through every solver: tabi's and Siconos's, each judged by tabi's certificate.

All start from zero impulses on one core and have to reach the same tolerance. Times are those of
the solver alone, called from Python, the least of up to 20 runs: tabi's with kernels compiled
before, Siconos's of its driver with the tolerance that the certificate accepts. Where a problem has
bodies, tabi's default is given them, as a user would; the matrix that Siconos is given goes through
tabi's default as well.
"""

from __future__ import annotations

import contextlib
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from tabi._errors import ModelError
from tabi.apps.showing import Tolerance, machine
from tabi.contact import SOLVERS, BodyProblem, Problem, solve_bodies, solve_problem
from tabi.jit import decorator
from tabi.lab import siconos
from tabi.lab.bench.solvers import profile
from tabi.lab.study import Benchmark, BenchPart, Column, Option, constant_settings, table

DEFAULT, MATRIX = "tabi auto", "tabi auto, matrix"
# columns of the long lists for a terminal
WIDTH = 150
FASTER = "the faster of Siconos's"
# as siconos_worker: so many runs, or until they have taken so long [s]
REPETITIONS, MAX_TIMING_S = 20, 0.1


@dataclass(frozen=True)
class Entry:
    """A problem of a race: its name, the group it is summed up in, the problem;
    and the form a user would give, where that is another one.
    """

    name: str
    kind: str
    problem: Problem
    best: BodyProblem | Problem | None = None


def methods(wanted: bool | None, dense: bool = False) -> tuple[str, ...]:
    """Siconos's methods in the race; it may be missing, unless it was asked for."""
    if wanted is False:
        return ()
    if not siconos.available():
        if wanted:
            raise ModelError(siconos.MISSING)
        print(f"without a comparison: {siconos.MISSING}", file=sys.stderr, flush=True)
        return ()
    return ("NSGS", "NSN_AC", "NSN_AC dense") if dense else ("NSGS", "NSN_AC")


class Race(Benchmark, abstract=True):
    """Every entry by every solver, one after the other."""

    figure: Annotated[
        Path | None, Option(help="Draw the performance profile: a .png, .pdf or .svg file.")
    ] = None
    siconos: Annotated[
        bool | None,
        Option(
            "--siconos/--no-siconos", help="Compare with Siconos; by default where it is installed."
        ),
    ] = None
    dense: Annotated[
        bool,
        Option(
            "--dense",
            help="Let Siconos's Newton also run on dense matrices, its faster form for few "
            "contacts.",
        ),
    ] = False
    tolerance: Tolerance = 1e-8

    unit = "problems"
    constants = constant_settings(
        start="zero impulses", times="the solver alone, least of up to 20 runs"
    )
    # in the title of the figure
    what = "problems"

    def entries(self) -> Iterable[Entry]:
        """Return the problems of the benchmark, the smallest first."""
        raise NotImplementedError

    def parts(self) -> Iterator[BenchPart]:
        """Yield the parts of the benchmark in order."""
        rivals, entries = methods(self.siconos, self.dense), self.entries()
        # most is compiled here, on the smallest problem
        for solver in SOLVERS:
            small = Problem(np.eye(3), [0.0, 0.0, -1.0], 0.5, order="ttn")
            solve_problem(small, self.tolerance, solver=solver)
        with siconos.Session() if rivals else contextlib.nullcontext() as session:
            for entry in entries:
                arguments = entry, self.tolerance, session, rivals
                yield BenchPart("problem", "", solved, arguments)

    def figures(self, rows: Sequence[Any]) -> dict[str, Any]:
        """All rows, sums of them and their profile."""
        problems = [row for key, row in rows if key == "problem"]
        result = super().figures([row for row in rows if row[0] != "problem"])
        has_rivals = any(name.startswith("Siconos") for row in problems for name in row["solvers"])
        versions = machine(*self.packages)["versions"]
        return result | {
            "versions": versions | {"siconos": siconos.version() if has_rivals else None},
            "problems": problems,
            "summary": summary(problems),
            "profile": profile.data(contenders(problems)),
        }

    def draw(self, result: Mapping[str, Any], path: Path) -> None:
        """The profile, where there is any."""
        if result["problems"]:
            profile.draw(path, contenders(result["problems"]), title(result, self.what))

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Yield a table of all rows, sums, and which solver is faster."""
        sums, rows, versions = result["summary"], result["problems"], result["versions"]
        engine = f"Siconos {versions['siconos']}" if versions["siconos"] else "without Siconos"
        yield f"{result['hardware']['processor']}, one core; tabi {versions['tabi']}, {engine}"
        yield ""
        if not rows:
            yield "no problem was finished"
            return
        names = list(rows[0]["solvers"])
        yield (
            "time, iterations and error (relative to ‖q‖∞, by the certificate); "
            "last, the attempt of tabi auto that solved it"
        )
        yield from table(_row_columns(names), rows, "")
        yield ""
        yield f"problems: {sums['problems']}, solved to {result['settings']['tolerance']:g}:"
        yield from (f"  {name:<30} {count:>5}" for name, count in sums["solved"].items())
        if len(sums["kinds"]) > 1:
            yield ""
            yield "solved, and the median time of the solved, by kind"
            kinds = [{"kind": kind} | row for kind, row in sums["kinds"].items()]
            yield from table(_kind_columns(names), kinds, "")
            yield ""
        yield from _duels(DEFAULT, sums["against"])
        yield from _duels(MATRIX, sums["matrix_against"])
        if sums["not_solved"]:
            yield f"not solved by {DEFAULT}: {', '.join(sums['not_solved'])}"


def solved(
    entry: Entry, tolerance: float, session: siconos.Session | None, rivals: tuple[str, ...]
) -> dict[str, Any]:
    """Solve an entry by every solver and return a row; the error stream is collected."""
    row = {
        "name": entry.name,
        "kind": entry.kind,
        "contacts": entry.problem.contact_count,
        "solvers": by_all(entry, tolerance, session, rivals),
    }
    print(_line(row), file=sys.stderr, flush=True)
    return row


def by_all(
    entry: Entry, tolerance: float, session: siconos.Session | None, rivals: tuple[str, ...]
) -> dict[str, dict[str, Any]]:
    """One entry by every solver."""
    result = {f"tabi {solver}": ours(entry.problem, solver, tolerance) for solver in SOLVERS}
    if entry.best is not None:
        # the matrix alone stays in the table
        result = {DEFAULT: ours(entry.best, "auto", tolerance)} | {
            MATRIX if k == DEFAULT else k: f for k, f in result.items()
        }
    if session is not None:
        result |= {
            f"Siconos {method}": theirs(session, entry.problem, method, tolerance)
            for method in rivals
        }
    return result


def ours(problem: Problem | BodyProblem, solver: str, tolerance: float) -> dict[str, Any]:
    """One of tabi's solvers on one problem."""
    times: list[float] = []
    while True:
        compiling = decorator.first_run.seconds
        bodies = isinstance(problem, BodyProblem)
        solution = (
            solve_bodies(problem, tolerance, solver=solver)
            if bodies
            else solve_problem(problem, tolerance, solver=solver)
        )
        # a run that had to compile something says nothing
        if decorator.first_run.seconds == compiling:
            times.append(solution.seconds)
            if len(times) == REPETITIONS or sum(times) > MAX_TIMING_S:
                break
    return _figures(
        solution.converged, min(times), solution.iterations, solution.residual, by=solution.solver
    )


def theirs(
    session: siconos.Session, problem: Problem, method: str, tolerance: float
) -> dict[str, Any]:
    """One of Siconos's methods on one problem."""
    answer = session.solve(problem, method, tolerance)
    extra: dict[str, Any] = (
        {"own_tolerance": answer.own_tolerance} if isfinite(answer.own_tolerance) else {}
    )
    if answer.fault:
        extra["fault"] = answer.fault
    return _figures(answer.converged, answer.seconds, answer.iterations, answer.residual, **extra)


def _figures(
    converged: bool, seconds: float, iterations: int, residual: float, **extra: Any
) -> dict[str, Any]:
    """A row's figures; JSON knows neither inf nor NaN."""
    rounded = {
        "seconds": float(f"{seconds:.4g}") if isfinite(seconds) else None,
        "residual": float(f"{residual:.3g}") if isfinite(residual) else None,
    }
    return {"converged": converged, "iterations": iterations, **rounded, **extra}


def seconds_of(row: dict[str, Any], solver: str) -> float:
    """Time of a solver on a problem [s], infinite where it is not solved."""
    result = row["solvers"][solver]
    return result["seconds"] if result["converged"] else inf


def contenders(rows: list[dict[str, Any]]) -> dict[str, list[float]]:
    """Times of those the profile compares: tabi's default, and Siconos."""
    names = [
        name
        for name in (rows[0]["solvers"] if rows else ())
        if name in (DEFAULT, MATRIX) or name.startswith("Siconos")
    ]
    return {name: [seconds_of(row, name) for row in rows] for name in names}


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Solved counts; the same with times by kind; what tabi's default does not solve;
    and it against each method of Siconos and the faster one.
    """
    names = list(rows[0]["solvers"]) if rows else []
    theirs = tuple(name for name in names if name.startswith("Siconos"))
    duels = {name: (name,) for name in theirs} | ({FASTER: theirs} if len(theirs) > 1 else {})
    return {
        "problems": len(rows),
        "solved": {name: sum(row["solvers"][name]["converged"] for row in rows) for name in names},
        "kinds": {
            kind: _kind([row for row in rows if row["kind"] == kind])
            for kind in dict.fromkeys(row["kind"] for row in rows)
        },
        "not_solved": [row["name"] for row in rows if not row["solvers"][DEFAULT]["converged"]],
        "against": {name: duel(rows, DEFAULT, rivals) for name, rivals in duels.items()},
        "matrix_against": {name: duel(rows, MATRIX, rivals) for name, rivals in duels.items()}
        if MATRIX in names
        else {},
    }


def _kind(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Problems of one kind: their number and sizes, and for each solver how many it solves and the
    median time of those.
    """
    sizes, names = [row["contacts"] for row in rows], list(rows[0]["solvers"])
    times = {
        name: [t for t in (seconds_of(row, name) for row in rows) if isfinite(t)] for name in names
    }
    return {
        "problems": len(rows),
        "contacts": [min(sizes), max(sizes)],
        "solved": {name: len(t) for name, t in times.items()},
        "median_seconds": {
            name: float(f"{np.median(t):.4g}") if t else None for name, t in times.items()
        },
    }


def duel(rows: list[dict[str, Any]], ours: str, rivals: tuple[str, ...]) -> dict[str, Any]:
    """A solver against another, or the fastest of some on each problem,
    over the problems that at least one side solves.
    """
    theirs = [min(seconds_of(row, name) for name in rivals) for row in rows]
    times = {
        row["name"]: (seconds_of(row, ours), other) for row, other in zip(rows, theirs, strict=True)
    }
    times = {name: pair for name, pair in times.items() if isfinite(min(pair))}
    both = [b / a for a, b in times.values() if isfinite(a) and isfinite(b)]
    # to lose is to be slower, or not to solve what the other does
    lost = {
        name: (float(f"{a / b:.3g}") if isfinite(a) else None)
        for name, (a, b) in times.items()
        if not a < b
    }
    result = profile.ratios(contenders(rows) | {FASTER: theirs})
    return {
        "problems": len(times),
        "faster": len(times) - len(lost),
        "median_speedup": float(f"{np.median(both):.3g}") if both else None,
        "profile_above_everywhere": profile.above(result[ours], result[FASTER]),
        "slower_by": lost,
    }


def title(result: Mapping[str, Any], what: str) -> str:
    """Title of the figure."""
    tolerance = f"{result['settings']['tolerance']:g}".replace("e-0", "e-")
    return (
        f"{result['summary']['problems']} {what}, each solved to {tolerance} of ‖q‖∞, on one core"
    )


def _head(name: str) -> str:
    return name.replace("accelerated gauss-seidel", "accelerated")


def _row_columns(names: list[str]) -> Iterator[Column]:
    yield Column("", "name")
    yield Column("contacts", "contacts", "d")
    for name in names:
        yield Column(_head(name), lambda row, name=name: cell(row["solvers"][name]))
    yield Column("", lambda row: row["solvers"][DEFAULT]["by"])


def _kind_columns(names: list[str]) -> Iterator[Column]:
    yield Column("", "kind")
    yield Column("problems", "problems", "d")
    yield Column("contacts", lambda row: "–".join(map(str, dict.fromkeys(row["contacts"]))))
    for name in names:
        yield Column(_head(name), lambda row, name=name: str(row["solved"][name]))
        yield Column("", lambda row, name=name: _median(row["median_seconds"][name]))


def _median(seconds: float | None) -> str:
    return "—" if seconds is None else duration(seconds)


def cell(figures: dict[str, Any]) -> str:
    """Time, iterations and certificate."""
    error = "—" if figures["residual"] is None else f"{figures['residual']:.0e}"
    if not figures["converged"]:
        return f"{figures.get('fault') or 'not solved'} {error}"
    return f"{duration(figures['seconds'])} {figures['iterations']:>5} {error:>6}"


def duration(seconds: float) -> str:
    """In the unit that suits it."""
    scale, unit = (1e6, "µs") if seconds < 1e-3 else (1e3, "ms") if seconds < 1.0 else (1.0, "s")
    return f"{seconds * scale:.1f} {unit}"


def _line(row: dict[str, Any]) -> str:
    """Progress: one problem, the default and Siconos."""
    shown = {
        name: f
        for name, f in row["solvers"].items()
        if name == DEFAULT or name.startswith("Siconos")
    }
    times = "; ".join(
        f"{name} {duration(f['seconds']) if f['converged'] else 'not solved'}"
        for name, f in shown.items()
    )
    return f"{row['name']} ({row['contacts']}): {times}"


def _duels(ours: str, against: dict[str, Any]) -> Iterator[str]:
    for name, d in against.items():
        where = "above everywhere" if d["profile_above_everywhere"] else "not above everywhere"
        speedup = (
            "" if d["median_speedup"] is None else f", {d['median_speedup']:g} × in the median"
        )
        yield (
            f"{ours} is faster than {name} in {d['faster']} of {d['problems']}{speedup}; "
            f"its profile is {where}"
        )
        lost = [
            f"{problem} ({'not solved' if factor is None else f'{factor:g} ×'})"
            for problem, factor in d["slower_by"].items()
        ]
        if lost:
            yield textwrap.fill(
                "slower in " + ", ".join(lost),
                WIDTH,
                initial_indent="  ",
                subsequent_indent="  ",
                break_on_hyphens=False,
            )
