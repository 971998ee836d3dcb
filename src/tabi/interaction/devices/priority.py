"""Real-time priority of a process with deadlines."""

from __future__ import annotations

import contextlib
import os


def raise_priority() -> bool:
    """Run this process with real-time priority on the last core, if permitted (Linux: a limit
    ``rtprio``), so that a simulation has the other cores; child processes do not inherit it.
    Returns whether it is permitted.
    """
    with contextlib.suppress(OSError, AttributeError):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
        os.sched_setscheduler(0, policy, os.sched_param(os.sched_get_priority_min(os.SCHED_FIFO)))
        return True
    return False
