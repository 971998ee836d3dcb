"""Slopes of three rows for Newton's step: C⁻¹, and the derivative of limited rows by the bound that
their partner sets.
"""

from math import sqrt

from tabi.jit import kernel
from tabi.spatial.vector import load9, mul, scale, store3


@kernel(inline=True)
def inverse(m):
    """The inverse of C by its cofactors."""
    m0, m1, m2, m3, m4, m5, m6, m7, m8 = m
    a, b, c = m4 * m8 - m5 * m7, m5 * m6 - m3 * m8, m3 * m7 - m4 * m6
    d = 1.0 / (m0 * a + m1 * b + m2 * c)
    return (
        a * d, (m2 * m7 - m1 * m8) * d, (m1 * m5 - m2 * m4) * d,
        b * d, (m0 * m8 - m2 * m6) * d, (m2 * m3 - m0 * m5) * d,
        c * d, (m1 * m6 - m0 * m7) * d, (m0 * m4 - m1 * m3) * d,
    )  # fmt: skip


@kernel(inline=True)
def bound_slope(p, k, u, l, rho, work):
    """C⁻¹ ∂F/∂R of three rows with a partner into work.follow, with C in work.known; False where
    they do not follow it, and nothing is there.
    """
    i, e = 3 * k, p.contact[k].partner
    z = (l[i] - rho * u[i], l[i + 1] - rho * u[i + 1], l[i + 2] - rho * u[i + 2])
    size = sqrt(z[0] * z[0] + z[1] * z[1] + z[2] * z[2])
    if not (size > p.bound[k] and l[3 * e + 2] > 0.0):
        store3(work.follow[k], (0.0, 0.0, 0.0))
        return False
    store3(work.follow[k], mul(inverse(load9(work.known[k])), scale(-1.0 / (rho * size), z)))
    return True
