"""Recordings that are being written in this process: no two into one file, all closed when the
process ends, and none continued by a process that was forked from it.

Closing at exit covers the end of the script, ``sys.exit``, an uncaught exception and
Ctrl-C, also in processes of ``multiprocessing``; a process that is killed, or that ends by
``os._exit``, closes nothing.
"""

from __future__ import annotations

import atexit
import multiprocessing
import multiprocessing.util
import os
import sys
from pathlib import Path
from typing import Any, Protocol

from tabi._errors import TabiError


class OpenRecording(Protocol):
    """A recording that is being written, as seen here."""

    path: Path

    def close_at_exit(self, fault: BaseException | None) -> None:
        """Close it, because the process ends."""
        ...

    def forget(self) -> None:
        """Close the descriptor in a forked process, without touching the file of the parent."""
        ...

    def records(self, sim: Any) -> bool:
        """Whether it records this simulator."""
        ...


_OPEN: list[OpenRecording] = []


def problem(path: Path, sim: Any) -> str:
    """Why a simulator cannot be recorded into a file now: another recording; empty otherwise."""
    for other in _OPEN:
        if other.path.resolve() == path.resolve():
            owner = "this simulator" if other.records(sim) else "another simulator"
            return (
                f"{owner} is being recorded into it already; "
                "close that recording first, or choose another name"
            )
    return ""


def add(recording: OpenRecording) -> None:
    """From now on it is closed at exit."""
    _OPEN.append(recording)
    # again for every recording: a process of multiprocessing forgets what its parent registered
    atexit.unregister(close_all)
    atexit.register(close_all)
    if multiprocessing.parent_process() is not None:
        multiprocessing.util.Finalize(None, close_all, exitpriority=10)


def discard(recording: OpenRecording) -> None:
    """Remove a recording that is closed."""
    if recording in _OPEN:
        _OPEN.remove(recording)


def holds(recording: OpenRecording) -> bool:
    """Whether it is still being written."""
    return recording in _OPEN


def close_all() -> None:
    """Close every recording, because the process ends; a problem with one is a line on stderr."""
    fault = sys.exc_info()[1]
    # in a notebook or at a prompt the last error is an old one
    if fault is None and not hasattr(sys, "ps1"):
        fault = getattr(sys, "last_value", None)
    for recording in list(_OPEN):
        try:
            recording.close_at_exit(fault)
        except TabiError as problem:
            print(problem, file=sys.stderr, flush=True)


def _forget_all() -> None:
    for recording in list(_OPEN):
        recording.forget()
    _OPEN.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
