"""Small vectors and matrices as tuples of scalars, for use inside kernels.

A 3-vector is (x, y, z); a 3×3 matrix R is nine numbers row by row; a symmetric matrix S is (xx, xy,
xz, yy, yz, zz). Tuples live in registers: these functions cost nothing but their arithmetic.
"""

from tabi.jit import kernel


@kernel
def add(a, b):
    """a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel
def sub(a, b):
    """a − b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@kernel
def scale(s, a):
    """Scale a vector: s a."""
    return (s * a[0], s * a[1], s * a[2])


@kernel
def dot(a, b):
    """a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a, b):
    """a × b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@kernel
def mul(R, a):
    """Rotate a vector: R a."""
    return (
        R[0] * a[0] + R[1] * a[1] + R[2] * a[2],
        R[3] * a[0] + R[4] * a[1] + R[5] * a[2],
        R[6] * a[0] + R[7] * a[1] + R[8] * a[2],
    )


@kernel
def mul_t(R, a):
    """Rᵀ a."""
    return (
        R[0] * a[0] + R[3] * a[1] + R[6] * a[2],
        R[1] * a[0] + R[4] * a[1] + R[7] * a[2],
        R[2] * a[0] + R[5] * a[1] + R[8] * a[2],
    )


@kernel
def matmul(A, B):
    """Multiply two matrices: A B."""
    x = mul(A, (B[0], B[3], B[6]))
    y = mul(A, (B[1], B[4], B[7]))
    z = mul(A, (B[2], B[5], B[8]))
    return (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2])


@kernel
def sym_mul(S, a):
    """S a for a symmetric S."""
    return (
        S[0] * a[0] + S[1] * a[1] + S[2] * a[2],
        S[1] * a[0] + S[3] * a[1] + S[4] * a[2],
        S[2] * a[0] + S[4] * a[1] + S[5] * a[2],
    )


@kernel
def sym_rotate(R, S):
    """R S Rᵀ for a symmetric S."""
    x, y, z = (R[0], R[1], R[2]), (R[3], R[4], R[5]), (R[6], R[7], R[8])
    a, b, c = sym_mul(S, x), sym_mul(S, y), sym_mul(S, z)
    return (dot(x, a), dot(x, b), dot(x, c), dot(y, b), dot(y, c), dot(z, c))


@kernel
def load3(a):
    """An array's first three numbers."""
    return (a[0], a[1], a[2])


@kernel
def load6(a):
    """An array's first six numbers."""
    return (a[0], a[1], a[2], a[3], a[4], a[5])


@kernel
def load9(a):
    """An array's first nine numbers."""
    return (a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8])


@kernel
def store3(out, a):
    """out ← a."""
    out[0], out[1], out[2] = a[0], a[1], a[2]


@kernel
def store6(out, a):
    """out ← a."""
    out[0], out[1], out[2], out[3], out[4], out[5] = a[0], a[1], a[2], a[3], a[4], a[5]


@kernel
def store9(out, a):
    """out ← a."""
    out[0], out[1], out[2], out[3], out[4], out[5] = a[0], a[1], a[2], a[3], a[4], a[5]
    out[6], out[7], out[8] = a[6], a[7], a[8]


@kernel
def pair(a, b):
    """The 6-vector of an angular and a linear part."""
    return (a[0], a[1], a[2], b[0], b[1], b[2])


@kernel
def angular(a):
    """The first half of a 6-vector."""
    return (a[0], a[1], a[2])


@kernel
def linear(a):
    """The second half of a 6-vector."""
    return (a[3], a[4], a[5])


@kernel
def add6(a, b):
    """a + b for 6-vectors."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])


@kernel
def axpy6(s, a, b):
    """s a + b for 6-vectors."""
    return (
        s * a[0] + b[0],
        s * a[1] + b[1],
        s * a[2] + b[2],
        s * a[3] + b[3],
        s * a[4] + b[4],
        s * a[5] + b[5],
    )


@kernel
def dot6(a, b):
    """a · b for 6-vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@kernel
def accumulate6(out, a):
    """out ← out + a."""
    store6(out, add6(load6(out), a))
