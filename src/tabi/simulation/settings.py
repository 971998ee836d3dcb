"""What a simulator is told besides its world: the step, the tolerance, the scheme."""

from __future__ import annotations

from typing import Any

import numpy as np

from tabi._errors import ModelError, unknown
from tabi.model.world import World

TIME_STEPPING, EVENT_DRIVEN = "time-stepping", "event-driven"
SCHEMES = (TIME_STEPPING, EVENT_DRIVEN)


def check(world: Any, dt: Any, tolerance: Any, scheme: Any) -> None:
    """Refuse what no simulator can be made of."""
    if not isinstance(world, World):
        raise ModelError(f"world is {world!r}; expected a tabi.World")
    for name, value, expected in (
        ("dt", dt, "number of seconds, 1e-3 is usual"),
        ("tolerance", tolerance, "velocity in m/s, 1e-8 is usual"),
    ):
        if not (isinstance(value, (int, float)) and np.isfinite(value) and value > 0):
            raise ModelError(f"{name} is {value!r}; expected a positive {expected}")
    if scheme not in SCHEMES:
        raise unknown("scheme", str(scheme), "tabi", SCHEMES)
