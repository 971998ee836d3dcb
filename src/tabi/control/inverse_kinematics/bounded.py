"""A step for tasks with priorities and limits: damped least squares within bounds.

    min  ½ xᵀx + ½ Σ_i (r_i − b_iᵀ x)² / d_i    over  l ≤ x ≤ u                               (1)
b_i: the rows of B; r_i: what each is asked for; d_i: its damping. Rows of higher priorities have a
damping so small that they hold like equations, so that those of the last one act in their null
space (2). Of columns that are free (F) and columns at a bound (C), with y = (r − B x)/d:

    (B_F B_Fᵀ + D) y = r − B_C x_C,   x_F = B_Fᵀ y                                             (3)
by Cholesky's factors, as few rows as there are tasks, whatever the number of joints. (1) has one
minimum, and x is there when every column is free or at a bound as w = Bᵀ y says:

    w_k > u_k: x_k = u_k,   w_k < l_k: x_k = l_k,   else x_k = w_k                             (4)
Taking these for the next sets until they do not change is the primal-dual active set method, a
Newton method, which ends after two or three rounds. Where it does not, columns are only put at
their bounds, never freed, and it ends all the same.

(2): eliminating the rows A of higher priorities first, Cholesky's factor of the others is that of
B N Bᵀ + D, N = 1 − Aᵀ(A Aᵀ + ε)⁻¹ A: the damped pseudoinverse in the null space.

References: Hintermüller, Ito, Kunisch, The primal-dual active set strategy as a semismooth Newton
method (2002); Siciliano and Slotine, A general framework for managing multiple tasks in highly
redundant robotic systems (1991).
"""

from math import sqrt

from tabi._jit import kernel

# rounds in which columns may be freed again, and all rounds
FREEING, ROUNDS = 6, 40


@kernel
def step(t, n):
    """x and y of (1) for the first n rows; bounds from t.low and t.high, the sets of the last call
    to begin with. Returns the number of rounds.
    """
    _products(t, n)
    rounds = 0
    while rounds < ROUNDS:
        _solve(t, n)
        rounds += 1
        if _sort(t, n, rounds < FREEING) == 0:
            break
    return rounds


@kernel
def _products(t, n):
    """B_F B_Fᵀ, its lower half; and r − B_C x_C in t.r."""
    for i in range(n):
        for j in range(i + 1):
            t.G[i, j] = 0.0
    for f in range(t.free.shape[0]):
        k = t.free[f]
        if t.state[k] == 0:
            _add(t, k, n, 1.0)
        else:
            _ask(t, k, n, t.high[k] if t.state[k] > 0 else t.low[k])


@kernel(inline=True)
def _add(t, k, n, sign):
    """A column's part of B Bᵀ."""
    for a in range(t.touched[k]):
        i = t.touching[k, a]
        if i >= n:
            break
        s = sign * t.B[k, i]
        for c in range(a + 1):
            j = t.touching[k, c]
            t.G[i, j] += s * t.B[k, j]


@kernel(inline=True)
def _ask(t, k, n, x):
    """Less is asked of the others where a column goes by x."""
    if x == 0.0:
        return
    for a in range(t.touched[k]):
        i = t.touching[k, a]
        if i >= n:
            break
        t.r[i] -= t.B[k, i] * x


@kernel
def _solve(t, n):
    """y of (3)."""
    L, y = t.L, t.y
    for i in range(n):
        for j in range(i):
            s, u = t.G[i, j], 0.0
            k = 0
            # two sums: neither waits for the other
            while k + 1 < j:
                s -= L[i, k] * L[j, k]
                u -= L[i, k + 1] * L[j, k + 1]
                k += 2
            if k < j:
                s -= L[i, k] * L[j, k]
            L[i, j] = (s + u) * L[j, j]
        s, u = t.G[i, i] + t.damping[i], t.r[i]
        for k in range(i):
            s -= L[i, k] * L[i, k]
            u -= L[i, k] * y[k]
        # the diagonal holds inverses; a row without effect beyond rounding is left out
        L[i, i] = 1.0 / sqrt(s) if s > 0.0 else 0.0
        y[i] = u * L[i, i]
    for i in range(n - 1, -1, -1):
        y[i] *= L[i, i]
        s = y[i]
        for k in range(i):
            y[k] -= L[i, k] * s


@kernel
def _sort(t, n, freeing):
    """(4); returns how many columns have changed sides."""
    changed = 0
    for f in range(t.free.shape[0]):
        k = t.free[f]
        w = 0.0
        for a in range(t.touched[k]):
            i = t.touching[k, a]
            if i >= n:
                break
            w += t.B[k, i] * t.y[i]
        old, new = t.state[k], 0
        if w > t.high[k]:
            new, w = 1, t.high[k]
        elif w < t.low[k]:
            new, w = -1, t.low[k]
        if new != old and old != 0 and not freeing:
            new, w = old, (t.high[k] if old > 0 else t.low[k])
        t.x[k] = w
        if new == old:
            continue
        changed += 1
        t.state[k] = new
        if old != 0:
            _ask(t, k, n, -(t.high[k] if old > 0 else t.low[k]))
        if new != 0:
            _ask(t, k, n, w)
        if old == 0:
            _add(t, k, n, -1.0)
        elif new == 0:
            _add(t, k, n, 1.0)
    return changed
