"""Small dense systems without allocation, in place: LU with partial pivoting, and Cholesky's
factors of symmetric ones.
"""

from tabi.jit import kernel


@kernel
def solve(A, b, n):
    """b ← A⁻¹ b for the leading n rows and columns; A is overwritten.
    False where it is singular or not finite.
    """
    return solve_above(A, b, n, 0.0)


@kernel
def solve_above(A, b, n, least):
    """Solve as ``solve`` does; return False too where a pivot is not above ``least``."""
    for k in range(n):
        pivot, size = k, abs(A[k, k])
        for i in range(k + 1, n):
            if abs(A[i, k]) > size:
                pivot, size = i, abs(A[i, k])
        if not (size > least and size < 1e300):
            return False
        if pivot != k:
            for j in range(k, n):
                A[k, j], A[pivot, j] = A[pivot, j], A[k, j]
            b[k], b[pivot] = b[pivot], b[k]
        inverse = 1.0 / A[k, k]
        for i in range(k + 1, n):
            f = A[i, k] * inverse
            if f != 0.0:
                for j in range(k + 1, n):
                    A[i, j] -= f * A[k, j]
                b[i] -= f * b[k]
    for k in range(n - 1, -1, -1):
        s = b[k]
        for j in range(k + 1, n):
            s -= A[k, j] * b[j]
        b[k] = s / A[k, k]
    return True


@kernel
def solve_columns(A, B, n, m):
    """B ← A⁻¹ B for the leading n rows and columns of A and m columns of B; A is overwritten.
    False where it is singular or not finite.

    Four pivots at a time, so that what is left of A is read and written a quarter as often.
    """
    for first in range(0, n, 4):
        end = min(first + 4, n)
        if not _factor_four(A, B, first, end, n, m):
            return False
        _finish_rows(A, B, first, end, n, m)
        if end < n:
            _subtract_four(A, A, first, n, end, n)
            _subtract_four(A, B, first, n, 0, m)
    for k in range(n - 1, -1, -1):
        _substitute(A, B, k, m)
    return True


@kernel
def factor(A, n, order):
    """P A = L U for the leading n rows and columns, in place, L without its diagonal of ones;
    order: rows of A as they stand in P A. False where it is singular or not finite.
    """
    for k in range(n):
        order[k] = k
    for first in range(0, n, 4):
        end = min(first + 4, n)
        for k in range(first, end):
            pivot = _pivot(A, k, n)
            if pivot < 0:
                return False
            if pivot != k:
                order[k], order[pivot] = order[pivot], order[k]
                _swap(A, k, pivot, 0, n)
            _eliminate_column(A, k, end, n)
        for k in range(first + 1, end):
            for e in range(first, k):
                _subtract(A, k, e, A[k, e], end, n)
        if end < n:
            _subtract_four(A, A, first, n, end, n)
    return True


@kernel
def substitute(A, order, b, n, x):
    """x = A⁻¹ b with what ``factor`` left in A."""
    for i in range(n):
        total = b[order[i]]
        for j in range(i):
            total -= A[i, j] * x[j]
        x[i] = total
    for i in range(n - 1, -1, -1):
        total = x[i]
        for j in range(i + 1, n):
            total -= A[i, j] * x[j]
        x[i] = total / A[i, i]


@kernel
def _factor_four(A, B, first, end, n, m):
    """Pivots and factors of the columns ``first`` to ``end``, with rows swapped as wanted."""
    for k in range(first, end):
        pivot = _pivot(A, k, n)
        if pivot < 0:
            return False
        if pivot != k:
            _swap(A, k, pivot, first, n)
            _swap(B, k, pivot, 0, m)
        _eliminate_column(A, k, end, n)
    return True


@kernel(inline=True)
def _pivot(A, k, n):
    """The row from k on whose number in column k is largest; −1 where that is 0 or not finite."""
    pivot, size = k, abs(A[k, k])
    for i in range(k + 1, n):
        if abs(A[i, k]) > size:
            pivot, size = i, abs(A[i, k])
    return pivot if size > 0.0 and size < 1e300 else -1


@kernel(inline=True)
def _eliminate_column(A, k, end, n):
    """Factors of column k, and the columns up to ``end`` without what it takes of them."""
    inverse = 1.0 / A[k, k]
    for i in range(k + 1, n):
        f = A[i, k] * inverse
        A[i, k] = f
        for j in range(k + 1, end):
            A[i, j] -= f * A[k, j]


@kernel
def _finish_rows(A, B, first, end, n, m):
    """Rows ``first`` to ``end`` as they stand in the factor on the right."""
    for k in range(first + 1, end):
        for e in range(first, k):
            f = A[k, e]
            _subtract(A, k, e, f, end, n)
            _subtract(B, k, e, f, 0, m)


@kernel(vectors=True)
def _swap(A, i, k, first, end):
    """Two rows, from a column on."""
    # slices count from zero, here and below, which lets loops run over several numbers at once
    a, b = A[i, first:end], A[k, first:end]
    for j in range(end - first):
        a[j], b[j] = b[j], a[j]


@kernel(vectors=True)
def _substitute(A, B, k, m):
    """Row k of B is done; rows above it lose their part of it."""
    b, inverse = B[k, :m], 1.0 / A[k, k]
    for j in range(m):
        b[j] *= inverse
    for i in range(k):
        a, f = B[i, :m], A[i, k]
        for j in range(m):
            a[j] -= f * b[j]


@kernel(vectors=True)
def _subtract(A, i, k, f, first, end):
    """Row i less f times row k, from a column on."""
    a, b = A[i, first:end], A[k, first:end]
    for j in range(end - first):
        a[j] -= f * b[j]


@kernel(vectors=True)
def _subtract_four(A, B, k, n, first, end):
    """All rows of B below the four from k on less these, times the factors that stand in A."""
    a, b, c, d = B[k, first:end], B[k + 1, first:end], B[k + 2, first:end], B[k + 3, first:end]
    size = end - first
    for i in range(k + 4, n):
        f, g, p, q, out = A[i, k], A[i, k + 1], A[i, k + 2], A[i, k + 3], B[i, first:end]
        for j in range(size):
            out[j] -= f * a[j] + g * b[j] + p * c[j] + q * d[j]


@kernel
def cholesky(A, n, least):
    """L of A = L Lᵀ in the lower half of A, with 1/L_kk on its diagonal, from that half alone.
    False where a pivot L_kk² is not above ``least``.
    """
    for i in range(n):
        for j in range(i):
            s = A[i, j]
            for k in range(j):
                s -= A[i, k] * A[j, k]
            A[i, j] = s * A[j, j]
        s = A[i, i]
        for k in range(i):
            s -= A[i, k] * A[i, k]
        if not (s > least and s < 1e300):
            return False
        A[i, i] = 1.0 / s**0.5
    return True


@kernel
def cholesky_solve(L, b, n):
    """b ← (L Lᵀ)⁻¹ b with the factor of ``cholesky``."""
    for i in range(n):
        s = b[i]
        for k in range(i):
            s -= L[i, k] * b[k]
        b[i] = s * L[i, i]
    for i in range(n - 1, -1, -1):
        # column by column, along rows of L
        s = b[i] * L[i, i]
        b[i] = s
        for k in range(i):
            b[k] -= L[i, k] * s
