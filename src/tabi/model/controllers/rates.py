"""Rates of what happens less often than steps: controllers, recordings, sensors."""

from __future__ import annotations

import numpy as np

from tabi._errors import ModelError, real


def steps_between(rate: float | None, dt: float, owner: str) -> int:
    """Return the number of steps of dt [s] between two calls at a rate [Hz]; 1 without a rate."""
    if rate is None:
        return 1
    rate = real(f"rate of {owner}", rate)
    every = max(1, round(1 / (rate * dt))) if np.isfinite(rate) and rate > 0 else 0
    if every == 0 or abs(every * dt * rate - 1) > 1e-6:
        raise ModelError(
            f"rate of {owner} is {rate:g} Hz; "
            f"expected one that divides {1 / dt:g} Hz, the rate of the steps{_nearest(rate, dt)}"
        )
    return every


def _nearest(rate: float, dt: float) -> str:
    """Return the end of a sentence with the nearest valid rates."""
    if not (np.isfinite(rate) and 0 < rate < 1 / dt):
        return ""
    whole = int(1 / (rate * dt))
    return f"; nearest are {1 / (dt * whole):.6g} and {1 / (dt * (whole + 1)):.6g} Hz"
