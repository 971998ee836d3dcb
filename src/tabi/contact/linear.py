"""Small dense systems without allocation: LU with partial pivoting, in place."""

from tabi._jit import kernel


@kernel
def solve(A, b, n):
    """b ← A⁻¹ b for the leading n rows and columns; A is overwritten.
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
