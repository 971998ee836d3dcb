"""Semismooth Newton on a map that vanishes exactly where Coulomb's law holds.

Three maps F(λ, u) of one contact, all in velocity units (divided by ρ), with their derivatives A = ∂F/∂λ, B = ∂F/∂u:

    ALART_CURNIER  (λ_t − P_{μ max(0, λ_n − ρu_n)}(λ_t − ρu_t), λ_n − max(0, λ_n − ρu_n))/ρ                   (1)
    JEAN_MOREAU    the same with the disc of radius μ max(0, λ_n)                                              (2)
    NATURAL        (λ − P_K(λ − ρ(u + Φ(u))))/ρ: the certificate's own                                          (3)
One step solves, for all contacts together, with ε in the matrix only (the residual stays exact, and singular sets of
sticking contacts become steps of least change),

    (A + (ε/ρ) B + B W) Δλ = −F                                                                                (4)
and a non-monotone line search on ‖F‖² decides how far to go. ε falls after a full step and grows when the search fails.

References: Alart and Curnier (1991); Jean and Moreau (1987); De Saxcé and Feng (1998); Acary et al. (2018).
"""

from math import sqrt

from tabi._jit import kernel
from tabi.contact.blocks import velocities_with
from tabi.contact.certificate import residual
from tabi.contact.cone import HELD, LIMITED
from tabi.contact.linear import solve as solve_linear
from tabi.contact.workspace import copy

ALART_CURNIER, JEAN_MOREAU, NATURAL = 0, 1, 2
# ε of (4) falls to this, for the ρ of the certificate: smaller ones lose the way on rocking feet, and digits in twists
LEAST = 1e-8
ZERO9 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
ONE9 = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@kernel
def contact_map(kind, mu, rho, u, l):
    """F, A and B of one contact, row by row."""
    if mu < 0.0:
        return _no_contact(mu, rho, u, l)
    i = 1.0 / rho
    if kind == NATURAL:
        return _natural(mu, rho, u, l)
    n = l[2] - rho * u[2]
    if n <= 0.0 and (kind == ALART_CURNIER or l[2] <= 0.0):
        return (l[0] * i, l[1] * i, l[2] * i), (i, 0.0, 0.0, 0.0, i, 0.0, 0.0, 0.0, i), ZERO9
    # normal row: closed, or for Jean and Moreau already leaving
    fn, an, bn = (u[2], 0.0, 1.0) if n > 0.0 else (l[2] * i, i, 0.0)
    x, y = l[0] - rho * u[0], l[1] - rho * u[1]
    t = sqrt(x * x + y * y)
    radius = mu * n if kind == ALART_CURNIER else mu * l[2]
    if radius < 0.0:
        radius = 0.0
    if t <= radius:
        return (u[0], u[1], fn), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, an), (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, bn)
    ex, ey, g = x / t, y / t, radius / t
    pxx, pxy, pyy = g * (1.0 - ex * ex), -g * ex * ey, g * (1.0 - ey * ey)
    F = ((l[0] - radius * ex) * i, (l[1] - radius * ey) * i, fn)
    grown = mu if radius > 0.0 else 0.0
    # the radius follows λ_n, and for Alart and Curnier u_n too
    A = ((1.0 - pxx) * i, -pxy * i, -grown * ex * i, -pxy * i, (1.0 - pyy) * i, -grown * ey * i, 0.0, 0.0, an)
    follow = grown if kind == ALART_CURNIER else 0.0
    B = (pxx, pxy, follow * ex, pxy, pyy, follow * ey, 0.0, 0.0, bn)
    return F, A, B


@kernel
def _no_contact(mu, rho, u, l):
    """The map (3) of rows that are held, or limited: the same for every kind."""
    i = 1.0 / rho
    if mu == HELD:
        return u, ZERO9, ONE9
    if mu > LIMITED:
        return (u[0], u[1], l[2] * i), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, i), (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    radius, x, y, n = LIMITED - mu, l[0] - rho * u[0], l[1] - rho * u[1], l[2] - rho * u[2]
    length = sqrt(x * x + y * y + n * n)
    if length <= radius:
        return u, ZERO9, ONE9
    x, y, n, g = x / length, y / length, n / length, radius / length
    B = (g * (1.0 - x * x), -g * x * y, -g * x * n, -g * x * y, g * (1.0 - y * y), -g * y * n, -g * x * n, -g * y * n, g * (1.0 - n * n))
    A = (i * (1.0 - B[0]), -i * B[1], -i * B[2], -i * B[3], i * (1.0 - B[4]), -i * B[5], -i * B[6], -i * B[7], i * (1.0 - B[8]))
    return ((l[0] - radius * x) * i, (l[1] - radius * y) * i, (l[2] - radius * n) * i), A, B


@kernel
def _natural(mu, rho, u, l):
    """The map (3)."""
    i = 1.0 / rho
    slip = sqrt(u[0] * u[0] + u[1] * u[1])
    cx, cy = (mu * u[0] / slip, mu * u[1] / slip) if slip > 1e-300 else (0.0, 0.0)
    x, y, n = l[0] - rho * u[0], l[1] - rho * u[1], l[2] - rho * (u[2] + mu * slip)
    t = sqrt(x * x + y * y)
    if n >= 0.0 and t <= mu * n:
        return (u[0], u[1], u[2] + mu * slip), ZERO9, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, cx, cy, 1.0)
    if mu * t <= -n:
        return (l[0] * i, l[1] * i, l[2] * i), (i, 0.0, 0.0, 0.0, i, 0.0, 0.0, 0.0, i), ZERO9
    w = 1.0 / (1.0 + mu * mu)
    s = (mu * t + n) * w
    ex, ey, g = x / t, y / t, mu * s / t
    F = ((l[0] - mu * s * ex) * i, (l[1] - mu * s * ey) * i, (l[2] - s) * i)
    # derivative of the projection
    dxn, dyn = mu * ex * w, mu * ey * w
    dxx, dxy, dyy = mu * ex * dxn + g * (1.0 - ex * ex), mu * ex * dyn - g * ex * ey, mu * ey * dyn + g * (1.0 - ey * ey)
    A = ((1.0 - dxx) * i, -dxy * i, -dxn * i, -dxy * i, (1.0 - dyy) * i, -dyn * i, -dxn * i, -dyn * i, (1.0 - w) * i)
    # u enters the normal part through Φ as well
    B = (dxx + dxn * cx, dxy + dxn * cy, dxn, dxy + dyn * cx, dyy + dyn * cy, dyn, dxn + w * cx, dyn + w * cy, w)
    return F, A, B


