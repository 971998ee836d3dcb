"""An interior point method, for contacts and joints that hold each other.

A friction cone in second-order form, x = (μ λ_n, λ_t), z = (u_n/μ + ‖u_t‖, u_t), with the product
of its Jordan algebra, and numbers with bounds:

    x ∘ z = (x·z, x_0 z_t + z_0 x_t) = σ τ e,   x, z in the cone                                 (1)
    0 ≤ λ ⊥ z = u + R λ ≥ 0,   or −R ≤ λ ≤ R with u = z⁺ − z⁻, (λ + R) z⁺ = (R − λ) z⁻ = σ τ     (2)
τ: the mean of all products, which falls to zero. Newton's steps of (1) and (2) begin in the middle
of the cones and stay inside of them, so no row has to be guessed to stick, to slide or to open:
where thirty joints and twenty contacts of light links jam, or hundreds of balls rest in a pit,
guesses run in circles, and this takes some twenty-five steps. Each has a predictor, σ = 0, from
which σ and the second-order part of the products are taken (Mehrotra). z is a variable beside λ;
what it differs from (1) shrinks with each step. Φ makes the problem nonconvex, so nothing says that
the steps arrive; the judge decides.

Moments and other rows of several axes have balls for cones (``interior_ball``); of what no impulse
may move u = 0, and no cone is to be kept to.

Of three rows a step says A Δλ + B Δu = F (``interior_methods``). Predictor and step share its
factors.

Reference: Mehrotra (1992); Acary et al. (2018).
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from tabi.contact import budget, trees
from tabi.contact.bodies import velocities_with
from tabi.contact.certificate import residual
from tabi.contact.interior import interior_ball
from tabi.contact.interior import interior_methods as methods
from tabi.contact.interior import interior_system as system
from tabi.contact.interior.interior_system import BALL, BOUNDED, CONE, EQUAL, NOTHING, POSITIVE
from tabi.contact.row_mobility import along_one_axis
from tabi.contact.rows import BILATERAL, CONTACT, IDLE, LIMITED, SOFT
from tabi.jit import kernel
from tabi.spatial.vector import dot, load3, scale, store3, store9, sub

# fractions of the distance to the edge of a cone, the second with a step towards its middle, which
# follows a step shorter than MIN_GOOD_STEP; below MIN_STEP the method ends
EDGE_FRACTION, CENTRING_EDGE_FRACTION, MIN_GOOD_STEP, MIN_STEP = 0.99, 0.95, 1e-3, 1e-10
# backward error [m/s] below which it ends where STALLED_STEPS steps did not halve it: Newton's
# method is better from there
NEWTON_ERROR, STALLED_STEPS = 1e-5, 3
# what came of a step: it was done, there is none, or it is not exact enough
ON, ENDED, INEXACT = 0, 1, 2
# speed below which sliding has no direction [m/s]
MIN_SPEED = 1e-12
# of what no impulse may move: ε of ``newton``, in the matrix only
EQUAL_EPSILON = 1e-8


@kernel(apart="int64, float64", rare=True)
def solve(p, tolerance, iterations, impulse, work):
    """From the middle of all cones; impulses end as the best ones met.

    Returns:
        iterations done, backward error [m/s]: infinite where the method is not for the problem.
    """
    w, least, done, idle, mark = work.interior, np.inf, 0, 0, np.inf
    if not _sort(p, w):
        return 0, least
    method, m, looks = methods.choose(p, work, True)
    _start(p, work)
    while True:
        velocities_with(p, w.l, work.u, work)
        error = residual(p, w.l[: impulse.shape[0]], work.u)
        if error < least:
            least = error
            for i in range(impulse.shape[0]):
                impulse[i] = w.l[i]
        idle = 0 if error < 0.5 * mark else idle + 1
        mark = error if error < 0.5 * mark else mark
        near = least <= NEWTON_ERROR and idle >= STALLED_STEPS
        if error <= tolerance or near or done >= iterations or not budget.left(work.budget):
            break
        done += 1
        work.budget[budget.WORK] += looks
        came = _step(p, method, m, work)
        if came == INEXACT:
            method, m, looks = methods.choose(p, work, False)
            came = _step(p, method, m, work)
        if came != ON:
            break
    return done, least


@kernel
def _step(p, method, m, work):
    """Make one step; method, m: of ``interior_methods``. Return ON, ENDED or INEXACT."""
    w, n = work.interior, 3 * p.mu.shape[0]
    mean = _mean(p, w, work.u)
    _linearise(p, work)
    if not methods.factor(p, method, m, work) or not _direction(p, method, m, work, 0.0, False):
        return INEXACT if method == methods.MOTIONS else ENDED
    left = 1.0 - min(1.0, _reach(p, w, work.u))
    sigma = max(left * left * left, 1e-3 if left > 0.01 else 1e-6)
    for i in range(n):
        w.pl[i], w.pz[i], w.pother[i] = w.dl[i], w.dz[i], w.dother[i]
    if not _direction(p, method, m, work, sigma * mean, True):
        return INEXACT
    length = min(1.0, EDGE_FRACTION * _reach(p, w, work.u))
    if not length >= MIN_GOOD_STEP:
        if not _direction(p, method, m, work, 0.5 * mean, False):
            return INEXACT
        length = min(1.0, CENTRING_EDGE_FRACTION * _reach(p, w, work.u))
    for i in range(n):
        w.l[i] += length * w.dl[i]
        w.z[i] += length * w.dz[i]
        w.other[i] += length * w.dother[i]
    # no NaN either
    return ON if length > MIN_STEP else ENDED


# ---- the problem --------------------------------------------------------------------------------


@kernel
def _sort(p, w):
    """Classify the rows of a problem; False where the method is not for it."""
    if trees.linked(p):
        return False
    for k in range(p.mu.shape[0]):
        kind, c = p.kind[k], p.contact[k]
        follows, never = kind == LIMITED and c.partner >= 0, kind == IDLE
        if kind == LIMITED:
            never = w.does[c.partner] == NOTHING if follows else p.bound[k] == 0.0
        if never:
            w.does[k] = NOTHING
        elif kind == CONTACT:
            w.does[k] = CONE if p.mu[k] > 0.0 else POSITIVE
        elif kind == SOFT:
            w.does[k] = POSITIVE
        elif kind == LIMITED:
            w.does[k] = BOUNDED if along_one_axis(c) and not follows else BALL
        else:
            w.does[k] = EQUAL
    return True


@kernel(inline=True)
def _give(p, k):
    """R of (2), of what gives way."""
    return p.bound[k] if p.kind[k] == SOFT else 0.0


@kernel
def _start(p, work):
    """The middle of the cones, of the size of what is to be stopped."""
    w, size = work.interior, 1e-3
    for i in range(3 * p.mu.shape[0]):
        if system.has_three(w.does[i // 3]) or (w.does[i // 3] != NOTHING and i % 3 == 2):
            size = max(size, abs(p.q[i]))
        w.l[i] = w.z[i] = w.other[i] = w.dl[i] = w.dz[i] = w.dother[i] = 0.0
    for k in range(p.mu.shape[0]):
        i = 3 * k + 2
        if w.does[k] == CONE:
            w.l[i], w.z[i] = size * p.weight[k], size / p.mu[k]
        elif w.does[k] == POSITIVE:
            w.l[i], w.z[i] = size * p.weight[k], size
        elif w.does[k] == BOUNDED:
            w.z[i] = w.other[i] = size
    velocities_with(p, w.l, work.u, work)
    for k in range(p.mu.shape[0]):
        if w.does[k] == BALL:
            u = load3(work.u[3 * k : 3 * k + 3])
            w.other[3 * k + 2] = size + sqrt(dot(u, u))


# ---- a step -------------------------------------------------------------------------------------


@kernel
def _mean(p, w, u):
    """Mean complementarity τ of all rows."""
    total, count = 0.0, 0
    for k in range(p.mu.shape[0]):
        i, n = 3 * k, 3 * k + 2
        if w.does[k] == CONE:
            total += p.mu[k] * w.l[n] * w.z[n] + w.l[i] * w.z[i] + w.l[i + 1] * w.z[i + 1]
            count += 1
        elif w.does[k] == POSITIVE:
            total += w.l[n] * w.z[n]
            count += 1
        elif w.does[k] == BOUNDED:
            total += (w.l[n] + p.bound[k]) * w.z[n] + (p.bound[k] - w.l[n]) * w.other[n]
            count += 2
        elif w.does[k] == BALL:
            missing, _ = interior_ball.missing(*_ball(p, k, w, u), 0.0)
            total -= missing
            count += 1
    return total / max(count, 1)


@kernel(inline=True)
def _ball(p, k, w, u):
    """R, λ, u and z_0 of three rows."""
    i = 3 * k
    return p.bound[k], load3(w.l[i : i + 3]), load3(u[i : i + 3]), w.other[i + 2]


@kernel(inline=True)
def _growth(p, k, step):
    """Change of the bound of three rows by a step of all impulses."""
    e = p.contact[k].partner
    return step[3 * e + 2] if e >= 0 else 0.0


@kernel(inline=True)
def _sliding(u, i):
    """Speed of a contact along its surface, and its direction."""
    speed = sqrt(u[i] * u[i] + u[i + 1] * u[i + 1])
    inverse = 1.0 / max(speed, MIN_SPEED)
    return speed, u[i] * inverse, u[i + 1] * inverse


@kernel
def _linearise(p, work):
    """A of each three rows into work.known, B into work.slope."""
    w = work.interior
    for k in range(p.mu.shape[0]):
        i, n, l, z, does = 3 * k, 3 * k + 2, w.l, w.z, w.does[k]
        a, b = 1.0, 0.0
        if does == CONE:
            mu, x, y, head, Z = p.mu[k], l[i], l[i + 1], p.mu[k] * l[n], z[n]
            _, dx, dy = _sliding(work.u, i)
            A = (Z, 0.0, mu * z[i], 0.0, Z, mu * z[i + 1], z[i], z[i + 1], mu * Z)
            B = (
                x * dx + head, x * dy, x / mu,
                y * dx, y * dy + head, y / mu,
                head * dx + x, head * dy + y, head / mu,
            )  # fmt: skip
            store9(work.known[k], A)
            store9(work.slope[k], B)
            continue
        if does == BALL:
            A, B, g = interior_ball.matrices(*_ball(p, k, w, work.u))
            store9(work.known[k], A)
            store9(work.slope[k], B)
            store3(work.follow[k], g)
            continue
        if does == EQUAL:
            a = EQUAL_EPSILON / p.weight[k]
            b = 1.0 if p.kind[k] == BILATERAL else 0.0
            store9(work.known[k], (a, 0.0, 0.0, 0.0, a, 0.0, 0.0, 0.0, a))
            store9(work.slope[k], (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, b))
            continue
        if does == POSITIVE:
            a, b = z[n] + l[n] * _give(p, k), l[n]
        elif does == BOUNDED:
            a, b = z[n] / (l[n] + p.bound[k]) + w.other[n] / (p.bound[k] - l[n]), 1.0
        store9(work.known[k], (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, a))
        store9(work.slope[k], (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, b))


@kernel
def _direction(p, method, m, work, centre, second):
    """The step of all variables, with the factors of the system; False where they are not exact
    enough.

    Args:
        way, m: as for ``_step``. centre: σ τ. second: whether the products of the predictor's step
            are taken off.
    """
    w, u = work.interior, work.u
    for k in range(p.mu.shape[0]):
        store3(w.F[3 * k : 3 * k + 3], _right(p, k, w, u, centre, second))
    if not methods.solve(p, method, m, work):
        return False
    for k in range(p.mu.shape[0]):
        i, n = 3 * k, 3 * k + 2
        w.dother[n] = 0.0
        if w.does[k] == CONE:
            speed, dx, dy = _sliding(u, i)
            change = w.du[n] / p.mu[k] + dx * w.du[i] + dy * w.du[i + 1]
            w.dz[i] = u[i] + w.du[i] - w.z[i]
            w.dz[i + 1] = u[i + 1] + w.du[i + 1] - w.z[i + 1]
            w.dz[n] = u[n] / p.mu[k] + speed + change - w.z[n]
        elif w.does[k] == POSITIVE:
            w.dz[n] = u[n] + w.du[n] + _give(p, k) * (w.l[n] + w.dl[n]) - w.z[n]
        elif w.does[k] == BOUNDED:
            up, down = _products(p.bound[k], w, n, centre, second)
            w.dz[n] = up - w.z[n] * w.dl[n] / (w.l[n] + p.bound[k])
            w.dother[n] = down + w.other[n] * w.dl[n] / (p.bound[k] - w.l[n])
        elif w.does[k] == BALL:
            R, x, v, head = _ball(p, k, w, u)
            dR, dx, dv = _growth(p, k, w.dl), load3(w.dl[i : i + 3]), load3(w.du[i : i + 3])
            f, _ = _missing(p, k, w, u, centre, second)
            w.dother[n] = (f - head * dR - dot(x, dv) - dot(v, dx)) / R
            store3(w.dz[i : i + 3], dv)
    return True


@kernel(inline=True)
def _right(p, k, w, u, centre, second):
    """F of three rows."""
    i, n, mu, does = 3 * k, 3 * k + 2, p.mu[k], w.does[k]
    F = (0.0, 0.0, 0.0)
    if does == CONE:
        speed, _, _ = _sliding(u, i)
        # z as (1) says it were
        x = (w.l[i], w.l[i + 1], mu * w.l[n])
        a = _jordan(x, (u[i], u[i + 1], u[n] / mu + speed))
        F = (-a[0], -a[1], centre - a[2])
        if second:
            x = (w.pl[i], w.pl[i + 1], mu * w.pl[n])
            a = _jordan(x, (w.pz[i], w.pz[i + 1], w.pz[n]))
            F = (F[0] - a[0], F[1] - a[1], F[2] - a[2])
    elif does == POSITIVE:
        f = centre - w.l[n] * (u[n] + _give(p, k) * w.l[n])
        F = (0.0, 0.0, f - w.pl[n] * w.pz[n] if second else f)
    elif does == BOUNDED:
        up, down = _products(p.bound[k], w, n, centre, second)
        F = (0.0, 0.0, w.z[n] - w.other[n] - u[n] + up - down)
    elif does == BALL:
        f, F = _missing(p, k, w, u, centre, second)
        F = sub(F, scale(f / p.bound[k], load3(w.l[i : i + 3])))
    elif does == EQUAL:
        F = (-u[i], -u[i + 1], -u[n] if p.kind[k] == BILATERAL else 0.0)
    return F


@kernel(inline=True)
def _missing(p, k, w, u, centre, second):
    """Residual of (1) of ``interior_ball``."""
    i = 3 * k
    f, F = interior_ball.missing(*_ball(p, k, w, u), centre)
    if second:
        dl, du = load3(w.pl[i : i + 3]), load3(w.pz[i : i + 3])
        a, b = interior_ball.product(_growth(p, k, w.pl), dl, du, w.pother[i + 2])
        f, F = f - a, sub(F, b)
    return f, F


@kernel(inline=True)
def _jordan(x, z):
    """x ∘ z, heads last."""
    head = x[0] * z[0] + x[1] * z[1] + x[2] * z[2]
    return x[2] * z[0] + z[2] * x[0], x[2] * z[1] + z[2] * x[1], head


@kernel(inline=True)
def _products(bound, w, n, centre, second):
    """Changes of z⁺ and z⁻ by (2) where λ stays."""
    above, below = w.l[n] + bound, bound - w.l[n]
    up, down = centre - above * w.z[n], centre - below * w.other[n]
    if second:
        up -= w.pl[n] * w.pz[n]
        down += w.pl[n] * w.pother[n]
    return up / above, down / below


# ---- how far ------------------------------------------------------------------------------------


@kernel
def _reach(p, w, u):
    """Length of the step at which the first variable reaches its bound."""
    length = np.inf
    l, dl, z, dz = w.l, w.dl, w.z, w.dz
    for k in range(p.mu.shape[0]):
        i, n, mu = 3 * k, 3 * k + 2, p.mu[k]
        if w.does[k] == CONE:
            x, dx = (l[i], l[i + 1], 0.0), (dl[i], dl[i + 1], 0.0)
            y, dy = (z[i], z[i + 1], 0.0), (dz[i], dz[i + 1], 0.0)
            length = min(length, interior_ball.reach(mu * l[n], mu * dl[n], x, dx))
            length = min(length, interior_ball.reach(z[n], dz[n], y, dy))
        elif w.does[k] == BALL:
            R, x, v, head = _ball(p, k, w, u)
            dx, dv = load3(dl[i : i + 3]), load3(dz[i : i + 3])
            length = min(length, interior_ball.reach(R, _growth(p, k, dl), x, dx))
            length = min(length, interior_ball.reach(head, w.dother[n], v, dv))
        elif w.does[k] == POSITIVE:
            length = min(length, _to_zero(l[n], dl[n]), _to_zero(z[n], dz[n]))
        elif w.does[k] == BOUNDED:
            bound = p.bound[k]
            length = min(length, _to_zero(l[n] + bound, dl[n]), _to_zero(bound - l[n], -dl[n]))
            length = min(length, _to_zero(z[n], dz[n]), _to_zero(w.other[n], w.dother[n]))
    return length


@kernel(inline=True)
def _to_zero(x, dx):
    return -x / dx if dx < 0.0 else np.inf
