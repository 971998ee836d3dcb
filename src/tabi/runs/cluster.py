"""Runs of a sweep on a cluster of Dask: https://distributed.dask.org.

Workers need the same tabi and the same Python, and no files of ours: a run goes to them as the text
of its scene, and comes back as its row, which is kept here. A worker that is lost on the way loses
nothing, as the scheduler gives its runs to others; one run that ends three workers is reported.
"""

from __future__ import annotations

import contextlib
import logging
import re
import time as clock
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tabi import TabiError
from tabi.runs.pool import LOOK, Task, played

if TYPE_CHECKING:
    from tabi.scenes import Scene

ADDRESS = re.compile(
    r"(tcp|tls|ws|wss)://[^\s/:]+(:\d{1,5})|(tcp|tls|ws|wss)://\[[0-9a-f:]+\]:\d{1,5}"
)
# seconds to wait for the scheduler, and without any worker
ANSWER, PATIENCE = 5.0, 60.0
# time between two counts of the workers, and runs that are submitted at a time
WORKER_PERIOD_S, MAX_SUBMITTED_RUNS = 2.0, 1000
# workers that a sentence names
MAX_NAMED_WORKERS = 3
Outcome = tuple[Task, dict[str, Any] | str]


def identity() -> dict[str, str]:
    """Return what a row depends on in this installation; empty where tabi is missing."""
    try:
        from tabi import __version__
        from tabi.jit import cache_folder

        return {"tabi": __version__, "sources": cache_folder.source_digest()}
    except (ImportError, AttributeError):
        return {}


# so that it is sent as it is: a worker may have no tabi to look it up in
identity.__module__ = "__main__"


@contextmanager
def connected(address: str, files: Iterable[str]) -> Iterator[Any]:
    """A client of a scheduler whose workers can do these runs; one sentence where they cannot.

    Args:
        files: that the scene names, by their whole paths.
    """
    try:
        from distributed import Client
    except ImportError:
        raise TabiError(
            "--cluster needs the package distributed, which is not installed: "
            "pip install 'tabi[cluster]'"
        ) from None
    if not ADDRESS.fullmatch(address):
        raise TabiError(
            f"--cluster {address}: expected the address of a Dask scheduler, tcp://HOST:PORT"
        )
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            # versions are compared below
            warnings.simplefilter("ignore")
            client = Client(address, timeout=ANSWER, set_as_default=False, name="tabi")
    # any server may answer there, with any error
    except Exception as fault:
        raise TabiError(
            f"--cluster {address}: no Dask scheduler answers there within {ANSWER:g} s "
            f"({type(fault).__name__}); start one with `dask scheduler`, or check the address"
        ) from None
    try:
        _check(client, address, sorted(files))
        yield client
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=ANSWER)


def _check(client: Any, address: str, files: list[str]) -> None:
    """Refuse a cluster without workers, and workers that differ from us."""
    versions = client.get_versions()
    here = _python(versions["client"])
    pythons = {name: _python(version) for name, version in versions["workers"].items()}
    if not pythons:
        raise TabiError(
            f"--cluster {address}: it has no workers; start some with `dask worker {address}`"
        )
    refuse(address, {name: python for name, python in pythons.items() if python != here}, here)
    ours = words(identity())
    theirs = {name: words(installed) for name, installed in client.run(identity).items()}
    refuse(address, {name: text for name, text in theirs.items() if text != ours}, ours)
    if files:
        lacking = {name: paths for name, paths in client.run(missing, files).items() if paths}
        for name, paths in lacking.items():
            raise TabiError(
                f"--cluster {address}: worker {name} has no file {paths[0]}, which the scene "
                "names; put it there, at the same path"
            )


def _python(versions: dict[str, Any]) -> str:
    return "Python " + ".".join(str(versions["host"]["python"]).split(".")[:2])


def words(installed: dict[str, str]) -> str:
    """Describe an installation in words."""
    if not installed:
        return "no tabi"
    return f"tabi {installed['tabi']} (sources {installed['sources']})"


