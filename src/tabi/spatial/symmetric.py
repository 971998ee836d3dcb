"""Symmetric 3×3 systems, as tuples (xx, xy, xz, yy, yz, zz), for use inside kernels."""

from tabi.jit import kernel


@kernel
def solve(S, b):
    """x with S x = b, S positive definite, by LDLᵀ."""
    l1, l2 = S[1] / S[0], S[2] / S[0]
    d1 = S[3] - l1 * S[1]
    l3 = (S[4] - l2 * S[1]) / d1
    d2 = S[5] - l2 * S[2] - l3 * l3 * d1
    y1 = b[1] - l1 * b[0]
    y2 = b[2] - l2 * b[0] - l3 * y1
    z = y2 / d2
    y = y1 / d1 - l3 * z
    return (b[0] / S[0] - l1 * y - l2 * z, y, z)
