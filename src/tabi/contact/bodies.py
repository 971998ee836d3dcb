"""The contact problem in the space of bodies: twists instead of a matrix over contacts.

    f = Eᵀ λ,   F_a = (r_a × f, f),   F_b = −(r_b × f, f),   V = Ω F,   u = E (ẋ_a − ẋ_b) + q                     (1)
E: the contact's frame, rows tangent, tangent, normal (from b to a); r: the point from the origin of each body's twist;
V: what impulses add to the twists of the contacting bodies; Ω: their inverse inertia, 6×6 blocks that couple bodies of
one tree only. W = J Ω Jᵀ is never formed: the six numbers of a foot's twist say all that the twelve rows of its corners
would, and a residual costs as much as there are contacts.

Newton's system (4) of ``newton`` becomes, with C = A + (ε/ρ) B of each contact and ΔV the change of the twists,

    Δλ = −C⁻¹ (F + B J ΔV),   (1 + Ω S) ΔV = −Ω Σ Jᵀ C⁻¹ F,   S = Σ Jᵀ C⁻¹ B J                                     (2)
of the size of the bodies, and regular where W is not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabi._jit import kernel
from tabi.contact.linear import solve as solve_linear
from tabi.contact.newton import contact_map, newton_on
from tabi.spatial.vector import add, cross, load3, load9, matmul, mul, mul_t, sub

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class BodyProblem(NamedTuple):
    """Contacts between bodies.

    Attributes:
        a, b: the two bodies of each contact, shape (n,); b is −1 against what does not move.
        frame: E row by row, shape (n, 9). arm_a, arm_b: r, shape (n, 3) [m].
        start, column, omega: blocks of Ω by rows of bodies; omega has shape (·, 6, 6), angular first.
        q: velocities without impulse, shape (3n,) [m/s]. mu, weight: coefficients and ρ = 3/tr W_kk, shape (n,).
    """

    a: Integers
    b: Integers
    frame: Floats
    arm_a: Floats
    arm_b: Floats
    start: Integers
    column: Integers
    omega: Floats
    q: Floats
    mu: Floats
    weight: Floats


class BodyWork(NamedTuple):
    """Arrays the kernels write: over contacts, over bodies, and the system of (2)."""

    u: Floats
    trial: Floats
    trial_u: Floats
    best: Floats
    delta: Floats
    slope: Floats
    wrench: Floats
    twist: Floats
    matrix: Floats
    stiffness: Floats


def allocate(contacts: int, bodies: int) -> BodyWork:
    """Memory for a number of contacts and of bodies."""
    n, b = 3 * contacts, 6 * bodies
    over_contacts = {name: np.zeros(n) for name in ("u", "trial", "trial_u", "best", "delta")}
    over_bodies = {name: np.zeros(b) for name in ("wrench", "twist")}
    system = {name: np.zeros((b, b)) for name in ("matrix", "stiffness")}
    return BodyWork(**over_contacts, slope=np.zeros((contacts, 9)), **over_bodies, **system)


@kernel
def weights(p, out):
    """ρ of each contact; the trace of W_kk is that of J Ω Jᵀ in any frame, so E is not in it."""
    for k in range(p.mu.shape[0]):
        trace = _trace(p, p.a[k], p.a[k], load3(p.arm_a[k]), load3(p.arm_a[k]))
        if p.b[k] >= 0:
            trace += _trace(p, p.b[k], p.b[k], load3(p.arm_b[k]), load3(p.arm_b[k]))
            trace -= 2.0 * _trace(p, p.a[k], p.b[k], load3(p.arm_a[k]), load3(p.arm_b[k]))
        out[k] = 3.0 / trace


@kernel
def _trace(p, i, j, r, s):
    """tr(J_i Ω_ij J_jᵀ) for the points r and s; 0 where the bodies are of different trees."""
    for e in range(p.start[i], p.start[i + 1]):
        if p.column[e] == j:
            O, t = p.omega[e], 0.0
            for c in range(3):
                x = (1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0)
                m, n = cross(r, x), cross(s, x)
                for g in range(6):
                    row = m[0] * O[0, g] + m[1] * O[1, g] + m[2] * O[2, g] + O[3 + c, g]
                    t += row * (n[g] if g < 3 else x[g - 3])
            return t
    return 0.0


@kernel
def velocities(p, impulse, u, work):
    """Equation (1)."""
    F, V = work.wrench, work.twist
    for i in range(F.shape[0]):
        F[i] = 0.0
    for k in range(p.mu.shape[0]):
        x, y, n = impulse[3 * k], impulse[3 * k + 1], impulse[3 * k + 2]
        if x != 0.0 or y != 0.0 or n != 0.0:
            f = mul_t(load9(p.frame[k]), (x, y, n))
            _push(F, 6 * p.a[k], load3(p.arm_a[k]), f, 1.0)
            if p.b[k] >= 0:
                _push(F, 6 * p.b[k], load3(p.arm_b[k]), f, -1.0)
    apply_omega(p, F, V)
    for k in range(p.mu.shape[0]):
        w = mul(load9(p.frame[k]), _approach(V, p.a[k], p.b[k], load3(p.arm_a[k]), load3(p.arm_b[k])))
        u[3 * k], u[3 * k + 1], u[3 * k + 2] = p.q[3 * k] + w[0], p.q[3 * k + 1] + w[1], p.q[3 * k + 2] + w[2]


@kernel(inline=True)
def _push(F, i, r, f, sign):
    m = cross(r, f)
    F[i] += sign * m[0]
    F[i + 1] += sign * m[1]
    F[i + 2] += sign * m[2]
    F[i + 3] += sign * f[0]
    F[i + 4] += sign * f[1]
    F[i + 5] += sign * f[2]


@kernel(inline=True)
def _approach(V, a, b, r, s):
    """ẋ_a − ẋ_b of the contact point, in the world's axes."""
    i = 6 * a
    v = add((V[i + 3], V[i + 4], V[i + 5]), cross((V[i], V[i + 1], V[i + 2]), r))
    if b >= 0:
        i = 6 * b
        v = sub(v, add((V[i + 3], V[i + 4], V[i + 5]), cross((V[i], V[i + 1], V[i + 2]), s)))
    return v


