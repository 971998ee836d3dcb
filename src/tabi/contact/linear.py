"""Small dense systems without allocation, in place: LU with partial pivoting, and Cholesky's
factors of symmetric ones.
"""

from tabi._jit import kernel


@kernel
def solve(A, b, n):
    """b ← A⁻¹ b for the leading n rows and columns; A is overwritten.
    False where it is singular or not finite.
    """
    return solve_above(A, b, n, 0.0)


@kernel
def solve_above(A, b, n, least):
    """As ``solve``; False too where a pivot is not above ``least``."""
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
    """
    for k in range(n):
        pivot, size = k, abs(A[k, k])
        for i in range(k + 1, n):
            if abs(A[i, k]) > size:
                pivot, size = i, abs(A[i, k])
        if not (size > 0.0 and size < 1e300):
            return False
        if pivot != k:
            for j in range(k, n):
                A[k, j], A[pivot, j] = A[pivot, j], A[k, j]
            for j in range(m):
                B[k, j], B[pivot, j] = B[pivot, j], B[k, j]
        inverse = 1.0 / A[k, k]
        for i in range(k + 1, n):
            f = A[i, k] * inverse
            if f != 0.0:
                for j in range(k + 1, n):
                    A[i, j] -= f * A[k, j]
                for j in range(m):
                    B[i, j] -= f * B[k, j]
    for k in range(n - 1, -1, -1):
        inverse = 1.0 / A[k, k]
        for j in range(m):
            B[k, j] *= inverse
        for i in range(k):
            f = A[i, k]
            if f != 0.0:
                for j in range(m):
                    B[i, j] -= f * B[k, j]
    return True


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
