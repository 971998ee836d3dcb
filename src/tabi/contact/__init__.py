"""The contact problem with exact Coulomb friction: solvers, and the certificate that judges them.

``solve`` is the door for bare problems, u = W λ + q with a friction cone for every contact. Beside
it stand the older laws, for comparison: ``solve_pyramid`` and ``solve_frictionless``; and
``solve_impact``, impacts without friction.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabi._errors import near
from tabi.contact import bodies, gauss_seidel, ladder, workspace
from tabi.contact.blocks import Blocks, velocities
from tabi.contact.bodies import BodyProblem
from tabi.contact.budget import begin, limits
from tabi.contact.certificate import Certificate, judge
from tabi.contact.lemke.impact import Impact, solve_impact
from tabi.contact.lemke.pyramid import PyramidSolution, solve_frictionless, solve_pyramid
from tabi.contact.problem import Problem, ProblemError

SOLVERS = ("auto", "gauss-seidel", "accelerated gauss-seidel")
# beyond this a dense Newton without allocation costs more than SciPy's factorisations
DENSE_CONTACTS = 200
FIRST_SWEEPS = 300

__all__ = [
    "BodyProblem",
    "Certificate",
    "Impact",
    "Problem",
    "ProblemError",
    "PyramidSolution",
    "Solution",
    "judge",
    "solve",
    "solve_bodies",
    "solve_frictionless",
    "solve_impact",
    "solve_problem",
    "solve_pyramid",
]


@dataclass(frozen=True)
class Solution:
    """Impulses and how good they are.

    Attributes:
        impulse, velocity: λ [N·s] and u [m/s] in the order of the problem, shape (3n,).
        converged: whether the certificate is within the tolerance.
        residual: backward error relative to ‖q‖∞, by the certificate.
        iterations: Newton steps and sweeps together. seconds: time of the solver alone.
        solver: which method, or rung of the default one, gave the answer.

    Examples:
        >>> solution = tabi.contact.solve(np.eye(3), [0.0, 0.0, -1.0], mu=0.5, order="ttn")
        >>> print(solution.impulse, solution.converged)
        [0. 0. 1.] True
    """

    impulse: NDArray[np.float64]
    velocity: NDArray[np.float64]
    converged: bool
    residual: float
    iterations: int
    seconds: float
    solver: str
    certificate: Certificate


def solve(
    W: Any,
    q: ArrayLike,
    mu: ArrayLike,
    *,
    order: str,
    tolerance: float = 1e-8,
    initial: ArrayLike | None = None,
    solver: str = "auto",
    sweeps: int = 5000,
) -> Solution:
    """Solve u = W λ + q for impulses λ, with Signorini's and Coulomb's law at every contact.

    Args:
        W: shape (3n, 3n), dense or sparse [1/kg].
        q: shape (3n,) [m/s].
        mu: shape (n,) or one number.
        order: "ttn" (two tangents, then the normal) or "ntt" (FCLib); never guessed.
        tolerance: backward error to reach, relative to ‖q‖∞.
        initial: warm start [N·s], in the same order.
        solver: "auto", "gauss-seidel" or "accelerated gauss-seidel".
        sweeps: budget of Gauss–Seidel; the best answer so far is returned with its true error.

    Examples:
        >>> tabi.contact.solve(np.eye(3), [0.0, 0.0, -1.0], mu=0.5, order="ttn").converged
        True
    """
    return solve_problem(Problem(W, q, mu, order=order), tolerance, initial, solver, sweeps)


def solve_problem(
    problem: Problem,
    tolerance: float = 1e-8,
    initial: ArrayLike | None = None,
    solver: str = "auto",
    sweeps: int = 5000,
) -> Solution:
    """Solve a problem that is checked already. Example: ``solve_problem(problem).converged``."""
    _check(tolerance, solver, sweeps)
    p, count = problem.blocks, problem.contact_count
    impulse = np.zeros(3 * count) if initial is None else problem.to_ours(initial)
    scale = float(np.abs(p.q).max()) if count else 0.0
    dense = solver == "auto" and count <= DENSE_CONTACTS
    goal = tolerance * (scale or 1.0)
    w, flat = (
        (None, _flat(p, impulse)) if dense else (workspace.allocate(count, newton=False), None)
    )
    start = time.perf_counter()
    if solver == "gauss-seidel":
        iterations, _ = gauss_seidel.solve(p, impulse, goal, sweeps, w)
        name = solver
    elif flat is not None:
        iterations, rung, _ = ladder.solve_flat(*flat, count, goal, ladder.SETTINGS)
        name = ladder.NAMES[rung]
    else:
        # where many contacts have to agree a few sweeps are cheap against one factorisation
        iterations, error = gauss_seidel.accelerated(
            p, impulse, goal, sweeps if solver != "auto" else FIRST_SWEEPS, w
        )
        name = "accelerated gauss-seidel"
        if solver == "auto" and not error <= goal:
            rescue_iterations, rung, _ = ladder.solve_large(p, goal, impulse, w, ladder.SETTINGS)
            iterations, name = iterations + rescue_iterations, ladder.NAMES[rung]
    seconds = time.perf_counter() - start
    if flat is not None:
        impulse = flat[1][p.value.size + 6 * count :][: 3 * count]
    certificate = judge(p, impulse)
    u = np.zeros(3 * count)
    velocities(p, impulse, u)
    converged = certificate.converged(tolerance)
    return Solution(
        problem.to_theirs(impulse),
        problem.to_theirs(u),
        converged,
        certificate.relative,
        int(iterations),
        seconds,
        name,
        certificate,
    )


def solve_bodies(
    p: BodyProblem,
    tolerance: float = 1e-8,
    initial: ArrayLike | None = None,
    solver: str = "auto",
    sweeps: int = 5000,
    budget: int | None = None,
) -> Solution:
    """Solve as ``solve`` does, for contacts between bodies; where there are bodies, it is by far
    the faster form. Example: docs/contact.md.

    Args:
        p: from ``bodies.problem``; impulses and velocities are in the order "ttn".
        budget: most work, as of a step (see ``budget``); None for no limit.
    """
    _check(tolerance, solver, sweeps)
    if budget is not None and not (isinstance(budget, int) and budget > 0):
        raise ProblemError(f"budget is {budget!r}; expected a positive whole number, or None")
    count = len(p.mu)
    impulse = np.zeros(3 * count) if initial is None else np.array(initial, float).ravel()
    if impulse.shape != (3 * count,):
        raise ProblemError(f"initial has {len(impulse)} numbers; expected {3 * count}")
    blocks = bodies.prepare(p, bodies.allocate(count, len(p.start) - 1, 0))
    w = bodies.allocate(count, len(p.start) - 1, blocks)
    goal = tolerance * ((float(np.abs(p.q).max()) if count else 0.0) or 1.0)
    start = time.perf_counter()
    bodies.prepare(p, w)
    if budget is not None:
        begin(w.budget, limits(budget), count)
    if solver == "auto":
        iterations, rung, _ = ladder.solve_bodies(p, goal, impulse, w, ladder.SETTINGS)
        solver = ladder.NAMES[rung]
    else:
        plain = solver == "gauss-seidel"
        method = gauss_seidel.solve_bodies if plain else gauss_seidel.accelerated_bodies
        iterations, _ = method(p, impulse, goal, sweeps, w)
    seconds = time.perf_counter() - start
    certificate = judge(p, impulse)
    return Solution(
        impulse,
        p.velocities(impulse),
        certificate.converged(tolerance),
        certificate.relative,
        int(iterations),
        seconds,
        solver,
        certificate,
    )


def _flat(p: Blocks, impulse: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the two arrays that ``ladder.solve_flat`` takes."""
    count = len(p.mu)
    integers = np.concatenate([p.start, p.column, p.kind, workspace.integers(count)])
    reals = [p.value.ravel(), p.q, p.mu, p.bound, p.weight, impulse, workspace.memory(count)]
    return integers, np.concatenate(reals)


def _check(tolerance: float, solver: str, sweeps: int) -> None:
    if solver not in SOLVERS:
        raise ProblemError(
            f"solver is {solver!r}; expected one of "
            f"{', '.join(map(repr, SOLVERS))}{near(str(solver), SOLVERS)}"
        )
    if not (np.isfinite(tolerance) and tolerance > 0):
        raise ProblemError(f"tolerance is {tolerance}; expected a positive number, 1e-8 is usual")
    if not (isinstance(sweeps, int) and sweeps > 0):
        raise ProblemError(f"sweeps is {sweeps!r}; expected a positive whole number")
