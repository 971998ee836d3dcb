"""A process that has a deadline goes before all that has none."""

from __future__ import annotations

import contextlib
import os


def hurry() -> bool:
    """Go before others, where that is allowed (Linux: a limit ``rtprio``), on the last processor,
    so that a simulation has the others for itself; what this process starts does not go before
    others. Returns whether it is allowed.
    """
    with contextlib.suppress(OSError, AttributeError):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
        os.sched_setscheduler(0, policy, os.sched_param(os.sched_get_priority_min(os.SCHED_FIFO)))
        return True
    return False
