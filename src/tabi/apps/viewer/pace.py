"""A loop that is faster than the clock waits for it, one that is slower does not catch up.

With the clock w and the simulated time t, both since the loop was last set going, a step that ends
ahead of the clock waits for t − w; one that is late by more than ``LAG`` lets the lost time go.
"""

from __future__ import annotations

import time as clock

# s: waits that are not worth it, and how far to be late before time is let go
SHORTEST, LAG = 5e-4, 0.1


class Pace:
    """Holds the steps of a loop back, so that simulated time does not run ahead of the clock."""

    def __init__(self) -> None:
        self._start: tuple[float, float] | None = None
        self._last = 0.0

    def rest(self) -> None:
        """Count from the next step on."""
        self._start = None

    def wait(self, time: float, dt: float) -> None:
        """After the step that ends at a simulated time [s], of a length dt [s]."""
        # a state that was restored, or steps that were not told
        if not 0.5 * dt < time - self._last < 1.5 * dt:
            self._start = None
        self._last, now = time, clock.monotonic()
        if self._start is None:
            self._start = now - dt, time - dt
        ahead = (time - self._start[1]) - (now - self._start[0])
        if ahead > SHORTEST:
            clock.sleep(ahead)
        elif ahead < -LAG:
            self._start = now, time
