"""Runs of a sweep in processes of their own, each with one thread of linear algebra.

A process begins anew (spawn), takes one run after the other through a pipe, and ends when its
parent does, even if that one is killed. Ctrl-C reaches the parent alone, which then asks its
workers to stop: what they were at leaves neither a row nor a recording.
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
    chosen: dict[str, str]
    record: Path | None

    def run(self) -> dict[str, Any] | None:
        """What came of it; None if it was interrupted."""
        from tabi import scenes

        return played(scenes.load(self.scene, self.settings), self.record)


class Runnable(Protocol):
    """What a worker takes; it is sent there as it is, and ``run`` answers with plain data."""

    @property
    def settings(self) -> list[str]:
        """That it is named by."""
        ...

    @property
    def record(self) -> Path | None:
        """A file that is no good where the run was not ended."""
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
    tasks: Sequence[Run], jobs: int, asked: Sequence[int], kept: list[Any] | None = None
) -> Iterator[tuple[Run, dict[str, Any] | str]]:
    """Tasks with what came of them, in the order in which they end, until somebody asks to stop;
    a sentence where a process was lost.

    Args:
        kept: workers of an earlier call, and left there for the next one unless this one is not
            ended; whoever has them calls ``end``. Without it they end with the call.
    """
    compile_once(jobs)
    ahead, workers = list(reversed(tasks)), [] if kept is None else kept
    whole = False
    try:
        while ahead or any(worker.task for worker in workers):
            for worker in workers:
                if ahead and not worker.task and not asked:
                    worker.give(ahead.pop())
            while ahead and len(workers) < jobs and not asked:
                workers.append(_started())
                workers[-1].give(ahead.pop())
            pipes = {worker.pipe: worker for worker in workers if worker.task}
            ready = connection.wait(list(pipes), LOOK)
            if asked:
                return
            for worker in (pipes[pipe] for pipe in ready):  # type: ignore[index]
                task, worker.task = worker.task, None
                assert task is not None
                try:
                    found, said = worker.pipe.recv()
                except (EOFError, OSError):
                    workers.remove(worker)
                    worker.process.join(PATIENCE)
                    how = (
                        f"ended by itself (code {worker.process.exitcode}); "
                        "repeat the command to run it again"
                    )
                    yield task, f"the process of {', '.join(task.settings)} {how}"
                    continue
                warn_once(said)
                yield task, found
                if ahead:
                    worker.give(ahead.pop())
        whole = True
    finally:
        if kept is None or not whole:
            end(workers)


def compile_once(jobs: int) -> None:
    """Where nothing is compiled yet, do it here, lest every worker did."""
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
    """Who is started meanwhile never hears Ctrl-C; here it is only late."""
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
    """What a worker does until its pipe ends."""
    if not hasattr(signal, "pthread_sigmask"):
        # Windows: an interrupt comes to all of a console, and is for who started this
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    said: list[str] = []
    show_warnings(said.extend)
    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            found = pipe.recv().run()
            if found is None:
                return
            # those of many runs are the same: the parent prints each once
            pipe.send((found, said))
            said.clear()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def played(scene: Scene, record: Path | None = None) -> dict[str, Any] | None:
    """What came of a scene; None if it was interrupted."""
    from tabi import TabiError
    from tabi.runs.play import play
    from tabi.runs.summary import Summary

    try:
        found = play(scene, record, show=False)
    except TabiError as fault:
        found = Summary(scene.name, scene.title, scene.settings, stopped=str(fault))
    return None if found.interrupted else found.to_dict()
