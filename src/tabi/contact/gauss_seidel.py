"""Gauss–Seidel over contacts, each solved exactly: the method of the papers.

    λ_k ← solution of the local problem with b_k = q_k + Σ_{j≠k} W_kj λ_j                      (1)
It is cheap, can end at any time and factors no matrices, but is slow on stacks and rank-deficient
feet. Anderson acceleration over the last sweeps x ↦ g(x), with f = g − x, helps where hundreds of
contacts have to agree:

    x⁺ = g − ΔG γ,   γ = argmin ‖f − ΔF γ‖,   restarted when the residual doubles           (2)

References: Chardonnet (2006), sec. III (C12's eq. 13 is misprinted); Jean (1999); Walker and
Ni (2011).
"""

from tabi.contact import bodies, body_sweep, budget
from tabi.contact.blocks import row_velocity, velocities_with
from tabi.contact.certificate import residual
from tabi.contact.rows import local, project
from tabi.contact.workspace import DEPTH
from tabi.jit import kernel
from tabi.spatial.cholesky import solve as solve_small


@kernel(inline=True)
def price(p):
    """Work of a sweep with its residual, see ``budget``: all blocks twice."""
    return 3 * p.mu.shape[0] + 2 * p.start[p.mu.shape[0]]


@kernel
def sweep(p, impulse, work):
    """Equation (1) once over all contacts, in their order."""
    alpha = work.alpha
    for k in range(p.mu.shape[0]):
        i, W = 3 * k, p.value[p.start[k]]
        lx, ly, ln = impulse[i], impulse[i + 1], impulse[i + 2]
        x, y, n = row_velocity(p, k, impulse)
        # the local problem has the symmetric part of its block;
        # with it taken off here too, the fixed point is that of W
        xy, xn, yn = 0.5 * (W[1] + W[3]), 0.5 * (W[2] + W[6]), 0.5 * (W[5] + W[7])
        b = (
            x - (W[0] * lx + xy * ly + xn * ln),
            y - (xy * lx + W[4] * ly + yn * ln),
            n - (xn * lx + yn * ly + W[8] * ln),
        )
        block = (W[0], xy, xn, W[4], yn, W[8])
        new, alpha[k] = local(p.kind[k], block, p.mu[k], p.bound[k], b, alpha[k])
        impulse[i], impulse[i + 1], impulse[i + 2] = new[0], new[1], new[2]


def solve_on(velocities, sweep, begin):
    """Plain Gauss–Seidel for one form of the problem;
    ``begin`` is called before the first sweep.
    """

    @kernel
    def solve(p, impulse, tolerance, sweeps, work):
        """Sweep until the backward error is within the tolerance [m/s];
        the residual is looked at ever more rarely.

        Returns:
            sweeps done, backward error [m/s].
        """
        begin(p, work)
        velocities(p, impulse, work.u, work)
        error = residual(p, impulse, work.u)
        done, check = 0, 1
        while done < sweeps and not error <= tolerance:
            sweep(p, impulse, work)
            done += 1
            if done == check or done == sweeps:  # noqa: SIM109 (kernels know no sets)
                velocities(p, impulse, work.u, work)
                error = residual(p, impulse, work.u)
                check = done + 1 + done // 8
        return done, error

    return solve


def accelerated_on(velocities, sweep, begin, price):
    """Gauss–Seidel with (2), for one form of the problem; price: kernel, work of a sweep."""

    @kernel(apart="int64, float64", rare=True)
    def accelerated(p, impulse, tolerance, sweeps, work):
        """Solve as ``solve`` does, with (2) over the last DEPTH sweeps; sweeps after the first as
        far as work.budget allows.

        work.F, work.G hold differences, then the last f and g, then x and the best point.
        """
        u, F, G, n = work.u, work.F, work.G, impulse.shape[0]
        best, stored, error, done, cost = -1.0, 0, 0.0, 0, price(p)
        begin(p, work)
        while done < sweeps and (done == 0 or budget.goes_on(work.budget, done)):
            done += 1
            work.budget[budget.WORK] += cost
            for i in range(n):
                F[DEPTH + 1, i] = impulse[i]
            sweep(p, impulse, work)
            velocities(p, impulse, u, work)
            error = residual(p, impulse, u)
            if error <= tolerance:
                return done, error
            if best >= 0.0 and not error <= 2.0 * best:
                stored = 0
            if best < 0.0 or error < best:
                best = error
                for i in range(n):
                    G[DEPTH + 1, i] = impulse[i]
            # newest differences of f = g − x and of g
            row = stored % DEPTH
            for i in range(n):
                f = impulse[i] - F[DEPTH + 1, i]
                if done > 1:
                    F[row, i] = f - F[DEPTH, i]
                    G[row, i] = impulse[i] - G[DEPTH, i]
                F[DEPTH, i], G[DEPTH, i] = f, impulse[i]
            if done > 1:
                stored += 1
                _mix(p, impulse, min(stored, DEPTH), F, G, work.gram)
        for i in range(n):
            impulse[i] = G[DEPTH + 1, i]
        velocities(p, impulse, u, work)
        return done, best

    return accelerated


@kernel
def _mix(p, impulse, m, F, G, gram):
    """x⁺ of (2), put back into the cones."""
    trace, n = 0.0, impulse.shape[0]
    for a in range(m):
        for b in range(a + 1):
            gram[a, b] = _dot(F[a], F[b], n)
        gram[a, m] = _dot(F[a], F[DEPTH], n)
        trace += gram[a, a]
    for a in range(m):
        gram[a, a] += 1e-12 * trace + 1e-300
    solve_small(gram, m)
    for a in range(m):
        for i in range(n):
            impulse[i] -= gram[a, m] * G[a, i]
    for k in range(p.mu.shape[0]):
        i = 3 * k
        l = (impulse[i], impulse[i + 1], impulse[i + 2])
        l = project(p.kind[k], p.mu[k], p.bound[k], l[0], l[1], l[2])
        impulse[i], impulse[i + 1], impulse[i + 2] = l[0], l[1], l[2]


@kernel
def _dot(a, b, n):
    # in four sums, or each term would wait for the one before it
    s, t, u, v, end = 0.0, 0.0, 0.0, 0.0, n - n % 4
    for i in range(0, end, 4):
        s += a[i] * b[i]
        t += a[i + 1] * b[i + 1]
        u += a[i + 2] * b[i + 2]
        v += a[i + 3] * b[i + 3]
    for i in range(end, n):
        s += a[i] * b[i]
    return (s + t) + (u + v)


@kernel(inline=True)
def _begin(p, work):
    """Blocks bring all that a sweep needs."""


solve = solve_on(velocities_with, sweep, _begin)
accelerated = accelerated_on(velocities_with, sweep, _begin, price)
solve_bodies = solve_on(bodies.velocities_with, body_sweep.sweep, body_sweep.local_blocks)
accelerated_bodies = accelerated_on(
    bodies.velocities_with, body_sweep.sweep, body_sweep.local_blocks, body_sweep.price
)
