"""Runs of a sweep on a cluster of Dask: https://distributed.dask.org.

Workers need the same tabi and the same Python, and no files of ours: a run goes to them as the text
of its scene, and comes back as its row, which is kept here. A worker that is lost on the way loses
nothing, as the scheduler gives its runs to others; one run that ends three workers is told.
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
# seconds between two looks for workers, and runs that are handed out at a time
OFTEN, ROOM = 2.0, 1000
# workers that a sentence names
NAMED = 3
Found = tuple[Task, dict[str, Any] | str]


def identity() -> dict[str, str]:
    """What of an installation a row depends on; with nothing where there is no tabi."""
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
    # whoever answers there may say anything
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
    pythons = {name: _python(told) for name, told in versions["workers"].items()}
    if not pythons:
        raise TabiError(
            f"--cluster {address}: it has no workers; start some with `dask worker {address}`"
        )
    refuse(address, {name: told for name, told in pythons.items() if told != here}, here)
    ours = words(identity())
    theirs = {name: words(told) for name, told in client.run(identity).items()}
    refuse(address, {name: told for name, told in theirs.items() if told != ours}, ours)
    if files:
        lacking = {name: told for name, told in client.run(missing, files).items() if told}
        for name, told in lacking.items():
            raise TabiError(
                f"--cluster {address}: worker {name} has no file {told[0]}, which the scene names; "
                "put it there, at the same path"
            )


def _python(told: dict[str, Any]) -> str:
    return "Python " + ".".join(str(told["host"]["python"]).split(".")[:2])


def words(told: dict[str, str]) -> str:
    """An installation in words."""
    return f"tabi {told['tabi']} (sources {told['sources']})" if told else "no tabi"


def refuse(address: str, others: dict[str, str], here: str) -> None:
    """Name the workers that have something else than we."""
    if not others:
        return
    told = [f"{name} has {what}" for name, what in others.items()]
    more = f" and {len(told) - NAMED} more differ" if len(told) > NAMED else ""
    raise TabiError(
        f"--cluster {address}: worker {', worker '.join(told[:NAMED])}{more}, and here is {here}; "
        "install the same on all of them"
    )


def missing(files: list[str]) -> list[str]:
    """Those that are not here."""
    return [file for file in files if not Path(file).exists()]


def files_of(scene: Scene) -> list[str]:
    """Files that a scene names, by their whole paths."""
    from tabi.scenes.scene import plain

    found: dict[str, None] = {}
    ahead = [plain(scene.contents)]
    while ahead:
        value = ahead.pop()
        if isinstance(value, dict | list):
            ahead += value.values() if isinstance(value, dict) else value
        elif isinstance(value, str) and Path(value).is_absolute() and Path(value).is_file():
            found[value] = None
    return list(found)


# ---- runs ---------------------------------------------------------------------------------------


def work(client: Any, tasks: Sequence[Task], asked: Sequence[int]) -> Iterator[Found]:
    """Tasks with what came of them, in the order in which they end, until somebody asks to stop;
    a sentence where one was lost.
    """
    from distributed import as_completed

    ours, ahead, ended = identity(), list(reversed(tasks)), as_completed(loop=client.loop)
    flying: dict[str, tuple[Task, Any]] = {}
    manned = looked = clock.monotonic()
    try:
        while (ahead or flying) and not asked:
            while ahead and len(flying) < ROOM:
                task = ahead.pop()
                future = client.submit(run, *packed(task), ours, pure=False)
                flying[future.key] = task, future
                ended.add(future)
            batch = ended.next_batch(block=False)
            for future in batch:
                task, _ = flying.pop(future.key)
                yield task, _told(task, future)
                if asked:
                    return
            now = clock.monotonic()
            if now - looked > OFTEN:
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


def _told(task: Task, future: Any) -> dict[str, Any] | str:
    """The row of a run that has ended, or why there is none."""
    try:
        return future.result(timeout=PATIENCE)
    # of a run, a worker or the way to it: the others go on
    except Exception as fault:
        why = str(fault).partition("\n")[0][:200] or type(fault).__name__
        return f"the run of {', '.join(task.settings)} was lost: {why}; repeat the sweep"


def packed(task: Task) -> tuple[str, str, list[str]]:
    """A run as a worker needs it: its scene as a text, the name of that, its settings."""
    from tabi import scenes

    scene = scenes.load(task.scene, task.settings)
    return scene.to_yaml(), scene.name, list(scene.settings)


def run(text: str, name: str, settings: list[str], asked_by: dict[str, str]) -> dict[str, Any]:
    """What a worker does: a run from the text of its scene; only for whoever has the same tabi."""
    from tabi import scenes

    if identity() != asked_by:
        raise TabiError(f"a worker has {words(identity())}, and {words(asked_by)} was asked for")
    found = played(scenes.loads(text, f"{name}.yaml"))
    assert found is not None
    return found | {"settings": settings}
