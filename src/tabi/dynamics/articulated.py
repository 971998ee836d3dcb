"""Articulated-body inertia as 21 numbers in a tuple: a body with the subtree that it carries.

    I = [ A  B ]    A, C symmetric (6 numbers each), B full (9);   (moment, force) = I (α, a)  (1)
        [ Bᵀ C ]
In this order: A (xx xy xz yy yz zz), B row by row, C (xx xy xz yy yz zz).
"""

from tabi.jit import kernel
from tabi.spatial.vector import load3, load6


@kernel
def rigid(mass, c, J):
    """A rigid body of centre of mass c and tensor J about it:
    A = J + m(c·c 1 − ccᵀ), B = m c×, C = m 1.
    """
    x, y, z = mass * c[0], mass * c[1], mass * c[2]
    xx, yy, zz = x * c[0], y * c[1], z * c[2]
    return (
        J[0] + yy + zz, J[1] - x * c[1], J[2] - x * c[2],
        J[3] + xx + zz, J[4] - y * c[2], J[5] + xx + yy,
        0.0, -z, y, z, 0.0, -x, -y, x, 0.0,
        mass, 0.0, 0.0, mass, 0.0, mass,
    )  # fmt: skip


@kernel
def load(a):
    """An array's 21 numbers."""
    return (
        a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10],
        a[11], a[12], a[13], a[14], a[15], a[16], a[17], a[18], a[19], a[20],
    )  # fmt: skip


@kernel
def store(out, a):
    """out ← a; written out because a tuple is indexed fast by constants only."""
    out[0] = a[0]
    out[1] = a[1]
    out[2] = a[2]
    out[3] = a[3]
    out[4] = a[4]
    out[5] = a[5]
    out[6] = a[6]
    out[7] = a[7]
    out[8] = a[8]
    out[9] = a[9]
    out[10] = a[10]
    out[11] = a[11]
    out[12] = a[12]
    out[13] = a[13]
    out[14] = a[14]
    out[15] = a[15]
    out[16] = a[16]
    out[17] = a[17]
    out[18] = a[18]
    out[19] = a[19]
    out[20] = a[20]


@kernel
def sum(a, b):
    """a + b."""
    return (
        a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5], a[6] + b[6],
        a[7] + b[7], a[8] + b[8], a[9] + b[9], a[10] + b[10], a[11] + b[11], a[12] + b[12],
        a[13] + b[13], a[14] + b[14], a[15] + b[15], a[16] + b[16], a[17] + b[17], a[18] + b[18],
        a[19] + b[19], a[20] + b[20],
    )  # fmt: skip


@kernel
def mul(I, s):
    """Multiply an inertia with a motion: I s."""
    return (
        I[0] * s[0] + I[1] * s[1] + I[2] * s[2] + I[6] * s[3] + I[7] * s[4] + I[8] * s[5],
        I[1] * s[0] + I[3] * s[1] + I[4] * s[2] + I[9] * s[3] + I[10] * s[4] + I[11] * s[5],
        I[2] * s[0] + I[4] * s[1] + I[5] * s[2] + I[12] * s[3] + I[13] * s[4] + I[14] * s[5],
        I[6] * s[0] + I[9] * s[1] + I[12] * s[2] + I[15] * s[3] + I[16] * s[4] + I[17] * s[5],
        I[7] * s[0] + I[10] * s[1] + I[13] * s[2] + I[16] * s[3] + I[18] * s[4] + I[19] * s[5],
        I[8] * s[0] + I[11] * s[1] + I[14] * s[2] + I[17] * s[3] + I[19] * s[4] + I[20] * s[5],
    )


@kernel
def without(I, U, d):
    """I − d U Uᵀ."""
    p, q, r, s, t, u = d * U[0], d * U[1], d * U[2], d * U[3], d * U[4], d * U[5]
    return (
        I[0] - p * U[0], I[1] - p * U[1], I[2] - p * U[2],
        I[3] - q * U[1], I[4] - q * U[2], I[5] - r * U[2],
        I[6] - p * U[3], I[7] - p * U[4], I[8] - p * U[5],
        I[9] - q * U[3], I[10] - q * U[4], I[11] - q * U[5],
        I[12] - r * U[3], I[13] - r * U[4], I[14] - r * U[5],
        I[15] - s * U[3], I[16] - s * U[4], I[17] - s * U[5],
        I[18] - t * U[4], I[19] - t * U[5], I[20] - u * U[5],
    )  # fmt: skip


@kernel
def rigid_bodies(m, w):
    """w.body.inertia of every body by itself; needs ``kinematics.positions``."""
    for i in range(1, m.body.shape[0]):
        out = w.body[i]
        store(out.inertia, rigid(m.body[i].mass, load3(out.centre), load6(out.tensor)))
