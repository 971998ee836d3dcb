"""Rows whose impulse stays in a ball, ‖λ‖ ≤ R, such as rolling friction, for ``interior_point``.

(R, λ) lies in a second-order cone of four numbers, and so does (z_0, u), with z_0 ≥ ‖u‖ a further
unknown:

    R z_0 + λ·u = σ τ,   R u + z_0 λ = 0                                                         (1)
At σ τ = 0 that is the law: u = 0 inside of the ball, and λ = −R u/‖u‖ on its surface. R is
constant, or the normal impulse of a contact, which changes with the step too. A Newton step of (1),
with Δz_0 eliminated, is for three rows

    A Δλ + B Δu + g ΔR = F,   A = z_0 1 − λ uᵀ/R,  B = R 1 − λ λᵀ/R,  g = u − z_0 λ/R            (2)
"""

from math import sqrt

import numpy as np

from tabi.jit import kernel
from tabi.spatial.vector import add, dot, scale


@kernel(inline=True)
def matrices(R, l, u, head):
    """A, B and g of (2)."""
    x, y, n = l
    a = scale(-1.0 / R, l)
    A = (
        head + a[0] * u[0], a[0] * u[1], a[0] * u[2],
        a[1] * u[0], head + a[1] * u[1], a[1] * u[2],
        a[2] * u[0], a[2] * u[1], head + a[2] * u[2],
    )  # fmt: skip
    B = (
        R + a[0] * x, a[0] * y, a[0] * n,
        a[1] * x, R + a[1] * y, a[1] * n,
        a[2] * x, a[2] * y, R + a[2] * n,
    )  # fmt: skip
    return A, B, add(u, scale(head, a))


@kernel(inline=True)
def missing(R, l, u, head, centre):
    """Residual of (1) for centre = σ τ, its first part first."""
    return centre - R * head - dot(l, u), scale(-1.0, add(scale(R, u), scale(head, l)))


@kernel(inline=True)
def product(dR, dl, du, dhead):
    """Second-order part of (1)."""
    return dR * dhead + dot(dl, du), add(scale(dR, du), scale(dhead, dl))


@kernel(inline=True)
def reach(R, dR, l, dl):
    """Length along a step at which ‖l‖ = R."""
    a = dR * dR - dot(dl, dl)
    b = R * dR - dot(l, dl)
    c = max(0.0, R * R - dot(l, l))
    square, length = b * b - a * c, -R / dR if dR < 0.0 else np.inf
    if a < 0.0 or (b < 0.0 and square >= 0.0):
        under = sqrt(max(0.0, square)) - b
        if under > 0.0:
            length = min(length, c / under)
    return length