@kernel
def merit(p, kind, factor, u, l):
    """‖F‖²; of the problem it reads mu and weight."""
    total = 0.0
    for k in range(p.mu.shape[0]):
        i = 3 * k
        F, _, _ = contact_map(kind, p.mu[k], factor * p.weight[k], (u[i], u[i + 1], u[i + 2]), (l[i], l[i + 1], l[i + 2]))
        total += F[0] * F[0] + F[1] * F[1] + F[2] * F[2]
    return total


def newton_on(velocities, direction, compiled=True):
    """Newton for one form of the problem.

    Args:
        velocities: kernel, u from impulses. direction: kernel, Δλ of (4) into work.delta.
        compiled: False where ``direction`` is plain Python.
    """

    @kernel(plain=not compiled)
    def solve(p, kind, factor, epsilon, tolerance, iterations, l, work):
        """Newton from the impulses l, which end as the best ones met.

        Args:
            factor: multiplies ρ in the map. epsilon: first ε of (4), for factor 1.
            tolerance: backward error to stop at [m/s].

        Returns:
            iterations done, backward error [m/s].
        """
        u, trial, trial_u, best = work.u, work.trial, work.trial_u, work.best
        n = l.shape[0]
        velocities(p, l, u, work)
        error = residual(p, l, u)
        best_error = error
        copy(best, l, n)
        eps, failures, done = epsilon * factor, 0, 0
        square = merit(p, kind, factor, u, l)
        older, oldest = square, square
        while done < iterations and not error <= tolerance:
            done += 1
            if not direction(p, kind, factor, eps, u, l, work):
                break
            # non-monotone search: against the worst of the last three
            bound = max(square, max(older, oldest))
            step, found, new = 1.0, False, 0.0
            for _ in range(12):
                for i in range(n):
                    trial[i] = l[i] + step * work.delta[i]
                velocities(p, trial, trial_u, work)
                new = merit(p, kind, factor, trial_u, trial)
                if new <= (1.0 - 1e-4 * step) * bound:
                    found = True
                    break
                step *= 0.5
            oldest, older = older, square
            if not found:
                failures += 1
                if failures > 3:
                    break
                eps = max(100.0 * eps, 1e-10)
                continue
            if step == 1.0:
                eps = max(0.1 * eps, LEAST * factor)
            copy(l, trial, n)
            copy(u, trial_u, n)
            square = new
            error = residual(p, l, u)
            if error < best_error:
                best_error = error
                copy(best, l, n)
        if not error <= best_error:
            copy(l, best, n)
            velocities(p, l, u, work)
        return done, best_error

    return solve


@kernel
def _direction(p, kind, factor, eps, u, l, work):
    """Δλ of (4) in work.delta; contacts that open get Δλ = −λ and leave the system."""
    H, b, delta, active, B, known = work.matrix, work.right, work.delta, work.active, work.slope, work.known
    count, rows = p.mu.shape[0], 0
    for k in range(count):
        i, rho = 3 * k, factor * p.weight[k]
        F, A, Bk = contact_map(kind, p.mu[k], rho, (u[i], u[i + 1], u[i + 2]), (l[i], l[i + 1], l[i + 2]))
        active[k] = -1
        if Bk[0] == 0.0 and Bk[8] == 0.0 and Bk[4] == 0.0:
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
    """Three rows of (4), with what opening contacts do moved to the right."""
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
            wx, wy, wn = x * W[0] + y * W[3] + n * W[6], x * W[1] + y * W[4] + n * W[7], x * W[2] + y * W[5] + n * W[8]
            if s >= 0:
                H[r + c, s] += wx
                H[r + c, s + 1] += wy
                H[r + c, s + 2] += wn
            else:
                b[r + c] -= wx * work.delta[3 * j] + wy * work.delta[3 * j + 1] + wn * work.delta[3 * j + 2]
    for c in range(9):
        H[r + c // 3, r + c % 3] += work.known[k, c]


solve = newton_on(velocities_with, _direction)
