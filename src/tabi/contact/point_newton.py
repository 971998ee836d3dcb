"""Newton's system in the space of contacts: smaller than that of twists where most bodies touch in
one or two points.

Of the rows that do not open, with C = A + (ε/ρ) B, equation (1) of ``newton`` is

    (C + B W) Δλ = −F − B w,   w: the velocities that the rows which open cause                 (1)
W has three columns for each contact, one for each joint: the velocities that unit impulses at its
bodies cause in all others. A quadruped that stands on four points has twelve unknowns, where twists
have twenty-four; a robot that lies has a third of them. Many corners of one foot are better seen
from their body.
"""

from tabi.contact import row_mobility, trees
from tabi.contact.algebra import linear
from tabi.contact.bodies import apply_omega, push_both, relative, wrench
from tabi.contact.row_mobility import along_one_axis
from tabi.contact.workspace import MAX_DENSE_CONTACTS
from tabi.jit import kernel
from tabi.spatial.vector import axpy6, load3, load6, load9, mul, mul_t, store6

# what rows do: their impulse is known, their velocity is, or neither
OPENS, STICKS, SLIDES = 0, 1, 2


@kernel(inline=True)
def saves(p, work, count):
    """Work that (1) of ``count`` rows saves against the elimination of twists, which is arranged;
    zero where factors of trees leave no blocks to make W from, or W has no room.
    """
    if count > 3 * MAX_DENSE_CONTACTS or trees.linked(p) or not row_mobility.fits(p, work.rows):
        return 0
    bodies, products = p.start.shape[0] - 1, 0
    for step in range(bodies):
        m = work.lu.laters[step] + 1
        products += m * m
    return 2 * products - count * (count * count + 10 * count + 108 * bodies) // 450


@kernel(apart="boolean", rare=True)
def solve(p, work):
    """Δλ into work.delta, from F there (Δλ of rows that open),
    B in work.slope, C in work.known and what rows do in work.does.

    Returns:
        False where the system is singular or not finite.
    """
    H, d, (count, rows) = work.matrix, work.delta, _known(p, work)
    apply_omega(p.start, p.column, p.omega, work.wrench, work.twist)
    for r in range(count):
        k, o, i = work.active[r], work.offset[r], 3 * work.active[r]
        c, size = p.contact[k], work.offset[r + 1] - work.offset[r]
        w = mul(load9(work.slope[k]), mul(load9(c.frame), relative(work.twist, c)))
        if size == 3:
            work.right[o], work.right[o + 1] = -d[i] - w[0], -d[i + 1] - w[1]
        work.right[o + size - 1] = -d[i + 2] - w[2]
    for r in range(count):
        make_columns(p, work.active[r], work)
    for r in range(count):
        k, o = work.active[r], work.offset[r]
        gather(H, o, k, work, count)
        if work.offset[r + 1] - o == 1:
            if work.does[k] == SLIDES:
                for j in range(rows):
                    H[o, j] *= work.slope[k, 8]
            H[o, o] += work.known[k, 8]
            continue
        if work.does[k] == SLIDES:
            _weigh(H, o, rows, load9(work.slope[k]))
        for e in range(3):
            for f in range(3):
                H[o + e, o + f] += work.known[k, 3 * e + f]
    order, step = work.interior.order, work.interior.right
    if not linear.factor(H, rows, order):
        return False
    linear.substitute(H, order, work.right, rows, step)
    for r in range(count):
        i, o = 3 * work.active[r], work.offset[r]
        single = work.offset[r + 1] - o == 1
        d[i] = 0.0 if single else step[o]
        d[i + 1] = 0.0 if single else step[o + 1]
        d[i + 2] = step[o if single else o + 2]
    return True


@kernel(inline=True)
def _known(p, work):
    """Wrenches of the rows that open; the others into work.active, their first unknown into
    work.offset. Returns how many contacts and joints those are, and how many unknowns.
    """
    d, count, rows = work.delta, 0, 0
    for i in range(6 * (p.start.shape[0] - 1)):
        work.wrench[i] = 0.0
    for k in range(p.mu.shape[0]):
        if work.does[k] == OPENS:
            c, i = p.contact[k], 3 * k
            push_both(work.wrench, c, 0, mul_t(load9(c.frame), (d[i], d[i + 1], d[i + 2])), 1.0)
        else:
            work.active[count], work.offset[count] = k, rows
            count += 1
            rows += 1 if along_one_axis(p.contact[k]) else 3
            work.offset[count] = rows
    return count, rows


@kernel(inline=True)
def gather(H, o, k, work, count):
    """Rows of W of the three rows k, into those of H from o on, for the unknowns of work.active."""
    W, at, first = work.rows.W, work.offset, work.rows.first
    for q in range(first[k + 1] - first[k]):
        for r in range(count):
            column, start = at[r], first[work.active[r]]
            for e in range(at[r + 1] - column):
                H[o + q, column + e] = W[first[k] + q, start + e]


@kernel(inline=True)
def make_columns(p, k, work):
    """Columns of W of the three rows k, and as many rows: W is symmetric."""
    W, first, made, V, c = work.rows.W, work.rows.first, work.rows.made, work.twist, p.contact[k]
    if made[k] != 0:
        return
    last = first[k + 1] - 1
    for q in range(first[k] + 2 - last, 3):
        unit_response(p, c, q, V)
        column = last - 2 + q
        for j in range(p.mu.shape[0]):
            # what is made has this row
            if made[j] != 0:
                continue
            other, end = p.contact[j], first[j + 1] - 1
            w = mul(load9(other.frame), relative(V, other))
            if end > first[j]:
                W[end - 2, column], W[column, end - 2] = w[0], w[0]
                W[end - 1, column], W[column, end - 1] = w[1], w[1]
            W[end, column], W[column, end] = w[2], w[2]
    made[k] = 1


@kernel(inline=True)
def unit_response(p, c, q, V):
    """V: the twists of all bodies that a unit impulse of row q of the three rows c causes."""
    axis = (c.frame[3 * q], c.frame[3 * q + 1], c.frame[3 * q + 2])
    for i in range(6 * (p.start.shape[0] - 1)):
        V[i] = 0.0
    _move(p, c.a, wrench(c.angular, load3(c.arm_a), axis), V)
    if c.b >= 0:
        back = (-axis[0], -axis[1], -axis[2])
        _move(p, c.b, wrench(c.angular, load3(c.arm_b), back), V)


@kernel(inline=True)
def _move(p, i, f, V):
    """Add the twists that a wrench on body i causes; Ω is symmetric, so its row is its column."""
    for e in range(p.start[i], p.start[i + 1]):
        O, j = p.omega[e], 6 * p.column[e]
        x = axpy6(f[1], load6(O[1]), axpy6(f[0], load6(O[0]), load6(V[j : j + 6])))
        y = axpy6(f[2], load6(O[2]), axpy6(f[3], load6(O[3]), x))
        store6(V[j : j + 6], axpy6(f[4], load6(O[4]), axpy6(f[5], load6(O[5]), y)))


@kernel(inline=True)
def _weigh(H, i, n, B):
    """Three rows of H become B times them."""
    for j in range(n):
        w = mul(B, (H[i, j], H[i + 1, j], H[i + 2, j]))
        H[i, j], H[i + 1, j], H[i + 2, j] = w[0], w[1], w[2]
