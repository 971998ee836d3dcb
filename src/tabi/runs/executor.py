"""Executors of a sweep: processes of this machine, or workers of a cluster."""

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

MAX_PROCESSES = 1024
Parameters = dict[str, str]
Executor = Callable[[Sequence[Task], Sequence[int]], Iterator[tuple[Task, dict[str, Any] | str]]]


@contextmanager
def open_executor(where: str | None, scene: Scene, record: bool = False) -> Iterator[Executor]:
    """Open the executor of a sweep; refused where it cannot run it.

    Args:
        where: a number of processes, default: one for each core, or the address of a scheduler.
        scene: what is run. record: whether recordings are wanted.
    """
    if where is None or where.strip().lstrip("+-").isdecimal():
        count = cores() if where is None else int(where)
        if not 1 <= count <= MAX_PROCESSES:
            raise TabiError(f"--jobs is {count}; expected a whole number from 1 to {MAX_PROCESSES}")
        yield lambda tasks, interrupts: pool.work(tasks, count, interrupts)
        return
    if "://" not in where:
        raise TabiError(
            f"--jobs {where}: expected a number of processes, or with --cluster the address of a "
            "Dask scheduler, tcp://HOST:PORT"
        )
    from tabi.runs import cluster

    if record:
        raise TabiError(
            "--record stores recordings on the disk of the machine that runs them, and --cluster "
            "has those of other machines; leave out one of the two"
        )
    with cluster.connected(where, cluster.files_of(scene)) as client:
        yield lambda tasks, interrupts: cluster.work(client, tasks, interrupts)


def work(
    run_all: Executor,
    wanted: Sequence[Parameters],
    task: Callable[[Parameters], Task],
    results: Results,
    record: bool = False,
) -> tuple[list[int], list[str]]:
    """Run what has no row yet; return signals that interrupted it, and sentences about lost runs.

    Args:
        wanted: places in the grid. task: the run of one.
    """
    todo = [point for point in wanted if not results.has(point, record)]
    if not todo:
        return [], []
    done, lost = len(wanted) - len(todo), []
    tasks = [task(point) for point in todo]
    with bar("starting", len(wanted)) as move, interrupt() as interrupts:
        move(done)
        for run, outcome in run_all(tasks, interrupts):
            if isinstance(outcome, str):
                lost.append(outcome)
                continue
            results.add(run.parameters, outcome)
            done += 1
            words = ", ".join(f"{key}={value}" for key, value in run.parameters.items())
            move(done, words, "running")
    return interrupts, lost


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