def refuse(address: str, differing: dict[str, str], here: str) -> None:
    """Raise an error that names the workers whose installation differs from ours."""
    if not differing:
        return
    named = [f"{name} has {what}" for name, what in differing.items()]
    extra = (
        f" and {len(named) - MAX_NAMED_WORKERS} more differ"
        if len(named) > MAX_NAMED_WORKERS
        else ""
    )
    raise TabiError(
        f"--cluster {address}: worker {', worker '.join(named[:MAX_NAMED_WORKERS])}{extra}, and "
        f"here is {here}; install the same on all of them"
    )


def missing(files: list[str]) -> list[str]:
    """Return those files that do not exist here."""
    return [file for file in files if not Path(file).exists()]


def files_of(scene: Scene) -> list[str]:
    """Files that a scene names, by their whole paths."""
    from tabi.scenes.scene import plain

    files: dict[str, None] = {}
    ahead = [plain(scene.contents)]
    while ahead:
        value = ahead.pop()
        if isinstance(value, dict | list):
            ahead += value.values() if isinstance(value, dict) else value
        elif isinstance(value, str) and Path(value).is_absolute() and Path(value).is_file():
            files[value] = None
    return list(files)


# ---- runs ---------------------------------------------------------------------------------------


def work(client: Any, tasks: Sequence[Task], interrupts: Sequence[int]) -> Iterator[Outcome]:
    """Yield tasks with their outcomes, in the order in which they end, until interrupted;
    a sentence where one was lost.
    """
    from distributed import as_completed

    ours, ahead, ended = identity(), list(reversed(tasks)), as_completed(loop=client.loop)
    flying: dict[str, tuple[Task, Any]] = {}
    manned = looked = clock.monotonic()
    try:
        while (ahead or flying) and not interrupts:
            while ahead and len(flying) < MAX_SUBMITTED_RUNS:
                task = ahead.pop()
                future = client.submit(run, *packed(task), ours, pure=False)
                flying[future.key] = task, future
                ended.add(future)
            batch = ended.next_batch(block=False)
            for future in batch:
                task, _ = flying.pop(future.key)
                yield task, _outcome(task, future)
                if interrupts:
                    return
            now = clock.monotonic()
            if now - looked > WORKER_PERIOD_S:
                looked, manned = now, now if _workers(client) else manned
            if now - manned > PATIENCE or client.status not in ("running", "connecting"):
                left = len(ahead) + len(flying)
                gone = "its workers are" if client.status == "running" else "the scheduler is"
                yield tasks[0], f"{gone} gone, with {left} runs to do; repeat the sweep to go on"
                return
            if not batch:
                clock.sleep(LOOK)
    finally:
        with contextlib.suppress(Exception):
            client.cancel([future for _, future in flying.values()], force=True)


def _workers(client: Any) -> int:
    try:
        return len(client.nthreads())
    except Exception:
        return 0


def _outcome(task: Task, future: Any) -> dict[str, Any] | str:
    """Return the row of a run that has ended, or why there is none."""
    try:
        return future.result(timeout=PATIENCE)
    # of a run, a worker or the way to it: the others go on
    except Exception as fault:
        why = str(fault).partition("\n")[0][:200] or type(fault).__name__
        return f"the run of {', '.join(task.settings)} was lost: {why}; repeat the sweep"


def packed(task: Task) -> tuple[str, str, list[str]]:
    """Return a run as a worker needs it: its scene as a text, the name of that, its settings."""
    from tabi import scenes

    scene = scenes.load(task.scene, task.settings)
    return scene.to_yaml(), scene.name, list(scene.settings)


def run(text: str, name: str, settings: list[str], expected: dict[str, str]) -> dict[str, Any]:
    """Run a scene from its text, in a worker; refused for a client with another tabi."""
    from tabi import scenes

    if identity() != expected:
        raise TabiError(f"a worker has {words(identity())}, and {words(expected)} is required")
    outcome = played(scenes.loads(text, f"{name}.yaml"))
    assert outcome is not None
    return outcome | {"settings": settings}
