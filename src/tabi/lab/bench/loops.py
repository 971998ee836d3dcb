"""Compiled loops around single algorithms, so that nothing but the algorithm is timed.

Each turn feeds a trace of its result back into its input: no compiler can take it out of the loop.
"""

from tabi.contact import bodies, body_sweep, gauss_seidel, ladder
from tabi.contact.lemke import pyramid
from tabi.dynamics import crba, forward, free, rnea
from tabi.jit import kernel


@kernel
def forward_dynamics(count, m, q, v, tau, w, a):
    """``count`` evaluations of aba."""
    for _ in range(count):
        forward.forward_dynamics(m, q, v, tau, w, a)
        v[0] += 1e-300 * a[0]


@kernel
def inverse_dynamics(count, m, q, v, a, w, tau):
    """``count`` evaluations of rnea."""
    for _ in range(count):
        rnea.inverse_dynamics(m, q, v, a, w, tau)
        v[0] += 1e-300 * tau[0]


@kernel
def mass_matrix(count, m, q, w, M):
    """``count`` evaluations of crba."""
    for _ in range(count):
        crba.mass_matrix(m, q, w, M)
        q[0] += 1e-300 * M[0, 0]


@kernel
def free_steps(count, m, q, v, tau, h, order, w, a):
    """``count`` free steps."""
    for _ in range(count):
        free.step(m, q, v, tau, h, order, w, a)


def run_once(m, q, v, tau, w, a, M) -> None:
    """Every loop, once around."""
    forward_dynamics(1, m, q, v, tau, w, a)
    inverse_dynamics(1, m, q, v, a, w, tau)
    mass_matrix(1, m, q, w, M)
    free_steps(1, m, q, v, tau, 1e-3, 1, w, a)


@kernel
def sweeps(count, p, first, impulse, work):
    """``count`` sweeps of Gauss–Seidel in the space of bodies, all from the same impulses."""
    for _ in range(count):
        for i in range(impulse.shape[0]):
            impulse[i] = first[i]
        body_sweep.sweep(p, impulse, work)


@kernel
def matrix_sweeps(count, p, first, impulse, work):
    """The same over the blocks of a matrix."""
    for _ in range(count):
        for i in range(impulse.shape[0]):
            impulse[i] = first[i]
        gauss_seidel.sweep(p, impulse, work)


@kernel
def warm_solves(count, p, warm, tolerance, impulse, work):
    """``count`` contact problems solved from the same warm start,
    with all that a step does for them.
    """
    for _ in range(count):
        for i in range(impulse.shape[0]):
            impulse[i] = warm[i]
        bodies.prepare(p, work)
        ladder.solve_bodies(p, tolerance, impulse, work, ladder.SETTINGS)


@kernel
def climbs(count, p, tolerance, impulse, work):
    """The list of attempts, so many times from zero impulses."""
    result = (0, 0, 0.0)
    for _ in range(count):
        for i in range(impulse.shape[0]):
            impulse[i] = 0.0
        result = ladder.solve(p, tolerance, impulse, work, ladder.SETTINGS)
    return result


@kernel
def sweepings(count, p, tolerance, sweeps, impulse, work):
    """Gauss–Seidel, so many times from zero impulses."""
    result = (0, 0.0)
    for _ in range(count):
        for i in range(impulse.shape[0]):
            impulse[i] = 0.0
        for i in range(p.mu.shape[0]):
            work.alpha[i] = 0.0
        result = gauss_seidel.solve(p, impulse, tolerance, sweeps, work)
    return result


@kernel
def pivotings(count, W, q, mu, impulse, work):
    """Lemke's algorithm, so many times, the making of its matrix included."""
    result = (0, 0)
    for _ in range(count):
        result = pyramid.solve(W, q, mu, impulse, work)
    return result