@kernel
def apply_omega(p, F, V):
    """V = Ω F."""
    for i in range(p.start.shape[0] - 1):
        for r in range(6):
            s = 0.0
            for e in range(p.start[i], p.start[i + 1]):
                j = 6 * p.column[e]
                for c in range(6):
                    s += p.omega[e, r, c] * F[j + c]
            V[6 * i + r] = s


@kernel
def direction(p, kind, factor, eps, u, l, work):
    """Δλ of (2) in work.delta."""
    S, g, d, slope = work.stiffness, work.wrench, work.delta, work.slope
    size = g.shape[0]
    for i in range(size):
        g[i] = 0.0
        for j in range(size):
            S[i, j] = 0.0
    for k in range(p.mu.shape[0]):
        i, rho = 3 * k, factor * p.weight[k]
        F, A, B = contact_map(kind, p.mu[k], rho, (u[i], u[i + 1], u[i + 2]), (l[i], l[i + 1], l[i + 2]))
        inverse = _inverse(A, eps / rho, B)
        f, K = mul(inverse, F), matmul(inverse, B)
        d[i], d[i + 1], d[i + 2] = f[0], f[1], f[2]
        _store9(slope[k], K)
        # into the world's axes, and onto the bodies
        E = load9(p.frame[k])
        push = mul_t(E, f)
        K = _turned(E, K)
        r, s = load3(p.arm_a[k]), load3(p.arm_b[k])
        _push(g, 6 * p.a[k], r, push, -1.0)
        _press(S, 6 * p.a[k], 6 * p.a[k], r, r, K, 1.0)
        if p.b[k] >= 0:
            _push(g, 6 * p.b[k], s, push, 1.0)
            _press(S, 6 * p.b[k], 6 * p.b[k], s, s, K, 1.0)
            _press(S, 6 * p.a[k], 6 * p.b[k], r, s, K, -1.0)
            _press(S, 6 * p.b[k], 6 * p.a[k], s, r, K, -1.0)
    apply_omega(p, g, work.twist)
    _system(p, S, work.matrix)
    if not solve_linear(work.matrix, work.twist, size):
        return False
    for k in range(p.mu.shape[0]):
        i, v = 3 * k, _approach(work.twist, p.a[k], p.b[k], load3(p.arm_a[k]), load3(p.arm_b[k]))
        w = mul(load9(slope[k]), mul(load9(p.frame[k]), v))
        d[i], d[i + 1], d[i + 2] = -d[i] - w[0], -d[i + 1] - w[1], -d[i + 2] - w[2]
    return True


