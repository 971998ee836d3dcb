"""The linear system of an interior-point step: A Δλ + B Δu = F for the three rows of each contact.

Few rows are solved as they stand, one row for a joint and three for a contact:

    (B W + A) Δλ = F,   W = J Ω Jᵀ                                                               (1)
Many rows are solved in the space of twists, as in ``twist_newton``:

    (1 + Ω Σ Jᵀ K J) ΔV = Ω Σ Jᵀ A⁻¹ F,   Δλ = A⁻¹ F − K J ΔV,   K = A⁻¹ B                    (2)
A is in work.known and B in work.slope; (2) replaces them by A⁻¹ and K.
"""

from tabi.contact import point_newton
from tabi.contact.algebra import block_lu, linear
from tabi.contact.bodies import apply_omega, push_both, relative
from tabi.contact.point_newton import SLIDES
from tabi.contact.row_slopes import inverse
from tabi.contact.twist_newton import clear, couple, fill_system, stiffen
from tabi.jit import kernel
from tabi.spatial.vector import load3, load9, matmul, mul, mul_t, scale, store3, store9, sub

# kinds of contacts: a friction cone, one impulse that is not negative, one impulse within bounds,
# an unused contact, a ball (its radius is constant, or the normal impulse of a partner), three rows
# that must not move
CONE, POSITIVE, BOUNDED, NOTHING, BALL, EQUAL = 0, 1, 2, 3, 4, 5


@kernel(inline=True)
def has_three(does):
    """Whether all three rows are unknowns."""
    return does in (CONE, BALL, EQUAL)


@kernel(inline=True)
def follows(p, w, k):
    """Whether contact k is a ball whose radius is the normal impulse of another contact."""
    return w.does[k] == BALL and p.contact[k].partner >= 0


# ---- few rows -----------------------------------------------------------------------------------


@kernel
def list_rows(p, w):
    """List the rows that are unknowns; return their number, 0 if there are too many."""
    m = 0
    for k in range(p.mu.shape[0]):
        w.first[k] = m
        if w.does[k] == NOTHING:
            continue
        low = 0 if has_three(w.does[k]) else 2
        if m + 3 - low > w.row.shape[0]:
            return 0
        for q in range(low, 3):
            w.row[m] = 3 * k + q
            m += 1
    return m


@kernel
def measure_mobility(p, m, work):
    """Compute W of the unknowns, in w.mobility."""
    w, W, first = work.interior, work.rows.W, work.rows.first
    for k in range(p.mu.shape[0]):
        if w.does[k] != NOTHING:
            point_newton.make_columns(p, k, work)
    for i in range(m):
        row = _row_in(first, w.row[i])
        for j in range(m):
            column = _row_in(first, w.row[j])
            w.mobility[i, j] = W[row, column] if row >= 0 and column >= 0 else 0.0


@kernel(inline=True)
def _row_in(first, i):
    """Row of W for one of three rows, the last of them as its last; −1 for unused ones."""
    k, row = i // 3, first[i // 3 + 1] - 3 + i % 3
    return row if row >= first[k] else -1


@kernel
def factor_rows(p, m, work):
    """Factors of B W + A, its rows scaled to a largest number of one."""
    w = work.interior
    H, W = w.matrix, w.mobility
    for k in range(p.mu.shape[0]):
        i, A, B = w.first[k], work.known[k], work.slope[k]
        if has_three(w.does[k]):
            for q in range(3):
                _combine(H, W, i + q, i, load3(B[3 * q : 3 * q + 3]), m)
                for e in range(3):
                    H[i + q, i + e] += A[3 * q + e]
                if follows(p, w, k):
                    e = p.contact[k].partner
                    normal = w.first[e] + (2 if has_three(w.does[e]) else 0)
                    H[i + q, normal] += work.follow[k, q]
        elif w.does[k] != NOTHING:
            _copy_row(H, W, i, B[8], m)
            H[i, i] += A[8]
    for i in range(m):
        w.scale[i] = _rescale(H, i, m)
    return linear.factor(H, m, w.order)


@kernel(vectors=True)
def _combine(H, W, i, k, f, m):
    """Row i of H from three rows of W."""
    a, b, c, out, (x, y, n) = W[k, :m], W[k + 1, :m], W[k + 2, :m], H[i, :m], f
    for j in range(m):
        out[j] = x * a[j] + y * b[j] + n * c[j]


@kernel(vectors=True)
def _copy_row(H, W, i, f, m):
    """Row i of H is f times that of W."""
    a, out = W[i, :m], H[i, :m]
    for j in range(m):
        out[j] = f * a[j]


@kernel(vectors=True)
def _rescale(H, i, m):
    """Divide a row by its largest number; returns what it was multiplied by."""
    row, largest = H[i, :m], 0.0
    for j in range(m):
        largest = max(largest, abs(row[j]))
    f = 1.0 / largest if largest > 0.0 else 1.0
    for j in range(m):
        row[j] *= f
    return f


@kernel
def solve_rows(m, w):
    """Compute Δλ from F."""
    for i in range(m):
        w.right[i] = w.scale[i] * w.F[w.row[i]]
    # du serves as memory here: it is overwritten before it is read
    linear.substitute(w.matrix, w.order, w.right, m, w.du)
    for i in range(m):
        w.dl[w.row[i]] = w.du[i]


# ---- many rows ----------------------------------------------------------------------------------


@kernel
def factor_twists(p, work):
    """Factors of 1 + Ω Σ Jᵀ K J; A⁻¹ into work.known, K into work.slope."""
    w = work.interior
    clear(p, work)
    for k in range(p.mu.shape[0]):
        if w.does[k] != NOTHING:
            back = inverse(load9(work.known[k]))
            K = matmul(back, load9(work.slope[k]))
            store9(work.known[k], back)
            store9(work.slope[k], K)
            stiffen(work.stiffness, work.lu.slot, p.contact[k], K, SLIDES)
            if follows(p, w, k):
                store3(work.follow[k], mul(back, load3(work.follow[k])))
                couple(p, k, work)
    fill_system(p, work)
    return block_lu.factor_all(work.lu, p.start.shape[0] - 1)


@kernel
def solve_twists(p, work):
    """Compute Δλ from F."""
    w, bodies = work.interior, p.start.shape[0] - 1
    for i in range(6 * bodies):
        work.wrench[i] = 0.0
    for k in range(p.mu.shape[0]):
        c, F = p.contact[k], w.F[3 * k : 3 * k + 3]
        store3(F, mul(load9(work.known[k]), load3(F)))
        if follows(p, w, k):
            pressed = w.F[3 * p.contact[k].partner + 2]
            store3(F, sub(load3(F), scale(pressed, load3(work.follow[k]))))
        if w.does[k] != NOTHING:
            push_both(work.wrench, c, 0, mul_t(load9(c.frame), load3(F)), 1.0)
    apply_omega(p.start, p.column, p.omega, work.wrench, work.twist)
    block_lu.substitute_all(work.lu, bodies, work.twist)
    for k in range(p.mu.shape[0]):
        i, c = 3 * k, p.contact[k]
        if w.does[k] != NOTHING:
            v = mul(load9(c.frame), relative(work.twist, c))
            f = scale(-1.0, mul(load9(work.slope[k]), v))
            if follows(p, w, k):
                e = 3 * p.contact[k].partner + 2
                f = sub(f, scale(w.dl[e] - w.F[e], load3(work.follow[k])))
            w.dl[i], w.dl[i + 1] = w.F[i] + f[0], w.F[i + 1] + f[1]
            w.dl[i + 2] = w.F[i + 2] + f[2]
