"""The judge: how far impulses are from obeying Signorini and Coulomb. No solver judges itself.

For each contact, with ρ = 3/tr W_kk and Φ(u) = (0, 0, μ‖u_t‖)

    r = λ − P_K(λ − ρ (u + Φ(u))),   e = ‖r‖/ρ                                                 (1)
It is a backward error: impulses changed by r at velocities changed by e obey the law exactly.
Beside it stand the parts of the law in their own units: how far λ leaves the cone, u_n < 0, the
product λ_n u_n, and the power that friction should have taken and did not, λ_t·u_t + μ λ_n‖u_t‖. A
NaN anywhere is never converged.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tabi.contact.rows import CONTACT, SOFT, project
from tabi.jit import kernel

COLUMNS = (
    "residual",
    "impulse_residual",
    "cone_violation",
    "approach",
    "signorini",
    "dissipation_gap",
)


@dataclass(frozen=True)
class Certificate:
    """Largest errors of a solution over all contacts, and the errors of each contact.

    Attributes:
        residual: backward error e of (1) [m/s].
        impulse_residual: ‖r‖ of (1) [N·s]; divided by the step it is a force.
        cone_violation: max(0, ‖λ_t‖ − μ λ_n, −λ_n) [N·s].
        approach: max(0, −u_n) [m/s].
        signorini: |λ_n u_n| [J].
        dissipation_gap: |λ_t·u_t + μ λ_n ‖u_t‖| [J].
        scale: ‖q‖∞, what ``relative`` refers to [m/s].
        contacts: all of these per contact, shape (n, 6).

    Examples:
        >>> solution = tabi.contact.solve(np.eye(3), [0.0, 0.0, -1.0], mu=0.5, order="ttn")
        >>> solution.certificate.converged(1e-8)
        True
    """

    residual: float
    impulse_residual: float
    cone_violation: float
    approach: float
    signorini: float
    dissipation_gap: float
    scale: float
    contacts: NDArray[np.float64]

    @property
    def relative(self) -> float:
        """Backward error against ‖q‖∞."""
        return self.residual / self.scale

    def converged(self, tolerance: float) -> bool:
        """Whether the backward error is within a tolerance relative to ‖q‖∞; never for NaN."""
        return bool(self.relative <= tolerance)


class CheckedProblem(Protocol):
    """Any form of the problem that computes its velocities without the solvers' kernels."""

    @property
    def q(self) -> NDArray[np.float64]:
        """Velocities without impulse [m/s]."""
        ...

    @property
    def kind(self) -> NDArray[np.int64]:
        """Kind of each row, shape (n,)."""
        ...

    @property
    def mu(self) -> NDArray[np.float64]:
        """Coefficient of friction of each contact, shape (n,)."""
        ...

    @property
    def bound(self) -> NDArray[np.float64]:
        """Largest impulses of limited rows [N·s]."""
        ...

    def velocities(self, impulse: NDArray[np.float64]) -> NDArray[np.float64]:
        """Compute velocities u from impulses [m/s]."""
        ...


def judge(p: CheckedProblem, impulse: NDArray[np.float64]) -> Certificate:
    """Compute all errors of a solution from the problem and the impulses [N·s] alone.

    Examples:
        >>> problem = tabi.contact.Problem(np.eye(3), [0.0, 0.0, -1.0], 0.5, order="ttn")
        >>> tabi.contact.judge(problem.blocks, np.zeros(3)).residual
        1.0
    """
    rows = np.zeros((len(p.mu), len(COLUMNS)))
    figures(p, impulse, p.velocities(impulse), rows)
    # a NaN has to win, so no nanmax; an empty problem is solved
    worst = rows.max(axis=0) if len(rows) else np.zeros(len(COLUMNS))
    scale = float(np.abs(p.q).max()) if len(p.q) else 0.0
    return Certificate(*(float(x) for x in worst), scale=scale or 1.0, contacts=rows)


@kernel
def figures(p, impulse, u, rows):
    """Write one row of figures per contact, in the order of COLUMNS, from impulses [N·s] and
    velocities [m/s]; other kinds have the first two only.
    """
    for k in range(p.mu.shape[0]):
        i, mu = 3 * k, p.mu[k]
        lx, ly, ln = impulse[i], impulse[i + 1], impulse[i + 2]
        ux, uy, un = u[i], u[i + 1], u[i + 2]
        r = defect(p.kind[k], mu, p.bound[k], p.weight[k], (ux, uy, un), (lx, ly, ln))
        rows[k, 0] = r / p.weight[k]
        rows[k, 1] = r
        if p.kind[k] == CONTACT:
            slip = sqrt(ux * ux + uy * uy)
            rows[k, 2] = _positive(sqrt(lx * lx + ly * ly) - mu * ln, -ln)
            rows[k, 3] = _positive(-un, 0.0)
            rows[k, 4] = abs(ln * un)
            rows[k, 5] = abs(lx * ux + ly * uy + mu * ln * slip)


@kernel
def defect(kind, mu, bound, rho, u, impulse):
    """‖r‖ of (1) [N·s]; for other kinds than contacts Φ is zero, and SOFT rows give way."""
    slip = mu * sqrt(u[0] * u[0] + u[1] * u[1])
    normal = u[2] + slip + (bound * impulse[2] if kind == SOFT else 0.0)
    l = (impulse[0] - rho * u[0], impulse[1] - rho * u[1], impulse[2] - rho * normal)
    x, y, n = project(kind, mu, bound, l[0], l[1], l[2])
    x, y, n = impulse[0] - x, impulse[1] - y, impulse[2] - n
    return sqrt(x * x + y * y + n * n)


@kernel
def residual(p, impulse, u):
    """Largest backward error e of all rows [m/s], from given velocities; NaN if there is one."""
    worst = 0.0
    for k in range(p.mu.shape[0]):
        i, rho = 3 * k, p.weight[k]
        velocity, l = (u[i], u[i + 1], u[i + 2]), (impulse[i], impulse[i + 1], impulse[i + 2])
        e = defect(p.kind[k], p.mu[k], p.bound[k], rho, velocity, l) / rho
        if not e <= worst:
            worst = e
            if e != e:
                return e
    return worst


@kernel
def _positive(a, b):
    """The largest of a, b and 0; NaN if one is."""
    worst = 0.0
    if not a <= worst:
        worst = a
    if not b <= worst:
        worst = b
    return worst
