"""Products with rows of large matrices, several numbers at once.

Rows are slices: loops that count from zero are those that compilers make vectors of.
"""

from tabi.jit import kernel


@kernel(vectors=True)
def add_rows(M, at, size, x, y, z, out, first):
    """Add three rows of a matrix times three numbers to ``size`` numbers of out.

    Args:
        M: flat. at: where the first of the rows begins.
        first: where those of out begin.
    """
    a, b, c = M[at : at + size], M[at + size : at + 2 * size], M[at + 2 * size : at + 3 * size]
    w = out[first : first + size]
    for r in range(size):
        w[r] += x * a[r] + y * b[r] + z * c[r]


@kernel(vectors=True)
def dot(a, b, size):
    """A·b of the first numbers."""
    total = 0.0
    for j in range(size):
        total += a[j] * b[j]
    return total


@kernel(vectors=True)
def row_times(M, at, x, size):
    """A row of a flat matrix times x."""
    row, total = M[at : at + size], 0.0
    for j in range(size):
        total += row[j] * x[j]
    return total


@kernel(vectors=True)
def times_six(M, at, size, factor, X, out):
    """Six vectors, which are rows of X, times a factor and a flat symmetric matrix."""
    X0, X1, X2, X3, X4, X5 = X[0], X[1], X[2], X[3], X[4], X[5]
    for r in range(size):
        a, b, c, d, e, f = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        row = M[at + r * size : at + (r + 1) * size]
        for j in range(size):
            x = row[j]
            a += x * X0[j]
            b += x * X1[j]
            c += x * X2[j]
            d += x * X3[j]
            e += x * X4[j]
            f += x * X5[j]
        out[0, r], out[1, r], out[2, r] = factor * a, factor * b, factor * c
        out[3, r], out[4, r], out[5, r] = factor * d, factor * e, factor * f
