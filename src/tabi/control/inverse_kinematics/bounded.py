"""A step for tasks with priorities and limits: damped least squares within bounds.

    min  ½ xᵀx + ½ Σ_i (r_i − b_iᵀ x)² / d_i    over  l ≤ x ≤ u                               (1)
b_i: the rows of B; r_i: their targets; d_i: their damping. Rows of higher priorities have a damping
so small that they hold like equations, so that those of the last one act in their null space (2).
Of columns that are free (F) and columns at a bound (C), with y = (r − B x)/d:

    (B_F B_Fᵀ + D) y = r − B_C x_C,   x_F = B_Fᵀ y                                             (3)
by Cholesky's factors, as few rows as there are tasks, whatever the number of joints. (1) has one
minimum, and x is there when every column is free or at a bound as w = Bᵀ y says:

    w_k > u_k: x_k = u_k,   w_k < l_k: x_k = l_k,   else x_k = w_k                             (4)
Iterating these sets until they do not change is the primal-dual active set method, a Newton method,
which ends after two or three iterations. If it cycles, the primal active set method takes over:
from x = 0 towards w up to the first bound, one column at a time is fixed there, or freed by (4);
that decreases (1) in every iteration, and ends.

(2): eliminating the rows A of higher priorities first, Cholesky's factor of the others is that of
B N Bᵀ + D, N = 1 − Aᵀ(A Aᵀ + ε)⁻¹ A: the damped pseudoinverse in the null space.

References: Hintermüller, Ito, Kunisch, The primal-dual active set strategy as a semismooth Newton
method (2002); Siciliano and Slotine, A general framework for managing multiple tasks in highly
redundant robotic systems (1991).
"""

from math import sqrt

from tabi.jit import kernel
from tabi.spatial.vector import add, load3, scale

# iterations of the primal-dual and the primal method
MAX_PRIMAL_DUAL_ITERATIONS, MAX_PRIMAL_ITERATIONS = 4, 200


@kernel
def step(t, n):
    """Solve (1) for x and y of the first n rows; bounds from t.low and t.high, starting from the
    sets of the last call. t.r is changed.
    """
    _products(t, n)
    for _ in range(MAX_PRIMAL_DUAL_ITERATIONS):
        _solve(t, n)
        if _update_sets(t, n) == 0:
            return
    for f in range(t.free.shape[0]):
        k = t.free[f]
        t.x[k] = min(max(0.0, t.low[k]), t.high[k])
        if t.state[k] != 0:
            _change_state(t, k, n, 0)
    _primal_active_set(t, n)


@kernel
def step_from_current_sets(t, n):
    """Solve (1) from the current x and sets, which may result from the first rows alone: these keep
    their values throughout.
    """
    _products(t, n)
    _primal_active_set(t, n)


