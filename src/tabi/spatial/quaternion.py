"""Unit quaternions (w, x, y, z) as tuples, for use inside kernels.

R(p ⊗ q) = R(p) R(q),        q(t + h) = exp(h ω / 2) ⊗ q(t)  for ω in the fixed axes,       (1)
exp(φ/2) = (cos(‖φ‖/2), sin(‖φ‖/2) φ/‖φ‖)                                                   (2)
"""

from math import cos, sin, sqrt

from tabi.jit import kernel


@kernel
def matrix(w, x, y, z):
    """Rotation matrix of a unit quaternion, nine numbers row by row."""
    return (
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    )


@kernel
def product(p, q):
    """p ⊗ q."""
    return (
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    )


@kernel
def rotated(q, phi):
    """exp(φ/2) ⊗ q, normalised again."""
    angle = sqrt(phi[0] * phi[0] + phi[1] * phi[1] + phi[2] * phi[2])
    half = 0.5 * angle
    # sin(half)/angle, by its series where the quotient would lose digits
    s = 0.5 - angle * angle / 48.0 if angle < 1e-4 else sin(half) / angle
    r = product((cos(half), s * phi[0], s * phi[1], s * phi[2]), q)
    n = 1.0 / sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3])
    return (n * r[0], n * r[1], n * r[2], n * r[3])


@kernel
def of_matrix(R):
    """The unit quaternion (w, x, y, z), w ≥ 0, of a rotation given row by row."""
    # four times the square of each number; the largest one is divided by
    w, x = 1.0 + R[0] + R[4] + R[8], 1.0 + R[0] - R[4] - R[8]
    y, z = 1.0 - R[0] + R[4] - R[8], 1.0 - R[0] - R[4] + R[8]
    if w >= x and w >= y and w >= z:
        Q = (w, R[7] - R[5], R[2] - R[6], R[3] - R[1])
    elif x >= y and x >= z:
        Q = (R[7] - R[5], x, R[3] + R[1], R[2] + R[6])
    elif y >= z:
        Q = (R[2] - R[6], R[3] + R[1], y, R[7] + R[5])
    else:
        Q = (R[3] - R[1], R[2] + R[6], R[7] + R[5], z)
    size = 0.5 / sqrt(max(w, x, y, z))
    size = size if Q[0] >= 0.0 else -size
    return (size * Q[0], size * Q[1], size * Q[2], size * Q[3])
