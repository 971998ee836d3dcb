"""Lock of a simulator: one thread steps it at a time, and no callback steps it within a step.

Another thread may read it between two steps: see ``reading``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, get_ident

from tabi._errors import SimulationError


class StepLock:
    """Lock around the steps of one simulator."""

    def __init__(self) -> None:
        # held by the thread that steps; held while the state is read or written
        self._step, self._state, self._thread = Lock(), Lock(), 0

    def begin(self) -> None:
        """Begin a step, after threads that read the state have finished.

        Raises:
            SimulationError: within a step, or while another thread steps.
        """
        if not self._step.acquire(blocking=False):
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
            self._state.acquire()
        except BaseException:
            # interrupted while another thread read the state
            self._step.release()
            raise
        self._thread = get_ident()

    def end(self) -> None:
        """End the step, so that the next one may begin."""
        self._thread = 0
        self._state.release()
        self._step.release()

    def reject_during_step(self, what: str) -> None:
        """Reject an action that would change the state under a running step."""
        if self._thread == get_ident():
            raise SimulationError(
                f"{what} was asked for within a step, by a controller or callback of this "
                "simulator; let it return, and do it between two runs"
            )

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the state while it is set, by the thread that steps or between two steps."""
        if self._thread == get_ident():
            yield
            return
        with self._state:
            yield

    @contextmanager
    def reading(self) -> Iterator[bool]:
        """Hold the state while another thread reads it; False at once if a step is running."""
        acquired = self._state.acquire(blocking=False)
        try:
            yield acquired
        finally:
            if acquired:
                self._state.release()
