"""The tiers of the tests, and the guards that keep their markers true.

``make test`` leaves out tests that are marked ``process``, ``browser``, ``docs``, ``papers`` or
``slow``. A test that starts another process, opens a browser or runs a paper's experiment without
saying so would slip into it: it fails here, with the marker that it needs.
"""

import functools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from typing import Any

import pytest

MARKERS = ("process", "browser", "docs", "papers", "slow")
# every way from Python to another process; subprocess.run and os.popen lead to the first
STARTS = (
    (subprocess.Popen, "__init__"),
    (BaseProcess, "start"),
    (os, "fork"),
    (os, "forkpty"),
    (os, "posix_spawn"),
    (os, "posix_spawnp"),
    (os, "system"),
)
# modules that ask another program something whatever a test is about: the second compiler of a
# first start, what Python looks up about the machine, and what MuJoCo imports looks for its library
UNASKED = {"tabi.simulation.background_compile", "platform", "ctypes.util", "glfw.library"}

# the test that runs now
running: list[pytest.Item] = []


def needs(what: str, *markers: str) -> None:
    """Fail the test that runs unless it has one of these markers."""
    if running and not any(running[-1].get_closest_marker(name) for name in markers):
        # not an Exception, so that no code under test can catch it
        pytest.fail(f"this test {what}: mark it with pytest.mark.{markers[0]}")


def unasked() -> bool:
    """Whether the call comes from one of the modules that do so of their own accord."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") in UNASKED:
            return True
        frame = frame.f_back
    return False


def guarded(start: Callable[..., Any]) -> Callable[..., Any]:
    """A way to start a process, for tests that are marked."""

    @functools.wraps(start)
    def starting(*args: Any, **kwargs: Any) -> Any:
        if not unasked():
            needs("starts a process", "process", "browser", "docs")
        return start(*args, **kwargs)

    return starting


@contextmanager
def guard(item: pytest.Item) -> Iterator[None]:
    """While a test runs, with its fixtures."""
    with pytest.MonkeyPatch.context() as patch:
        for owner, name in STARTS:
            patch.setattr(owner, name, guarded(getattr(owner, name)))
        running.append(item)
        try:
            yield
        finally:
            running.pop()
