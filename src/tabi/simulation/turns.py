"""Who advances a simulator: one at a time, and nobody from within a step.

Another thread may look at it between two steps: see ``looking``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, get_ident

from tabi._errors import SimulationError


class Turns:
    """Steps of one simulator, of which one begins when the last has ended."""

    def __init__(self) -> None:
        # who steps, and who reads or writes the numbers of the simulation
        self._busy, self._numbers, self._thread = Lock(), Lock(), 0

    def begin(self) -> None:
        """Refuse a step within a step, or beside one in another thread; wait for who looks."""
        if not self._busy.acquire(blocking=False):
            if self._thread == get_ident():
                raise SimulationError(
                    "a step was asked for within a step, by a controller or callback of this "
                    "simulator; let it return, or simulate ahead in a simulator of its own"
                )
            raise SimulationError(
                "this simulator is already stepping in another thread; "
                "give each thread a simulator of its own, or let one wait for the other"
            )
        try:
            self._numbers.acquire()
        except BaseException:
            # interrupted while somebody looked
            self._busy.release()
            raise
        self._thread = get_ident()

    def end(self) -> None:
        """The next one may begin."""
        self._thread = 0
        self._numbers.release()
        self._busy.release()

    def outside(self, what: str) -> None:
        """Refuse what would pull the rug from under a step."""
        if self._thread == get_ident():
            raise SimulationError(
                f"{what} was asked for within a step, by a controller or callback of this "
                "simulator; let it return, and do it between two runs"
            )

    @contextmanager
    def changing(self) -> Iterator[None]:
        """While a state is set, by whoever steps, or when nobody does."""
        if self._thread == get_ident():
            yield
            return
        with self._numbers:
            yield

    @contextmanager
    def looking(self) -> Iterator[bool]:
        """While another thread looks; False, at once, where a step is under way."""
        got = self._numbers.acquire(blocking=False)
        try:
            yield got
        finally:
            if got:
                self._numbers.release()
