"""Newton's system in the space of twists: of the size of the bodies, and regular where W is not.

With C = A + (ε/ρ) B of each three rows, ΔV the change of the twists, and K = C⁻¹ B, equation (1) of
``newton`` becomes

    Δλ = −C⁻¹ F − K J ΔV,   (1 + Ω S) ΔV = −Ω Σ Jᵀ C⁻¹ F,   S = Σ Jᵀ K J                        (1)
S has a block for each pair of bodies that touch. Where Ω has blocks so has 1 + Ω S (``block_lu``);
of trees that touch with many links neither is ever formed (``tree_lu``). Rows do one of three
things: those that open have K = 0, forces that stick K = (ρ/ε) 1, the same in any frame, and only
those that slide, and moments, need the whole of their 3×3 matrices.

Rows whose bound R is what their partner presses with follow it: Δλ of (1) and −C⁻¹ (∂F/∂R) Δλ_n.
"""

from tabi.contact import budget, motion_newton, point_newton, trees
from tabi.contact.algebra import block_lu, tree_lu
from tabi.contact.algebra.tree_lu import add_product
from tabi.contact.bodies import (
    apply_omega,
    push_both,
    relative,
    set_bounds,
    velocities_with,
    wrench,
)
from tabi.contact.maps import ZERO9
from tabi.contact.newton import newton_on, row_map
from tabi.contact.point_newton import OPENS, SLIDES, STICKS
from tabi.contact.row_mobility import along_one_axis
from tabi.contact.row_slopes import bound_slope, inverse
from tabi.contact.rows import CONTACT, LIMITED, opens, sticks
from tabi.contact.workspace import MAX_DENSE_CONTACTS
from tabi.jit import kernel
from tabi.spatial.vector import (
    cross,
    load3,
    load9,
    matmul,
    mul,
    mul_t,
    scale,
    store3,
    store9,
    sub,
)


@kernel
def direction(p, form, factor, eps, u, l, work):
    """Δλ of (1) in work.delta; needs ``bodies.prepare``."""
    n = p.mu.shape[0]
    set_bounds(p, l)
    less = point_newton.saves(p, work, linearise(p, form, factor, eps, u, l, work))
    saved = motion_newton.saves(p, work, max(less, 0))
    if saved > max(less, 0):
        work.budget[budget.WORK] -= saved
        if not motion_newton.solve(p, factor, eps, u, l, work):
            return False
        if p.kind[n - 1] != CONTACT:
            add_follow(p, work)
        return True
    if less > 0:
        work.budget[budget.WORK] -= less
        return point_newton.solve(p, work)
    clear(p, work)
    for k in range(n):
        add_row(p, k, factor, eps, u, l, work)
    if not solve_twists(p, work):
        return False
    for k in range(n):
        step_row(p, k, work)
    if n > 0 and p.kind[n - 1] != CONTACT:
        add_follow(p, work)
    return True


@kernel(inline=True)
def add_row(p, k, factor, eps, u, l, work):
    """Add three rows to S, and to the wrenches Σ Jᵀ C⁻¹ F."""
    d, i, rho, c, does = work.delta, 3 * k, factor * p.weight[k], p.contact[k], work.does[k]
    f, K = load3(d[i : i + 3]), ZERO9
    if does == OPENS:
        f = scale(-1.0, f)
    elif does == STICKS and c.angular == 0:
        stiff = rho / eps
        f, K = scale(stiff, f), (stiff, 0.0, 0.0, 0.0, stiff, 0.0, 0.0, 0.0, stiff)
    else:
        back = inverse(load9(work.known[k]))
        does, f, K = SLIDES, mul(back, f), matmul(back, load9(work.slope[k]))
    store9(work.slope[k], K)
    store3(d[i : i + 3], f)
    if c.partner >= 0 and p.kind[k] == LIMITED:
        f = _follow(p, k, u, l, rho, f, work)
    push_both(work.wrench, c, 0, mul_t(load9(c.frame), f), -1.0)
    if does != OPENS:
        stiffen(work.stiffness, work.lu.slot, c, K, does)


@kernel(inline=True)
def solve_twists(p, work):
    """ΔV of (1) into work.twist, from S and the wrenches; False where the system is singular."""
    if trees.linked(p):
        return tree_lu.solve(p, work.lu, work.stiffness, work.wrench, work.twist)
    apply_omega(p.start, p.column, p.omega, work.wrench, work.twist)
    fill_system(p, work)
    return block_lu.solve(work.lu, p.start.shape[0] - 1, work.twist)


@kernel(inline=True)
def step_row(p, k, work):
    """Δλ of three rows, from ΔV."""
    d, i, c = work.delta, 3 * k, p.contact[k]
    w = mul(load9(work.slope[k]), mul(load9(c.frame), relative(work.twist, c)))
    d[i], d[i + 1], d[i + 2] = -d[i] - w[0], -d[i + 1] - w[1], -d[i + 2] - w[2]


