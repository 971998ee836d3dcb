"""The command ``tabi validate papers``."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tabi.apps.showing import Json, show

if TYPE_CHECKING:
    from tabi.lab.papers.jobs import PaperJob
    from tabi.lab.papers.results import PaperResults

# words of the command line and their packages
REFEREES = ("mujoco", "pinocchio")


def papers(
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PAPER|EXPERIMENT",
            help="C06, C12, H03, M08, S08, or an experiment; repeatable.",
        ),
    ] = None,
    referee: Annotated[
        str, typer.Option(metavar="NAME,…", help="Engines that run the same scenes: or none.")
    ] = "mujoco,pinocchio",
    out: Annotated[
        Path, typer.Option(help="Folder for what is found; a run that was stopped goes on from it.")
    ] = Path("papers"),
    quick: Annotated[
        bool, typer.Option("--quick", help="The short forms that the tests run.")
    ] = False,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; one for each core unless given.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Do simulation and experiment correspond? Every experiment of the five papers, with its
    counter-runs, under each law of contact and in other engines, into one page.
    """
    from tabi.lab.papers import experiments, findings
    from tabi.lab.papers import jobs as runs
    from tabi.lab.papers.page import page
    from tabi.lab.papers.results import PAGE, PaperResults
    from tabi.reporting.outputs import check_plotting, check_writable

    chosen = experiments.chosen(only or [])
    engines, notes = _installed(referee)
    results = PaperResults(out)
    check_writable(out / PAGE)
    check_plotting()
    for words in notes:
        typer.echo(words, err=True)
    todo = [job for job in runs.jobs(chosen, engines, quick) if job.words not in results.found]
    stopped, lost = _work(todo, results, jobs)
    rows = [findings.row(one, results.found, quick) for one in chosen]
    (out / PAGE).write_text(page(rows, [*notes, *lost]), encoding="utf-8")
    result = findings.summary(rows) | {"page": str(out / PAGE), "interrupted": stopped}
    if not as_json:
        typer.echo(f"{out / PAGE} has the whole report", err=True)
    show(result, findings.text, as_json, passed=result["within"] and not lost)


def _installed(names: str) -> tuple[list[str], list[str]]:
    """Engines that are there, and a sentence for each that is not."""
    from tabi import ModelError
    from tabi._errors import unknown

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


def _work(
    todo: Sequence[PaperJob], results: PaperResults, jobs: int | None
) -> tuple[bool, list[str]]:
    """Do all runs; whether somebody stopped them, and sentences about runs that were lost."""
    from tabi.reporting.terminal import bar, interrupt
    from tabi.runs import executor, pool

    lost: list[str] = []
    if not todo:
        return False, lost
    with bar("starting", len(todo)) as move, interrupt() as asked:
        for done, (job, found) in enumerate(pool.work(todo, jobs or executor.cores(), asked), 1):
            if isinstance(found, str):
                lost.append(found)
                continue
            results.add(job.words, found)
            move(done, job.words, "running")
    return bool(asked), lost
