"""Moments of contacts in the second stage: rows of ``rows.moments``, of rotation at the end.

    u = E_m (J_m v⁺ + δ),   δ = R (ω_a − ω_b)_e − (ω_a − ω_b)_m for v₁                           (1)
as for contacts (``middle``).
"""

from tabi.jit import kernel
from tabi.spatial.vector import angular, load3, load6, load9, mul, sub
from tabi.step.parts import no_revision as revise
from tabi.step.rows import moments
from tabi.step.rows.moments import add, withhold

__all__ = ["add", "fill", "measure", "revise", "warm_start", "withhold"]
warm_start = moments.warm_start


@kernel(apart="none", rare=True)
def fill(part_memory, t, d, e, s, x, group, h):
    """Fill rows (1), after those of the contact."""
    moments.fill(part_memory, t, d, e, s, x, group, h)
    drift = mul(load9(s.problem.contact[x].frame), load3(s.second.drift[3 * e :]))
    for c in range(3):
        s.shift[3 * x + c] = drift[c]
        s.problem.q[3 * x + c] += drift[c]


@kernel(inline=True)
def measure(w, point):
    """Return the relative angular velocity of the bodies of a point [rad/s]."""
    a, b = load6(w.body[point.a].velocity), load6(w.body[point.b].velocity)
    return sub(angular(a), angular(b))