@kernel
def _products(t, n):
    """B_F B_Fᵀ, its lower half; and r − B_C x_C in t.r."""
    for a in range(n // 3):
        for b in range(a + 1):
            pair = a * (a + 1) // 2 + b
            x, y, z = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
            for c in range(t.pair[pair], t.pair[pair + 1]):
                column = t.B[t.shared[c]]
                u = (column[3 * b], column[3 * b + 1], column[3 * b + 2])
                x = add(x, scale(column[3 * a], u))
                y = add(y, scale(column[3 * a + 1], u))
                z = add(z, scale(column[3 * a + 2], u))
            _store(t.G, 3 * a, 3 * b, x, y, z)
    for f in range(t.free.shape[0]):
        k = t.free[f]
        if t.state[k] != 0:
            _add(t, k, n, -1.0)
            _ask(t, k, n, t.high[k] if t.state[k] > 0 else t.low[k])


@kernel(inline=True)
def _store(M, i, j, x, y, z):
    """Three rows of three numbers of a matrix."""
    M[i, j], M[i, j + 1], M[i, j + 2] = x[0], x[1], x[2]
    M[i + 1, j], M[i + 1, j + 1], M[i + 1, j + 2] = y[0], y[1], y[2]
    M[i + 2, j], M[i + 2, j + 1], M[i + 2, j + 2] = z[0], z[1], z[2]


@kernel
def _add(t, k, n, sign):
    """A column's part of B Bᵀ."""
    for a in range(t.touched[k]):
        i = t.touching[k, a]
        if i >= n:
            break
        for d in range(i, i + 3):
            s = sign * t.B[k, d]
            for c in range(a + 1):
                j = t.touching[k, c]
                t.G[d, j] += s * t.B[k, j]
                t.G[d, j + 1] += s * t.B[k, j + 1]
                t.G[d, j + 2] += s * t.B[k, j + 2]


@kernel
def _ask(t, k, n, x):
    """Less is asked of the others where a column goes by x."""
    if x == 0.0:
        return
    for a in range(t.touched[k]):
        i = t.touching[k, a]
        if i >= n:
            break
        for d in range(i, i + 3):
            t.r[d] -= t.B[k, d] * x


@kernel
def _solve(t, n):
    """y of (3); by blocks of three rows and columns, so that few numbers are read twice."""
    L, y = t.L, t.y
    for a in range(0, n, 3):
        for b in range(0, a + 3, 3):
            u, v, w = load3(t.G[a, b:]), load3(t.G[a + 1, b:]), load3(t.G[a + 2, b:])
            for k in range(b):
                c = (-L[b, k], -L[b + 1, k], -L[b + 2, k])
                u = add(u, scale(L[a, k], c))
                v = add(v, scale(L[a + 1, k], c))
                w = add(w, scale(L[a + 2, k], c))
            if b < a:
                _store(L, a, b, _row(L, b, u), _row(L, b, v), _row(L, b, w))
                continue
            # the diagonal holds inverses
            d = t.damping
            L[a, a] = _inverse_root(u[0] + d[a])
            L[a + 1, a] = v[0] * L[a, a]
            L[a + 2, a] = w[0] * L[a, a]
            L[a + 1, a + 1] = _inverse_root(v[1] + d[a + 1] - L[a + 1, a] * L[a + 1, a])
            L[a + 2, a + 1] = (w[1] - L[a + 2, a] * L[a + 1, a]) * L[a + 1, a + 1]
            rest = L[a + 2, a] * L[a + 2, a] + L[a + 2, a + 1] * L[a + 2, a + 1]
            L[a + 2, a + 2] = _inverse_root(w[2] + d[a + 2] - rest)
    _substitute(L, t.r, y, n)


@kernel(inline=True)
def _row(L, b, u):
    """u divided by the block of L on the diagonal at b, whose own diagonal holds inverses."""
    x = u[0] * L[b, b]
    y = (u[1] - x * L[b + 1, b]) * L[b + 1, b + 1]
    return (x, y, (u[2] - x * L[b + 2, b] - y * L[b + 2, b + 1]) * L[b + 2, b + 2])


@kernel(inline=True)
def _inverse_root(x):
    """1/√x; a row without effect beyond rounding is left out."""
    return 1.0 / sqrt(x) if x > 0.0 else 0.0


@kernel
def _substitute(L, r, y, n):
    """L Lᵀ y = r."""
    for a in range(0, n, 3):
        u, v, w = r[a], r[a + 1], r[a + 2]
        for k in range(a):
            u -= L[a, k] * y[k]
            v -= L[a + 1, k] * y[k]
            w -= L[a + 2, k] * y[k]
        y[a], y[a + 1], y[a + 2] = _row(L, a, (u, v, w))
    for i in range(n - 1, -1, -1):
        s = y[i] * L[i, i]
        y[i] = s
        for k in range(i):
            y[k] -= L[i, k] * s


@kernel(inline=True)
def _unbounded(t, k, n):
    """Return w of column k, (4)."""
    w = 0.0
    for a in range(t.touched[k]):
        i = t.touching[k, a]
        if i >= n:
            break
        column, y = t.B[k], t.y
        w += column[i] * y[i] + column[i + 1] * y[i + 1] + column[i + 2] * y[i + 2]
    return w


@kernel
def _update_sets(t, n):
    """Update the sets by (4); return the number of changed columns."""
    changed = 0
    for f in range(t.free.shape[0]):
        k = t.free[f]
        w, state = _unbounded(t, k, n), 0
        if w > t.high[k]:
            state, w = 1, t.high[k]
        elif w < t.low[k]:
            state, w = -1, t.low[k]
        t.x[k] = w
        if state != t.state[k]:
            changed += 1
            _change_state(t, k, n, state)
    return changed


@kernel
def _change_state(t, k, n, state):
    """Free a column, or fix it at a bound."""
    old = t.state[k]
    t.state[k] = state
    if old != 0:
        _ask(t, k, n, -(t.high[k] if old > 0 else t.low[k]))
    if state != 0:
        _ask(t, k, n, t.high[k] if state > 0 else t.low[k])
    if old == 0:
        _add(t, k, n, -1.0)
    elif state == 0:
        _add(t, k, n, 1.0)


@kernel
def _primal_active_set(t, n):
    """Iterate the primal active set method, from x with the columns of its set at their bounds."""
    for _ in range(MAX_PRIMAL_ITERATIONS):
        _solve(t, n)
        # largest common step, and the blocking column
        share, blocking, side = 1.0, -1, 0
        for f in range(t.free.shape[0]):
            k = t.free[f]
            if t.state[k] != 0:
                continue
            w = _unbounded(t, k, n)
            t.w[k] = w
            if w > t.high[k] and t.high[k] - t.x[k] < share * (w - t.x[k]):
                share, blocking, side = (t.high[k] - t.x[k]) / (w - t.x[k]), k, 1
            elif w < t.low[k] and t.low[k] - t.x[k] > share * (w - t.x[k]):
                share, blocking, side = (t.low[k] - t.x[k]) / (w - t.x[k]), k, -1
        # take the step; find the column at a bound with the largest multiplier of wrong sign
        largest, release = 0.0, -1
        for f in range(t.free.shape[0]):
            k = t.free[f]
            if t.state[k] == 0:
                t.x[k] += share * (t.w[k] - t.x[k])
            elif blocking < 0:
                w = _unbounded(t, k, n)
                if t.state[k] * (t.x[k] - w) > largest:
                    largest, release = t.state[k] * (t.x[k] - w), k
        if blocking >= 0:
            t.x[blocking] = t.high[blocking] if side > 0 else t.low[blocking]
            _change_state(t, blocking, n, side)
        elif release >= 0:
            _change_state(t, release, n, 0)
        else:
            return
