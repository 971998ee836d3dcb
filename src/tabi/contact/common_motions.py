"""The motions that bodies of a problem have in common: fewer than their twists where many links of
one tree touch. Fourteen links have 84 twists, and the joints between them let them move in thirty
ways:

    Ω = T Tᵀ,   G = J T                                                                        (1)
T has r columns, by Cholesky with pivots within each body: the ways to move the first body, then
those to move the second while the first is at rest, until nothing is left of Ω but rounding. G says
what the motions do to each row of the problem, many of them nothing, and W = G Gᵀ. By Sherman,
Morrison and Woodbury systems with K W, with K of blocks of three rows, become such of r unknowns,

    (1 + K W) x = f:   x = f − K G y,   (1 + Gᵀ K G) y = Gᵀ f                                  (2)
Newton's steps (``motion_newton``) and those of interior points (``interior_motions``) are such.
"""

from math import sqrt

from tabi.contact import trees
from tabi.contact.algebra import linear
from tabi.contact.bodies import wrench
from tabi.contact.motion_work import MAX_MOTIONS, NO_MOTIONS, NOT_COMPUTED
from tabi.contact.row_mobility import along_one_axis
from tabi.jit import kernel
from tabi.spatial.vector import load3

# bodies from which on motions are looked for: two feet, or four, are better seen from themselves
LEAST_BODIES = 6
# share of a twist's own mobility that counts as zero
MIN_MOBILITY_RATIO = 1e-12


@kernel(inline=True)
def rank_of(p, w):
    """r, computed at the first call; NO_MOTIONS where motions are of no use."""
    if w.rank[0] == NOT_COMPUTED:
        w.rank[0] = _find(p, w) if _may_help(p, w) else NO_MOTIONS
        for k in range(p.mu.shape[0] if w.rank[0] != NO_MOTIONS else 0):
            c, w.made[k] = p.contact[k], 0
            w.length[k] = max(w.reach[c.a], w.reach[c.b] if c.b >= 0 else 0)
    return w.rank[0]


@kernel(inline=True)
def _may_help(p, w):
    """Whether there is room, and whether bodies have anything in common."""
    bodies = p.start.shape[0] - 1
    return (
        bodies >= LEAST_BODIES
        and 6 * bodies <= w.left.shape[0]
        and p.mu.shape[0] <= w.made.shape[0]
        and not trees.linked(p)
        and p.start[bodies] - p.start[0] >= 2 * bodies
    )


@kernel(apart="int64", rare=True)
def _find(p, w):
    """Compute T of (1); return r, NO_MOTIONS where it is not far below the number of twists."""
    bodies, rank = p.start.shape[0] - 1, 0
    most = min(MAX_MOTIONS, 4 * bodies)
    for i in range(bodies):
        for e in range(p.start[i], p.start[i + 1]):
            if p.column[e] == i:
                for q in range(6):
                    w.whole[6 * i + q] = w.left[6 * i + q] = p.omega[e, q, q]
    for i in range(bodies):
        for _ in range(6):
            pivot, share = -1, MIN_MOBILITY_RATIO
            for j in range(6 * i, 6 * i + 6):
                if w.left[j] > share * w.whole[j]:
                    pivot, share = j, w.left[j] / w.whole[j]
            if pivot < 0:
                break
            if rank == most:
                return NO_MOTIONS
            _take(p, w, rank, pivot, i)
            rank += 1
        w.reach[i] = rank
        for j in range(6 * i, 6 * i + 6):
            for l in range(rank):
                w.twist[j, l] = w.twist_columns[l, j]
    return rank


@kernel(vectors=True)
def _take(p, w, rank, pivot, body):
    """The motion by which the pivot, a twist of this body, moves and those before do not; bodies
    before it are at rest.
    """
    begin, end = 6 * body, 6 * (p.start.shape[0] - 1)
    n = end - begin
    T, left = w.twist_columns[:, begin:end], w.left[begin:end]
    out = T[rank]
    for j in range(n):
        out[j] = 0.0
    # Ω is symmetric, so its row is its column
    for e in range(p.start[body], p.start[body + 1]):
        if p.column[e] >= body:
            for q in range(6):
                out[6 * (p.column[e] - body) + q] = p.omega[e, pivot - begin, q]
    at, l = pivot - begin, 0
    while l + 3 < rank:
        a, b, c, d = T[l], T[l + 1], T[l + 2], T[l + 3]
        f, g, h, k = a[at], b[at], c[at], d[at]
        for j in range(n):
            out[j] -= f * a[j] + g * b[j] + h * c[j] + k * d[j]
        l += 4
    while l < rank:
        a, f = T[l], T[l, at]
        for j in range(n):
            out[j] -= f * a[j]
        l += 1
    factor = 1.0 / sqrt(left[at])
    for j in range(n):
        out[j] *= factor
        left[j] -= out[j] * out[j]
    left[at] = 0.0


@kernel
def make_rows(p, k, w):
    """The three rows k of G, of which only the last is any along one axis."""
    if w.made[k] != 0:
        return
    c, w.made[k] = p.contact[k], 1
    first = 2 if is_lone(p, k) else 0
    for q in range(3):
        out = w.row[3 * k + q]
        zero(out, w.length[k])
        if q < first:
            continue
        x, y, n = c.frame[3 * q], c.frame[3 * q + 1], c.frame[3 * q + 2]
        _add_row(w, c.a, wrench(c.angular, load3(c.arm_a), (x, y, n)), out)
        if c.b >= 0:
            _add_row(w, c.b, wrench(c.angular, load3(c.arm_b), (-x, -y, -n)), out)


