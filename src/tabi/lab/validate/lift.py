"""Potential energy that a step adds by moving bodies without velocity.

Overlaps are left and loops are closed in the configuration alone: q⁺ = q ⊕ h v̄ with another v̄ than
the velocity v⁺ that the step ends with. What that lifts is V(q⁺) − V(q ⊕ h v⁺).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabi import dynamics
from tabi.dynamics import integration
from tabi.simulation.simulator import Simulator


def velocity_only(sim: Simulator, before: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return q after the last step, from q = ``before``, if only its velocity had moved it."""
    q = before.copy()
    integration.advance(sim.model.arrays, q, sim.data.v, sim.dt)
    return q


def lift(sim: Simulator, expected: NDArray[np.float64]) -> float:
    """Return the energy added in the last step [J]; ``expected`` is from ``velocity_only``."""
    v = sim.data.v
    ended = dynamics.energy(sim.model, sim.data.q, v).potential
    return float(ended - dynamics.energy(sim.model, expected, v).potential)