@kernel(inline=True)
def linearise(p, form, factor, eps, u, l, work):
    """F of each three rows into work.delta, or −C⁻¹ F where they open; B into work.slope, C into
    work.known, what they do into work.does.

    Returns:
        how many rows do not open; more than any memory has where some follow others.
    """
    count = 0
    for k in range(p.mu.shape[0]):
        i, rho, does = 3 * k, factor * p.weight[k], OPENS
        F, A, B = row_map(p, k, form, rho, u, l)
        if opens(B):
            F = scale(-rho, F)
        else:
            does = STICKS if sticks(A, B) else SLIDES
            count += 1 if along_one_axis(p.contact[k]) else 3
        store9(work.slope[k], B)
        store9(work.known[k], _regular(A, eps / rho, B))
        if p.contact[k].partner >= 0:
            count += 3 * MAX_DENSE_CONTACTS + 1
        store3(work.delta[i : i + 3], F)
        work.does[k] = does
    return count


@kernel(inline=True)
def _regular(A, e, B):
    """C = A + e B."""
    return (
        A[0] + e * B[0], A[1] + e * B[1], A[2] + e * B[2],
        A[3] + e * B[3], A[4] + e * B[4], A[5] + e * B[5],
        A[6] + e * B[6], A[7] + e * B[7], A[8] + e * B[8],
    )  # fmt: skip


@kernel(inline=True)
def stiffen(S, slot, c, K, does):
    """Add Jᵀ K J of a row to the blocks of its bodies."""
    a, b = c.a, c.b
    if c.angular != 0:
        K = _rotated(load9(c.frame), K)
        _brace(S[slot[a, a]], K, 1.0)
        if b >= 0:
            _brace(S[slot[b, b]], K, 1.0)
            _brace(S[slot[a, b]], K, -1.0)
            _brace(S[slot[b, a]], K, -1.0)
        return
    r = load3(c.arm_a)
    if does == STICKS:
        stiff = K[0]
        _press_round(S[slot[a, a]], r, r, stiff)
        if b >= 0:
            s = load3(c.arm_b)
            _press_round(S[slot[b, b]], s, s, stiff)
            _press_round(S[slot[a, b]], r, s, -stiff)
            _press_round(S[slot[b, a]], s, r, -stiff)
        return
    K = _rotated(load9(c.frame), K)
    _press(S[slot[a, a]], r, r, K, 1.0)
    if b >= 0:
        s = load3(c.arm_b)
        _press(S[slot[b, b]], s, s, K, 1.0)
        _press(S[slot[a, b]], r, s, K, -1.0)
        _press(S[slot[b, a]], s, r, K, -1.0)


@kernel(apart="none", rare=True)
def add_follow(p, work):
    """Add the effect of a partner's step to the rows that it bounds."""
    d = work.delta
    for k in range(p.mu.shape[0]):
        if p.contact[k].partner >= 0 and p.kind[k] == LIMITED:
            change = scale(d[3 * p.contact[k].partner + 2], load3(work.follow[k]))
            d[3 * k] -= change[0]
            d[3 * k + 1] -= change[1]
            d[3 * k + 2] -= change[2]


@kernel
def _follow(p, k, u, l, rho, f, work):
    """Derivative of rows by their bound: C⁻¹ ∂F/∂R into work.follow, and its part of S.

    Args:
        f: C⁻¹ F of the rows.

    Returns:
        C⁻¹ F with the part of the partner's step that ΔV does not decide.
    """
    if not bound_slope(p, k, u, l, rho, work):
        return f
    couple(p, k, work)
    return sub(f, scale(work.delta[3 * p.contact[k].partner + 2], load3(work.follow[k])))


@kernel(inline=True)
def couple(p, k, work):
    """Add −Jᵀ f (K J)_n of a partner's normal row to S for rows that it bounds; f: work.follow of
    the rows.
    """
    c, follow = p.contact[k], load3(work.follow[k])
    partner = p.contact[c.partner]
    K, slot, S = load9(work.slope[c.partner]), work.lu.slot, work.stiffness
    m, t = mul_t(load9(c.frame), follow), mul_t(load9(partner.frame), (K[6], K[7], K[8]))
    a, b = c.a, c.b
    w = wrench(0, load3(partner.arm_a), t)
    # both have the same two bodies, in the same order
    _outer(S[slot[a, a]], m, w, -1.0)
    if b >= 0:
        _outer(S[slot[b, a]], m, w, 1.0)
        w = wrench(0, load3(partner.arm_b), t)
        _outer(S[slot[a, b]], m, w, 1.0)
        _outer(S[slot[b, b]], m, w, -1.0)


@kernel(inline=True)
def _outer(S, m, w, sign):
    """S += ± m wᵀ in the rows of rotations."""
    for q in range(3):
        x = sign * m[q]
        S[q, 0] += x * w[0]
        S[q, 1] += x * w[1]
        S[q, 2] += x * w[2]
        S[q, 3] += x * w[3]
        S[q, 4] += x * w[4]
        S[q, 5] += x * w[5]


