"""Semismooth Newton on maps that vanish exactly where the rows obey their laws.

With the map F of all rows (``rows.newton_map``), in velocity units, A = ∂F/∂λ and B = ∂F/∂u, one
step solves, with ε in the matrix only (the residual stays exact, and singular sets of sticking
contacts become steps of least change),

    (A + (ε/ρ) B + B W) Δλ = −F                                                                (1)
and a non-monotone line search on ‖F‖² decides how far to go. ε falls after a full step, and grows
where the search fails or the error stays.

References: Alart and Curnier (1991); Acary et al. (2018).
"""

from tabi.contact import budget
from tabi.contact.algebra.linear import solve as solve_linear
from tabi.contact.blocks import velocities_with
from tabi.contact.certificate import residual
from tabi.contact.rows import newton_map, opens
from tabi.contact.workspace import copy
from tabi.jit import kernel

# ε of (1) falls to this, for the ρ of the certificate:
# smaller ones lose the way on rocking feet, and digits in twists
MIN_EPSILON = 1e-8
# and is this again after so many steps that did not halve the error
RAISED_EPSILON, STALLED_STEPS = 1e-3, 6
# share of the tolerance within which a start needs no step
START_TOLERANCE_RATIO = 1e-2


@kernel(inline=True)
def row_map(p, k, form, rho, u, l):
    """F, A and B of the three rows k."""
    i = 3 * k
    velocity, impulse = (u[i], u[i + 1], u[i + 2]), (l[i], l[i + 1], l[i + 2])
    return newton_map(p.kind[k], form, p.mu[k], p.bound[k], rho, velocity, impulse)


@kernel
def merit(p, form, factor, u, l):
    """‖F‖²."""
    total = 0.0
    for k in range(p.mu.shape[0]):
        F, _, _ = row_map(p, k, form, factor * p.weight[k], u, l)
        total += F[0] * F[0] + F[1] * F[1] + F[2] * F[2]
    return total


def newton_on(velocities, direction, price, compiled=True):
    """Newton for one form of the problem.

    Args:
        velocities: kernel, u from impulses. direction: kernel, Δλ of (1) into work.delta.
        price: kernel, work of a trial and of a direction (see ``budget``).
        compiled: False where ``direction`` is plain Python.
    """

    @kernel(plain=not compiled)
    def solve(p, form, factor, epsilon, tolerance, iterations, l, work):
        """Newton from the impulses l, which end as the best ones met;
        as far as work.budget allows.

        Args:
            form: which map of contacts (see ``maps``).
            factor: multiplies ρ in the map. epsilon: first ε of (1), for factor 1.
            tolerance: backward error to stop at [m/s].

        Returns:
            iterations done, backward error [m/s].
        """
        u, trial, trial_u, best = work.u, work.trial, work.trial_u, work.best
        n, (looks, steps) = l.shape[0], price(p, work)
        velocities(p, l, u, work)
        error = residual(p, l, u)
        best_error = error
        copy(best, l, n)
        eps, failures, done, idle, mark = epsilon * factor, 0, 0, 0, error
        square = merit(p, form, factor, u, l)
        older, oldest = square, square
        # a start that is just good enough gets one step, or its error would grow from step to step
        # of a simulation up to the tolerance
        enough = START_TOLERANCE_RATIO * tolerance
        while done < iterations and not error <= enough:
            if not budget.goes_on(work.budget, done):
                break
            done += 1
            enough = tolerance
            work.budget[budget.WORK] += steps
            if not direction(p, form, factor, eps, u, l, work):
                break
            # non-monotone search: against the worst of the last three
            bound = max(square, max(older, oldest))
            step, accepted, new = 1.0, False, 0.0
            for _ in range(12):
                for i in range(n):
                    trial[i] = l[i] + step * work.delta[i]
                velocities(p, trial, trial_u, work)
                work.budget[budget.WORK] += looks
                new = merit(p, form, factor, trial_u, trial)
                if new <= (1.0 - 1e-4 * step) * bound:
                    accepted = True
                    break
                step *= 0.5
            oldest, older = older, square
            if not accepted:
                failures += 1
                if failures > 3:
                    break
                eps = max(100.0 * eps, 1e-10)
                continue
            if step == 1.0:
                eps = max(0.1 * eps, MIN_EPSILON * factor)
            copy(l, trial, n)
            copy(u, trial_u, n)
            square = new
            error = residual(p, l, u)
            # long steps in directions that W leaves open turn forces round their cones, and lose by
            # the cones' curvature what they gain
            idle += 1
            if error < 0.5 * mark:
                idle, mark = 0, error
            elif idle == STALLED_STEPS:
                idle, eps = 0, max(eps, RAISED_EPSILON * factor)
            if error < best_error:
                best_error = error
                copy(best, l, n)
        if not error <= best_error:
            copy(l, best, n)
            velocities(p, l, u, work)
        return done, best_error

    return solve


@kernel
def _direction(p, form, factor, eps, u, l, work):
    """Δλ of (1) in work.delta; contacts that open get Δλ = −λ and leave the system."""
    H = work.matrix
    b = work.right
    delta = work.delta
    active = work.active
    B = work.slope
    known = work.known
    count, rows = p.mu.shape[0], 0
    for k in range(count):
        i, rho = 3 * k, factor * p.weight[k]
        F, A, Bk = row_map(p, k, form, rho, u, l)
        active[k] = -1
        if opens(Bk):
            delta[i], delta[i + 1], delta[i + 2] = -rho * F[0], -rho * F[1], -rho * F[2]
            continue
        delta[i], delta[i + 1], delta[i + 2] = 0.0, 0.0, 0.0
        active[k] = rows
        b[rows], b[rows + 1], b[rows + 2] = -F[0], -F[1], -F[2]
        for c in range(9):
            B[k, c] = Bk[c]
            known[k, c] = A[c] + eps / rho * Bk[c]
        rows += 3
    for k in range(count):
        if active[k] >= 0:
            _fill(p, k, rows, work)
    if not solve_linear(H, b, rows):
        return False
    for k in range(count):
        if active[k] >= 0:
            i, r = 3 * k, active[k]
            delta[i], delta[i + 1], delta[i + 2] = b[r], b[r + 1], b[r + 2]
    return True


@kernel
def _fill(p, k, size, work):
    """Three rows of (1), with what opening contacts do moved to the right."""
    H, b, r = work.matrix, work.right, work.active[k]
    Bk = work.slope[k]
    for c in range(3):
        for j in range(size):
            H[r + c, j] = 0.0
    for e in range(p.start[k], p.start[k + 1]):
        j = p.column[e]
        W, s = p.value[e], work.active[j]
        for c in range(3):
            x, y, n = Bk[3 * c], Bk[3 * c + 1], Bk[3 * c + 2]
            wx = x * W[0] + y * W[3] + n * W[6]
            wy = x * W[1] + y * W[4] + n * W[7]
            wn = x * W[2] + y * W[5] + n * W[8]
            if s >= 0:
                H[r + c, s] += wx
                H[r + c, s + 1] += wy
                H[r + c, s + 2] += wn
            else:
                b[r + c] -= (
                    wx * work.delta[3 * j] + wy * work.delta[3 * j + 1] + wn * work.delta[3 * j + 2]
                )
    for c in range(9):
        H[r + c // 3, r + c % 3] += work.known[k, c]


@kernel(inline=True)
def price(p, work):
    """Work of a trial and of a direction, whose matrix is full."""
    n = p.mu.shape[0]
    return p.start[n], p.start[n] + n * n * n // 8


solve = newton_on(velocities_with, _direction, price)
