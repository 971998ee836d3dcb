"""The friction pyramid: Coulomb's cone with flat sides, a linear complementarity problem for Lemke.

k directions d_j in the tangent plane of each contact, an even number all around, stand for the disc
of friction; β is the speed of the slip, as the pyramid sees it:

    0 ≤ λ_j ⊥ d_j·u_t + β ≥ 0,   λ_t = Σ λ_j d_j
    0 ≤ λ_n ⊥ u_n ≥ 0,   0 ≤ β ⊥ μ λ_n − Σ λ_j ≥ 0                                             (1)
u = W λ + q: k + 2 rows for each contact. The pyramid lies inside the cone and touches it along its
k edges: the push that begins to move a thing is too small by up to 1 − cos(π/k), and a sliding
thing is pushed along the nearest edge, off by up to 180°/k. Without directions, one row for each
contact, it is the frictionless problem.

A ray, for a W of bodies, needs impulses within the pyramids that move nothing, against contacts
that close: something is wedged.

References: Stewart and Trinkle (1996); Anitescu and Potra (1997); what Chardonnet (2006), sec. I,
compares his method with.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from tabi.contact import bodies
from tabi.contact.bodies import BodyProblem
from tabi.contact.certificate import Certificate, judge
from tabi.contact.lemke import lemke
from tabi.contact.problem import Problem, ProblemError
from tabi.contact.rows import CONTACT, IDLE
from tabi.jit import kernel
from tabi.jit.structure import Structure

Floats = NDArray[np.float64]

# rows whose two dense matrices still fit into half a gigabyte
MOST_ROWS = 5000
# Lemke's pivots for each row, at most; a few are usual
PIVOTS = 20


@dataclass(frozen=True)
class PyramidSolution:
    """Impulses of the pyramid's law, and their errors by the exact law.

    Attributes:
        impulse, velocity: λ [N·s] and u [m/s] in the order of the problem, shape (3n,).
        solved: whether (1) is solved; how it ended: "solved", "ray", "pivot limit" or "inexact".
        own_residual: the largest violation of (1), impulses divided by ρ = 3/tr W_kk [m/s].
        rows: of the linear complementarity problem.
        pivots: of Lemke's algorithm.
        seconds: time of both together.
        certificate: of the exact law, with the round cone.

    Examples:
        >>> tabi.contact.solve_pyramid(np.eye(3), [1.0, 0.0, -1.0], 0.5, order="ttn").solved
        True
    """

    impulse: Floats
    velocity: Floats
    solved: bool
    end: str
    own_residual: float
    rows: int
    pivots: int
    seconds: float
    certificate: Certificate


class PyramidArrays(Structure):
    """Arrays the kernels write, for a number of contacts and directions.

    Attributes:
        direction: d_j in the contact's frame, then the normal, shape (k + 1, 3).
        W: over contacts, shape (3n, 3n). M, q, z: of the linear complementarity problem.
        unit, still, u: memory, shape (3n,). wrench, twist: memory of bodies.
        lemke: memory of Lemke's algorithm.
    """

    direction: Floats
    W: Floats
    M: Floats
    q: Floats
    z: Floats
    unit: Floats
    still: Floats
    u: Floats
    wrench: Floats
    twist: Floats
    lemke: lemke.LemkeWork


def allocate(contacts: int, facets: int, body_count: int = 0) -> PyramidArrays:
    """Memory for up to so many contacts, and for as many bodies where ``solve_bodies`` is to use
    it; no facets: without friction.
    """
    n, rows = 3 * contacts, rows_of(contacts, facets)
    angle = 2 * np.pi / max(facets, 1) * np.arange(facets)
    around = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(facets)])
    return PyramidArrays(
        direction=np.vstack([around, (0.0, 0.0, 1.0)]),
        W=np.zeros((n, n)),
        M=np.zeros((rows, rows)),
        q=np.zeros(rows),
        z=np.zeros(rows),
        unit=np.zeros(n),
        still=np.zeros(n),
        u=np.zeros(n),
        wrench=np.zeros(6 * body_count),
        twist=np.zeros(6 * body_count),
        lemke=lemke.allocate(rows),
    )


def rows_of(contacts: int, facets: int) -> int:
    """Rows of the linear complementarity problem; no facets: without friction."""
    return contacts * (facets + 2 if facets > 0 else 1)


# ---- at the door ----------------------------------------------------------------------------


def solve_pyramid(
    W: Any, q: ArrayLike, mu: ArrayLike, *, order: str, facets: int = 8
) -> PyramidSolution:
    """Solve u = W λ + q for impulses λ under the pyramid's law (1).

    Args:
        W, q, mu, order: as for ``solve``.
        facets: sides of the pyramid, an even number from 4 on.

    Examples:
        >>> tabi.contact.solve_pyramid(np.eye(3), [1.0, 0.0, -1.0], 0.5, order="ttn").solved
        True
    """
    check_facets(facets)
    return _solve(Problem(W, q, mu, order=order), int(facets))


def check_facets(facets: Any) -> None:
    """Refuse what is no number of sides."""
    if isinstance(facets, bool) or not isinstance(facets, int | np.integer):
        raise ProblemError(f"facets is {facets!r}; expected a whole number, 8 is usual")
    if facets < 4 or facets % 2:
        raise ProblemError(
            f"facets is {facets}; expected an even number from 4 on: "
            "with every direction its opposite, 8 is usual"
        )


def solve_frictionless(W: Any, q: ArrayLike, *, order: str) -> PyramidSolution:
    """Impulses along the normals alone: one row for each contact;
    W and q have their tangents all the same, as for ``solve``.

    Examples:
        >>> tabi.contact.solve_frictionless(np.eye(3), [1.0, 0.0, -1.0], order="ttn").solved
        True
    """
    return _solve(Problem(W, q, 0.0, order=order), 0)


def _solve(problem: Problem, facets: int) -> PyramidSolution:
    p, count = problem.blocks, problem.contact_count
    rows = rows_of(count, facets)
    if rows > MOST_ROWS:
        raise ProblemError(
            f"{count} contacts with {facets} facets are {rows} rows; at most {MOST_ROWS}: "
            "take fewer facets, or the exact cone"
        )
    W = scipy.sparse.bsr_matrix(
        (p.value.reshape(-1, 3, 3), p.column, p.start), (3 * count, 3 * count)
    ).toarray()
    work, impulse = allocate(count, facets), np.zeros(3 * count)
    start = time.perf_counter()
    end, pivots = solve(W, p.q, p.mu, impulse, work)
    seconds = time.perf_counter() - start
    certificate = judge(p, impulse)
    return PyramidSolution(
        impulse=problem.to_theirs(impulse),
        velocity=problem.to_theirs(p.velocities(impulse)),
        solved=end == lemke.SOLVED,
        end=lemke.ENDS[end],
        own_residual=_violation(work, 1 / p.weight, facets),
        rows=rows,
        pivots=int(pivots),
        seconds=seconds,
        certificate=certificate,
    )


def _violation(work: PyramidArrays, admittance: Floats, facets: int) -> float:
    """The largest |min(z, M z + q)|, impulses brought to m/s by 1/ρ of their contact."""
    z, slack = work.z.copy(), work.M @ work.z + work.q
    scale = np.repeat(admittance, rows_of(1, facets))
    is_beta = np.arange(len(z)) % rows_of(1, facets) == facets + 1
    z[~is_beta] *= scale[~is_beta]
    slack[is_beta] *= scale[is_beta]
    return float(np.abs(np.minimum(z, slack)).max(initial=0.0))


# ---- kernels --------------------------------------------------------------------------------


@kernel
def solve(W, q, mu, impulse, w):
    """Solve the pyramid's problem (1).

    Args:
        W, q, mu: of n contacts, tangents first. impulse: shape (3n,), what is found.
        w: memory for at least as many contacts, with its directions.

    Returns:
        one of lemke's ends, pivots.
    """
    count, facets, d = mu.shape[0], w.direction.shape[0] - 1, w.direction
    each = facets + 2 if facets > 0 else 1
    n = each * count
    _fill(W, q, mu, w)
    z = w.z[:n]
    end, pivots = lemke.solve(w.M, w.q[:n], z, PIVOTS * (n + 5), w.lemke)
    for k in range(count):
        x, y = 0.0, 0.0
        for a in range(facets):
            x += z[each * k + a] * d[a, 0]
            y += z[each * k + a] * d[a, 1]
        impulse[3 * k], impulse[3 * k + 1], impulse[3 * k + 2] = x, y, z[each * k + facets]
    return end, pivots


@kernel
def solve_bodies(p, impulse, w):
    """Solve as ``solve`` does, for contacts between bodies: W are the velocities of all contacts
    under unit impulses. Rows of other kinds are not supported.
    """
    n = 3 * p.mu.shape[0]
    for k in range(p.mu.shape[0]):
        if p.kind[k] not in (CONTACT, IDLE):
            return lemke.INEXACT, 0
    for i in range(n):
        w.unit[i], w.still[i] = 0.0, 0.0
    q = w.still[:n]
    still = BodyProblem(
        p.contact, p.start, p.column, p.omega, q, p.kind, p.mu, p.bound, p.weight, p.parent
    )
    for j in range(n):
        w.unit[j] = 1.0
        bodies.velocities(still, w.unit, w.u, w.wrench, w.twist)
        w.unit[j] = 0.0
        for i in range(n):
            idle = p.kind[i // 3] == IDLE or p.kind[j // 3] == IDLE
            w.W[i, j] = w.u[i] if not idle else 0.0
    return solve(w.W, p.q, p.mu, impulse, w)


@kernel
def _fill(W, q, mu, w):
    """M and q of (1): of every contact the directions, the normal, β."""
    count, facets, d, M, row = mu.shape[0], w.direction.shape[0] - 1, w.direction, w.M, 0
    each = facets + 2 if facets > 0 else 1
    for k in range(count):
        i = 3 * k
        for a in range(facets + 1):
            x, y, n = d[a, 0], d[a, 1], d[a, 2]
            w.q[row] = x * q[i] + y * q[i + 1] + n * q[i + 2]
            for l in range(count):
                j = 3 * l
                X = x * W[i, j] + y * W[i + 1, j] + n * W[i + 2, j]
                Y = x * W[i, j + 1] + y * W[i + 1, j + 1] + n * W[i + 2, j + 1]
                N = x * W[i, j + 2] + y * W[i + 1, j + 2] + n * W[i + 2, j + 2]
                for b in range(facets + 1):
                    M[row, each * l + b] = X * d[b, 0] + Y * d[b, 1] + N * d[b, 2]
                if facets > 0:
                    M[row, each * l + facets + 1] = 1.0 if l == k and a < facets else 0.0
            row += 1
        if facets > 0:
            w.q[row] = 0.0
            for j in range(each * count):
                M[row, j] = 0.0
            for a in range(facets):
                M[row, each * k + a] = -1.0
            M[row, each * k + facets] = mu[k]
            row += 1