@kernel
def clear(p, work):
    """Set the system to zero."""
    slot = work.lu.slot
    for i in range(6 * (p.start.shape[0] - 1)):
        work.wrench[i] = 0.0
    if trees.linked(p):
        tree_lu.clear(work.lu, work.stiffness, p.start.shape[0] - 1)
        return
    for i in range(p.start.shape[0] - 1):
        for c in range(work.touches[i]):
            S = work.stiffness[slot[i, work.touch[i, c]]]
            for r in range(6):
                for q in range(6):
                    S[r, q] = 0.0


@kernel(inline=True)
def _rotated(E, K):
    """Eᵀ K E."""
    transposed = (E[0], E[3], E[6], E[1], E[4], E[7], E[2], E[5], E[8])
    return matmul(matmul(transposed, K), E)


@kernel(inline=True)
def _brace(S, K, sign):
    """S += ± K in the rows and columns of rotations."""
    for q in range(3):
        S[0, q] += sign * K[q]
        S[1, q] += sign * K[3 + q]
        S[2, q] += sign * K[6 + q]


@kernel(inline=True)
def _press(S, r, s, K, sign):
    """S += ± J_iᵀ K J_j for points at r and s: blocks r̂ K (−ŝ), r̂ K, −K ŝ, K."""
    # rows of K (−ŝ) are s × row
    a = cross(s, (K[0], K[1], K[2]))
    b = cross(s, (K[3], K[4], K[5]))
    c = cross(s, (K[6], K[7], K[8]))
    for q in range(3):
        x, y, z = sign * a[q], sign * b[q], sign * c[q]
        S[0, q] += r[1] * z - r[2] * y
        S[1, q] += r[2] * x - r[0] * z
        S[2, q] += r[0] * y - r[1] * x
        S[3, q] += x
        S[4, q] += y
        S[5, q] += z
        x, y, z = sign * K[q], sign * K[3 + q], sign * K[6 + q]
        S[0, 3 + q] += r[1] * z - r[2] * y
        S[1, 3 + q] += r[2] * x - r[0] * z
        S[2, 3 + q] += r[0] * y - r[1] * x
        S[3, 3 + q] += x
        S[4, 3 + q] += y
        S[5, 3 + q] += z


@kernel(inline=True)
def _press_round(S, r, s, k):
    """S += k J_iᵀ J_j: blocks (r·s) 1 − s rᵀ, r̂, −ŝ, 1, all times k."""
    c = k * (r[0] * s[0] + r[1] * s[1] + r[2] * s[2])
    x, y, z = k * s[0], k * s[1], k * s[2]
    S[0, 0] += c - x * r[0]
    S[0, 1] -= x * r[1]
    S[0, 2] -= x * r[2]
    S[1, 0] -= y * r[0]
    S[1, 1] += c - y * r[1]
    S[1, 2] -= y * r[2]
    S[2, 0] -= z * r[0]
    S[2, 1] -= z * r[1]
    S[2, 2] += c - z * r[2]
    S[3, 1] += z
    S[3, 2] -= y
    S[4, 0] -= z
    S[4, 2] += x
    S[5, 0] += y
    S[5, 1] -= x
    x, y, z = k * r[0], k * r[1], k * r[2]
    S[0, 4] -= z
    S[0, 5] += y
    S[1, 3] += z
    S[1, 5] -= x
    S[2, 3] -= y
    S[2, 4] += x
    S[3, 3] += k
    S[4, 4] += k
    S[5, 5] += k


@kernel
def fill_system(p, work):
    """The blocks of 1 + Ω S."""
    count, slot, H = p.start.shape[0] - 1, work.lu.slot, work.lu.value
    for i in range(count):
        for j in range(count):
            if slot[i, j] != block_lu.NO_BLOCK:
                X, identity = H[slot[i, j]], 1.0 if i == j else 0.0
                for r in range(6):
                    for q in range(6):
                        X[r, q] = 0.0
                    X[r, r] = identity
    for i in range(count):
        for e in range(p.start[i], p.start[i + 1]):
            j, O = p.column[e], p.omega[e]
            for c in range(work.touches[j]):
                k = work.touch[j, c]
                add_product(H[slot[i, k]], O, work.stiffness[slot[j, k]])


@kernel(inline=True)
def price(p, work):
    """Work of a trial and of a direction: (1) of ``budget``, where factors cost what four blocks
    do.
    """
    n, bodies, products = p.mu.shape[0], p.start.shape[0] - 1, 0
    blocks = p.start[bodies] - p.start[0]
    for step in range(bodies):
        m = work.lu.laters[step] + 1
        products += m * m
    looks = blocks if trees.linked(p) else blocks // 4
    return n + looks + 2, 3 * n + 2 * products + 16


solve = newton_on(velocities_with, direction, price)
