"""Studies: validators and benchmarks as classes, from which commands of the terminal are made.

A study measures a list of cases, computes figures from the results, and checks the figures against
criteria. It is a class in a file of its own, anywhere in this package:

    class Drops(Validator, name="drops"):
        '''Drop boxes: does any bounce?'''

        boxes: Annotated[int, Option(min=1, help="How many.")] = 100

        unit = "boxes"
        criteria = (Criterion("bounced", "no box bounces", at_most=0),)

        def cases(self): return range(self.boxes)
        def measure(self, case): return drop(case)
        def figures(self, rows): return {"boxes": len(rows), "bounced": sum(rows)}
        def lines(self, result): yield f"{result['bounced']} of {result['boxes']} bounced"

This class alone makes the command ``tabi validate drops --boxes 5 --json``. Its docstring is the
help of the command. Fields annotated with ``Option`` or ``Argument`` are its options; fields
without such an annotation can be set from Python only.

``run`` is the same for all studies. It reports progress, keeps the finished cases at Ctrl-C, runs
cases in parallel processes if the study has a field ``jobs``, and checks the criteria. A study that
lacks a part, or has the name of another one, is rejected when its file is imported.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, cast, dataclass_transform

from typer import Argument, Option

from tabi._errors import ModelError
from tabi._renamed import renamed_in_module
from tabi.apps.showing import machine
from tabi.lab.columns import Column, table
from tabi.lab.criterion import Criterion
from tabi.reporting.terminal import interrupt
from tabi.runs import executor, pool

# what the file of a study needs
__all__ = [
    "Argument",
    "BenchPart",
    "Benchmark",
    "Column",
    "Criterion",
    "Option",
    "Study",
    "Validator",
    "constant_settings",
    "head",
    "progress",
    "reported",
    "table",
    "within",
]
__getattr__ = renamed_in_module(__name__, {"told": "tabi.lab.study.constant_settings"})
Report = Callable[[str, int, int], None]
# step [s] and tolerance [m/s] of most studies
DEFAULTS = {"dt": 1e-3, "tolerance": 1e-8}
_report: ContextVar[Report] = ContextVar("report", default=lambda what, done, count: None)


def progress(what: str, done: int = 0, count: int = 0) -> None:
    """Report progress: what is running, and how many parts of how many are done."""
    _report.get()(what, done, count)


@contextmanager
def reported(report: Report) -> Iterator[None]:
    """Send ``progress`` to a callback inside of the context."""
    before = _report.set(report)
    try:
        yield
    finally:
        _report.reset(before)


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Study:
    """Base of validators and benchmarks; the docstring of this module has an example.

    Attributes:
        group, name: the command is ``tabi group name``.
        unit: plural noun for the cases. Cases in a list are counted as they are done; a generator
            of cases calls ``progress`` itself.
        packages: packages whose versions are in the result, beside tabi's.
        constants: settings in the result that are not fields.
        criteria: limits of the figures.
        needed: names of what a study must define.
    """

    group: ClassVar[str] = ""
    name: ClassVar[str] = ""
    unit: ClassVar[str] = "cases"
    packages: ClassVar[tuple[str, ...]] = ("numba",)
    constants: ClassVar[Mapping[str, Any]] = {}
    criteria: ClassVar[tuple[Criterion, ...]] = ()
    needed: ClassVar[tuple[str, ...]] = ("cases", "measure", "figures", "lines")

    def __init_subclass__(cls, name: str = "", abstract: bool = False) -> None:
        if abstract:
            # a base of several studies, without a command
            dataclass(frozen=True, kw_only=True)(cls)
        if not name:
            return
        words = f"study {cls.__name__} in {cls.__module__}"
        base = next(parent for parent in cls.__mro__ if parent.__module__ == __name__)
        if not (cls.__dict__.get("__doc__") or "").strip():
            raise ModelError(f"{words} has no summary; expected a docstring, its command's help")
        for part in cls.needed:
            if getattr(cls, part) == getattr(base, part, None):
                raise ModelError(f"{words} has no {part}; expected it, see tabi.lab.study")
        for field in cls.__annotations__:
            if callable(getattr(Study, field, None)):
                raise ModelError(f"{words} has a setting {field!r}, which is a method; rename it")
        cls.name = name
        dataclass(frozen=True, kw_only=True)(cls)

    # ---- defined by each study -----------------------------------------------------------------

    def cases(self) -> Iterable[Any]:
        """Return the cases, each an argument of ``measure``."""
        raise NotImplementedError

    def measure(self, case: Any) -> Any:
        """Measure one case and return its row."""
        raise NotImplementedError

    def figures(self, rows: Sequence[Any]) -> dict[str, Any]:
        """Return the figures as plain data, from the rows of all finished cases."""
        raise NotImplementedError

    def store(self, case: Any, row: Any) -> None:
        """Handle a row as soon as its case is finished; called in the process of ``run``."""

    def end(self, result: Mapping[str, Any]) -> None:
        """Handle the result at the end of a run, an interrupted one too."""

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Yield the result as lines for a terminal. Figures may be absent after an interrupt: the
        text ends at the first ``KeyError``.
        """
        raise NotImplementedError

    def draw(self, result: Mapping[str, Any], path: Path) -> None:
        """Draw the result to a file, for a study with a field ``figure``."""
        raise NotImplementedError

    # ---- the same for all studies --------------------------------------------------------------

    def run(self) -> dict[str, Any]:
        """Measure all cases and return the result; Ctrl-C keeps the finished cases.

        Returns:
            plain data: the machine, versions, settings, the figures, each criterion with its
            number, and whether all of them are met.
        """
        rows: list[tuple[int, Any]] = []
        lost: list[str] = []
        interrupted = False
        try:
            for place, case, row in self._measure_all(lost):
                rows.append((place, row))
                self.store(case, row)
        except KeyboardInterrupt:
            interrupted = True
        rows.sort(key=lambda row: row[0])
        result = self.result([row for _, row in rows], interrupted, lost)
        self.end(result)
        return result

    def result(
        self, rows: Sequence[Any], interrupted: bool = False, lost: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Return the result of a run from its rows.

        Args:
            interrupted: whether cases are left out. lost: a message for each case whose process
                ended before its row was there.
        """
        result = machine(*self.packages) | {"settings": self.settings()} | self.figures(rows)
        result["interrupted"] = interrupted
        if lost:
            result["lost"] = list(lost)
        if self.criteria:
            result["criteria"] = [criterion.to_dict(result) for criterion in self.criteria]
            met = all(criterion["met"] for criterion in result["criteria"])
            result["within"] = met and not interrupted and not lost
        return result

    def text(self, result: Mapping[str, Any]) -> str:
        """Return the result as text for a terminal, with the criteria that are not met."""
        lines: list[str] = []
        try:
            for line in self.lines(result):
                lines.append(line)
        except KeyError:
            if not result.get("interrupted"):
                raise
        for criterion in result.get("criteria", ()):
            if not criterion["met"]:
                limits = {"at least": criterion["at_least"], "at most": criterion["at_most"]}
                expected = ", ".join(f"{side} {x:g}" for side, x in limits.items() if x is not None)
                value = "not finite" if criterion["value"] is None else f"{criterion['value']:.4g}"
                lines.append(f"NOT within: {criterion['words']}: {value}, expected {expected}")
        lines += [f"lost: {words}" for words in result.get("lost", ())]
        if result.get("interrupted"):
            lines.append(f"interrupted: these are the {self.unit} done before")
        return "\n".join(lines)

    def settings(self) -> dict[str, Any]:
        """Return the settings of the study as plain data."""
        options = fields(cast(Any, self))
        return {option.name: plain(getattr(self, option.name)) for option in options} | dict(
            self.constants
        )

    def _measure_all(self, lost: list[str]) -> Iterator[tuple[int, Any, Any]]:
        """Yield index, case and row of each case, in the order in which cases finish."""
        cases = self.cases()
        count = len(cases) if isinstance(cases, Sized) else 0
        jobs = getattr(self, "jobs", 1) or executor.cores()
        done = self._in_processes(list(cases), jobs, lost) if jobs > 1 else self._one_by_one(cases)
        if count:
            progress(self.unit, 0, count)
        for number, row in enumerate(done, 1):
            yield row
            if count:
                progress(self.unit, number, count)

    def _one_by_one(self, cases: Iterable[Any]) -> Iterator[tuple[int, Any, Any]]:
        # closed at once: what a generator keeps open is not left to the garbage collector
        with (
            contextlib.closing(cases) if isinstance(cases, Generator) else contextlib.nullcontext()
        ):
            for place, case in enumerate(cases):
                yield place, case, self.measure(case)

    def _in_processes(
        self, cases: Sequence[Any], jobs: int, lost: list[str]
    ) -> Iterator[tuple[int, Any, Any]]:
        # a copy without open files and other attributes that are not fields: it goes to processes
        study = replace(cast(Any, self))
        tasks = [StudyTask(study, case, place) for place, case in enumerate(cases)]
        with interrupt() as interrupted:
            for task, answer in pool.work(tasks, jobs, interrupted):
                if isinstance(answer, str):
                    lost.append(answer)
                else:
                    yield task.place, task.case, answer["row"]
        if interrupted:
            raise KeyboardInterrupt


class Validator(Study):
    """A study with criteria, run by ``tabi validate``, which fails if a criterion is not met."""

    group = "validate"
    needed = (*Study.needed, "criteria")


class BenchPart(NamedTuple):
    """A part of a benchmark.

    Attributes:
        key: its key in the result, or a path of keys; the last one is "" if the part returns a
            mapping that is merged into the result.
        words: message while it runs.
        run, arguments: the function that measures it, and its arguments.
    """

    key: str | tuple[str, ...]
    words: str
    run: Callable[..., Any]
    arguments: tuple[Any, ...] = ()


class Benchmark(Study):
    """A study run by ``tabi bench``: its parts run one after the other, all in this process."""

    group, unit = "bench", "parts"
    needed = ("parts", "lines")

    def parts(self) -> Iterator[BenchPart]:
        """Yield the parts of the benchmark in order."""
        raise NotImplementedError

    def cases(self) -> Iterable[Any]:
        """Return the parts: each is a case."""
        return self.parts()

    def measure(self, case: Any) -> Any:
        """Measure a part and return its key and value."""
        if case.words:
            progress(case.words)
        return case.key, case.run(*case.arguments)

    def figures(self, rows: Sequence[Any]) -> dict[str, Any]:
        """Return the values of all parts by their keys."""
        result: dict[str, Any] = {}
        for key, value in rows:
            *outer, last = (key,) if isinstance(key, str) else key
            place = result
            for part in outer:
                place = place.setdefault(part, {})
            place.update({last: value} if last else value)
        return result


@dataclass(frozen=True)
class StudyTask:
    """A case of a study, for another process."""

    study: Study
    case: Any
    place: int

    def run(self) -> dict[str, Any]:
        """Measure the case and return its row as plain data."""
        return {"row": self.study.measure(self.case)}

    @property
    def settings(self) -> list[str]:
        """Name of the case for messages of ``pool``, as a list of one."""
        return [getattr(self.case, "words", f"{self.study.name} {self.case}")]

    @property
    def record(self) -> None:
        """File to delete if the case does not finish: none."""
        return


def plain(value: Any) -> Any:
    """Return a setting as plain data for JSON; paths, functions and others by their names."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, Sequence):
        return [plain(inner) for inner in value]
    return str(getattr(value, "__name__", value))


def constant_settings(**constants: Any) -> Mapping[str, Any]:
    """Return settings of a study that are not fields."""
    return constants


def head(result: Mapping[str, Any]) -> str:
    """Return a line with processor, cores and versions."""
    machine, versions = result["hardware"], result["versions"]
    packages = ", ".join(f"{name} {version}" for name, version in versions.items())
    return f"{machine['processor']}, one core of {machine['cores']}; {packages}"


def within(result: Mapping[str, Any]) -> str:
    """Return the verdict of the criteria, "within" or "NOT within"."""
    return "within" if result["within"] else "NOT within"
