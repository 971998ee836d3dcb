"""The friction cone, and one contact solved exactly.

Impulses λ and velocities u have two tangential parts and a normal one, in this order. With the
coefficient μ

    K = {‖λ_t‖ ≤ μ λ_n},   Φ(u) = (0, 0, μ‖u_t‖)
    Signorini and Coulomb:   K ∋ λ ⊥ u + Φ(u) ∈ K*                                             (1)
(De Saxcé). One contact alone has u = W λ + b with a 3×3 matrix W. Three answers are possible:

    open   λ = 0,             when b_n ≥ 0
    stick  λ = −W⁻¹ b,        when that lies in K
    slip   u_n = 0, u_t = −α λ_t, ‖λ_t‖ = μ λ_n for an α > 0                                   (2)
Eliminating λ_n from (2) leaves (T + α 1) λ_t = −s with T = W_tt − w wᵀ/w_nn, s = b_t − w b_n/w_nn:
two numbers in the axes of T, and one equation f(α) = μ λ_n/‖λ_t‖ − 1 = 0, negative at α = 0 and
positive far out. Newton on α, kept in its bracket, finds it to rounding.

References: De Saxcé and Feng (1998); Chardonnet (2006), sec. II; Bonnefon and Daviet (2011).
"""

from math import sqrt

from tabi.jit import kernel


@kernel
def project(mu, x, y, n):
    """The point of K nearest to (x, y, n)."""
    t = sqrt(x * x + y * y)
    if n >= 0.0 and t <= mu * n:
        return x, y, n
    if mu * t <= -n:
        return 0.0, 0.0, 0.0
    s = (mu * t + n) / (1.0 + mu * mu)
    f = mu * s / t
    return f * x, f * y, s


@kernel
def local(W, mu, b, alpha):
    """λ of one contact with u = W λ + b, by (2).

    Args:
        W: symmetric: xx, xy, xn, yy, yn, nn.
        alpha: a guess of α, from an earlier answer.

    Returns:
        λ (three numbers) and α, 0 where it does not slip.
    """
    xx, xy, xn, yy, yn, nn = W
    if b[2] >= 0.0:
        return (0.0, 0.0, 0.0), 0.0
    if not mu > 0.0:
        return (0.0, 0.0, -b[2] / nn), 0.0
    # without the normal part: T and s
    i = 1.0 / nn
    a, c, d = xx - xn * xn * i, xy - xn * yn * i, yy - yn * yn * i
    p, q = b[0] - xn * b[2] * i, b[1] - yn * b[2] * i
    # stick: T λ_t = −s
    det = a * d - c * c
    if det > 0.0:
        lx, ly = -(d * p - c * q) / det, -(a * q - c * p) / det
        ln = -(b[2] + xn * lx + yn * ly) * i
        if ln >= 0.0 and lx * lx + ly * ly <= mu * mu * ln * ln:
            return (lx, ly, ln), 0.0
    return _slip(mu, (a, c, d), (p, q), (xn * i, yn * i, -b[2] * i), alpha)


@kernel
def _slip(mu, T, s, normal, alpha):
    """Slip of (2); ``normal`` holds w_x/w_nn, w_y/w_nn and the normal impulse without friction."""
    # axes of T: eigenvalues l1 ≥ l2, direction (cx, cy) of the first
    half, mid = 0.5 * (T[0] - T[2]), 0.5 * (T[0] + T[2])
    r = sqrt(half * half + T[1] * T[1])
    cx, cy = 1.0, 0.0
    if r > 1e-14 * mid:
        ex, ey = (half + r, T[1]) if half >= 0.0 else (T[1], r - half)
        length = 1.0 / sqrt(ex * ex + ey * ey)
        cx, cy = ex * length, ey * length
    l1, l2 = mid + r, mid - r
    s1, s2 = cx * s[0] + cy * s[1], cx * s[1] - cy * s[0]
    w1, w2 = cx * normal[0] + cy * normal[1], cx * normal[1] - cy * normal[0]
    low, high = 0.0, -1.0
    al = alpha if alpha > 0.0 else mid
    t1, t2, n = 0.0, 0.0, normal[2]
    for _ in range(80):
        i1, i2 = 1.0 / (l1 + al), 1.0 / (l2 + al)
        t1, t2 = -s1 * i1, -s2 * i2
        n = normal[2] - w1 * t1 - w2 * t2
        t = sqrt(t1 * t1 + t2 * t2)
        if not t > 0.0:
            break
        f = mu * n / t - 1.0
        if abs(f) < 2e-15:
            break
        if f < 0.0:
            low = al
        else:
            high = al
        d1, d2 = -t1 * i1, -t2 * i2
        slope = mu * (-(w1 * d1 + w2 * d2) * t - n * (t1 * d1 + t2 * d2) / t) / (t * t)
        new = al - f / slope if slope != 0.0 else -1.0
        if not (new > low and (high < 0.0 or new < high)):
            new = 0.5 * (low + high) if high > 0.0 else 2.0 * al + mid
        if abs(new - al) <= 1e-16 * al:
            break
        al = new
    # exactly on the cone, whatever Newton left
    n = n if n > 0.0 else 0.0
    t = sqrt(t1 * t1 + t2 * t2)
    f = mu * n / t if t > 0.0 else 0.0
    return (f * (cx * t1 - cy * t2), f * (cy * t1 + cx * t2), n), al
