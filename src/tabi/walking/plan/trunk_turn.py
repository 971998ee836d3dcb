"""Rotation of the trunk against the swing leg, which spares the stance foot its yaw moment.

A leg that swings ahead beside the body, or rotates, needs a ground moment M about the vertical. A
sole on one of its edges, of length ℓ, under the weight m g bears by friction μ no more than

    M ≤ μ m g ℓ/4                                                                               (1)
With more it rotates, by degrees in each step of a quick gait. The yaw δ of the trunk relative to
the mean direction of the feet is free with hip yaw joints, and takes part of M:

    minimise  ∫ (M + I δ̈)² + (I λ²)² δ² dt    ⟹    I δ̂ = Ω²/(Ω⁴ + λ⁴) M̂
    (2)
^: at frequency Ω. I: inertia of everything that rotates with the trunk, −∂M/∂δ̈. Below λ the trunk
follows the feet.

Reference: Kajita et al. (2003), Resolved momentum control, of which this is one component.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# μ of (1) that may be used
FRICTION = 0.5
# λ of (2) [1/s]
CUTOFF_RATE = 10.0
# time after which (2) has decayed [s]
DECAY_TIME_S = 2.0


def bearable(weight: float, length: float) -> float:
    """Return the limit (1) [N·m] of a sole of this length [m] under a weight [N]."""
    return 0.25 * FRICTION * weight * length


def counter_turn(moment: Array, inertia: float, tick: float) -> Array:
    """Return δ of (2) [rad] for M [N·m] tick by tick [s]; it begins and ends at 0 where M rests
    there.
    """
    n, padding = len(moment), round(DECAY_TIME_S / tick)
    rate = 2.0 * np.pi * np.fft.rfftfreq(n + padding, tick)
    share = rate**2 / (rate**4 + CUTOFF_RATE**4)
    return np.fft.irfft(share * np.fft.rfft(moment, n + padding), n + padding)[:n] / inertia
