"""Impacts without friction: Newton's restitution as a linear complementarity problem,
solved by Lemke.

The normals of n contacts close at v = J_n v⁻, and impulses change that by Λ = J_n M⁻¹ J_nᵀ:

    0 ≤ λ ⊥ Λ λ + v + ε min(v, 0) ≥ 0                                                          (1)
A contact that closes leaves at ε times its speed, or faster. One that already leaves may be slowed
to rest, not turned around: that is the min; Chardonnet (2006), eq. 2, has ε v for both, and lets a
contact that left at v close at ε v.

Energy: complementarity and ΔT = λᵀv + ½ λᵀΛλ give

    ΔT = ½ Σ_{v<0} (1 − ε_i) λ_i v_i + ½ Σ_{v>0} λ_i v_i                                       (2)
The first sum is never positive: while no contact leaves, no energy comes from nowhere, however
different the ε of the contacts are. The second is never negative. A contact that leaves, and is
caught up with by what bounces elsewhere, ends at rest; with ε near 1 that makes energy. Three balls
in a row, the first at speed 1 into the second, the third leaving at s: ΔT = m s (1 − s)/3. With one
ε for all, eq. 2 of the paper makes none, ΔT = −½ (1 − ε)/(1 + ε) λᵀΛλ; but it lets contacts close.

And (1) may have no solution: a ball that touches two walls, hits one and leaves the other, has
nowhere to bounce to. For both reasons all ε of an event are lowered, where need be, by one factor,
until (1) has a solution and ΔT ≤ 0. With ε = 0 both are certain: ΔT = −½ λᵀΛλ.

References: Chardonnet (2006), sec. II-B; Ruspini and Khatib (1999); Moreau (1988).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi.contact.lemke import lemke
from tabi.contact.problem import ProblemError, numbers, square
from tabi.jit import kernel
from tabi.jit.structure import Structure

Floats = NDArray[np.float64]

# pivots of Lemke's algorithm for each row, at most
PIVOTS = 20
# energy below so much of what is exchanged is rounding
ROUNDING = 1e-12
# halvings of the factor: enough for nine digits
HALVINGS = 30


@dataclass(frozen=True)
class Impact:
    """Impulses of an impact.

    Attributes:
        impulse: λ along the normals [N·s], shape (n,).
        velocity: of the contacts afterwards, positive where they leave [m/s], shape (n,).
        energy: what the bodies have gained [J], never more than rounding.
        factor: 1, or what every ε was multiplied by so that there is a solution and no energy
            is made.
        solved: whether (1) is solved, with the lowered ε.

    Examples:
        >>> tabi.contact.solve_impact([[1.0]], [-2.0], [0.5]).impulse
        array([3.])
    """

    impulse: Floats
    velocity: Floats
    energy: float
    factor: float
    solved: bool


class ImpactWork(Structure):
    """Arrays the kernels write, for n contacts.

    Attributes:
        right: of (1). trial: impulses. lemke: memory of Lemke's algorithm.
    """

    right: Floats
    trial: Floats
    lemke: lemke.LemkeWork


def allocate(contacts: int) -> ImpactWork:
    """Memory for up to so many contacts."""
    return ImpactWork(np.zeros(contacts), np.zeros(contacts), lemke.allocate(contacts))


def solve_impact(delassus: ArrayLike, velocity: ArrayLike, restitution: ArrayLike) -> Impact:
    """Solve an impact without friction, with Newton's restitution, for its impulses.

    Args:
        delassus: Λ over the normals, shape (n, n) [1/kg].
        velocity: of the contacts before, negative where they close [m/s], shape (n,).
        restitution: ε from 0 to 1, of each contact or of all.

    Examples:
        >>> impact = tabi.contact.solve_impact([[1.0]], [-2.0], [0.5])
        >>> print(impact.impulse, impact.velocity)
        [3.] [1.]
    """
    L = square("delassus", delassus)
    v = numbers("velocity", velocity).ravel()
    e = numbers("restitution", restitution)
    if len(L) != len(v):
        raise ProblemError(
            f"delassus has shape {L.shape}; expected ({len(v)}, {len(v)}), "
            f"as velocity has {len(v)} numbers"
        )
    e = np.full(len(v), float(e)) if e.ndim == 0 else e.ravel()
    if len(e) != len(v):
        raise ProblemError(
            f"restitution has {len(e)} numbers; expected {len(v)}, one for each contact"
        )
    for k in np.flatnonzero((e < 0) | (e > 1))[:1]:
        raise ProblemError(
            f"restitution[{k}] is {e[k]:g}; expected a number from 0 (plastic) to 1 (elastic)"
        )
    impulse = np.zeros(len(v))
    end, factor = solve(L, v, e, impulse, allocate(len(v)))
    after = L @ impulse + v
    return Impact(
        impulse, after, float(0.5 * impulse @ (v + after)), float(factor), end == lemke.SOLVED
    )


@kernel
def solve(L, v, restitution, impulse, w):
    """Solve (1), with ε lowered where there is no solution or (2) is positive.

    Args:
        L: Λ. v: before. restitution: of each contact. impulse: what is found.
        w: memory for at least as many contacts.

    Returns:
        one of lemke's ends, and what the ε were multiplied by, 1 where they were not lowered.
    """
    n = v.shape[0]
    end, gain, noise = _bounce(L, v, restitution, 1.0, impulse, w)
    if end == lemke.SOLVED and gain <= noise:
        return end, 1.0
    low, high = 0.0, 1.0
    end, gain, noise = _bounce(L, v, restitution, 0.0, impulse, w)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        tried, gain, noise = _bounce(L, v, restitution, middle, w.trial[:n], w)
        if tried == lemke.SOLVED and gain <= noise:
            low = middle
            for i in range(n):
                impulse[i] = w.trial[i]
        else:
            high = middle
    return end, low


@kernel
def _bounce(L, v, restitution, factor, impulse, w):
    """(1) with every ε times a factor; returns how it ended, the energy gained,
    and what of it may be rounding.
    """
    n, gain, noise = v.shape[0], 0.0, 0.0
    for i in range(n):
        w.right[i] = v[i] + factor * restitution[i] * min(v[i], 0.0)
    end, _ = lemke.solve(L, w.right[:n], impulse, PIVOTS * (n + 5), w.lemke)
    for i in range(n):
        after = v[i]
        for j in range(n):
            after += L[i, j] * impulse[j]
        gain += 0.5 * impulse[i] * (v[i] + after)
        noise += ROUNDING * impulse[i] * abs(v[i])
    return end, gain, noise
