"""Non-negative least squares: the projection of a point on a cone.

With the columns a_j of A, shape (n, m), and b,

    minimise ½ |A x − b|²   with   x ≥ 0                                                        (1)
x solves it exactly where the slope s = Aᵀ (A x − b) has

    s ≥ 0,   x ≥ 0,   xᵀ s = 0                                                                  (2)
Lawson and Hanson's active set: free the unknown with the steepest slope, solve for the free ones,
and where one becomes negative, stop where it is zero and fix it. |A x − b| decreases in every
iteration, so no set of free unknowns occurs twice.

r = b − A x is the point of {r : Aᵀ r ≤ 0} nearest to b (Moreau): a projection on a polyhedral cone.

Reference: Lawson and Hanson (1974), Solving Least Squares Problems, ch. 23.
"""

from tabi.jit import kernel
from tabi.spatial import cholesky

# tolerance of a negative slope, for a and b of size 1
SLOPE_TOLERANCE = 1e-12


@kernel
def solve(A, b, n, x, free, system, max_iterations):
    """Solve (1) by the active-set method.

    Args:
        A, b: shapes (≥ n, m) and (≥ n,). n: rows in use. x: result, shape (m,).
        free: scratch, shape (m,). system: scratch, shape (m, m + 1).
        max_iterations: limit of the iterations.

    Returns:
        the number of iterations; ``max_iterations`` where they did not suffice.
    """
    m = x.shape[0]
    for j in range(m):
        x[j], free[j] = 0.0, 0
    iterations = 0
    while iterations < max_iterations:
        steepest = _steepest(A, b, n, x, free)
        if steepest < 0:
            break
        free[steepest] = 1
        while iterations < max_iterations:
            iterations += 1
            if _advance(A, b, n, x, free, system):
                break
    return iterations


@kernel
def _steepest(A, b, n, x, free):
    """Return the fixed unknown with the steepest descent; −1 where none descends."""
    steepest, least = -1, -SLOPE_TOLERANCE
    for j in range(x.shape[0]):
        if free[j] != 0:
            continue
        slope, size = 0.0, 0.0
        for i in range(n):
            rest = -b[i]
            for k in range(x.shape[0]):
                if free[k] != 0:
                    rest += A[i, k] * x[k]
            slope += A[i, j] * rest
            size += A[i, j] * A[i, j]
        # normalised by the column, so that its scale does not matter
        slope = slope / size**0.5 if size > 0.0 else 0.0
        if slope < least:
            steepest, least = j, slope
    return steepest


@kernel
def _advance(A, b, n, x, free, system):
    """Move towards the solution for the free unknowns, until one is zero; return whether it is
    reached.
    """
    m, count = x.shape[0], 0
    for j in range(m):
        if free[j] == 0:
            continue
        column = 0
        for k in range(j + 1):
            if free[k] != 0:
                system[count, column] = 0.0
                for i in range(n):
                    system[count, column] += A[i, j] * A[i, k]
                column += 1
        count += 1
    row = 0
    for j in range(m):
        if free[j] != 0:
            system[row, count] = 0.0
            for i in range(n):
                system[row, count] += A[i, j] * b[i]
            row += 1
    cholesky.solve(system, count)
    # fraction of the step until the first unknown is zero
    fraction, row = 1.0, 0
    for j in range(m):
        if free[j] != 0:
            new = system[row, count]
            if not new > 0.0 and x[j] > 0.0:
                fraction = min(fraction, x[j] / (x[j] - new))
            elif not new > 0.0:
                fraction = 0.0
            row += 1
    complete, row = True, 0
    for j in range(m):
        if free[j] != 0:
            new = system[row, count]
            x[j] += fraction * (new - x[j])
            row += 1
            if not new > 0.0 and not x[j] > 1e-15:
                x[j], free[j], complete = 0.0, 0, False
    return complete
