"""A trunk that turns against the leg that swings, so that the foot that stands need not.

A leg that swings ahead beside the body, or turns, asks the ground for a moment M about the
vertical. A sole on one of its edges, of length ℓ, under the weight m g bears by friction μ no more
than

    M ≤ μ m g ℓ/4                                                                               (1)
With more it turns, by degrees in each step of a quick gait. What the trunk does besides the mean
direction of the feet, δ, is free where hips turn, and takes part of M:

    minimise  ∫ (M + I δ̈)² + (I λ²)² δ² dt    ⟹    I δ̂ = Ω²/(Ω⁴ + λ⁴) M̂                          (2)
^: of frequency Ω. I: what M changes by with δ̈, so of all that turns along. Slower than λ the trunk
goes with the feet.

Reference: Kajita et al. (2003), Resolved momentum control, of which this is one component.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# μ of (1), that may be asked for
FRICTION = 0.5
# λ of (2) [1/s]
SLOW = 10.0
# after this time nothing is left of (2) [s]
FADES = 2.0


def bearable(weight: float, length: float) -> float:
    """(1) [N·m], of a sole of this length [m] under a weight [N]."""
    return 0.25 * FRICTION * weight * length


def counter_turn(moment: Array, inertia: float, tick: float) -> Array:
    """δ of (2) [rad] for M [N·m] tick by tick [s]; it begins and ends at 0 where M rests there."""
    n, more = len(moment), round(FADES / tick)
    rate = 2.0 * np.pi * np.fft.rfftfreq(n + more, tick)
    share = rate**2 / (rate**4 + SLOW**4)
    return np.fft.irfft(share * np.fft.rfft(moment, n + more), n + more)[:n] / inertia
