"""Progress and results of an experiment of ``tabi validate``: a bar while it runs, then figures."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Tolerance = Annotated[
    float, typer.Option(help="Backward error to reach, relative to the largest free velocity.")
]


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int], None]]:
    """A bar on stderr: call it with what is being done, and how much of how much is."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with ExitStack() as stack:
        tasks: dict[str, Any] = {}
        bar = Progress(*columns, console=Console(stderr=True), transient=True)

        def report(what: str, done: int, count: int) -> None:
            if not tasks:
                # not before: a mistake is reported without a bar
                stack.enter_context(bar)
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=count)
            bar.update(tasks[what], completed=done)

        yield report


def machine(*packages: str, threads: int | None = 1) -> dict[str, Any]:
    """Return where numbers are from: the processor, and versions of tabi and of packages.

    Args:
        threads: number of threads used; default: left out.
    """
    import tabi
    from tabi.apps.doctor import processor, version_of

    used = {} if threads is None else {"threads_used": threads}
    return {
        "hardware": {"processor": processor(), "cores": os.cpu_count()} | used,
        "versions": {"tabi": tabi.__version__} | {name: version_of(name) for name in packages},
    }


def show(
    result: dict[str, Any], text: Callable[[dict[str, Any]], str], as_json: bool, passed: bool
) -> None:
    """Print a result with the machine it was found on;
    exit code 130 if it was interrupted, 1 if it failed.
    """
    from tabi.apps.stamp import stamped_json

    print(
        stamped_json(machine("numba") | result) if as_json else text(result),
        flush=True,
    )
    if result.get("interrupted"):
        raise typer.Exit(130)
    if not passed:
        raise typer.Exit(1)