@kernel(inline=True)
def _store9(out, a):
    out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7], out[8] = a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]


@kernel(inline=True)
def _turned(E, K):
    """Eᵀ K E."""
    transposed = (E[0], E[3], E[6], E[1], E[4], E[7], E[2], E[5], E[8])
    return matmul(matmul(transposed, K), E)


@kernel(inline=True)
def _press(S, i, j, r, s, K, sign):
    """S_ij += ± J_iᵀ K J_j for points at r and s: blocks r̂ K (−ŝ), r̂ K, −K ŝ, K."""
    # rows of K (−ŝ) are s × row
    a, b, c = cross(s, (K[0], K[1], K[2])), cross(s, (K[3], K[4], K[5])), cross(s, (K[6], K[7], K[8]))
    for q in range(3):
        x, y, z = sign * a[q], sign * b[q], sign * c[q]
        S[i, j + q] += r[1] * z - r[2] * y
        S[i + 1, j + q] += r[2] * x - r[0] * z
        S[i + 2, j + q] += r[0] * y - r[1] * x
        S[i + 3, j + q] += x
        S[i + 4, j + q] += y
        S[i + 5, j + q] += z
        x, y, z = sign * K[q], sign * K[3 + q], sign * K[6 + q]
        S[i, j + 3 + q] += r[1] * z - r[2] * y
        S[i + 1, j + 3 + q] += r[2] * x - r[0] * z
        S[i + 2, j + 3 + q] += r[0] * y - r[1] * x
        S[i + 3, j + 3 + q] += x
        S[i + 4, j + 3 + q] += y
        S[i + 5, j + 3 + q] += z


@kernel
def _system(p, S, H):
    """H = 1 + Ω S."""
    size = S.shape[0]
    for i in range(p.start.shape[0] - 1):
        for r in range(6):
            row = 6 * i + r
            for q in range(size):
                H[row, q] = 0.0
            for e in range(p.start[i], p.start[i + 1]):
                j = 6 * p.column[e]
                for c in range(6):
                    w = p.omega[e, r, c]
                    for q in range(size):
                        H[row, q] += w * S[j + c, q]
            H[row, row] += 1.0


@kernel(inline=True)
def _inverse(A, e, B):
    """(A + e B)⁻¹ by its cofactors."""
    m0, m1, m2 = A[0] + e * B[0], A[1] + e * B[1], A[2] + e * B[2]
    m3, m4, m5 = A[3] + e * B[3], A[4] + e * B[4], A[5] + e * B[5]
    m6, m7, m8 = A[6] + e * B[6], A[7] + e * B[7], A[8] + e * B[8]
    a, b, c = m4 * m8 - m5 * m7, m5 * m6 - m3 * m8, m3 * m7 - m4 * m6
    d = 1.0 / (m0 * a + m1 * b + m2 * c)
    return (
        a * d, (m2 * m7 - m1 * m8) * d, (m1 * m5 - m2 * m4) * d,
        b * d, (m0 * m8 - m2 * m6) * d, (m2 * m3 - m0 * m5) * d,
        c * d, (m1 * m6 - m0 * m7) * d, (m0 * m4 - m1 * m3) * d,
    )  # fmt: skip


# 1/ε stands in the matrix here: a smaller one would cost its digits
solve = newton_on(velocities, direction, 1e-2)
