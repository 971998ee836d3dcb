"""Progress of a first run while kernels are compiled, with an estimate of the time left."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import threading
import time
from collections.abc import Iterator

# kernels of a step, where another process compiles a part of them, and the part of the time until
# all of them are there; the rest is for making machine code
STEP_KERNELS, BEFORE_WHOLE = 260, 0.9
# interval between two lines on a terminal, and time before the first estimate
REFRESH_INTERVAL_S, FIRST_ESTIMATE_S = 0.5, 2.0
# how long it takes, by tabi's compiler and by ``numba.njit``
USUAL_DURATION, PLAIN_DURATION = (
    "half a minute for a simulation",
    "two minutes for a simulation, with TABI_JIT=plain",
)


class FirstRun:
    """Entered while kernels are compiled. Says so once, in a log or on a terminal, there with the
    seconds left.

    Attributes:
        depth: of kernels that wait for those they call. seconds: that were spent compiling.
        ready: kernels compiled or read since the outermost one began.
        expected: how many there will be; 0 where that is not known.
        is_cached: whether there is a folder to keep what is compiled.
        plain: whether ``numba.njit`` compiles, which keeps nothing.
    """

    def __init__(self) -> None:
        self.is_announced, self.depth, self.seconds, self.ready, self.expected = False, 0, 0.0, 0, 0
        self.is_cached, self.plain = True, False
        self._started, self._entered = 0.0, 0.0
        # when a step will be compiled, by the last kernel that became ready
        self._end: float | None = None
        self._over = threading.Event()
        self._writer: threading.Thread | None = None

    def __enter__(self) -> None:
        self.depth += 1
        if self.depth == 1:
            if self.expected == 0:
                self._expect()
            self._entered = time.perf_counter()
            self._begin()
            if self._on_terminal():
                self._over = threading.Event()
                self._writer = threading.Thread(
                    target=self._refresh, args=(self._over,), daemon=True
                )
                self._writer.start()

    def __exit__(self, *error: object) -> None:
        self.depth -= 1
        if self.depth == 0:
            self.seconds += time.perf_counter() - self._entered
            self._over.set()
            if self._writer is not None:
                self._writer.join()
                self._writer = None
            self._line("")

    @contextlib.contextmanager
    def expecting(self, kernels: int) -> Iterator[None]:
        """So many kernels are about to be compiled, or read."""
        self._expect()
        self.expected = kernels
        try:
            yield
        finally:
            self.expected = 0

    def _expect(self) -> None:
        self._started, self.ready, self._end = time.perf_counter(), 0, None

    def tick(self) -> None:
        """One more kernel is there."""
        self.ready += 1
        if self.expected > 0:
            spent = time.perf_counter() - self._started
            part = BEFORE_WHOLE * min(1.0, self.ready / self.expected)
            self._end = self._started + spent / part

    def left(self) -> float | None:
        """Seconds until a step is compiled, from how long its kernels took so far; None before that
        can be estimated.
        """
        now = time.perf_counter()
        if self.depth == 0 or self._end is None or now - self._started < FIRST_ESTIMATE_S:
            return None
        return max(0.0, self._end - now)

    def _refresh(self, over: threading.Event) -> None:
        """Keep the line up to date until it is over, also while this process waits for another
        one, and while LLVM is at work.
        """
        while not over.wait(REFRESH_INTERVAL_S):
            left = self.left()
            if left is not None:
                self._line(f"tabi: compiling, about {max(left, 1.0):.0f} s left …")

    def _begin(self) -> None:
        if self.is_announced or os.environ.get("TABI_QUIET"):
            return
        self.is_announced = True
        often = "once for this version"
        if self.plain:
            often = "on every run"
        elif not self.is_cached:
            often = "on every run, because no folder can keep it; see `tabi doctor`"
        duration = PLAIN_DURATION if self.plain else USUAL_DURATION
        print(
            f"tabi: compiling for this processor, {often} ({duration}) …",
            file=sys.stderr,
            flush=True,
        )

    def _line(self, line: str) -> None:
        """In place, on a terminal."""
        if self._on_terminal():
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)

    def _on_terminal(self) -> bool:
        quiet = os.environ.get("TABI_QUIET")
        return sys.stderr is not None and sys.stderr.isatty() and not quiet


first_run = FirstRun()


@contextlib.contextmanager
def no_garbage() -> Iterator[None]:
    """Within, Python does not look for garbage: of a compilation nearly everything is in use."""
    looked = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if looked:
            gc.enable()
