"""A loop that is faster than the clock waits for it, one that is slower does not catch up.

With the clock w and the simulated time t, both since the loop was last set going, a step that ends
ahead of the clock waits for t − w; one that is late by more than ``MAX_LAG_S`` lets the lost time
go.
"""

from __future__ import annotations

import time as clock

# shorter waits are skipped; by how much to be late before time is let go
MIN_WAIT_S, MAX_LAG_S = 5e-4, 0.1


class Pace:
    """Holds the steps of a loop back, so that simulated time does not run ahead of the clock."""

    def __init__(self) -> None:
        self._start: tuple[float, float] | None = None
        self._last = 0.0

    def rest(self) -> None:
        """Count from the next step on."""
        self._start = None

    def wait(self, time: float, dt: float) -> None:
        """Wait after the step that ends at a simulated time [s], of a length dt [s]."""
        # a state that was restored, or steps that were not reported
        if not 0.5 * dt < time - self._last < 1.5 * dt:
            self._start = None
        self._last, now = time, clock.monotonic()
        if self._start is None:
            self._start = now - dt, time - dt
        ahead = (time - self._start[1]) - (now - self._start[0])
        if ahead > MIN_WAIT_S:
            clock.sleep(ahead)
        elif ahead < -MAX_LAG_S:
            self._start = now, time
