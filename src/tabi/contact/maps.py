"""Maps of one contact that vanish exactly where Coulomb's law holds.

Three maps F(λ, u), all in velocity units (divided by ρ), with A = ∂F/∂λ and B = ∂F/∂u:

    ALART_CURNIER  (λ_t − P_{μ max(0, λ_n − ρu_n)}(λ_t − ρu_t), λ_n − max(0, λ_n − ρu_n))/ρ    (1)
    JEAN_MOREAU    the same with the disc of radius μ max(0, λ_n)                              (2)
    NATURAL        (λ − P_K(λ − ρ(u + Φ(u))))/ρ: the certificate's own                         (3)

References: Alart and Curnier (1991); Jean and Moreau (1987); De Saxcé and Feng (1998).
"""

from math import sqrt

from tabi.jit import kernel

ALART_CURNIER, JEAN_MOREAU, NATURAL = 0, 1, 2
ZERO9 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
ONE9 = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@kernel
def contact_map(form, mu, rho, u, l):
    """F, A and B of one contact, row by row."""
    i = 1.0 / rho
    if form == NATURAL:
        return _natural(mu, rho, u, l)
    n = l[2] - rho * u[2]
    if n <= 0.0 and (form == ALART_CURNIER or l[2] <= 0.0):
        A = (i, 0.0, 0.0, 0.0, i, 0.0, 0.0, 0.0, i)
        return (l[0] * i, l[1] * i, l[2] * i), A, ZERO9
    # normal row: closed, or for Jean and Moreau already leaving
    fn, an, bn = (u[2], 0.0, 1.0) if n > 0.0 else (l[2] * i, i, 0.0)
    x, y = l[0] - rho * u[0], l[1] - rho * u[1]
    t = sqrt(x * x + y * y)
    radius = mu * n if form == ALART_CURNIER else mu * l[2]
    if radius < 0.0:
        radius = 0.0
    if t <= radius:
        A = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, an)
        return (u[0], u[1], fn), A, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, bn)
    ex, ey, g = x / t, y / t, radius / t
    pxx, pxy, pyy = g * (1.0 - ex * ex), -g * ex * ey, g * (1.0 - ey * ey)
    F = ((l[0] - radius * ex) * i, (l[1] - radius * ey) * i, fn)
    grown = mu if radius > 0.0 else 0.0
    # the radius follows λ_n, and for Alart and Curnier u_n too
    A = (
        (1.0 - pxx) * i, -pxy * i, -grown * ex * i,
        -pxy * i, (1.0 - pyy) * i, -grown * ey * i,
        0.0, 0.0, an,
    )  # fmt: skip
    follow = grown if form == ALART_CURNIER else 0.0
    B = (pxx, pxy, follow * ex, pxy, pyy, follow * ey, 0.0, 0.0, bn)
    return F, A, B


@kernel
def _natural(mu, rho, u, l):
    """Natural map, equation (3)."""
    i = 1.0 / rho
    slip = sqrt(u[0] * u[0] + u[1] * u[1])
    cx, cy = (mu * u[0] / slip, mu * u[1] / slip) if slip > 1e-300 else (0.0, 0.0)
    x, y, n = l[0] - rho * u[0], l[1] - rho * u[1], l[2] - rho * (u[2] + mu * slip)
    t = sqrt(x * x + y * y)
    if n >= 0.0 and t <= mu * n:
        B = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, cx, cy, 1.0)
        return (u[0], u[1], u[2] + mu * slip), ZERO9, B
    if mu * t <= -n:
        A = (i, 0.0, 0.0, 0.0, i, 0.0, 0.0, 0.0, i)
        return (l[0] * i, l[1] * i, l[2] * i), A, ZERO9
    w = 1.0 / (1.0 + mu * mu)
    s = (mu * t + n) * w
    ex, ey, g = x / t, y / t, mu * s / t
    F = ((l[0] - mu * s * ex) * i, (l[1] - mu * s * ey) * i, (l[2] - s) * i)
    # derivative of the projection
    dxn, dyn = mu * ex * w, mu * ey * w
    dxx = mu * ex * dxn + g * (1.0 - ex * ex)
    dxy = mu * ex * dyn - g * ex * ey
    dyy = mu * ey * dyn + g * (1.0 - ey * ey)
    A = (
        (1.0 - dxx) * i, -dxy * i, -dxn * i,
        -dxy * i, (1.0 - dyy) * i, -dyn * i,
        -dxn * i, -dyn * i, (1.0 - w) * i,
    )  # fmt: skip
    # u enters the normal part through Φ as well
    B = (
        dxx + dxn * cx, dxy + dxn * cy, dxn,
        dxy + dyn * cx, dyy + dyn * cy, dyn,
        dxn + w * cx, dyn + w * cy, w,
    )  # fmt: skip
    return F, A, B
