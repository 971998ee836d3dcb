"""Small symmetric systems in arrays, solved in place, for use inside kernels."""

from math import sqrt

from tabi.jit import kernel


@kernel
def solve(K, n):
    """Column n of K becomes the solution of the leading n × n system,
    of which the lower half is read and overwritten.

    A row without a positive pivot, one that has no effect, is left out: its unknown is zero.
    """
    for j in range(n):
        for k in range(j):
            for i in range(j, n):
                K[i, j] -= K[i, k] * K[j, k]
        pivot = 1.0 / sqrt(K[j, j]) if K[j, j] > 0.0 else 0.0
        for i in range(j, n):
            K[i, j] *= pivot
    for i in range(n):
        for k in range(i):
            K[i, n] -= K[i, k] * K[k, n]
        K[i, n] = K[i, n] / K[i, i] if K[i, i] > 0.0 else 0.0
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            K[i, n] -= K[k, i] * K[k, n]
        K[i, n] = K[i, n] / K[i, i] if K[i, i] > 0.0 else 0.0
