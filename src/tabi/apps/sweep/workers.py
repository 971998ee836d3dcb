"""Runs in processes of their own, each with one thread of linear algebra.

What is run is a ``Job``: of a sweep a ``Task``, a scene with settings.

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

if TYPE_CHECKING:
    from tabi.scenes import Scene

One = TypeVar("One", bound="Job")
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


class Job(Protocol):
    """What a process is given to do; it can be pickled."""

    @property
    def words(self) -> str:
        """Its name in sentences."""
        ...

    def outcome(self) -> Any:
        """Do it; None if it was interrupted."""
        ...

    def forget(self) -> None:
        """Take away what an unfinished one has left."""
        ...


@dataclass(frozen=True)
class Task:
    """One run: the scene, all its settings, which of them are its place in the grid,
    the file of its recording.
    """

    scene: str
    settings: list[str]
    chosen: dict[str, str]
    record: Path | None

    @property
    def words(self) -> str:
        """Its settings."""
        return ", ".join(self.settings)

    def outcome(self) -> dict[str, Any] | None:
        """Run it; None if it was interrupted."""
        from tabi import scenes

        return played(scenes.load(self.scene, self.settings), self.record)

    def forget(self) -> None:
        """Take away its recording."""
        if self.record:
            self.record.unlink(missing_ok=True)


@dataclass
class _Worker:
    process: Any
    pipe: Any
    task: Job | None = None

    def give(self, task: Job) -> None:
        self.task = task
        # one that is gone is found by the end of its pipe
        with contextlib.suppress(OSError):
            self.pipe.send(task)


def work(
    tasks: Sequence[One], jobs: int, asked: Sequence[int]
) -> Iterator[tuple[One, dict[str, Any] | str]]:
    """Tasks with what came of them, in the order in which they end, until somebody asks to stop;
    a sentence where a process was lost.
    """
    compile_once(jobs)
    ahead, workers = list(reversed(tasks)), []
    try:
        while ahead or any(worker.task for worker in workers):
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
                    found = worker.pipe.recv()
                except (EOFError, OSError):
                    workers.remove(worker)
                    worker.process.join(PATIENCE)
                    how = (
                        f"ended by itself (code {worker.process.exitcode}); "
                        "repeat the command to run it again"
                    )
                    yield task, f"the process of {task.words} {how}"
                    continue
                yield task, found
                if ahead:
                    worker.give(ahead.pop())
    finally:
        _end(workers)


def compile_once(jobs: int) -> None:
    """Where nothing is compiled yet, do it here, lest every worker did."""
    from tabi import _jit

    folder = _jit.cache_folder()
    if (
        jobs > 1
        and folder is not None
        and next(folder.glob("*.nbc"), None) is None
        and not os.environ.get("NUMBA_DISABLE_JIT")
    ):
        from tabi.apps import warmup

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


def _end(workers: list[_Worker]) -> None:
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
        if worker.task:
            worker.task.forget()


def serve(pipe: Any) -> None:
    """What a worker does until its pipe ends."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            found = pipe.recv().outcome()
            if found is None:
                return
            pipe.send(found)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def played(scene: Scene, record: Path | None = None) -> dict[str, Any] | None:
    """What came of a scene; None if it was interrupted."""
    from tabi import TabiError
    from tabi.apps.run import play
    from tabi.apps.run_summary import Summary

    try:
        found = play(scene, record, show=False)
    except TabiError as fault:
        found = Summary(scene.name, scene.title, scene.settings, stopped=str(fault))
    return None if found.interrupted else found.to_dict()
