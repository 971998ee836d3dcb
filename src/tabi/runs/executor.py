"""Who runs a sweep: processes of this machine, or workers of a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tabi import TabiError
from tabi.reporting.terminal import bar, interrupt
from tabi.runs import pool
from tabi.runs.pool import Task

if TYPE_CHECKING:
    from tabi.runs.storage import Results
    from tabi.scenes import Scene

# processes, at most
MOST = 1024
Chosen = dict[str, str]
Crew = Callable[[Sequence[Task], Sequence[int]], Iterator[tuple[Task, dict[str, Any] | str]]]


@contextmanager
def crew(where: str | None, scene: Scene, record: bool = False) -> Iterator[Crew]:
    """Those who run it; refused where they cannot.

    Args:
        where: a number of processes, one for each core unless given, or the address of a scheduler.
        scene: what is run. record: whether recordings are wanted.
    """
    if where is None or where.strip().lstrip("+-").isdecimal():
        count = cores() if where is None else int(where)
        if not 1 <= count <= MOST:
            raise TabiError(f"--jobs is {count}; expected a whole number from 1 to {MOST}")
        yield lambda tasks, asked: pool.work(tasks, count, asked)
        return
    if "://" not in where:
        raise TabiError(
            f"--jobs {where}: expected a number of processes, or with --cluster the address of a "
            "Dask scheduler, tcp://HOST:PORT"
        )
    from tabi.runs import cluster

    if record:
        raise TabiError(
            "--record keeps recordings on the disk of whoever runs them, and --cluster has those "
            "of other machines; leave out one of the two"
        )
    with cluster.connected(where, cluster.files_of(scene)) as client:
        yield lambda tasks, asked: cluster.work(client, tasks, asked)


def work(
    crew: Crew,
    wanted: Sequence[Chosen],
    task: Callable[[Chosen], Task],
    results: Results,
    record: bool = False,
) -> tuple[list[int], list[str]]:
    """Run what has no row yet; who interrupted it, and sentences about runs that were lost.

    Args:
        wanted: places in the grid. task: the run of one.
    """
    todo = [chosen for chosen in wanted if not results.has(chosen, record)]
    if not todo:
        return [], []
    done, lost = len(wanted) - len(todo), []
    tasks = [task(one) for one in todo]
    with bar("starting", len(wanted)) as move, interrupt() as asked:
        move(done)
        for one, found in crew(tasks, asked):
            if isinstance(found, str):
                lost.append(found)
                continue
            results.add(one.chosen, found)
            done += 1
            words = ", ".join(f"{key}={value}" for key, value in one.chosen.items())
            move(done, words, "running")
    return asked, lost


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
