"""A pool of worker processes for runs of a sweep, each with one thread of linear algebra.

A worker is a new process (spawn). It receives one run after the other through a pipe, and ends with
its parent, even if the parent is killed. Ctrl-C reaches the parent only, which then asks the
workers to stop: unfinished runs leave neither a row nor a recording.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import connection, resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from tabi.reporting.terminal import show_warnings, warn_once

if TYPE_CHECKING:
    from tabi.scenes import Scene

# one thread each: there is a process for every core
ALONE = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMBA_NUM_THREADS",
    ),
    "1",
)
QUIET = {"TABI_QUIET": "1"}
# seconds between looks at the keyboard, and for a worker to stop
LOOK, PATIENCE = 0.1, 10.0


@dataclass(frozen=True)
class Task:
    """One run: the scene, all its settings, which of them are its place in the grid,
    the file of its recording.
    """

    scene: str
    settings: list[str]
    parameters: dict[str, str]
    record: Path | None

    def run(self) -> dict[str, Any] | None:
        """Run the scene and return its summary; None if it was interrupted."""
        from tabi import scenes

        return played(scenes.load(self.scene, self.settings), self.record)


class Runnable(Protocol):
    """Task of a worker; it is sent there as it is, and ``run`` answers with plain data."""

    @property
    def settings(self) -> list[str]:
        """Settings that name the task in messages."""
        ...

    @property
    def record(self) -> Path | None:
        """Recording to delete if the run does not finish, or None."""
        ...

    def run(self) -> dict[str, Any] | None:
        """Do it; None if it was interrupted."""
        ...


Run = TypeVar("Run", bound=Runnable)


@dataclass
class _Worker:
    process: Any
    pipe: Any
    task: Runnable | None = None

    def give(self, task: Runnable) -> None:
        self.task = task
        # one that is gone is found by the end of its pipe
        with contextlib.suppress(OSError):
            self.pipe.send(task)


def work(
    tasks: Sequence[Run], jobs: int, interrupts: Sequence[int], pool: list[Any] | None = None
) -> Iterator[tuple[Run, dict[str, Any] | str]]:
    """Yield tasks with their outcomes, in the order in which they finish, until interrupted. The
    outcome of a task whose process ended is an error message.

    Args:
        pool: workers to reuse; new ones are appended and kept for the next call, whose owner calls
            ``end``. They end with this call if it is not exhausted, or if there is no pool.
    """
    compile_once(jobs)
    ahead, workers = list(reversed(tasks)), [] if pool is None else pool
    whole = False
    try:
        while ahead or any(worker.task for worker in workers):
            for worker in workers:
                if ahead and not worker.task and not interrupts:
                    worker.give(ahead.pop())
            while ahead and len(workers) < jobs and not interrupts:
                workers.append(_started())
                workers[-1].give(ahead.pop())
            pipes = {worker.pipe: worker for worker in workers if worker.task}
            ready = connection.wait(list(pipes), LOOK)
            if interrupts:
                return
            for worker in (pipes[pipe] for pipe in ready):
                task, worker.task = worker.task, None
                assert task is not None
                try:
                    outcome, warnings = worker.pipe.recv()
                except (EOFError, OSError):
                    workers.remove(worker)
                    worker.process.join(PATIENCE)
                    how = (
                        f"ended by itself (code {worker.process.exitcode}); "
                        "repeat the command to run it again"
                    )
                    yield task, f"the process of {', '.join(task.settings)} {how}"
                    continue
                warn_once(warnings)
                yield task, outcome
                if ahead:
                    worker.give(ahead.pop())
        whole = True
    finally:
        if pool is None or not whole:
            end(workers)


def compile_once(jobs: int) -> None:
    """Compile the kernels here if they are not compiled yet, so that workers do not."""
    from tabi.jit import cache_folder

    folder = cache_folder.cache_folder()
    if (
        jobs > 1
        and folder is not None
        and next(folder.glob("*.nbc"), None) is None
        and not os.environ.get("NUMBA_DISABLE_JIT")
    ):
        from tabi.runs import warmup

        warmup.run(show=False)


def _started() -> _Worker:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=serve, args=(there,), daemon=True)
    with _without_interrupts(), _environment(ALONE | QUIET):
        process.start()
    there.close()
    return _Worker(process, here)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Hide Ctrl-C from processes that are started meanwhile; here it is only delayed."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # else it would be started with the first worker, and let interrupts in again
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _environment(wanted: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def end(workers: list[Any]) -> None:
    """Ask those at work to stop, and wait for it; the others end with their pipes."""
    for worker in workers:
        worker.pipe.close()
        if worker.task:
            worker.process.terminate()
    for worker in workers:
        worker.process.join(PATIENCE)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()
        if worker.task and worker.task.record:
            worker.task.record.unlink(missing_ok=True)
    workers.clear()


def serve(pipe: Any) -> None:
    """Run tasks in a worker until its pipe ends."""
    if not hasattr(signal, "pthread_sigmask"):
        # Windows: an interrupt comes to all of a console, and is for the parent process
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    warnings: list[str] = []
    show_warnings(warnings.extend)
    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            outcome = pipe.recv().run()
            if outcome is None:
                return
            # those of many runs are the same: the parent prints each once
            pipe.send((outcome, warnings))
            warnings.clear()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def played(scene: Scene, record: Path | None = None) -> dict[str, Any] | None:
    """Run a scene and return its summary; None if it was interrupted."""
    from tabi import TabiError
    from tabi.runs.play import play
    from tabi.runs.summary import Summary

    try:
        summary = play(scene, record, show=False)
    except TabiError as fault:
        summary = Summary(scene.name, scene.title, scene.settings, stopped=str(fault))
    return None if summary.interrupted else summary.to_dict()
