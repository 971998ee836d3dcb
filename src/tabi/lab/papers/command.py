"""The command ``tabi validate papers``."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer

from tabi._errors import ModelError, unknown
from tabi.lab.papers import experiments, findings
from tabi.lab.papers.experiments.experiment import Experiment
from tabi.lab.papers.findings import MOST_EXCUSED
from tabi.lab.papers.jobs import PaperJob, jobs
from tabi.lab.papers.page import page
from tabi.lab.papers.results import PAGE, PaperResults
from tabi.lab.study import Criterion, Validator
from tabi.reporting.outputs import check_plotting, check_writable

# words of the command line and their packages
REFEREES = ("mujoco", "pinocchio")


class Papers(Validator, name="papers"):
    """Do simulation and experiment correspond? Every experiment of the five papers, with its
    counter-runs, under each law of contact and in other engines, into one page.
    """

    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PAPER|EXPERIMENT",
            help="C06, C12, H03, M08, S08, or an experiment; repeatable.",
        ),
    ] = None
    referee: Annotated[
        str, typer.Option(metavar="NAME,…", help="Engines that run the same scenes: or none.")
    ] = "mujoco,pinocchio"
    out: Annotated[
        Path, typer.Option(help="Folder for what is found; a run that was stopped goes on from it.")
    ] = Path("papers")
    quick: Annotated[bool, typer.Option("--quick", help="The short forms that the tests run.")] = (
        False
    )
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; default: one for each core.")
    ] = None

    unit = "runs"
    criteria = (
        Criterion("unexpected", "each experiment agrees, or differs as is known", at_most=0),
        Criterion("verdicts.not comparable", "few are without a verdict", at_most=MOST_EXCUSED),
    )

    @cached_property
    def selected(self) -> list[Experiment]:
        """Experiments selected by ``only``."""
        return experiments.select(self.only or [])

    @cached_property
    def engines(self) -> tuple[list[str], list[str]]:
        """Engines that are there, and a sentence for each that is not."""
        return _installed(self.referee)

    @cached_property
    def results(self) -> PaperResults:
        """Results in the output folder."""
        return PaperResults(self.out)

    def cases(self) -> list[PaperJob]:
        """All runs that were not done before."""
        wanted, (engines, notes) = self.selected, self.engines
        result = self.results.outcomes
        check_writable(self.out / PAGE)
        check_plotting()
        for words in notes:
            typer.echo(words, err=True)
        return [job for job in jobs(wanted, engines, self.quick) if job.words not in result]

    def measure(self, case: PaperJob) -> dict[str, Any]:
        """Measure one case and return its row."""
        return case.run()

    def store(self, case: PaperJob, row: dict[str, Any]) -> None:
        """On the disk too."""
        self.results.add(case.words, row)

    @property
    def rows(self) -> list[findings.PaperRow]:
        """Rows of the experiments with their results."""
        return [findings.row(x, self.results.outcomes, self.quick) for x in self.selected]

    def figures(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Verdicts, also of runs that were done before."""
        return findings.summary(self.rows) | {"page": str(self.out / PAGE)}

    def end(self, result: Mapping[str, Any]) -> None:
        """Write the page of the report."""
        notes = [*self.engines[1], *result.get("lost", ())]
        (self.out / PAGE).write_text(page(self.rows, notes), encoding="utf-8")

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines for a terminal."""
        yield from findings.lines(result)
        yield f"{result['page']} has the whole report"


def _installed(names: str) -> tuple[list[str], list[str]]:
    """Engines that are there, and a sentence for each that is not."""
    wanted = [name.strip() for name in names.split(",") if name.strip() not in ("", "none")]
    for name in wanted:
        if name not in REFEREES:
            raise unknown("referee", name, "tabi", [*REFEREES, "none"])
    if len(set(wanted)) != len(wanted):
        raise ModelError(f"--referee {names} names one twice; expected each once")
    missing = [name for name in wanted if importlib.util.find_spec(name) is None]
    notes = [
        f'{name} is not installed, so its comparisons are left out; pip install "tabi[referee]" '
        "brings it, and the next run adds them"
        for name in missing
    ]
    return [name for name in wanted if name not in missing], notes
