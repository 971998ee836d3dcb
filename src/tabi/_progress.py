"""What a first run says while kernels are compiled: that they are, and how long it will take."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator

# kernels of a step, where another process compiles a part of them, and the part of the time until
# all of them are there; the rest is for making machine code
STEP_KERNELS, BEFORE_WHOLE = 260, 0.9
# between two lines on a terminal [s]; before an estimate is worth something
OFTEN, EARLY = 0.5, 2.0


class FirstRun:
    """Entered while kernels are compiled. Says so once, in a log or on a terminal, there with the
    seconds left.

    Attributes:
        depth: of kernels that wait for those they call. seconds: that were spent compiling.
        ready: kernels compiled or read since the outermost one began.
        expected: how many there will be; 0 where that is not known.
        kept: whether there is a folder to keep what is compiled.
    """

    def __init__(self) -> None:
        self.said, self.depth, self.seconds, self.ready, self.expected = False, 0, 0.0, 0, 0
        self.kept = True
        self._started, self._entered, self._told = 0.0, 0.0, 0.0

    def __enter__(self) -> None:
        self.depth += 1
        if self.depth == 1:
            if self.expected == 0:
                self._expect()
            self._entered = time.perf_counter()
            self._begin()

    def __exit__(self, *error: object) -> None:
        self.depth -= 1
        if self.depth == 0:
            self.seconds += time.perf_counter() - self._entered
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
        self._started, self.ready = time.perf_counter(), 0

    def tick(self) -> None:
        """One more kernel is there."""
        self.ready += 1
        now = time.perf_counter()
        if self.depth > 0 and now - self._told > OFTEN:
            self._told, left = now, self.left()
            self._line("" if left is None else f"tabi: compiling, about {left:.0f} s left …")

    def left(self) -> float | None:
        """Seconds until a step is compiled, from how long its kernels took so far; None where that
        cannot be told.
        """
        spent = time.perf_counter() - self._started
        if self.depth == 0 or self.expected == 0 or spent < EARLY:
            return None
        part = BEFORE_WHOLE * min(1.0, self.ready / self.expected)
        return spent * (1.0 - part) / part if part > 0 else None

    def _begin(self) -> None:
        if self.said or os.environ.get("TABI_QUIET"):
            return
        self.said = True
        often = (
            "once for this version"
            if self.kept
            else "on every run, because no folder can keep it; see `tabi doctor`"
        )
        print(
            f"tabi: compiling for this processor, {often} (half a minute for a simulation) …",
            file=sys.stderr,
            flush=True,
        )

    def _line(self, line: str) -> None:
        """In place, on a terminal."""
        if sys.stderr is not None and sys.stderr.isatty() and not os.environ.get("TABI_QUIET"):
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


first_run = FirstRun()