@kernel(vectors=True)
def _add_row(w, body, F, out):
    """Add Fᵀ times the six rows of T of a body."""
    T, r = w.twist[6 * body : 6 * body + 6], w.reach[body]
    a, b, c, d, e, f = T[0, :r], T[1, :r], T[2, :r], T[3, :r], T[4, :r], T[5, :r]
    to, (x, y, z, u, v, n) = out[:r], F
    for j in range(r):
        to[j] += x * a[j] + y * b[j] + z * c[j] + u * d[j] + v * e[j] + n * f[j]


# ---- the system (2) -----------------------------------------------------------------------------


@kernel(vectors=True)
def zero(out, r):
    """Set r numbers to zero."""
    to = out[:r]
    for j in range(r):
        to[j] = 0.0


@kernel
def clear(w):
    """1 + Gᵀ K G and Gᵀ f without any row."""
    r = w.rank[0]
    zero(w.right, r)
    for l in range(r):
        zero(w.matrix[l], r)
        w.matrix[l, l] = 1.0


@kernel(vectors=True)
def weigh(w, k, K, follow, partner):
    """Three rows of K G into w.weighted, less those of the partner's normal row, in w.weighted as
    ``weigh_last`` left them there, times ``follow``, where there is a partner.
    """
    r, i = w.length[k], 3 * k
    a, b, c = w.row[i, :r], w.row[i + 1, :r], w.row[i + 2, :r]
    x, y, n = w.weighted[0, :r], w.weighted[1, :r], w.weighted[2, :r]
    if partner:
        f, g, h = follow
        for j in range(r):
            e = n[j]
            x[j] = K[0] * a[j] + K[1] * b[j] + K[2] * c[j] - f * e
            y[j] = K[3] * a[j] + K[4] * b[j] + K[5] * c[j] - g * e
            n[j] = K[6] * a[j] + K[7] * b[j] + K[8] * c[j] - h * e
        return
    for j in range(r):
        x[j] = K[0] * a[j] + K[1] * b[j] + K[2] * c[j]
        y[j] = K[3] * a[j] + K[4] * b[j] + K[5] * c[j]
        n[j] = K[6] * a[j] + K[7] * b[j] + K[8] * c[j]


@kernel(vectors=True)
def weigh_last(w, k, K):
    """The last of three rows of K G into w.weighted."""
    r, i = w.length[k], 3 * k
    a, b, c, n = w.row[i, :r], w.row[i + 1, :r], w.row[i + 2, :r], w.weighted[2, :r]
    for j in range(r):
        n[j] = K[6] * a[j] + K[7] * b[j] + K[8] * c[j]


@kernel(vectors=True)
def add_three(w, k):
    """Gᵀ K G of three rows, from w.weighted."""
    r, i = w.length[k], 3 * k
    a, b, c = w.row[i, :r], w.row[i + 1, :r], w.row[i + 2, :r]
    x, y, n = w.weighted[0, :r], w.weighted[1, :r], w.weighted[2, :r]
    for l in range(r):
        out, f, g, h = w.matrix[l, :r], a[l], b[l], c[l]
        for j in range(r):
            out[j] += f * x[j] + g * y[j] + h * n[j]


@kernel(vectors=True)
def add_last(w, k, stiff):
    """Gᵀ K G of the last of three rows alone."""
    r = w.length[k]
    a = w.row[3 * k + 2, :r]
    for l in range(r):
        out, f = w.matrix[l, :r], stiff * a[l]
        for j in range(r):
            out[j] += f * a[j]


@kernel(vectors=True)
def push(w, k, f, out):
    """Add Gᵀ f of three rows to ``out``."""
    r, i = w.length[k], 3 * k
    a, b, c, to, (x, y, n) = w.row[i, :r], w.row[i + 1, :r], w.row[i + 2, :r], out[:r], f
    for j in range(r):
        to[j] += x * a[j] + y * b[j] + n * c[j]


@kernel(vectors=True)
def row_motion(w, k, y):
    """G y: motion of three rows."""
    r, i = w.length[k], 3 * k
    a, b, c, z = w.row[i, :r], w.row[i + 1, :r], w.row[i + 2, :r], y[:r]
    u, v, n = 0.0, 0.0, 0.0
    for j in range(r):
        u += a[j] * z[j]
        v += b[j] * z[j]
        n += c[j] * z[j]
    return u, v, n


@kernel(inline=True)
def factor(w):
    """Factors of ``matrix``; False where it is singular or not finite."""
    return linear.factor(w.matrix, w.rank[0], w.order)


@kernel(inline=True)
def solve(w):
    """y of (2) into w.motion, from w.right."""
    linear.substitute(w.matrix, w.order, w.right, w.rank[0], w.motion)


@kernel(inline=True)
def work(w, squares):
    """Cost of a system with rows of these lengths, in looks of ``budget``.

    Args:
        squares: of the lengths of all its rows, summed up.
    """
    r = w.rank[0]
    return squares // 300 + r * r * r // 600 + 4


@kernel(inline=True)
def square(p, k, w):
    """Part of three rows in ``squares`` of ``work``."""
    return (1 if is_lone(p, k) else 3) * w.length[k] * (w.length[k] + 12)


@kernel(inline=True)
def is_lone(p, k):
    """Whether only the last of three rows is any."""
    return along_one_axis(p.contact[k])
