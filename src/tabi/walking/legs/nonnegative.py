"""Least squares with unknowns that are not negative: the projection of a point on a cone.

Of the columns a_j of A, shape (n, m), and b,

    minimise ½ |A x − b|²   with   x ≥ 0                                                        (1)
x solves it exactly where the slope s = Aᵀ (A x − b) has

    s ≥ 0,   x ≥ 0,   xᵀ s = 0                                                                  (2)
Lawson and Hanson's active set: free the unknown with the steepest slope, solve for the free ones,
and where one of them becomes negative go only as far as it is zero and hold it. |A x − b| falls in
every turn, so that no set of free unknowns comes twice.

r = b − A x is the point of {r : Aᵀ r ≤ 0} next to b (Moreau): a projection on a polyhedral cone.

Reference: Lawson and Hanson (1974), Solving Least Squares Problems, ch. 23.
"""

from tabi.jit import kernel
from tabi.spatial import cholesky

# a slope is negative below this, of a's and b's of size 1
FLAT = 1e-12


@kernel
def solve(A, b, n, x, free, system, most):
    """Equation (1).

    Args:
        A, b: shapes (≥ n, m) and (≥ n,). n: rows that count. x: written, shape (m,).
        free: scratch, shape (m,). system: scratch, shape (m, m + 1).
        most: turns at most.

    Returns:
        the turns taken; ``most`` where they did not suffice.
    """
    m = x.shape[0]
    for j in range(m):
        x[j], free[j] = 0.0, 0
    turns = 0
    while turns < most:
        steepest = _steepest(A, b, n, x, free)
        if steepest < 0:
            break
        free[steepest] = 1
        while turns < most:
            turns += 1
            if _advance(A, b, n, x, free, system):
                break
    return turns


@kernel
def _steepest(A, b, n, x, free):
    """The unknown that is held and whose growth gains most; −1 where none gains."""
    found, least = -1, -FLAT
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
        # per length of its column, so that scales of the columns do not matter
        slope = slope / size**0.5 if size > 0.0 else 0.0
        if slope < least:
            found, least = j, slope
    return found


@kernel
def _advance(A, b, n, x, free, system):
    """Towards the solution for the free unknowns, until one is zero; whether it is reached."""
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
    # how far until the first one is zero
    way, row = 1.0, 0
    for j in range(m):
        if free[j] != 0:
            new = system[row, count]
            if not new > 0.0 and x[j] > 0.0:
                way = min(way, x[j] / (x[j] - new))
            elif not new > 0.0:
                way = 0.0
            row += 1
    arrived, row = True, 0
    for j in range(m):
        if free[j] != 0:
            new = system[row, count]
            x[j] += way * (new - x[j])
            row += 1
            if not new > 0.0 and not x[j] > 1e-15:
                x[j], free[j], arrived = 0.0, 0, False
    return arrived
