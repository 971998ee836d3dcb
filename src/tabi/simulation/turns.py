"""Who advances a simulator: one at a time, and nobody from within a step."""

from __future__ import annotations

from threading import Lock, get_ident

from tabi._errors import SimulationError


class Turns:
    """Steps of one simulator, of which one begins when the last has ended."""

    def __init__(self) -> None:
        self._busy, self._thread = Lock(), 0

    def begin(self) -> None:
        """Refuse a step within a step, or beside one in another thread."""
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
        self._thread = get_ident()

    def end(self) -> None:
        """The next one may begin."""
        self._busy.release()
